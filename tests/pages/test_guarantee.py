"""Cards of the tab Guarantee say in words what the numbers say, also of a bonus that nobody has proved."""

from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dprl import ALGORITHMS
from dprl.learners.tabular import pucb
from dprl.learners.tabular.planner import TabularLearner
from dprl.messages import messages
from dprl.privacy import PRIVATIZERS, Guarantee
from dprl.runs.store import Store
from dprl.sentences import promise
from dprl.simulation import FIELDS, RunSpec, answer, answered, run, start
from pages.explore.tabs import ladder
from tests.pages.conftest import Visit, charts, widget, words

GIVEN: dict[str, Any] = {"environment_params": {"S": 3, "H": 3}, "episodes": 1000, "seeds": 1}


@pytest.mark.parametrize(
    ("privacy", "calibration", "said"),
    [
        ("central", "calibrated", "Proved as claimed"),
        ("local", "calibrated", "Proved as claimed"),
        ("shuffle", "calibrated", "Proved as claimed"),
        ("central", "paper", "We prove less than the claim"),
        ("local", "paper", "We prove less than the claim"),
        ("shuffle", "paper", "We prove more than the claim"),
    ],
)
def test_claimed_against_proved_in_words(privacy: str, calibration: str, said: str) -> None:
    g = run(RunSpec(privacy=privacy, calibration=calibration, **GIVEN)).guarantee
    blanked = PRIVATIZERS[privacy].words.blanked
    claimed = g.claimed_epsilon or 0.0, g.claimed_delta or 0.0
    good, sentence = promise.about_promise(*claimed, g.readings, blanked)
    assert said in sentence
    assert good == ("less" not in said)
    pure = calibration == "paper" and privacy != "shuffle"
    assert ("holds when a user is zeroed out" in sentence) == (pure and privacy == "central")
    assert ("for the same noise" in sentence) == pure


def test_a_claim_that_nothing_proves_is_said() -> None:
    assert "nobody has proved" in promise.about_promise(1.0, 1e-6, ())[1]


@pytest.mark.thorough
def test_calibrated_bits_are_not_said_to_be_more_than_needed() -> None:
    """With fewer bits no epsilon at all is proved at this delta, so that there are just as many at a larger epsilon."""
    g = run(RunSpec(privacy="shuffle", epsilon=30.0, **GIVEN)).guarantee
    _, sentence = promise.about_promise(30.0, 1e-6, g.readings, calibrated=True)
    assert "the claimed (30, 10⁻⁶). We know of no smaller amount of this noise that suffices." in sentence
    assert "needed" not in sentence


def test_a_delta_that_is_not_small_against_the_users_is_said(visit: Visit, store: Store) -> None:
    """10^-6 for a billion users would let a thousand be given away; a run that lets none is not warned of."""
    assert "about 1,000 of 1 billion users" in promise.against_users(1e-6, 10**9)
    assert promise.against_users(1e-12, 10**9) == promise.against_users(0.0, 10**15) == ""
    app = visit("explore", c=["envp.S.3~envp.H.3~K.1000000~seeds.5~priv.central"], tab="guarantee")
    assert "records of about 1 of 1 million users" in words(app)
    assert "comes back for 10 episodes, we prove (13.6, 10⁻⁶) for all of them together" in words(app)


@pytest.mark.parametrize(
    "change", [{}, {"calibration": "paper"}, {"mechanism": "laplace-tree"}, {"mechanism": "gaussian-tree"}]
)
def test_the_runs_own_noise_stands_on_the_ladder(change: dict[str, Any]) -> None:
    g = run(RunSpec(**GIVEN, **change)).guarantee
    table = ladder(g, False).table
    (own,) = table[table["this run"]]["std of one counter"]
    assert own == pytest.approx(g.noise_std, rel=0.005)
    assert len(table) in (len(g.ladder), len(g.ladder) + 1)


def test_promises_stand_side_by_side_and_one_card_has_the_rest(visit: Visit) -> None:
    small = "envp.S.3~envp.H.3~K.1000~seeds.1"
    curves = [f"{small}~priv.none", "priv.local", "priv.shuffle", "priv.central"]
    for i, scale in enumerate([0, 1, 0, 1]):  # of one draw: bits have none
        app = visit("explore", c=curves, tab="guarantee", i=str(i))
        (table,) = [m.value for m in app.markdown if m.value.startswith("| Curve")]
        lines = table.splitlines()[2:]
        assert [line.count(":material/verified:") for line in lines] == [0, 1, 1, 1]
        assert table.splitlines()[0].endswith("| Noise in a count (standard deviation) |")
        assert [line.endswith(" visits |") for line in lines] == [False, True, True, True]
        assert "Joint differential privacy" in lines[3]
        assert words(app).count("Proved as claimed") == (i > 0)
        assert words(app).count("Scale of one draw") == scale
        assert "1e-06" not in words(app)
        assert len(charts(app)) == (i == 3)  # the ladder
    alone = visit("explore", c=curves[:1], tab="guarantee")
    assert "| Curve" not in words(alone)


def test_all_that_noise_proves_is_drawn_when_asked_for(visit: Visit) -> None:
    app = visit("explore", c=["envp.S.3~envp.H.3~K.1000~seeds.1~priv.local~mech.gaussian"], tab="guarantee")
    assert charts(app) == []
    app.session_state["promises_0"] = True
    app.run()
    (found,) = charts(app)
    proved, own = json.loads(found.spec)["data"]
    x, y = (np.frombuffer(b64decode(proved[axis]["bdata"])) for axis in "xy")
    assert own["x"] == [1e-6]
    assert own["y"] == pytest.approx([np.interp(np.log(1e-6), np.log(x), y)], rel=0.02)
    assert "instead of 50%" in words(app)
    assert "zCDP" in words(app)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"privacy": "local"},
        {"privacy": "shuffle", "calibration": "paper"},
        {"schedule": "episodic", "calibration": "paper"},
        {"privacy": "none"},
    ],
    ids=str,
)
def test_the_card_of_a_spec_is_that_of_its_traces(change: dict[str, Any]) -> None:
    spec = RunSpec(**GIVEN | change)
    assert Guarantee.from_dict(answered(answer("guarantee", spec))) == start(spec, 0).trace().guarantee


@pytest.fixture
def simple(monkeypatch: pytest.MonkeyPatch) -> TabularLearner:
    """A learner that brings no kernel for the anytime bonus and names no sets of constants, as a plug-in would."""
    found = TabularLearner(
        key="simple", title="Simple optimism", summary="Optimism.", source="nobody's", privacies=("central", "none"),
        statistic=pucb.ALGORITHM.statistic, plan=pucb.ALGORITHM.plan, constants=pucb.ALGORITHM.constants,
    )  # fmt: skip
    monkeypatch.setattr(ALGORITHMS, "group", "")
    monkeypatch.setitem(ALGORITHMS, "simple", found)
    algorithm = FIELDS["algorithm"]
    monkeypatch.setitem(FIELDS, "algorithm", replace(algorithm, choices=(*algorithm.choices, "simple")))
    return found


@pytest.mark.parametrize("privacy", ["central", "none"])
def test_menu_title_and_card_say_so(simple: TabularLearner, visit: Visit, privacy: str) -> None:
    app = visit("explore", c=[f"alg.simple~priv.{privacy}~K.1000~seeds.1"], tab="guarantee")
    menu = widget(app, "selectbox", "Bonus constants")
    assert menu.options == [messages("controls")["bonus"]["own"]]
    assert "No theorem here proves" in menu.help
    said = words(app)
    assert "Simple optimism" in said
    assert messages("controls")["named"]["bonus"]["own"] in said
    assert "This bonus has no proof" in said
    built_in = words(visit("explore", c=[f"priv.{privacy}~K.1000~seeds.1"], tab="guarantee"))
    assert "not proved" not in built_in

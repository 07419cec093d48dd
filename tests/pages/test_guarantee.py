"""Cards of the tab Guarantee say in words what the numbers say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dprl.jobs.store import Store
from dprl.privacy import Guarantee
from dprl.simulation import RunSpec, answer, answered, run, start
from pages.explore.guarantee import ladder, readings, verdict
from tests.pages.conftest import charts, words

Visit = Callable[..., AppTest]
Work = Callable[..., int]


@cache
def card(privacy: str, calibration: str) -> Guarantee:
    return run(
        RunSpec(
            environment_params={"S": 3, "H": 3},
            privacy=privacy,
            calibration=calibration,
            episodes=1000,
            seeds=1,
        )
    ).guarantee


@pytest.mark.parametrize(
    ("privacy", "calibration", "said"),
    [
        ("central", "tight", "It proves what it claims"),
        ("local", "tight", "It proves what it claims"),
        ("shuffle", "tight", "It proves what it claims"),
        ("central", "paper", "It proves less than it claims"),
        ("local", "paper", "It proves less than it claims"),
        ("shuffle", "paper", "It proves more than it claims"),
    ],
)
def test_claimed_against_proved_in_words(privacy: str, calibration: str, said: str) -> None:
    icon, sentence = verdict(card(privacy, calibration))
    assert said in sentence
    assert (icon == "warning") == ("less" in said)
    pure = calibration == "paper" and privacy != "shuffle"
    assert ("holds when a user is added or removed" in sentence) == pure
    assert ("At δ = 10⁻⁶ the same noise proves" in sentence) == pure


def test_a_claim_that_nothing_proves_is_said() -> None:
    unproved = replace(card("central", "tight"), proved_epsilon=None, proved_delta=None)
    assert "nobody has proved" in verdict(unproved)[1]


def test_readings_name_both_notions_of_neighbours_and_whose_proof_it_is() -> None:
    table = readings(card("shuffle", "paper").readings)
    assert "replaced by another" in table
    assert "added or removed" in table
    assert "B25" in table
    assert table.count("\n") == 1 + len(card("shuffle", "paper").readings)


@pytest.mark.parametrize(
    "change", [{}, {"calibration": "paper"}, {"mechanism": "laplace-tree"}, {"mechanism": "gaussian-tree"}]
)
def test_the_runs_own_noise_stands_on_the_ladder(change: dict[str, Any]) -> None:
    spec = RunSpec(environment_params={"S": 3, "H": 3}, episodes=1000, seeds=1, **change)
    g = run(spec).guarantee
    table = ladder(g, False).table
    (own,) = table[table["this run"]]["std of one counter"]
    assert own == pytest.approx(g.noise_std, rel=0.005)
    assert len(table) in (len(g.ladder), len(g.ladder) + 1)


def test_the_ladder_is_shown_for_central_only(visit: Visit, work: Work) -> None:
    small = "envp.S.3~envp.H.3~K.1000~seeds.1"
    curves = [f"{small}~priv.none", "priv.local", "priv.shuffle"]
    visit("pages/explore/page.py", c=[*curves, "priv.central"])
    work()
    app = visit("pages/explore/page.py", c=[*curves, "priv.central"], tab="guarantee")
    assert len(charts(app)) == 1
    assert words(app).count("It proves what it claims") == 3
    assert words(app).count("Scale of one draw") == 2  # bits have none
    assert "1e-06" not in words(app).replace("\\", "")
    assert charts(visit("pages/explore/page.py", c=curves, tab="guarantee")) == []


def test_a_card_follows_from_the_spec_before_any_seed_is_begun(visit: Visit, store: Store) -> None:
    app = visit("pages/explore/page.py", c=["envp.S.3~envp.H.3~K.1000~seeds.5~priv.central"], tab="guarantee")
    assert "It proves what it claims" in words(app)
    assert "Taken as public, so not protected:** the numbers of states" in words(app).replace("\\", "")
    assert store.activity().seeds_queued == 5


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"privacy": "local"},
        {"privacy": "shuffle", "calibration": "paper"},
        {"schedule": "episodic", "calibration": "paper"},
        {"algorithm": "sdp-pe", "environment": "random", "environment_params": {"S": 2, "A": 2, "H": 2}},
        {"privacy": "none"},
    ],
    ids=str,
)
def test_the_card_of_a_spec_is_that_of_its_traces(change: dict[str, Any]) -> None:
    given: dict[str, Any] = {"environment_params": {"S": 3, "H": 3}, "episodes": 10**4, "seeds": 1}
    spec = RunSpec(**given | change)
    trace = start(spec, 0).trace()
    assert Guarantee.from_dict(answered(answer("guarantee", spec))) == trace.guarantee

"""Learners of linear models in the house's pages: what is there to be seen is shown, and what is not is said."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest

from dprl import ALGORITHMS
from dprl.runs.store import Store
from dprl.sentences.noise import IN_A_COUNT
from pages.shared.examples import EXAMPLES
from pages.shared.results.bundled import bundled
from tests.pages.conftest import Visit, Work, charts, words
from tests.problems import first, home, loop

LEARNERS = [key for key, learner in ALGORITHMS.items() if not learner.statistic.counted]
SMALL = {
    "linear-mixture": "envp.d.2~envp.S.3~envp.H.3",
    "linear-mdp": "envp.stages.1~envp.drugs.2~envp.symptoms.2~envp.H.3",
}


def short(key: str, privacy: str) -> str:
    """A small run of a learner where it fits."""
    return f"env.{home(key)}~{SMALL[home(key)]}~alg.{key}~K.1000000~seeds.1~priv.{privacy}"


@pytest.mark.parametrize(
    ("key", "privacy"),
    first(
        [(k, p) for k in LEARNERS for p in ALGORITHMS[k].privacies],
        lambda given: loop(given[0]),
    ),
)
def test_every_tab_of_a_run_without_counts(visit: Visit, work: Work, key: str, privacy: str) -> None:
    run = short(key, privacy)
    visit("explore", c=[run, "priv.none"])
    assert work() == (1 if privacy == "none" else 2)
    for measure in ("cumulative", "pac", "extra"):
        shown = charts(visit("explore", c=[run], m=measure))
        assert bool(shown) == (measure != "extra" or privacy != "none")
    app = visit("explore", c=[run], tab="counts")
    assert not charts(app)
    assert "receives no counts" in words(app)
    app = visit("explore", c=[run], tab="policy", pol="stages")  # it has none
    assert charts(app)
    assert not any("Stage by stage" in choice.options for choice in app.segmented_control)
    visit("explore", c=[run], tab="data")
    app = visit("explore", c=[run, "priv.none"], tab="guarantee")
    assert "| Privacy model | Claimed | Proved |" in words(app)
    assert IN_A_COUNT not in "\n".join([words(app), *(m.label for m in app.metric)])
    if privacy != "none":
        assert "; scale" in words(app)
        assert "the features of every" in words(app)


def test_paper_noise_tells_what_is_proved_beside_it(visit: Visit, work: Work) -> None:
    run = "env.linear-mixture~envp.H.3~alg.ucrl-vtr~K.1000~seeds.1~priv.central~cal.paper~bonus.paper"
    app = visit("explore", c=[run], tab="guarantee")
    assert work() == 1
    app.run()
    assert "L21 does not state" in words(app)
    assert "at 1 only the accountant" in words(app)


def test_the_example_with_known_features_says_what_its_runs_show() -> None:
    (example,) = (e for e in EXAMPLES if e.title == "Known features")
    share = {
        curve.spec.privacy: np.interp([10**7, 10**12], known.at, known.values.mean(0) / known.at) / 3.185
        for curve in example.curves
        if curve.spec.epsilon in (None, 1.0)
        for known in [bundled("examples")[curve.spec]]
    }
    assert "under 1% of V* from 10 million users on" in example.say
    assert share["central"][0] < 0.01 < share["local"][1]


@pytest.mark.parametrize("key", first(LEARNERS, loop))
def test_the_confidence_set_is_a_tab_of_learners_that_keep_one(visit: Visit, work: Work, key: str) -> None:
    run = short(key, "central")
    visit("explore", c=[run])
    work()
    app = visit("explore", c=[run], tab="ellipsoid")
    (chart,) = charts(app)
    assert chart.alt.startswith("The confidence set of the weights")
    assert "Confidence set" in [tab.label for tab in app.tabs]
    other = visit("explore", c=["priv.none"], tab="ellipsoid")
    assert "Confidence set" not in [tab.label for tab in other.tabs]


def test_the_confidence_set_holds_the_truth_and_noise_widens_it(visit: Visit, work: Work) -> None:
    run = "env.linear-mixture~envp.d.3~envp.S.3~envp.H.4~alg.ucrl-vtr~K.1e8~seeds.2~priv.central"
    visit("explore", c=[run])
    work()
    drawn: dict[str, Any] = {}
    for near in ("on", "off"):
        (chart,) = charts(visit("explore", c=[run], tab="ellipsoid", near=near))
        drawn = {t["name"]: t for t in json.loads(chart.spec)["data"]}
    noisy, quiet = (drawn[f"confidence set {which}"] for which in ("with noise", "without noise, same users"))
    (x,), (y,) = (numbers(drawn["true weights"][axis]) for axis in "xy")
    spans = []
    for one in (noisy, quiet):
        across, up = numbers(one["x"]), numbers(one["y"])
        assert across.min() < x < across.max()
        assert up.min() < y < up.max()
        spans.append(np.ptp(across) * np.ptp(up))
    assert spans[0] > spans[1]


def numbers(given: Any) -> Any:
    """Numbers as Plotly sends them: a list, or binary."""
    if isinstance(given, dict):
        return np.frombuffer(base64.b64decode(given["bdata"]), dtype=given["dtype"])
    return np.array(given, float)


def test_attack_and_tradeoffs_say_what_they_do_with_it(visit: Visit, store: Store) -> None:
    run = short("ucrl-vtr", "central")
    app = visit("attack", b=run)
    assert "which is not attacked here" in words(app)
    visit("tradeoffs", b=run)

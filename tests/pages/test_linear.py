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
    first([(k, p) for k in LEARNERS for p in ALGORITHMS[k].privacies], lambda given: loop(given[0])),
)
def test_every_tab_of_a_run_without_counts(visit: Visit, work: Work, key: str, privacy: str) -> None:
    run = short(key, privacy)
    visit("explore", c=[run, "priv.none"])
    assert work() == (1 if privacy == "none" else 2)
    for measure in ("cumulative", "extra"):
        shown = charts(visit("explore", c=[run], m=measure))
        assert bool(shown) == (measure != "extra" or privacy != "none")
    app = visit("explore", c=[run], tab="counts")
    assert not charts(app)
    assert "receives no counts" in words(app)
    assert charts(visit("explore", c=[run], tab="policy"))
    visit("explore", c=[run], tab="data")
    app = visit("explore", c=[run, "priv.none"], tab="guarantee")
    assert "| Privacy model | Claimed | Proved |" in words(app)
    assert IN_A_COUNT not in "\n".join([words(app), *(m.label for m in app.metric)])
    if privacy != "none":
        assert "; scale" in words(app)
        assert "the features of every" in words(app)


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
    assert "cannot be attacked here" in words(app)
    visit("tradeoffs", b=run)

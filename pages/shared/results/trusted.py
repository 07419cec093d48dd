"""The worth of trust: the users needed under each privacy model, from the bundled runs."""

from __future__ import annotations

from functools import cache

from dprl import metrics
from dprl.figures.trust import LEARNED, Cost
from dprl.metrics import search
from dprl.privacy import PRIVATIZERS
from dprl.simulation import RunSpec
from pages.shared.examples import BASE, HOME_EPISODES, trust
from pages.shared.results import answers
from pages.shared.results.bundled import bundled


@cache
def known(epsilon: float) -> list[Cost]:
    """Return the cost of each privacy model at an epsilon, from the bundled runs."""
    return [cost_of(curve.spec) for curve in trust(epsilon, HOME_EPISODES).curves]


def cost_of(spec: RunSpec) -> Cost:
    """One privacy model's curve, and where it has come down."""
    run = bundled("home")[spec]
    average = metrics.per_episode(run.at, run.values)
    mean, low, high = metrics.regret_band(average)
    needed = search.stays_below(run.at.astype(float), mean, LEARNED * best())
    model = PRIVATIZERS[spec.privacy]
    return Cost(spec.privacy, model.title, model.words.given, run.at, mean, low, high, needed)


def best() -> float:
    """Return the value of an optimal episode, which is known for the page's runs."""
    known = answers.v_star(BASE)
    assert known is not None
    return known

"""Pulls of a bandit's bad arms: the fewest that privacy allows, and means that a few seeds carry."""

from __future__ import annotations

import numpy as np

from dprl.metrics.seeds import Array


def fewest_pulls(epsilon: float, gap: float, beta: float) -> float:
    """How often an (epsilon, 0)-private bandit learner must pull one bad arm, at least, in expectation.

    ln(1/(4 beta)) / (24 epsilon gap), for an arm that pays `gap` less than the best. It holds for learners that name
    the best arm with probability at least 1 - beta on every instance, however small its gap, 0 < beta < 1/4 (V20
    Lemma 8). The paper's proof exchanges two arms, but its Lemma 7 lets only one change. Raising the bad arm alone,
    to just above the best, moves it by gap + eta, and the same steps with eta -> 0 give the same 24.

    Raises ValueError outside these ranges.
    """
    if not (epsilon > 0 and gap > 0 and 0 < beta < 0.25):
        raise ValueError("give epsilon and gap above 0, and beta between 0 and 1/4")
    return float(np.log(1 / (4 * beta)) / (24 * epsilon * gap))


SKEWED = 2.0  # a mean this many times the median is carried by a few seeds


def skewed_median(values: Array) -> float | None:
    """The median of values [seeds] whose mean a few seeds carry: it is more than SKEWED times the median, which is
    above zero. None where that is not so."""
    median = float(np.median(values))
    return median if median > 0 and float(np.mean(values)) > SKEWED * median else None

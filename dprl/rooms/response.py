"""Randomised response: each person's coin decides whether the answer or its opposite is reported (Warner 1965).

The opposite has probability 1/(1 + e^epsilon), so each answer makes a report at most e^epsilon times likelier than the
other answer does: pure local privacy, whoever sees the reports. If nobody knows who sent which report, only the number
of yes reports matters. It gives an interval for the true share, and the table of its distributions (`law`) gives the
exact epsilon behind a trusted shuffler.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from dprl.metrics.attack import Measured, clopper_pearson
from dprl.metrics.curves import LEVEL, Array

DRAWS = 2**53  # the number of equally likely outcomes of a coin


def opposites(epsilon: float) -> int:
    """Return how many of the DRAWS outcomes lead to the opposite report, rounded up so that the epsilon proof holds."""
    return math.ceil(DRAWS / (1 + math.exp(epsilon)) * (1 + 1e-12))


def flip(epsilon: float) -> float:
    """Return the probability of reporting the opposite."""
    return opposites(epsilon) / DRAWS


@lru_cache(maxsize=64)
def law(epsilon: float, n: int) -> Array:
    """Return the probabilities of 0 to n yes reports, with a row for each true number of yes answers [n + 1, n + 1]."""
    from scipy.stats import binom

    wrong = flip(epsilon)
    rows = [
        np.convolve(binom.pmf(np.arange(t + 1), t, 1 - wrong), binom.pmf(np.arange(n - t + 1), n - t, wrong))
        for t in range(n + 1)
    ]
    return np.array(rows)


def share_of_yes(reported: float, n: int, epsilon: float) -> Measured:
    """Estimate the share of yes answers from the number of yes reports, with an interval at LEVEL.

    We correct the Clopper-Pearson interval for the probability of a yes report for the coin, and cut it to [0, 1]. It
    covers the true share over the coins alone, because n coins with different probabilities vary less than n coins with
    their mean (Hoeffding 1956). `reported` is first clipped to the averages for no and only yes answers, so the
    interval is never a single point.
    """
    if n == 0:
        return Measured(0.5, 0.0, 1.0)
    wrong = flip(epsilon)
    found = clopper_pearson(float(np.clip(reported, n * wrong, n * (1 - wrong))), n)
    return Measured(*(float(np.clip((share - wrong) / (1 - 2 * wrong), 0, 1)) for share in found))


@lru_cache(maxsize=1024)
def shuffled(epsilon: float, n: int, delta: float) -> float:
    """Return the least epsilon' for which n shuffled reports are (epsilon', delta)-private when one answer is replaced.

    A trusted shuffler mixes the reports, which are seen once. epsilon' is at most `epsilon`; delta is in [10^-9, 1).

    This is exact. Mixed bits reveal only their sum, and replacing an answer changes the true number by one, so we
    compare neighbouring rows of `law` in both directions. The bound of Feldman, McMillan and Talwar (2021, Theorem 3.1)
    for every local randomiser is larger.
    """
    from scipy.optimize import bisect

    rows = law(epsilon, n)
    one, other = np.concatenate([rows[:-1], rows[1:]]), np.concatenate([rows[1:], rows[:-1]])

    def excess(e: float) -> float:
        return float(np.maximum(one - math.exp(e) * other, 0).sum(axis=1).max()) - delta

    if excess(epsilon) > 0:  # only because of rounding
        return epsilon
    return min(epsilon, float(bisect(excess, 0.0, epsilon, xtol=1e-6)) + 1e-6) if excess(0.0) > 0 else 0.0


def curator_count(yes: int, epsilon: float, rng: np.random.Generator) -> tuple[int, int]:
    """Return a trusted curator's noisy count of yes answers, and an error bound that holds with probability LEVEL.

    The count is (epsilon, 0)-private when one answer is replaced. Its noise z is two-sided geometric, with
    probabilities proportional to e^(-epsilon |z|) (Ghosh, Roughgarden, Sundararajan 2009).
    """
    ratio = math.exp(-epsilon)
    said = yes + int(rng.geometric(1 - ratio)) - int(rng.geometric(1 - ratio))
    # P(|z| > far) is 2 ratio^(far + 1)/(1 + ratio)
    far = math.ceil(math.log((1 - LEVEL) * (1 + ratio) / 2) / math.log(ratio) - 1)
    return said, max(far, 0)

"""Randomised response: everyone's own coin decides whether an answer or its opposite is reported (Warner 1965).

The chance of the opposite is 1/(1 + e^epsilon). So either report is at most e^epsilon times as likely with the one
answer as with the other: pure local privacy, whoever sees the reports. Of n reports the number of yes says everything
once nobody knows whose is whose. From it follows an interval for the share of true ones. Its distribution for every
possible number of true ones is one table, which gives exactly the epsilon behind a trusted shuffler.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dprl.metrics import LEVEL, Measured, clopper_pearson

Array = NDArray[np.float64]
DRAWS = 2**53  # equally likely outcomes of a coin, whole numbers from 0


def opposites(epsilon: float) -> int:
    """Return the number of the DRAWS outcomes that report the opposite: rounded up, so that epsilon is proved."""
    return math.ceil(DRAWS / (1 + math.exp(epsilon)) * (1 + 1e-12))


def flip(epsilon: float) -> float:
    """Return the chance of reporting the opposite."""
    return opposites(epsilon) / DRAWS


def report(answer: bool, epsilon: float, drawn: int) -> bool:
    """Return the report of an answer. drawn: uniform on 0 .. DRAWS - 1.

    Phones do this in assets/web/coin.js, where the answer stays.
    """
    return answer != (drawn < opposites(epsilon))


@lru_cache(maxsize=64)
def law(epsilon: float, n: int) -> Array:
    """[n + 1, n + 1]: row t, the chances of 0 .. n reports of yes when t of n answers are yes."""
    from scipy.stats import binom

    wrong = flip(epsilon)
    rows = [
        np.convolve(binom.pmf(np.arange(t + 1), t, 1 - wrong), binom.pmf(np.arange(n - t + 1), n - t, wrong))
        for t in range(n + 1)
    ]
    return np.array(rows)


def share_of_yes(reported: float, n: int, epsilon: float) -> Measured:
    """Estimate the share of n answers that were yes from the number of reports of yes, with an interval at LEVEL.

    The interval is that of Clopper and Pearson for the chance that a report is yes, corrected for the coin and cut to
    [0, 1]. It covers the true share at least that often, over the coins alone and whoever answered: n coins of
    different chances spread less than n of their mean (Hoeffding 1956). Fewer reports of yes than the coins alone give
    on average count as that many, and so do more, so the interval is never a single point.
    """
    if n == 0:
        return Measured(0.5, 0.0, 1.0)
    wrong = flip(epsilon)
    found = clopper_pearson(float(np.clip(reported, n * wrong, n * (1 - wrong))), n)
    return Measured(*(float(np.clip((share - wrong) / (1 - 2 * wrong), 0, 1)) for share in found))


@lru_cache(maxsize=1024)
def shuffled(epsilon: float, n: int, delta: float) -> float:
    """Return the least epsilon' for which n reports, mixed by a trusted shuffler and seen once, are (epsilon',
    delta)-private when one answer is replaced; at most `epsilon`. delta: from 10^-9 to below 1.

    By the definition, without a bound: mixed bits say their sum and nothing else, replacing an answer moves the true
    number by one, and all neighbouring rows of `law` are compared, both ways round. The bound of Feldman, McMillan,
    Talwar (2021, Theorem 3.1) for any local randomiser is larger.
    """
    from scipy.optimize import bisect

    rows = law(epsilon, n)
    one, other = np.concatenate([rows[:-1], rows[1:]]), np.concatenate([rows[1:], rows[:-1]])

    def excess(e: float) -> float:
        return float(np.maximum(one - math.exp(e) * other, 0).sum(axis=1).max()) - delta

    if excess(epsilon) > 0:  # by rounding alone: there it is 0
        return epsilon
    return min(epsilon, float(bisect(excess, 0.0, epsilon, xtol=1e-6)) + 1e-6) if excess(0.0) > 0 else 0.0


def curator_count(yes: int, epsilon: float, rng: np.random.Generator) -> tuple[int, int]:
    """Return a trusted curator's report of `yes` answers under (epsilon, 0) when one is replaced, and its largest
    distance from the truth in LEVEL of all draws.

    The noise z is two-sided geometric, with chances in proportion to e^(-epsilon |z|) (Ghosh, Roughgarden, Sundararajan
    2009).
    """
    ratio = math.exp(-epsilon)
    said = yes + int(rng.geometric(1 - ratio)) - int(rng.geometric(1 - ratio))
    # P(|z| > far) is 2 ratio^(far + 1)/(1 + ratio)
    far = math.ceil(math.log((1 - LEVEL) * (1 + ratio) / 2) / math.log(ratio) - 1)
    return said, max(far, 0)

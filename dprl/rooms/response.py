"""Randomised response: everyone's own coin decides whether an answer or its opposite is reported (Warner 1965).

The chance of the opposite is 1/(1 + e^epsilon). So either report is at most e^epsilon times as likely with the one
answer as with the other: pure local privacy, whoever sees the reports. Of n reports the number of yes says everything
once nobody knows whose is whose. Its law for every possible number of true ones is one table, from which an interval
for the true number and what a trusted shuffler would prove are read off exactly.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dprl.metrics import LEVEL, Measured

Array = NDArray[np.float64]
DRAWS = 2**53  # equally likely outcomes of a coin, whole numbers from 0


def opposites(epsilon: float) -> int:
    """How many of the DRAWS outcomes report the opposite: rounded up, so that epsilon is proved and never more."""
    return math.ceil(DRAWS / (1 + math.exp(epsilon)) * (1 + 1e-12))


def flip(epsilon: float) -> float:
    """The chance of reporting the opposite."""
    return opposites(epsilon) / DRAWS


def report(answer: bool, epsilon: float, drawn: int) -> bool:
    """What is reported of an answer. drawn: uniform on 0 .. DRAWS - 1.

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


def answered_yes(reported: int, n: int, epsilon: float) -> Measured:
    """How many of n answers were yes, when `reported` of the reports are, with an interval at LEVEL.

    The value is unbiased but for being kept within 0 .. n. In the interval are the numbers that a test of both tails
    does not reject. It covers the true number, whatever that is, at least so often, over the coins alone: nothing is
    assumed of who answered. Where so few or so many yes are reported that every number is rejected, it is the value.
    """
    rows, wrong = law(epsilon, n), flip(epsilon)
    value = float(np.clip((reported - n * wrong) / (1 - 2 * wrong), 0, n))
    tail = (1 - LEVEL) / 2
    at_most, at_least = rows[:, : reported + 1].sum(axis=1), rows[:, reported:].sum(axis=1)
    kept = np.flatnonzero((at_most > tail) & (at_least > tail))
    low, high = (float(kept[0]), float(kept[-1])) if len(kept) else (value, value)
    return Measured(value, min(low, value), max(high, value))


@lru_cache(maxsize=1024)
def if_more(share: float, n: int, epsilon: float) -> Measured:
    """What `answered_yes` would say of n answers if this share of the reports were yes: the same law, for any n.

    A true number more makes many reports of yes likelier. So the numbers that no test rejects have no gaps, and the
    ends are found by halving; no table of all of them is made.
    """
    from scipy.stats import binom

    wrong, reported, tail = flip(epsilon), round(share * n), (1 - LEVEL) / 2

    def chance_below(t: int, k: int) -> float:
        """That at most k reports are yes when t answers are."""
        right = np.arange(t + 1)
        of_no = binom.cdf(k - right, n - t, wrong)
        return float(binom.pmf(right, t, 1 - wrong) @ of_no)

    def first(holds: Callable[[int], bool]) -> int:
        """The first of 0 .. n from which on it holds; n + 1 if it never does."""
        return bisect_left(range(n + 1), True, key=holds)

    low = first(lambda t: 1 - chance_below(t, reported - 1) > tail)
    high = first(lambda t: chance_below(t, reported) <= tail) - 1
    value = float(np.clip((reported - n * wrong) / (1 - 2 * wrong), 0, n))
    if low > high:
        low = high = round(value)
    return Measured(value, min(low, value), max(high, value))


@lru_cache(maxsize=1024)
def shuffled(epsilon: float, n: int, delta: float) -> float:
    """The least epsilon' for which n reports, mixed by a trusted shuffler and seen once, are (epsilon', delta)-private
    when one answer is replaced; at most `epsilon`. delta: from 10^-9 to below 1.

    By the definition, without a bound: mixed bits say their sum and nothing else, replacing an answer moves the true
    number by one, and all neighbouring rows of `law` are compared, both ways round. What Feldman, McMillan, Talwar
    (2021, Theorem 3.1) prove of any local randomiser is larger.
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
    """What a trusted curator says of `yes` answers under (epsilon, 0) when one is replaced, and how far from the truth
    that is at most, in LEVEL of all draws.

    The noise z is two-sided geometric, with chances in proportion to e^(-epsilon |z|) (Ghosh, Roughgarden, Sundararajan
    2009).
    """
    ratio = math.exp(-epsilon)
    said = yes + int(rng.geometric(1 - ratio)) - int(rng.geometric(1 - ratio))
    # P(|z| > far) is 2 ratio^(far + 1)/(1 + ratio)
    far = math.ceil(math.log((1 - LEVEL) * (1 + ratio) / 2) / math.log(ratio) - 1)
    return said, max(far, 0)

"""Verdicts on claims, from comparisons of statistics with thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from dprl.metrics.attack import Measured
from dprl.metrics.curves import Array, regret_band
from dprl.metrics.growth import FLAT

Verdict = Literal[
    "holds", "holds as an upper bound", "nothing learned yet", "undecided", "does not hold here"
]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True)
class Finding:
    """A measurement, its interval at LEVEL, and the verdict. If a claim holds, the interval is within `zone`."""

    value: float
    low: float
    high: float
    threshold: float
    verdict: Verdict
    zone: tuple[float, float] = (np.nan, np.nan)


def t_interval(values: Array, tests: int = 1) -> Measured:
    """Return the mean of values [seeds] with its Bonferroni-corrected t interval, or NaN if it cannot be computed."""
    if len(values) < 2 or not np.isfinite(values).all():
        return Measured(np.nan, np.nan, np.nan)
    return Measured(*(float(end[0]) for end in regret_band(values[:, None], tests)))


def every_more_than(rows: Array, threshold: float, early: Sequence[bool] = ()) -> Finding:
    """Judge the claim that several measurements, rows [N, seeds], are all above the threshold, with joint confidence.
    The worst verdict decides. `early` [N] marks measurements that compare runs that have learned nothing yet."""
    found = [more_than(t_interval(row, len(rows)), threshold) for row in rows]
    for place in np.flatnonzero(early):
        found[place] = replace(found[place], verdict="nothing learned yet")
    worst = overall([one.verdict for one in found])
    deciding = [one for one in found if one.verdict == worst]
    return min(deciding, key=lambda one: one.low if np.isfinite(one.low) else -np.inf)


def more_than(found: Measured, threshold: float) -> Finding:
    """Judge the claim that a value is above the threshold."""
    holds, fails = found.low > threshold, found.high < threshold
    return Finding(*found, threshold, _verdict(holds, fails), (threshold, np.inf))


def at_most(found: Measured, threshold: float) -> Finding:
    """Judge the claim that a value is at or below the threshold."""
    holds, fails = found.high <= threshold, found.low > threshold
    return Finding(*found, threshold, _verdict(holds, fails), (-np.inf, threshold))


def grows(found: Measured, most: float) -> Finding:
    """Judge the claim that an exponent is above 0 and at most `most`. As an upper bound, it also holds at 0."""
    if found.high <= FLAT:
        verdict: Verdict = "holds as an upper bound"
    else:
        verdict = _verdict(found.low > FLAT and found.high <= most + FLAT, found.low > most + FLAT)
    return Finding(*found, FLAT, verdict, (FLAT, most + FLAT))


def rate(found: Measured, exponent: float) -> Finding:
    """Judge whether a measured exponent is within FLAT of an upper bound's exponent, below it, or above it."""
    low, high = exponent - FLAT, exponent + FLAT
    if found.low >= low and found.high <= high:
        verdict: Verdict = "holds"
    elif found.high <= high:
        verdict = "holds as an upper bound"
    else:
        verdict = "does not hold here" if found.low > high else "undecided"
    return Finding(*found, exponent, verdict, (low, high))


def overall(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the worst verdict, for a claim that was tested in several settings."""
    return max(verdicts, key=VERDICTS.index)


def _verdict(holds: bool, fails: bool) -> Verdict:
    return "holds" if holds else "does not hold here" if fails else "undecided"


def least(shares: Sequence[Array]) -> float:
    """Return the smallest known share, or infinity if no share is known."""
    return float(min((np.fmin.reduce(one, initial=np.inf) for one in shares), default=np.inf))


def fewest_pulls(epsilon: float, gap: float, beta: float) -> float:
    """Return a lower bound on the expected number of pulls of one bad arm by an (epsilon, 0)-private bandit learner.

    It is ln(1/(4 beta)) / (24 epsilon gap) for an arm that pays `gap` less than the best, and for learners that find
    the best arm with probability at least 1 - beta on every instance with any gap, 0 < beta < 1/4 (Vietri et al. 2020,
    Lemma 8). docs/report/online.md has the proof, because the paper's own exchanges two arms.
    """
    return float(np.log(1 / (4 * beta)) / (24 * epsilon * gap))

"""Bands over seeds, and derived measures of regret: per episode, or beyond the baseline's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Integers = NDArray[Any]

Statistic = Literal["mean", "median"]

LEVEL = 0.95
FEWEST_FOR_MEDIAN = 6  # with fewer seeds a median has no 95% interval


def align(seeds: Sequence[tuple[Integers, Array]]) -> tuple[Integers, Array]:
    """Combine the curves of one spec's seeds, each (episodes [c], values [c]), perhaps unfinished, into one table.

    Seeds of one spec share their checkpoints, so each curve's episodes are a prefix of the longest. Returns (episodes
    [C], values [seeds, C]), with NaN after a seed's end. Raises ValueError if the checkpoints disagree.
    """
    longest = max((episodes for episodes, _ in seeds), key=len, default=np.zeros(0, np.int64))
    table = np.full((len(seeds), len(longest)), np.nan)
    for row, (episodes, values) in zip(table, seeds, strict=True):
        if not np.array_equal(episodes, longest[: len(episodes)]):
            raise ValueError("these seeds do not share their checkpoints, so they are not of one spec")
        row[: len(values)] = values
    return longest, table


def regret_band(regret: Array) -> tuple[Array, Array, Array]:
    """Return the mean over seeds and its 95% t interval: (mean, low, high), each [C], of regret [seeds, C].

    Any other measurement [seeds, C] works, too. The interval is NaN with one seed; all three are NaN at checkpoints
    where a seed is NaN, because a mean over fewer and fewer seeds would jump.
    """
    from scipy.special import stdtrit

    count, points = regret.shape
    if count == 0:
        nothing = np.full(points, np.nan)
        return nothing, nothing.copy(), nothing.copy()
    mean = regret.mean(axis=0)
    if count == 1:
        return mean, np.full(points, np.nan), np.full(points, np.nan)
    half = stdtrit(count - 1, (1 + LEVEL) / 2) * regret.std(axis=0, ddof=1) / np.sqrt(count)
    return mean, mean - half, mean + half


def median_band(values: Array) -> tuple[Array, Array, Array]:
    """Return the median over seeds and its 95% interval: (median, low, high), each [C], of values [seeds, C].

    A mean is not informative if one seed in twenty may lose a thousand times as much as the others. The interval lies
    between two of the ordered seeds and assumes nothing about their distribution (the number of seeds below the median
    is binomial). It is NaN with fewer than FEWEST_FOR_MEDIAN seeds, because even their extremes cover less than 95%.
    All three are NaN if a seed is NaN.
    """
    from scipy.special import bdtr

    count, points = values.shape
    nothing = np.full(points, np.nan)
    if count == 0:
        return nothing, nothing.copy(), nothing.copy()
    ordered = np.sort(values, axis=0)  # NaN last
    ordered[:, np.isnan(ordered[-1])] = np.nan
    # The largest rank j with P(fewer than j of `count` seeds lie below the median) at most half of the allowed error.
    below = bdtr(np.arange(count), count, 0.5)
    rank = int(np.sum(below <= (1 - LEVEL) / 2))
    median: Array = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    if rank == 0:
        return median, nothing, nothing.copy()
    return median, ordered[rank - 1], ordered[count - rank]


# Statistics that may be drawn over several seeds, each with its 95% interval.
BANDS: Mapping[Statistic, Callable[[Array], tuple[Array, Array, Array]]] = {
    "mean": regret_band,
    "median": median_band,
}


def per_episode(episodes: Integers, regret: Array) -> Array:
    """Return the average regret per episode so far, [..., C], of cumulative regret [..., C] at episodes [C]."""
    average: Array = regret / np.asarray(episodes, float)
    return average


def extra_regret(
    episodes: Integers, regret: Array, baseline_episodes: Integers, baseline_regret: Array
) -> tuple[Integers, Array]:
    """Return the privacy cost: cumulative regret [seeds, C] minus the non-private baseline's, seed by seed.

    Seed i is paired with the baseline's seed i (they share the environment's random stream); unpaired seeds are left
    out. Between its checkpoints the baseline is interpolated linearly from (0, 0): between two releases the policy is
    fixed and regret is linear. NaN past the baseline's end. Returns (episodes [C], extra [pairs, C]).
    """
    pairs = min(len(regret), len(baseline_regret))
    extra = np.empty((pairs, len(episodes)))
    for seed in range(pairs):
        known = np.isfinite(baseline_regret[seed])
        baseline = np.interp(
            np.asarray(episodes, float),
            np.concatenate([[0.0], np.asarray(baseline_episodes, float)[known]]),
            np.concatenate([[0.0], baseline_regret[seed][known]]),
            right=np.nan,
        )
        extra[seed] = regret[seed] - baseline
    return episodes, extra

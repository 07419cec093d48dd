"""Results of runs (from the store, a bundled file or the engine), and the evidence for claims and lessons."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]
Integers = NDArray[Any]

Statistic = Literal["mean", "median"]

LEVEL = 0.95
FEWEST_FOR_MEDIAN = 6  # with fewer seeds a median has no 95% interval


def align(seeds: Sequence[tuple[Integers, Array]]) -> tuple[Integers, Array]:
    """Combine the curves (episodes [c], values [c]) of a spec's seeds, which may be unfinished, into one table.

    Seeds of one spec share their checkpoints, so each curve's episodes are a prefix of the longest. Returns (episodes
    [C], values [seeds, C]), with NaN after a seed's end. Raises ValueError if the checkpoints disagree.
    """
    longest = max((episodes for episodes, _ in seeds), key=len, default=np.zeros(0, np.int64))
    table = np.full((len(seeds), len(longest)), np.nan)
    for row, (episodes, values) in zip(table, seeds, strict=True):
        if not np.array_equal(episodes, longest[: len(episodes)]):
            raise ValueError("these seeds have different checkpoints, so they do not belong to one spec")
        row[: len(values)] = values
    return longest, table


def regret_band(regret: Array, tests: int = 1) -> tuple[Array, Array, Array]:
    """Return the mean of regret [seeds, C] over seeds and its 95% t interval: (mean, low, high), [C] each.

    The interval is corrected for joint tests (Bonferroni), and NaN with one seed. All three are NaN at checkpoints
    where a seed is NaN, because a mean over fewer and fewer seeds would jump.
    """
    from scipy.special import stdtrit

    count, points = regret.shape
    mean = regret.mean(axis=0) if count else np.full(points, np.nan)
    if count < 2:
        return mean, np.full(points, np.nan), np.full(points, np.nan)
    half = stdtrit(count - 1, 1 - (1 - LEVEL) / (2 * tests)) * regret.std(axis=0, ddof=1) / np.sqrt(count)
    return mean, mean - half, mean + half


def median_band(values: Array) -> tuple[Array, Array, Array]:
    """Return the median of values [seeds, C] over seeds and its 95% interval: (median, low, high), [C] each.

    The interval lies between two of the ordered seeds and assumes nothing about their distribution (the number of seeds
    below the median is binomial). It is NaN with fewer than FEWEST_FOR_MEDIAN seeds, because even their extremes cover
    less than 95%. All three are NaN if a seed is NaN.
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


@dataclass(frozen=True, eq=False)
class RunCurves:
    """The known measurements of each seed of a run: regret over episodes, or suboptimality over the size of a data set.

    Attributes:
        at: [C] checkpoints, ascending, perhaps thinned.
        values: [seeds, C], NaN if a seed has not reached a checkpoint.
        ended: whether the last checkpoint is the end of the run.
        noise_std: standard deviation of the noise in one counter at the worst release, None without privacy.
        lower: [seeds, C], the lower bound V~ of a run on data sets, if it was stored.
        token: a text that changes when any of these values changes.
    """

    at: NDArray[np.int64]
    values: Array
    ended: bool = True
    v_star: float = math.nan
    noise_std: float | None = None
    lower: Array | None = None
    token: str = "finished"

    @property
    def done(self) -> NDArray[np.bool_]:
        """Return whether each seed is finished, [seeds]."""
        return np.isfinite(self.values[:, -1]) if self.ended else np.zeros(len(self.values), bool)

    @property
    def begun(self) -> bool:
        """Return whether any value of any seed is known."""
        return bool(np.isfinite(self.values).any())

    @property
    def averaged(self) -> Array:
        """Return the rows that a mean uses: the finished seeds, or all that have started if none is finished."""
        done = self.done
        return self.values[done] if done.any() else self.values[np.isfinite(self.values).any(axis=1)]

    @property
    def ends(self) -> Array:
        """Return the values at the last checkpoint, [seeds]."""
        return self.values[:, -1]

    def whole(self, seeds: int) -> bool:
        """Return whether the run has this number of seeds and all of them are finished."""
        return len(self.values) == seeds and bool(self.done.all())

    def frame(self, axis: str, measure: str) -> pd.DataFrame:
        """Return a tidy table with the columns `seed`, `axis` and `measure`."""
        import pandas as pd

        seeds = np.repeat(np.arange(len(self.values)), len(self.at))
        return pd.DataFrame(
            {"seed": seeds, axis: np.tile(self.at, len(self.values)), measure: self.values.ravel()}
        )

    def beyond(self, baseline: RunCurves) -> Array:
        """Return the privacy cost [pairs, C]: regret minus the non-private baseline's.

        Seeds with the same number are paired, because they share the environment's random stream. The baseline is
        interpolated linearly from (0, 0), because regret is linear between two releases. The cost is NaN past the
        baseline's end.
        """
        pairs = min(len(self.values), len(baseline.values))
        extra = np.empty((pairs, len(self.at)))
        for seed, row in enumerate(baseline.values[:pairs]):
            known = np.isfinite(row)
            at, free = np.append(0.0, baseline.at[known]), np.append(0.0, row[known])
            extra[seed] = self.values[seed] - np.interp(self.at, at, free, right=np.nan)
        return extra


@dataclass(frozen=True)
class Evidence:
    """The evidence for claims and lessons: runs by spec, and answers by question and spec."""

    runs: Mapping[Any, RunCurves]
    answers: Mapping[tuple[str, Any], Any]


def thinned(at: NDArray[np.int64], points: int) -> NDArray[np.intp]:
    """Return the indices of the checkpoints to keep: the first at or after each of `points` log-spaced targets."""
    targets = np.geomspace(at[0], at[-1], points)
    targets[-1] = at[-1]  # exact, because rounding may exceed the last checkpoint
    return np.unique(np.searchsorted(at, targets))

"""The known results of runs: their curves and, with answers to questions, the evidence for claims and lessons.

All sources of runs (the store, a file that comes with the program, the engine itself) use this form.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dprl import metrics

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RunCurves:
    """The known measurements of each seed of a run: regret over episodes, or suboptimality over the size of a data set.

    Attributes:
        at: [C] checkpoints, ascending, perhaps thinned.
        values: [seeds, C], NaN if a seed has not reached a checkpoint.
        ended: whether the last checkpoint is the end of the run.
        v_star: V*, NaN if unknown.
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

    def upto(self, size: int) -> Array:
        """Return the values [seeds] at the checkpoint `size`."""
        (place,) = np.flatnonzero(self.at == size)
        found: Array = self.values[:, place]
        return found

    def frame(self, axis: str, measure: str) -> pd.DataFrame:
        """Return a tidy table with the columns seed, `axis` and `measure`."""
        import pandas as pd

        seeds = np.repeat(np.arange(len(self.values)), len(self.at))
        return pd.DataFrame(
            {"seed": seeds, axis: np.tile(self.at, len(self.values)), measure: self.values.ravel()}
        )

    def beyond(self, baseline: RunCurves) -> Array:
        """Return the extra regret over the non-private baseline, seed by seed, [seeds, C]."""
        return metrics.extra_regret(self.at, self.values, baseline.at, baseline.values)[1]


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

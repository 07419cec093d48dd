"""Sweeps: whether more of something is ever significantly worse, and where nothing was learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dprl.metrics.seeds import Array


@dataclass(frozen=True)
class Reversal:
    """Two points of a sweep in the wrong order: at the larger x the mean is larger by `excess`; p: Holm-corrected."""

    group: str
    smaller: float
    larger: float
    excess: float
    p: float


def reversals(groups: Mapping[str, tuple[Array, Array]], level: float = 0.05) -> tuple[int, list[Reversal]]:
    """Where a larger x gives a significantly larger value, although it should give less.

    groups: name to (x [P] ascending, values [seeds, P]). Every pair of points of a group is compared by a one-sided
    t test, paired by seed (they share the environment's stream), and all tests together are corrected as Holm (1979)
    does, so that with probability 1 - level none is found where there is none. Returns how many pairs were compared,
    and those found. Points that miss a seed are left out, and with one seed nothing can be compared.
    """
    from scipy.special import stdtr

    tests = []
    for name, (x, values) in groups.items():
        known = np.flatnonzero(np.isfinite(values).all(axis=0))
        for i, small in enumerate(known):
            for large in known[i + 1 :]:
                difference = values[:, large] - values[:, small]
                if len(difference) < 2:
                    continue
                mean, spread = difference.mean(), difference.std(ddof=1) / np.sqrt(len(difference))
                with np.errstate(divide="ignore", invalid="ignore"):
                    p = float(np.nan_to_num(stdtr(len(difference) - 1, -mean / spread), nan=1.0))
                tests.append(Reversal(name, float(x[small]), float(x[large]), float(mean), p))
    found, corrected = [], 0.0
    for rank, test in enumerate(sorted(tests, key=lambda t: t.p)):
        corrected = max(corrected, min(1.0, test.p * (len(tests) - rank)))
        if corrected > level:
            break
        found.append(replace(test, p=corrected))
    return len(tests), found


def share_of_worst(mean: Array, worst: Array) -> Array:
    """What share [P] of all there is to lose, worst [P], was lost; NaN where there is nothing to lose."""
    found = np.full(len(mean), np.nan)
    np.divide(mean, worst, out=found, where=worst > 0)
    return found


def least(shares: Sequence[Array]) -> float:
    """The least of all shares that are known, infinite where none is."""
    return float(min((np.fmin.reduce(one, initial=np.inf) for one in shares), default=np.inf))

"""Numbers of runs on data sets of growing size: when a policy is good, and where a penalty takes all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprl.metrics.seeds import Array, Integers


def enough(at: Integers, gap: Array, level: float) -> float:
    """The least size from which on the gap [C] stays at or below the level, among the sizes at [C]; NaN for none."""
    above = np.flatnonzero(~(gap <= level))
    first = 0 if not len(above) else int(above[-1]) + 1
    return float(at[first]) if first < len(at) else np.nan


class Bite(NamedTuple):
    """Where pessimism takes all that an action seems worth.

    Attributes:
        share: of all (h, s, a) that seem worth something.
        path: of the steps of an optimal episode, in whose states and actions.
        steps: at which an optimal episode meets it with a chance of at least one half.
    """

    share: float
    path: float
    steps: tuple[int, ...]


def bite(Q_hat: Array, Q: Array, policy: NDArray[Any], occupancy: Array) -> Bite:
    """Of values [H, S, A] before and after the penalty, and the optimal policy [H, S] with its occupancy [H, S]."""
    worth = Q_hat > 0
    taken = worth & (Q <= 0)
    on_path = np.take_along_axis(taken, policy[..., None].astype(np.intp), -1)[..., 0]
    each = (on_path * occupancy).sum(-1)
    share = float(taken.sum() / max(int(worth.sum()), 1))
    return Bite(share, float(each.mean()), tuple(int(h) for h in np.flatnonzero(each >= 0.5)))


def rarest(behaviour: Array, best: Array) -> tuple[int, int, int]:
    """Of the (h, s, a) that the best policy visits, d* > 0, the one that the data visit least: d^mu, [H, S, A] each."""
    at = np.where(best > 0, behaviour, np.inf)
    h, s, a = np.unravel_index(int(at.argmin()), at.shape)
    return int(h), int(s), int(a)

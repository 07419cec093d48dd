"""Comparisons of policies with the optimal one, the noise in counts, and the data needed for a good policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprl.metrics.curves import Array


def worse_actions(
    policy: NDArray[Any], optimal_policy: NDArray[Any], optimal_Q: Array | None = None
) -> NDArray[np.bool_]:
    """Return whether each action [H, S] of a policy is worse than the optimal one or, without optimal_Q, different."""
    if optimal_Q is None:
        return np.asarray(policy != optimal_policy)
    mine = np.take_along_axis(optimal_Q, policy[..., None].astype(np.intp), axis=2)[..., 0]
    best = optimal_Q.max(axis=2)
    return np.asarray(mine < best - 1e-9 * np.maximum(1.0, np.abs(best)))


def time_shared(occupancy: Array, optimal_occupancy: Array) -> float:
    """Return the overlap between the occupancies [H, S] of a policy and the optimal one, averaged over all steps."""
    return float(np.minimum(occupancy, optimal_occupancy).sum() / len(occupancy))


def optimism(estimate: Array, optimal: Array) -> tuple[float, float]:
    """Return the share of estimated values [H, ...] at or above the optimal ones, and their mean excess at step 0."""
    return float(np.mean(estimate >= optimal - 1e-9)), float(np.mean(estimate[0] - optimal[0]))


@dataclass(frozen=True)
class CountNoise:
    """A summary of the noise in a set of cells (counts)."""

    typical: float  # root mean square of the errors
    largest: float  # the largest absolute error
    most: float  # the largest true count
    drowned: float  # share of the cells whose true count is below the typical error
    negative: float  # share of the cells whose noisy count is below zero


def count_noise(true: Array, noisy: Array) -> CountNoise:
    """Measure the effect of the noise on true counts of any shape. NaN errors (unknown counts) are left out."""
    error = noisy - true
    error = error[np.isfinite(error)]
    if not error.size:
        return CountNoise(0.0, 0.0, 0.0, 0.0, 0.0)
    typical = float(np.sqrt(np.mean(np.square(error))))
    return CountNoise(
        typical,
        float(np.abs(error).max()),
        float(true.max()),
        float(np.mean(true < typical)),
        float(np.mean(noisy < 0)),
    )


class Bite(NamedTuple):
    """The effect of a penalty that reduces the estimated values of some actions (h, s, a) to 0."""

    share: float  # share of these actions among all (h, s, a) with an estimated value above 0
    path: float  # expected share of steps of an optimal episode at which the optimal action is one of these


def bite(Q_hat: Array, Q: Array, policy: NDArray[Any], occupancy: Array) -> Bite:
    """Compare values [H, S, A] before (Q_hat) and after (Q) a penalty, given the optimal policy and occupancy."""
    worth = Q_hat > 0
    taken = worth & (Q <= 0)
    on_path = np.take_along_axis(taken, policy[..., None].astype(np.intp), -1)[..., 0]
    share = float(taken.sum() / max(int(worth.sum()), 1))
    return Bite(share, float((on_path * occupancy).sum(-1).mean()))


def rarest(behaviour: Array, best: Array) -> tuple[int, int, int]:
    """Return the (h, s, a) that the data visit least among those with best > 0, given two occupancies [H, S, A]."""
    at = np.where(best > 0, behaviour, np.inf)
    h, s, a = np.unravel_index(int(at.argmin()), at.shape)
    return int(h), int(s), int(a)

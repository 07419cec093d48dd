"""Policies against the optimal one: where they are worse, where they spend their time, how hopeful they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.metrics.seeds import Array

Policy = NDArray[np.integer[Any]]


def worse_actions(
    policy: Policy, optimal_policy: Policy, optimal_Q: Array | None = None
) -> NDArray[np.bool_]:
    """Where, [H,S], the policy's action is worth less than the optimal one's (by optimal_Q [H,S,A], if given)."""
    if optimal_Q is None:
        return np.asarray(policy != optimal_policy)
    mine = np.take_along_axis(optimal_Q, policy[..., None].astype(np.intp), axis=2)[..., 0]
    best = optimal_Q.max(axis=2)
    return np.asarray(mine < best - 1e-9 * np.maximum(1.0, np.abs(best)))


def weighed(wrong: NDArray[np.bool_], optimal_occupancy: Array) -> Array:
    """Mistakes [H,S], each as often as the optimal policy is there [H,S]."""
    return np.where(wrong, optimal_occupancy, 0.0)


def action_shares(policy: Policy, actions: int) -> Array:
    """[A] the share of states (and steps) in which each action is chosen, by a policy of any shape."""
    return np.asarray(np.bincount(policy.ravel().astype(int), minlength=actions) / policy.size)


def time_shared(occupancy: Array, optimal_occupancy: Array) -> float:
    """The share of an episode spent where and when the optimal policy would be, from occupancies [H,S]."""
    return float(np.minimum(occupancy, optimal_occupancy).sum() / len(occupancy))


def optimism(estimate: Array, optimal: Array) -> tuple[float, float]:
    """Where an estimated value [H, ...] is at least the optimum (share of all), and its mean excess at step 0."""
    return float(np.mean(estimate >= optimal - 1e-9)), float(np.mean(estimate[0] - optimal[0]))

"""Data for a drawing that shows single users of a run (or of the best policy) while the visit counts grow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.figures import one_user as figures
from dprl.learners import ALGORITHMS
from dprl.mdp import TabularMDP, planning
from dprl.metrics.curves import Array, Integers
from dprl.simulation import SeedTrace

APART = 4.0  # smallest factor between the numbers of users at two successive moments
DECADES = tuple(10**i for i in range(7))  # numbers of users who follow the best policy
VISITS = -2  # index of the visits in a row of counters


def drawable(mdp: TabularMDP) -> bool:
    """Return whether users of this environment can be drawn."""
    return mdp.dense and figures.drawable(mdp.drawing, mdp.S)


def shown_of(mdp: TabularMDP) -> dict[str, Any]:
    return {"drawing": mdp.drawing, "states": mdp.state_labels, "actions": mdp.action_labels}


def best_content(mdp: TabularMDP) -> dict[str, Any]:
    """Return the data for drawing the best policy: exact expected visits, and users sampled with a fixed seed."""
    random, best = np.random.default_rng(0), planning.optimum(mdp).policy
    visits = planning.occupancy(mdp, best).sum(0)
    moments = [
        figures.Moment(users, users * visits, None, None, episode(mdp.P, mdp.d1, best, random))
        for users in DECADES
    ]
    return figures.one_user(moments, None, **shown_of(mdp), counted="expected")


def content(mdp: TabularMDP, trace: SeedTrace) -> dict[str, Any]:
    """Return the data for drawing one seed's users, sampled from the model with a separate random seed."""
    spec = trace.spec
    random = np.random.default_rng([spec.root_seed, trace.seed])
    counted = ALGORITHMS[spec.algorithm].statistic.counted
    moments, best = [], []
    for at in apart(trace.detail_episodes, APART):
        chances = trace.chances[at] if trace.chances.size else None
        policy = trace.policy[at]
        played = np.eye(mdp.A)[policy] if chances is None else chances
        value = float((trace.occupancy[at][..., None] * played * mdp.R).sum())
        moments.append(
            figures.Moment(
                int(trace.detail_episodes[at]),
                _by_state(trace.counts[at]) if counted else np.zeros(mdp.S),
                _by_state(trace.noisy[at]) if counted and spec.privacy != "none" else None,
                max(0.0, 1 - value / trace.v_star) if trace.v_star else 0.0,
                episode(mdp.P, mdp.d1, policy, random, chances),
            )
        )
        best.append(episode(mdp.P, mdp.d1, trace.optimal_policy, random))
    return figures.one_user(moments, best, **shown_of(mdp))


def _by_state(counts: Any) -> Any:
    return np.nan_to_num(counts[..., VISITS]).sum(axis=(0, 2))


def episode(
    P: Array,
    first: Array,
    policy: NDArray[np.integer],
    random: np.random.Generator,
    chances: Array | None = None,
) -> tuple[list[int], list[int]]:
    """Return the states and the actions of one user as two lists of H numbers. P [H, S, A, S] and `first` [S] are the
    probabilities of the next and the first state. The user follows `policy` [H, S] or, if given, the action
    probabilities `chances` [H, S, A]."""
    H, S = P.shape[:2]
    state, states, actions = int(random.choice(S, p=first)), [], []
    for h in range(H):
        action = int(policy[h, state])
        if chances is not None:  # stored probabilities are rounded and need not add up to one
            own = chances[h, state]
            action = int(random.choice(len(own), p=own / own.sum()))
        states.append(state)
        actions.append(action)
        state = int(random.choice(S, p=P[h, state, action]))
    return states, actions


def apart(at: Integers, times: float) -> list[int]:
    """Return indices of ascending values, each at least `times` the previous one. They include the last value."""
    kept = [len(at) - 1]
    for i in range(len(at) - 2, -1, -1):
        if at[i] * times <= at[kept[-1]]:
            kept.append(i)
    return kept[::-1]

"""Users of a run, or of the best policy, one after another, and the counts that fill meanwhile: as they are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.figures import one_user as figures
from dprl.learners import ALGORITHMS
from dprl.mdp import TabularMDP, planning
from dprl.simulation import SeedTrace

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

APART = 4.0  # times as many users, or more, from one moment that is shown to the next
DECADES = tuple(10**i for i in range(7))  # users of the best policy
VISITS = -2  # where a row of counters has them


def drawable(mdp: TabularMDP) -> bool:
    """Return whether users of this environment can be drawn."""
    return mdp.dense and figures.drawable(mdp.drawing, mdp.S)


def best_content(mdp: TabularMDP) -> dict[str, Any]:
    """All that is drawn of the best policy: expected visits, exactly, and users drawn from the model by a seed."""
    random, best = np.random.default_rng(0), planning.optimum(mdp).policy
    visits = planning.occupancy(mdp, best).sum(0)
    moments = [
        figures.Moment(users, users * visits, None, None, episode(mdp.P, mdp.d1, best, random))
        for users in DECADES
    ]
    return figures.one_user(
        moments,
        None,
        drawing=mdp.drawing,
        states=mdp.state_labels,
        actions=mdp.action_labels,
        counted="expected",
    )


def content(mdp: TabularMDP, trace: SeedTrace) -> dict[str, Any]:
    """Return all that is drawn of one seed. Users are drawn from the model, by a seed of their own."""
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
    return figures.one_user(
        moments,
        best,
        drawing=mdp.drawing,
        states=mdp.state_labels,
        actions=mdp.action_labels,
    )


def _by_state(counts: Any) -> Any:
    return np.nan_to_num(counts[..., VISITS]).sum(axis=(0, 2))


def episode(
    P: Array,
    first: Array,
    policy: NDArray[np.integer],
    random: np.random.Generator,
    chances: Array | None = None,
) -> tuple[list[int], list[int]]:
    """Return the state of one user at each step and the action there: two lists of H numbers.

    Args:
        P: [H, S, A, S] chances of the next state.
        first: [S] chances of the first one.
        policy: [H, S] actions.
        random: what the episode is drawn with.
        chances: [H, S, A] of the actions of a stochastic policy, instead of `policy`.
    """
    H, S = P.shape[:2]
    state, states, actions = int(random.choice(S, p=first)), [], []
    for h in range(H):
        action = int(policy[h, state]) if chances is None else _drawn(chances[h, state], random)
        states.append(state)
        actions.append(action)
        state = int(random.choice(S, p=P[h, state, action]))
    return states, actions


def _drawn(chances: Array, random: np.random.Generator) -> int:
    """Draw an action; kept chances are rounded, so that they need not add up to one."""
    return int(random.choice(len(chances), p=chances / chances.sum()))


def apart(at: Ints, times: float) -> list[int]:
    """Places in `at`, which increases: of each two that follow, the later is `times` as large or more. The last of
    `at` is among them."""
    kept = [len(at) - 1]
    for i in range(len(at) - 2, -1, -1):
        if at[i] * times <= at[kept[-1]]:
            kept.append(i)
    return kept[::-1]

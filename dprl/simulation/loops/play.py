"""The part that all loops share: let users play between two releases, and record points on the curve.

`setup` and `state` are the loop's own records, with fields as in replan_kernels.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dprl.engine import kernel
from dprl.mdp import planning
from dprl.mdp.tabular import Array
from dprl.simulation.blocks import Model, sample, walk
from dprl.simulation.trace import Ints


class Record(NamedTuple):
    """The points of the curve, of which there are at most C.

    Attributes:
        users, regret, gap, ratio: one value for each point [C].
        pac: the number of suboptimal episodes for each alpha [C, P].
    """

    users: Ints
    regret: Array
    gap: Array
    ratio: Array
    pac: Ints


@kernel
def play(users: int, users_rng: np.random.Generator, model: Model, setup: Any, state: Any) -> None:
    """Simulate `users` users who follow the policy in `state`, and add their counts and losses to `state`."""
    if users <= setup.walk_below:
        walk(users_rng, model, state.policy, users, state.counts, state.starts)
    else:
        sample(users_rng, model, state.policy, users, state.counts, state.starts, state.here, state.there)
    lose(setup, state)


@kernel
def lose(setup: Any, state: Any) -> None:
    """Add the users' losses to the regret, and count their suboptimal episodes."""
    for s in range(state.starts.shape[0]):
        lost = max(setup.V_star[s] - state.value[0, s], 0.0)
        state.totals[0] += state.starts[s] * lost
        for j in range(setup.alphas.shape[0]):
            if lost > setup.alphas[j]:
                state.pac[j] += state.starts[s]


@kernel
def note(point: int, users: int, setup: Any, state: Any, record: Record) -> None:
    """Record a point on the curve before the current policy is replaced."""
    gap = 0.0
    for s in range(state.starts.shape[0]):
        gap += setup.d1[s] * max(setup.V_star[s] - state.value[0, s], 0.0)
    record.users[point] = users
    record.regret[point] = state.totals[0]
    record.gap[point] = gap
    record.ratio[point] = state.totals[1]
    for j in range(state.pac.shape[0]):
        record.pac[point, j] = state.pac[j]


@kernel
def play_to(
    now: int, users_rng: np.random.Generator, model: Model, setup: Any, state: Any, record: Record
) -> None:
    """Simulate users until `now` have played, and record points on the curve along the way, without a release."""
    position, targets = state.position, setup.targets
    while targets[position[4]] < now:
        play(targets[position[4]] - position[1], users_rng, model, setup, state)
        position[1] = targets[position[4]]
        note(position[3], position[1], setup, state, record)
        position[3] += 1
        position[4] += 1
    play(now - position[1], users_rng, model, setup, state)
    position[1] = now


@kernel
def note_release(setup: Any, state: Any, record: Record) -> None:
    """Record a point on the curve at this release if the number of users has reached a target."""
    position, targets = state.position, setup.targets
    if position[1] >= targets[position[4]]:
        note(position[3], position[1], setup, state, record)
        position[3] += 1
        while position[4] < targets.shape[0] and targets[position[4]] <= position[1]:
            position[4] += 1


@kernel
def follow(model: Model, state: Any) -> None:
    """Compute the exact value of the learner's policy, unless the policy is unchanged."""
    policy, played = state.policy.reshape(-1), state.played.reshape(-1)
    same = True
    for i in range(policy.shape[0]):
        if policy[i] != played[i]:
            played[i] = policy[i]
            same = False
    if not same:
        planning.evaluate(model.P, model.possible, model.R, state.played, state.value)

"""Single episodes of a policy, drawn to be shown, and the moments of a run at which they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


def episode(
    P: Array,
    first: Array,
    policy: NDArray[np.integer],
    random: np.random.Generator,
    chances: Array | None = None,
) -> tuple[list[int], list[int]]:
    """Where one user is at each step, and what is done there: two lists of H numbers.

    Args:
        P: [H, S, A, S] chances of the next state.
        first: [S] chances of the first one.
        policy: [H, S] actions.
        random: what the episode is drawn with.
        chances: [H, S, A] of the actions of a stochastic policy, in place of `policy`.
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
    """An action; kept chances are rounded, so that they need not add up to one."""
    return int(random.choice(len(chances), p=chances / chances.sum()))


def apart(at: Ints, times: float) -> list[int]:
    """Places in `at`, which increases: of each two that follow, the later is `times` as large or more. The last of
    `at` is among them."""
    kept = [len(at) - 1]
    for i in range(len(at) - 2, -1, -1):
        if at[i] * times <= at[kept[-1]]:
            kept.append(i)
    return kept[::-1]

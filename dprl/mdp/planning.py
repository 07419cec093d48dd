"""Exact planning: optimal values, the value of a policy, and how often it visits each state."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprl.kernels import kernel
from dprl.mdp.structure import TYPE, Table, next_state
from dprl.mdp.tabular import Array, TabularMDP

Policy = NDArray[np.int64]  # [H, S], actions


class Optimum(NamedTuple):
    """Q: [H, S, A], V: [H + 1, S], policy: [H, S] (the lowest optimal action)."""

    Q: Array
    V: Array
    policy: Policy


EVALUATE = f"void(float64[:,:,:,::1], {TYPE}, float64[:,:,::1], int64[:,::1], float64[:,::1])"


@kernel
def evaluate(P: Array, possible: Table, R: Array, policy: Policy, V: Array) -> None:
    """V[h, s] of a deterministic policy, written into V: [H + 1, S]. P: [H, S, A, B] on `possible`, R: [H, S, A]."""
    H, S = policy.shape
    for s in range(S):
        V[H, s] = 0.0
    for h in range(H - 1, -1, -1):
        for s in range(S):
            a = policy[h, s]
            value = R[h, s, a]
            for x in range(P.shape[3]):
                if P[h, s, a, x] > 0.0:
                    value += P[h, s, a, x] * V[h + 1, next_state(possible, h, s, a, x)]
            V[h, s] = value


def policy_values(mdp: TabularMDP, policy: Policy) -> Array:
    """V: [H + 1, S] of a deterministic policy [H, S], exactly, by backward induction."""
    V = np.zeros((mdp.H + 1, mdp.S))
    states = np.arange(mdp.S)
    for h in range(mdp.H - 1, -1, -1):
        V[h] = mdp.R[h, states, policy[h]] + _moves(mdp, h, policy) @ V[h + 1]
    return V


def _moves(mdp: TabularMDP, h: int, policy: Policy) -> Array:
    """[S, S] with which chance a policy goes from one state to another at step h."""
    states, B = np.arange(mdp.S), mdp.P.shape[3]
    chances: Array = mdp.P[h, states, policy[h]]
    if mdp.dense:
        return chances
    table = np.broadcast_to(mdp.possible[min(h, len(mdp.possible) - 1)], (mdp.S, mdp.A, B))
    moves = np.zeros((mdp.S, mdp.S + 1))  # the last column is for no state
    np.put_along_axis(moves, table[states, policy[h]], chances, axis=-1)
    return moves[:, :-1]


def optimum(mdp: TabularMDP) -> Optimum:
    """Optimal values and policy by backward induction; the lowest of equally good actions wins.

    Actions within 1e-12 of the best count as equally good, so that rounding does not choose.
    """
    V = np.zeros((mdp.H + 1, mdp.S))
    Q = np.zeros((mdp.H, mdp.S, mdp.A))
    for h in range(mdp.H - 1, -1, -1):
        if mdp.dense:
            Q[h] = mdp.R[h] + mdp.P[h] @ V[h + 1]
        else:
            Q[h] = mdp.R[h] + (mdp.P[h] * V[h + 1][mdp.possible[min(h, len(mdp.possible) - 1)]]).sum(-1)
        V[h] = Q[h].max(-1)
    best = Q >= V[:-1, :, None] - 1e-12
    return Optimum(Q, V, best.argmax(-1).astype(np.int64))


def occupancy(mdp: TabularMDP, policy: Policy) -> Array:
    """Probability [H, S] that a deterministic policy is in state s at step h."""
    visits = np.zeros((mdp.H, mdp.S))
    visits[0] = mdp.d1
    for h in range(mdp.H - 1):
        visits[h + 1] = visits[h] @ _moves(mdp, h, policy)
    return visits


def start_value(mdp: TabularMDP, V: Array) -> float:
    """Expected value of an episode: sum over s of d1[s] V[0, s]."""
    return float(mdp.d1 @ V[0])

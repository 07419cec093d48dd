"""Exact planning: optimal values, the value of a policy, and how often it visits each state."""

from __future__ import annotations

from math import exp
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprl.engine import kernel
from dprl.mdp.structure import TYPE, Table, next_state
from dprl.mdp.tabular import Array, TabularMDP

Policy = NDArray[np.int64]  # [H, S], actions
Logits = NDArray[np.float64]  # [H, S, A], log-probabilities of actions


class Optimum(NamedTuple):
    """An optimal solution: Q [H, S, A], V [H + 1, S], and policy [H, S] (the lowest of equally good actions)."""

    Q: Array
    V: Array
    policy: Policy


EVALUATE = f"void(float64[:,:,:,::1], {TYPE}, float64[:,:,::1], int64[:,::1], float64[:,::1])"


def of_logits(signature: str) -> str:
    """Return the numba signature of a kernel for stochastic policies (Logits), given its signature for a Policy."""
    return signature.replace("int64[:,::1]", "float64[:,:,::1]")


@kernel
def chance(policy: Any, h: int, s: int, a: int) -> float:
    """Return the probability with which a policy (a Policy or Logits) takes action a in state s at step h."""
    if policy.ndim == 2:
        return 1.0 if policy[h, s] == a else 0.0
    return float(exp(policy[h, s, a]))


@kernel
def likeliest(policy: Any, h: int, s: int) -> int:
    """Return the most likely action of a policy (a Policy or Logits) in state s at step h; the lowest one in a tie."""
    if policy.ndim == 2:
        return int(policy[h, s])
    best = 0
    for a in range(1, policy.shape[2]):
        if policy[h, s, a] > policy[h, s, best]:
            best = a
    return best


@kernel
def evaluate(P: Array, possible: Table, R: Array, policy: Any, V: Array) -> None:
    """Write the values of a Policy or Logits to V [H + 1, S], given P [H, S, A, B] on `possible` and R [H, S, A]."""
    H, S, A = R.shape
    for s in range(S):
        V[H, s] = 0.0
    for h in range(H - 1, -1, -1):
        for s in range(S):
            V[h, s] = 0.0
            for a in range(A):
                share = chance(policy, h, s, a)
                if share == 0.0:
                    continue
                value = R[h, s, a]
                for x in range(P.shape[3]):
                    if P[h, s, a, x] > 0.0:
                        value += P[h, s, a, x] * V[h + 1, next_state(possible, h, s, a, x)]
                V[h, s] += share * value


def policy_values(mdp: TabularMDP, policy: Policy | Array) -> Array:
    """Return the exact values V [H + 1, S] of a policy [H, S], or of action probabilities [H, S, A]."""
    V = np.zeros((mdp.H + 1, mdp.S))
    states = np.arange(mdp.S)
    for h in range(mdp.H - 1, -1, -1):
        paid = (policy[h] * mdp.R[h]).sum(-1) if policy.ndim == 3 else mdp.R[h, states, policy[h]]
        V[h] = paid + _moves(mdp, h, policy) @ V[h + 1]
    return V


def _moves(mdp: TabularMDP, h: int, policy: Policy | Array) -> Array:
    """Return the transition probabilities at step h [S, S] under a policy [H, S] or action probabilities [H, S, A]."""
    if policy.ndim == 3:
        each = (_moves(mdp, h, np.full((mdp.H, mdp.S), a)) for a in range(mdp.A))
        return sum((policy[h, :, a, None] * moves for a, moves in enumerate(each)), np.zeros((mdp.S, mdp.S)))
    states, B = np.arange(mdp.S), mdp.P.shape[3]
    chances: Array = mdp.P[h, states, policy[h]]
    if mdp.dense:
        return chances
    table = np.broadcast_to(mdp.possible[min(h, len(mdp.possible) - 1)], (mdp.S, mdp.A, B))
    moves = np.zeros((mdp.S, mdp.S + 1))  # the last column is for no state
    np.put_along_axis(moves, table[states, policy[h]], chances, axis=-1)
    return moves[:, :-1]


def optimum(mdp: TabularMDP) -> Optimum:
    """Return the optimal values and policy by backward induction. Actions within 1e-12 of the best count as ties."""
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


def occupancy(mdp: TabularMDP, policy: Policy | Array) -> Array:
    """Return the probability [H, S] of being in state s at step h under a policy [H, S] or probabilities [H, S, A]."""
    visits = np.zeros((mdp.H, mdp.S))
    visits[0] = mdp.d1
    if policy.ndim == 2 and mdp.dense:
        moves = mdp.P[np.arange(mdp.H)[:, None], np.arange(mdp.S), policy]
    else:
        moves = [_moves(mdp, h, policy) for h in range(mdp.H - 1)]
    for h in range(mdp.H - 1):
        visits[h + 1] = visits[h] @ moves[h]
    return visits


def start_value(mdp: TabularMDP, V: Array) -> float:
    """Return the expected value of an episode: sum over s of d1[s] V[0, s]."""
    return float(mdp.d1 @ V[0])

"""Pieces that every optimistic backward induction shares."""

from __future__ import annotations

from dprl.kernels import kernel


@kernel
def expectation(m, n, values):  # type: ignore[no-untyped-def]
    """sum over s' of (m[s'] / n) values[s']. m: [>= S], values: [S]."""
    total = 0.0
    for x in range(values.shape[0]):
        total += m[x] * values[x]
    return total / n


@kernel
def variance(m, n, values, mean):  # type: ignore[no-untyped-def]
    """sum over s' of (m[s'] / n) (values[s'] - mean)^2. m: [>= S], values: [S]."""
    total = 0.0
    for x in range(values.shape[0]):
        deviation = values[x] - mean
        total += m[x] * deviation * deviation
    return total / n


@kernel
def act_greedily(Q, V, policy):  # type: ignore[no-untyped-def]
    """V[s] = max over a of Q[s, a]; policy[s] = the lowest action that attains it. Q: [S, A], one step."""
    S, A = Q.shape
    for s in range(S):
        best = 0
        for a in range(1, A):
            if Q[s, a] > Q[s, best]:
                best = a
        policy[s] = best
        V[s] = Q[s, best]

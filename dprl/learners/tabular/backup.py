"""Steps of optimistic backward induction that all tabular learners share.

They index the whole array of counts [H, S, A, B + 2] because, in compiled code, a view of one row costs more than the
arithmetic on it.
"""

from __future__ import annotations

from dprl.engine import kernel
from dprl.mdp.planning import Policy
from dprl.mdp.tabular import Array


@kernel
def expectation(counts: Array, h: int, s: int, a: int, values: Array) -> float:
    """Return the estimated mean of the next value, the sum of m[h, s, a, s'] values[s'] / n[h, s, a]."""
    B = values.shape[0]
    total = 0.0
    for x in range(B):
        total += counts[h, s, a, x] * values[x]
    mean: float = total / counts[h, s, a, B]
    return mean


@kernel
def moments(counts: Array, h: int, s: int, a: int, values: Array, origin: float) -> tuple[float, float]:
    """Return the mean and variance of values [B] under P = m[h, s, a, .] / n[h, s, a], computed in one pass.

    Deviations are taken from `origin`, a typical value, to limit rounding errors. The variance is the sum of
    P (V - mean)^2 even if the released m do not add up to n.
    """
    B = values.shape[0]
    n = counts[h, s, a, B]
    weight = 0.0
    first = 0.0
    second = 0.0
    for x in range(B):
        m = counts[h, s, a, x]
        deviation = values[x] - origin
        weight += m
        first += m * deviation
        second += m * deviation * deviation
    weight /= n
    first /= n
    second /= n
    mean = first + weight * origin
    shift = mean - origin
    return mean, max(second - 2.0 * shift * first + shift * shift * weight, 0.0)


@kernel
def act_greedily(h: int, Q: Array, V: Array, policy: Policy) -> None:
    """Set V[h, s] to the maximum over a of Q[h, s, a], and policy[h, s] to the lowest action that attains it."""
    S, A = Q.shape[1], Q.shape[2]
    for s in range(S):
        best = 0
        for a in range(1, A):
            if Q[h, s, a] > Q[h, s, best]:
                best = a
        policy[h, s] = best
        V[h, s] = Q[h, s, best]

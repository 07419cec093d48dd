"""Rows of counts that stood still: while nobody takes an action in a state, all releases read the same numbers.

Policies are public, so that everybody knows for which (h, s, a) the counts of users did not change since an earlier
release. The noise of releases i - L, ..., i of a counter has a covariance that follows from the mechanism alone, and so
do the weights, which sum to 1, with which these readings have the least noise together: those of generalised least
squares, Cov^-1 1 / (1^T Cov^-1 1). What they leave of E is known, too. It holds for each L up to a window at once when
E was asked for at a beta that is divided by the window: whichever of these L a run comes to, and it depends on the
noise, has been paid for (proof in docs/notes/privacy.md).
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from dprl.kernels import kernel
from dprl.mdp.tabular import Array

WINDOW = 32  # releases that are looked back at; E grows by about a twelfth for it


@kernel
def weigh(i: int, covariance: Array, weights: Array, left: Array) -> None:
    """How the last L + 1 of releases 0, ..., i are averaged, for each L < window, and what is left of the noise of i.

    Args:
        covariance: [M, window] of the noise at release i with that at release i - k.
        weights: [window, window], those of release i, i - 1, ... in row L; left: [window], both overwritten.
    """
    window = covariance.shape[1]
    root, ones = np.zeros((window, window)), np.zeros(window)  # Cholesky's, and root^-1 1
    total = 0.0
    for L in range(min(window, i + 1)):
        for j in range(L + 1):
            rest = covariance[i - j, L - j]
            for k in range(j):
                rest -= root[j, k] * root[L, k]
            root[L, j] = sqrt(rest) if j == L else rest / root[j, j]
        rest = 1.0
        for k in range(L):
            rest -= root[L, k] * ones[k]
        ones[L] = rest / root[L, L]
        total += ones[L] * ones[L]
        left[L] = min(sqrt(1.0 / (total * covariance[i, 0])), 1.0)
        for j in range(L, -1, -1):
            rest = ones[j] / total
            for k in range(j + 1, L + 1):
                rest -= root[k, j] * weights[L, k]
            weights[L, j] = rest / root[j, j]


@kernel
def taken(policy: Any, h: int, rows: int, s: int, a: int) -> int:
    """At how many of the steps that the row h of so many counts anybody may have taken an action: the row of one step,
    or that of all steps."""
    steps = 0
    for step in range(h, policy.shape[0], rows):
        if policy.ndim == 2:
            steps += policy[step, s] == a
        else:
            steps += 1
    return steps


@kernel
def average(i: int, covariance: Array, error: float, state: Any) -> float:
    """Average the noisy counts of rows that stood still. Returns the smallest E for which all are within bounds.

    Args:
        i: number of this release; covariance: see `weigh`; error: E.
        state: a loop's, with `policy` that users have followed since the release before; sums, noisy
            [H, S, A, B + 2] (or pooled, H = 1), of which noisy is NaN where nothing is released; readings
            [window, H, S, A, B + 2], the last noisy counts as they were released; rests, int64 [H, S, A], over how many
            releases each row stood still; and errors [H, S, A], which gets what is left of E in each row.
    """
    counts, noisy, readings, rests = state.sums, state.noisy, state.readings, state.rests
    window = covariance.shape[1]
    weights, left = np.zeros((window, window)), np.ones(window)
    weigh(i, covariance, weights, left)
    H, S, A, width = noisy.shape
    worst = 0.0
    for h in range(H):
        for s in range(S):
            for a in range(A):
                L = (
                    0
                    if i == 0 or taken(state.policy, h, H, s, a) > 0
                    else min(rests[h, s, a] + 1, window - 1)
                )
                rests[h, s, a] = L
                for step in range(h, state.errors.shape[0], H):
                    state.errors[step, s, a] = error * left[L]
                off = 0.0
                for x in range(width):
                    readings[i % window, h, s, a, x] = noisy[h, s, a, x]
                    if np.isnan(noisy[h, s, a, x]):
                        continue
                    total = 0.0
                    for k in range(L + 1):
                        total += weights[L, k] * readings[(i - k) % window, h, s, a, x]
                    noisy[h, s, a, x] = total
                    off = max(off, abs(total - counts[h, s, a, x]) * (4.0 if x < width - 1 else 1.0))
                worst = max(worst, off / left[L])
    return worst

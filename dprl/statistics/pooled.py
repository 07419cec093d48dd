"""Counts that are pooled over the steps of an episode, where it is declared that transitions and rewards do not depend
on the step. Learners plan from the pooled row of (s, a) at every step."""

from __future__ import annotations

from dprl.kernels import kernel
from dprl.mdp.tabular import Array


@kernel
def pool(counts: Array, sums: Array) -> None:
    """Write the sums over steps of counts [H, S, A, B + 2] into sums [1, S, A, B + 2]."""
    H, S, A, width = counts.shape
    sums[:] = 0.0
    for h in range(H):
        for s in range(S):
            for a in range(A):
                for x in range(width):
                    sums[0, s, a, x] += counts[h, s, a, x]


@kernel
def spread(released: Array, rows: int) -> None:
    """Write the first step of released [H, S, A, B + 2] into those beyond the first so many rows."""
    for h in range(rows, released.shape[0]):
        released[h] = released[0]

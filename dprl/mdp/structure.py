"""Tables of possible next states. They keep counts, plans and models small if few next states are possible.

possible: int64 [1 or H, 1 or S, 1 or A, B], the next states of (h, s, a) in increasing order, followed by -1; an axis
of length one applies to all h, s or a. B, the branching factor, is the largest number of next states. Models and counts
on the table have P[h, s, a, j] or m[h, s, a, j] for the row's j-th state, and zero if there is none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dprl.engine import kernel

Array = NDArray[np.float64]
Table = NDArray[np.int64]
TYPE = "int64[:,:,:,::1]"


def every_state(S: int) -> Table:
    """Return the table [1, 1, 1, S] in which all S next states are possible."""
    return np.arange(S)[None, None, None]


@kernel
def next_state(possible: Table, h: int, s: int, a: int, x: int) -> int:
    """Return the x-th next state of (h, s, a), or -1 if there is none."""
    i = min(h, possible.shape[0] - 1)
    j = min(s, possible.shape[1] - 1)
    k = min(a, possible.shape[2] - 1)
    return int(possible[i, j, k, x])


@kernel
def gather(possible: Table, h: int, s: int, a: int, values: Array, at: int, here: Array) -> int:
    """Copy values[at, s'] for the possible next states of (h, s, a) to here [B], then zeros; return their number."""
    count = 0
    for x in range(possible.shape[3]):
        to = next_state(possible, h, s, a, x)
        if to < 0:
            here[x] = 0.0
        else:
            here[x] = values[at, to]
            count += 1
    return count


def on_table(P: Array, old: Table, new: Table) -> tuple[Array, tuple[int, int, int, int] | None]:
    """Convert P [H, S, A, B] from table `old` to `new`. Also return the first possible transition missing in `new`."""
    H, S, A, _ = P.shape
    found = np.zeros((H, S, A, new.shape[3]))
    rows = np.zeros((S, A, S + 1))  # one step at a time; the last column stands for -1, no state
    for h in range(H):
        rows[...] = 0.0
        here = np.broadcast_to(old[min(h, len(old) - 1)], (S, A, old.shape[3]))
        np.put_along_axis(rows, here, P[h], axis=-1)
        there = np.broadcast_to(new[min(h, len(new) - 1)], (S, A, new.shape[3]))
        rows[..., S] = 0.0
        found[h] = np.take_along_axis(rows, there, axis=-1)
        np.put_along_axis(rows, there, 0.0, axis=-1)
        if rows.any():
            s, a, to = (int(x) for x in np.argwhere(rows > 0)[0])
            return found, (h, s, a, to)
    return found, None


def table_of(allowed: NDArray[np.bool_]) -> Table:
    """Build the table of next states from flags [1 or H, S, A, S] that are true for allowed transitions."""
    S = allowed.shape[-1]
    B = max(1, int(allowed.sum(-1).max()))
    first = np.sort(np.where(allowed, np.arange(S), S), axis=-1)[..., :B]
    return np.ascontiguousarray(np.where(first < S, first, -1), dtype=np.int64)


def transitions(possible: Table, S: int, A: int) -> tuple[int, ...]:
    """Return the number of possible transitions at each step, or a single number if all steps have the same table."""
    each = (possible >= 0).sum(-1)
    return tuple(int(step.sum()) for step in np.broadcast_to(each, (len(each), S, A)))

"""Rows that count only the last batches of who played them: windows of batches, with a shuffler.

A batch has its noise whatever its size, and batches grow. So the first ones of a row bring about as much noise as the
last ones, and hardly any users. A row's window begins at one of its marks, each STEP-th batch of it, and goes on to its
last batch. Which marks there are is fixed before the run. E and the bonus hold for the windows that begin at any of
them at once, when they are asked for at a beta that is divided by the number of marks. So a row may take that window
of which it has seen least noise for its users (proof in docs/notes/played-rows.md).

Of all marks a row keeps two at each scale: for each j the last two that are multiples of STEP 2^j. So there is a window
of about every length.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from dprl.kernels import kernel
from dprl.mdp.tabular import Array
from dprl.statistics.still import taken

STEP = 4  # batches of a row from one mark to the next


def marks(batches: int) -> int:
    """How many there are, where a row has at most so many batches: before its first one, and every STEP after it."""
    return (batches - 1) // STEP + 1


def places(batches: int) -> int:
    """How many of them a row keeps: two at each scale. Without any it counts from its first batch on."""
    return 2 * ((batches - 1) // STEP).bit_length()


@kernel
def length_of(kept: int, each: int) -> int:
    """As how many whole batches the noise of so many steps of batches counts: each has `each` steps at most."""
    return (kept + each - 1) // each


@kernel
def total(counts: Array, h: int, H: int, s: int, a: int, x: int) -> float:
    """Of a counter [H, S, A, B + 2], or of all steps where H is 1, as counts are pooled over steps."""
    found = 0.0
    for step in range(h, counts.shape[0], H):
        found += counts[step, s, a, x]
    return found


@kernel
def look_back(setup: Any, state: Any) -> float:
    """Count a batch in the rows that were played, and write their windows. Returns the largest noise in these
    relative to what E allows.

    Args:
        setup, state: a loop's, see replan_kernels.py. noise: of all batches of a row together; places, int64
            [H, S, A], how many these are; kept, the same, times steps where counts are pooled over these, as each step
            has noise of its own; begun, int64 [marks, H, S, A], how much of kept was there at the marks that a row
            keeps, and marked [marks, 2, H, S, A, B + 2], counts and noise then. Written: sums and noisy, those of the
            window, errors and bounds.
    """
    H, S, A, width = state.noisy.shape
    each = state.policy.shape[0] // H  # steps that a row counts
    price = setup.constants[0]  # about n (bonus / range of values)^2 of the anytime bonus without noise
    worst = 0.0
    cell = 0
    for h in range(H):
        for s in range(S):
            for a in range(A):
                first = cell
                for x in range(width):
                    cell += not np.isnan(state.noisy[h, s, a, x])
                told = taken(state.policy, h, H, s, a)
                if told == 0:
                    continue
                state.places[h, s, a] += 1
                state.kept[h, s, a] += told
                batches = length_of(state.kept[h, s, a], each)
                n = (
                    total(state.counts, h, H, s, a, width - 2)
                    + setup.scales[width - 2] * state.noise[cell - 2]
                )
                length, place = batches, -1
                least = setup.error[length - 1] / max(n, 1.0) + sqrt(price / max(n, 1.0))
                for i in range(state.begun.shape[0]):
                    since = length_of(state.kept[h, s, a] - state.begun[i, h, s, a], each)
                    seen = n - state.marked[i, 0, h, s, a, width - 2]
                    seen = max(seen - setup.scales[width - 2] * state.marked[i, 1, h, s, a, width - 2], 1.0)
                    off = setup.error[since - 1] / seen + sqrt(price / seen)
                    if off < least:
                        least, length, place = off, since, i
                for step in range(h, state.errors.shape[0], H):
                    state.errors[step, s, a] = setup.error[length - 1]
                    state.bounds[step, s, a] = setup.bound[length - 1]
                at = first
                for x in range(width):
                    if np.isnan(state.noisy[h, s, a, x]):
                        continue
                    count, z = total(state.counts, h, H, s, a, x), state.noise[at]
                    if place >= 0:
                        count -= state.marked[place, 0, h, s, a, x]
                        z -= state.marked[place, 1, h, s, a, x]
                    z *= setup.scales[x]
                    state.sums[h, s, a, x] = count
                    state.noisy[h, s, a, x] = count + z
                    part = 4.0 if x < width - 1 else 1.0
                    worst = max(worst, part * abs(z) / state.bounds[h, s, a])
                    at += 1
                mark(h, s, a, first, state)
    return worst


@kernel
def mark(h: int, s: int, a: int, first: int, state: Any) -> None:
    """Keep where a row is, at each scale of which that is a mark; the one before it stays, too. first: cell of the
    row."""
    scale = STEP
    for i in range(0, state.begun.shape[0], 2):
        if state.places[h, s, a] % scale > 0:
            return
        state.begun[i + 1, h, s, a] = state.begun[i, h, s, a]
        state.begun[i, h, s, a] = state.kept[h, s, a]
        at = first
        for x in range(state.noisy.shape[3]):
            for part in range(2):
                state.marked[i + 1, part, h, s, a, x] = state.marked[i, part, h, s, a, x]
            if not np.isnan(state.noisy[h, s, a, x]):
                state.marked[i, 0, h, s, a, x] = total(state.counts, h, state.noisy.shape[0], s, a, x)
                state.marked[i, 1, h, s, a, x] = state.noise[at]
                at += 1
        scale *= 2

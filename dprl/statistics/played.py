"""Rows that count only who played them: of a row (h, s, a), the reports of users whose policy takes a in s at h.

Policies are public, and a user who was told to take another action in s at h is in no counter of the row: this user's
report has an exact zero there, plus noise. Leaving that report out of the row changes no true count and loses noise,
and it is post-processing. Whether a report counts is decided before it is made, so that the noise that is kept is as
that of the first that many reports: E is looked up by how many reports a row has, and holds for any number of them at
once (proof in docs/report/online.md, "Rows that count only who played them").
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.engine import kernel
from dprl.mdp.tabular import Array
from dprl.statistics.counts import add_scaled


def hidden(by_users: bool, ends: NDArray[np.int64], error: Array) -> float:
    """Return the visits of a row that the noise of its own reports hides, however few these are.

    While E(b) >= b, nothing is to be seen after b users who were told to play the row, even if all of them were there.
    A batch has all its noise whatever its size.
    """
    return float(max(ends[error >= ends], default=0)) if by_users else float(error[0])


@kernel
def taken(policy: Any, h: int, s: int, a: int) -> bool:
    """Return whether anybody may have taken an action at a step."""
    if policy.ndim == 2:
        return bool(policy[h, s] == a)
    return True


@kernel
def cells_told(policy: Any, noisy: Array) -> NDArray[np.int64]:
    """Return the cells, in the order of unit noise, of the rows whose action the policy takes.

    noisy: [H, S, A, B + 2], NaN if there is no counter.
    """
    H, S, A, width = noisy.shape
    found = np.empty(noisy.size, dtype=np.int64)
    cell = 0
    many = 0
    for h in range(H):
        for s in range(S):
            for a in range(A):
                told = taken(policy, h, s, a)
                for x in range(width):
                    if np.isnan(noisy[h, s, a, x]):
                        continue
                    if told:
                        found[many] = cell
                        many += 1
                    cell += 1
    return found[:many]


@kernel
def look_up(reports: int, setup: Any, state: Any) -> float:
    """Count further reports in the rows that were played, with their noise, and write the E of every row. Returns the
    largest noise relative to E.

    Args:
        reports: users since the last release, or 1 for their batch, as `setup.ends` counts.
        setup, state: a loop's, with ends, bound, error [B], scales and policy, noise, counts, noisy as in
            replan_kernels.py;
            kept, int64 [H, S, A], reports in each row; places, int64
            [H, S, A], where of the table each row is; and errors,
            bounds [H, S, A], zero if no report counts.
    """
    add_scaled(state.counts, state.noise, setup.scales, state.noisy)
    H, S, A, width = state.noisy.shape
    worst = 0.0
    for h in range(H):
        for s in range(S):
            for a in range(A):
                if taken(state.policy, h, s, a):
                    state.kept[h, s, a] += reports
                    while setup.ends[state.places[h, s, a]] < state.kept[h, s, a]:
                        state.places[h, s, a] += 1
                    state.errors[h, s, a] = setup.error[state.places[h, s, a]]
                    state.bounds[h, s, a] = setup.bound[state.places[h, s, a]]
                if state.kept[h, s, a] == 0:
                    continue
                for x in range(width):
                    off = abs(state.noisy[h, s, a, x] - state.counts[h, s, a, x])
                    if not np.isnan(off):
                        part = 4.0 if x < width - 1 else 1.0
                        worst = max(worst, part * off / state.bounds[h, s, a])
    return worst

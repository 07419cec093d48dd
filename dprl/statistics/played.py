"""Counts in which each row (h, s, a) adds up only the reports of users whose policy takes a in s at h.

Policies are public. A user whose policy takes another action in s at h reports only zeros and noise in this row.
Leaving this report out is post-processing, which changes no true count and removes noise. The reports that count are
chosen before they are made, so their noise is distributed like that of the same number of first reports. So E depends
on the number of reports in a row, and holds for all numbers at once (proof in docs/report/online.md, "Rows that count
only users told to play them").
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.engine import kernel
from dprl.mdp.tabular import Array
from dprl.statistics.counts import add_scaled


def hidden(by_users: bool, ends: NDArray[np.int64], error: Array) -> float:
    """Return the largest number of visits to a row that may stay hidden in the noise of the row's own reports.

    If E(b) >= b, nothing is visible after b users whose policy plays the row, even if all of them visited it. A batch
    has the same noise whatever its size.
    """
    return float(max(ends[error >= ends], default=0)) if by_users else float(error[0])


@kernel
def taken(policy: Any, h: int, s: int, a: int) -> bool:
    """Return whether a policy may take an action in a state at a step."""
    if policy.ndim == 2:
        return bool(policy[h, s] == a)
    return True


@kernel
def cells_told(policy: Any, noisy: Array) -> NDArray[np.int64]:
    """Return the indices of counters whose action the policy takes, except those that are NaN in noisy."""
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
    """Add new reports to the played rows, look up the E of every row, and return the largest noise relative to E.

    Args:
        reports: the number of users since the last release, or 1 for their batch, in the unit of `setup.ends`.
        setup: a loop's record (replan_kernels.py), with ends, bound, error [B] and scales.
        state: a loop's record, with policy, noise, counts and noisy; for each row [H, S, A], `kept` has its number of
            reports, `places` its index in the table, and `errors` and `bounds` its bounds, zero if no report counts.
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

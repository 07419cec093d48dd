"""The search for the number of users at which the privacy cost becomes small, with a separate run for every K."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dprl.metrics.curves import LEVEL, Array, Integers


def next_to_try(known: Mapping[int, float], target: float, grid: Sequence[int], start: int) -> int | None:
    """Choose the next K to run when searching the grid for the first K whose privacy cost is at most `target`.

    Returns None if that K is known or is not on the grid. known has the cost per episode at each K that was run. The
    cost falls about like 1/K or 1/sqrt(K), so we interpolate linearly between logarithms.
    """
    if not known:
        return grid[_near(grid, start)]
    low, high = bracket(known, target)
    if low is None:
        assert high is not None
        at = _near(grid, high)
        return None if at == 0 else grid[max(0, min(at - 1, _near(grid, high * known[high] / target)))]
    at = _near(grid, low)
    if high is None:
        most = len(grid) - 1
        step = _near(grid, low * known[low] / target) + 1 - at
        earlier = sorted(k for k in known if k < low)
        if earlier and known[low] > 0.8 * known[earlier[-1]]:  # nothing learned yet: no trend
            step = max(step, 8 * 2 ** len(earlier))
        return None if at == most else grid[min(most, at + max(1, step))]
    end = _near(grid, high)
    if end - at <= 1:
        return None
    aside = max(1, (end - at) // 4)  # the line may be far off, so the bracket shrinks by at least a quarter
    meets = stays_below(np.array([low, high], float), np.array([known[low], known[high]]), target)
    return grid[max(at + aside, min(end - aside, _near(grid, meets)))]


def bootstrap(seeds: int, samples: int = 2000) -> Integers:
    """Draw the seeds of each bootstrap sample, [samples, seeds], the same for all curves so that ratios stay paired."""
    return np.random.default_rng(0).integers(0, seeds, (samples, seeds))


def quantiles(resampled: Array) -> tuple[float, float]:
    """Return the ends of the 95% bootstrap interval, from the values in all bootstrap samples [B]."""
    ends = np.quantile(resampled, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="nearest")
    return float(ends[0]), float(ends[1])


@dataclass(frozen=True)
class UsersFound:
    """The number of users needed, or the state of an unfinished search.

    Attributes:
        at: [N], every K that was run.
        price: [seeds, N], the privacy cost per episode at each K.
        needed: the K from which the mean cost is at most the target, NaN if there is none on the grid.
        low, high: its 95% bootstrap interval over seeds.
        pending: the K to run next, None at the end.
    """

    at: Integers
    price: Array
    needed: float = np.nan
    low: float = np.nan
    high: float = np.nan
    pending: int | None = None


def search_users(
    look: Callable[[int], Array | None], target: float, grid: Sequence[int], start: int, picked: Integers
) -> UsersFound:
    """Search the grid for the number of users at which the privacy cost per episode has fallen to `target`.

    look returns the cost [seeds] at a K, or None if it is not known yet; then the search stops, and the next call
    starts it again. picked [B, seeds] has the seeds in each bootstrap sample.
    """
    rows: dict[int, Array] = {}

    def so_far(pending: int | None) -> UsersFound:
        at = sorted(rows)
        return UsersFound(np.array(at), np.array([rows[k] for k in at]).T, pending=pending)

    while (k := next_to_try({k: float(r.mean()) for k, r in rows.items()}, target, grid, start)) is not None:
        seen = look(k)
        if seen is None:
            return so_far(k)
        rows[k] = seen
    while True:
        users = so_far(None)
        at = users.at.astype(float)
        needed = stays_below(at, users.price.mean(axis=0), target)
        resampled = _all_settle(at, users.price[picked].mean(axis=1), target)
        resampled = np.nan_to_num(resampled, nan=np.inf)
        low, high = quantiles(resampled)
        further = [k for k in grid if k > users.at[-1]]
        if np.isnan(needed) or np.isfinite(high) or not further:
            return replace(users, needed=needed, low=low, high=high)
        seen = look(further[0])  # the upper end of the interval lies beyond the last K
        if seen is None:
            return so_far(further[0])
        rows[further[0]] = seen


def bracket(known: Mapping[int, float], target: float) -> tuple[int | None, int | None]:
    """Return the largest known K with a cost above the target, and the next known K. A missing number is None."""
    low = max((k for k, cost in known.items() if not cost <= target), default=None)
    return low, min((k for k in known if low is None or k > low), default=None)


def _near(grid: Sequence[int], k: float) -> int:
    """Return the index of the grid point nearest to k by ratio."""
    logs = np.log(np.asarray(grid, float))
    return int(np.abs(logs - np.log(max(k, 1.0))).argmin())


def stays_below(at: Array, price: Array, target: float) -> float:
    """Find the K from which a cost [N] stays at or below `target`, by log-log interpolation; NaN if there is none."""
    return float(_all_settle(at, price[None], target)[0])


def _all_settle(at: Array, price: Array, target: float) -> Array:
    """Return the result of `stays_below` for each row of price [B, N], as an array [B]."""
    above = ~(price <= target)
    last = len(at) - 1 - above[:, ::-1].argmax(axis=1)  # the last value above the target, if any
    inside = np.minimum(last, len(at) - 2)
    rows = np.arange(len(price))
    low, high = at[inside], at[inside + 1]
    at_low, at_high = price[rows, inside], price[rows, inside + 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.log(at_low / target) / np.log(at_low / at_high)
    between = (at_high > 0) & (at_low > at_high)
    share = np.clip(np.where(between, share, 0.5), 0.0, 1.0)
    found = low * (high / low) ** share
    return np.where(~above.any(axis=1), at[0], np.where(last == len(at) - 1, np.nan, found))

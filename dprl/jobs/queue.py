"""Whose seed is next: fair across visitors, in order within a visitor's runs. Pure.

The next seed goes to the visitor who has the fewest seeds running and, among those, has waited longest since
last getting one; visitors whose tab has gone come after all others. A seed that several visitors wait for counts as
running for each of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple


class Waiting(NamedTuple):
    """One visitor's wish for a run that has seeds queued.

    Attributes:
        seeds, seconds: how many are queued, and what they take together, estimated.
        asked_at, served_at: Unix times at which the run was asked for and at which this visitor was last
            given a worker (0: never).
        away: the visitor's tab has gone.
    """

    visitor: str
    run: int
    seeds: int
    seconds: float
    asked_at: float
    served_at: float = 0.0
    away: bool = False


class Running(NamedTuple):
    """One visitor's wish for a seed that is running; seconds: what is left of it, estimated."""

    visitor: str
    run: int
    unit: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """place: runs that get a worker before this one does (None: nothing of it is queued); seconds_left: until
    its last seed ends."""

    place: int | None
    seconds_left: float


def claim(wish: Waiting, busy: Mapping[str, int]) -> tuple[bool, int, float, str, float, int]:
    """By which wishes are ordered: the smallest is next. busy: how many seeds each visitor has running."""
    # Time in which a visitor waited for nothing gives no claim.
    since = max(wish.served_at, wish.asked_at)
    return bool(wish.away), busy[wish.visitor], since, wish.visitor, wish.asked_at, wish.run


def seeds_by_visitor(running: Iterable[Running]) -> Counter[str]:
    """How many seeds each visitor has running."""
    return Counter(visitor for visitor, _ in {(r.visitor, r.unit) for r in running})


def forecast(waiting: list[Waiting], running: list[Running], workers: int) -> dict[int, Forecast]:
    """Estimate the place and the time left of every run that somebody waits for.

    Visitors take turns, so each has had as much work as this one by the time a run ends, or all of theirs.

    Args:
        waiting: in the order in which each visitor's runs were asked for.
        running: the seeds that run.
        workers: how many there are.
    """
    ends: dict[int, float] = defaultdict(float)
    for r in running:
        ends[r.run] = max(ends[r.run], r.seconds)
    under_way = sum({r.unit: r.seconds for r in running}.values())
    busy = seeds_by_visitor(running)
    work: dict[tuple[bool, str], float] = defaultdict(float)  # seconds that each visitor waits for
    before = {}
    for w in waiting:
        before[w] = work[w.away, w.visitor]
        work[w.away, w.visitor] += w.seconds
    for away in (False, True):  # those whose tab has gone begin when all others have had their turns
        totals = sorted(seconds for (gone, _), seconds in work.items() if gone == away)
        sums = list(accumulate(totals, initial=under_way))
        for w in (w for w in waiting if w.away == away):
            done = before[w] + w.seconds
            less = bisect_right(totals, done)
            end = (sums[less] + done * (len(totals) - less)) / workers
            ends[w.run] = max(ends[w.run], end, w.seconds / w.seeds)
        under_way = sums[-1]
    order = sorted(waiting, key=lambda w: (w.away, before[w], claim(w, busy)))
    place = {run: at for at, run in enumerate(dict.fromkeys(w.run for w in order))}
    return {run: Forecast(place.get(run), end) for run, end in ends.items()}

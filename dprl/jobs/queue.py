"""Whose seed is next: fair across visitors, in order within a visitor's runs. Pure.

The next seed goes to the visitor who has the fewest seeds running and, among those, has waited longest since
last getting one; visitors whose tab has gone come after all others. A seed that several visitors wait for counts as
running for each of them. A forecast looks at runs, not at their seeds: it takes the seeds of one run for equally long,
and what several wait for as asked for by each.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

LEAST = 1e-9  # seconds of a seed: what takes none would divide by zero
ROUNDING = (
    1e-9  # of a round: sums of floating-point numbers that come out a little above a whole one are that one
)


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
    """Place and time left of every run that somebody waits for, on `workers` workers.

    Visitors take turns in the order of `claim`, a seed each, and the work is spread evenly over workers. Those whose
    tab has gone begin when all others have had their turns.

    Args:
        waiting: In the order in which each visitor's runs were asked for.
        running: The seeds that run.
        workers: How many there are.
    """
    ends: dict[int, float] = defaultdict(float)
    for r in running:
        ends[r.run] = max(ends[r.run], r.seconds)
    under_way = sum({r.unit: r.seconds for r in running}.values()) / workers
    busy = seeds_by_visitor(running)
    ranks: dict[str, int] = {}
    for w in sorted(waiting, key=lambda w: claim(w, busy)):
        ranks.setdefault(w.visitor, len(ranks))
    turns, work = (
        {v: [0] for v in ranks},
        {v: [0.0] for v in ranks},
    )  # knots: what a visitor has had by a turn
    spans: list[
        tuple[int, int, int, float]
    ] = []  # of each run: first turn, rank, turn after the last, seconds of a seed
    wishes = [*(w for w in waiting if not w.away), *(w for w in waiting if w.away)]
    present = sum(not w.away for w in wishes)
    begin = 0
    for i, w in enumerate(wishes):
        if i == present:
            begin = max(had[-1] for had in turns.values())
        first, done, each = (
            max(begin, turns[w.visitor][-1]),
            work[w.visitor][-1],
            max(w.seconds / w.seeds, LEAST),
        )
        turns[w.visitor] += [first, first + w.seeds]
        work[w.visitor] += [done, done + w.seeds * each]
        spans.append((first, ranks[w.visitor], first + w.seeds, each))
    _, rank, last, seconds = np.array(spans).reshape(-1, 4).T
    before = sum(np.interp(last - (ranks[v] > rank), turns[v], work[v]) for v in ranks)
    rounds = np.ceil(before / workers / seconds - ROUNDING)  # a seed is on one worker
    for w, end in zip(wishes, under_way + rounds * seconds, strict=True):
        ends[w.run] = max(ends[w.run], float(end))
    begun = dict.fromkeys(
        w.run for _, w in sorted(zip(spans, wishes, strict=True), key=lambda pair: pair[0][:2])
    )
    place = {run: at for at, run in enumerate(begun)}
    return {run: Forecast(place.get(run), end) for run, end in ends.items()}

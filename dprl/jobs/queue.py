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
from math import ceil
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


@dataclass(slots=True)
class _Stretch:
    """Turns in which a visitor gets the seeds of one run, from `first` (0: at once) to before `end`.

    last: the visitor's next turn, if there is one, is not the following one.
    """

    run: int
    rank: int
    first: int
    end: int
    seconds: float  # of one seed
    last: bool = True


_STOPS, _BEGINS, _ENDS = range(3)  # what happens in a turn, in this order


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

    Visitors take turns in `order`, a seed each, and the work is spread evenly over the workers.

    Args:
        waiting: In the order in which each visitor's runs were asked for.
        running: The seeds that run.
        workers: How many there are.
    """
    ends: dict[int, float] = defaultdict(float)
    for r in running:
        ends[r.run] = max(ends[r.run], r.seconds)
    stretches = _stretches(waiting, running)
    events = [(s.first, s.rank, _BEGINS, i) for i, s in enumerate(stretches)]
    events += [(s.end - 1, s.rank, _ENDS, i) for i, s in enumerate(stretches)]
    events += [(s.end, s.rank, _STOPS, i) for i, s in enumerate(stretches) if s.last]
    a_turn = _Sums(1 + max((s.rank for s in stretches), default=0))  # what the turn takes of each visitor
    under_way = sum({r.unit: r.seconds for r in running}.values()) / workers
    before, now = 0.0, 0  # seconds of work before the turn `now`
    places: dict[int, int] = {}
    for turn, rank, what, i in sorted(events):
        run, seconds = stretches[i].run, stretches[i].seconds
        if turn > now:
            before += (turn - now) * a_turn.total
            now = turn
        if what == _STOPS:
            a_turn.put(rank, 0.0)
        elif what == _BEGINS:
            a_turn.put(rank, seconds)
            places.setdefault(run, len(places))
        else:
            rounds = ceil((before + a_turn.upto(rank)) / workers / seconds - 1e-9)  # a seed is on one worker
            ends[run] = max(ends[run], under_way + rounds * seconds)
    return {run: Forecast(places.get(run), end) for run, end in ends.items()}


def _stretches(waiting: list[Waiting], running: list[Running]) -> list[_Stretch]:
    """The turns of every run; those whose tab has gone begin when all others have had theirs."""
    busy = seeds_by_visitor(running)
    ranks: dict[str, int] = {}
    for wish in sorted(waiting, key=lambda wish: claim(wish, busy)):
        ranks.setdefault(wish.visitor, len(ranks))
    found: list[_Stretch] = []
    last: dict[str, _Stretch] = {}
    for away in (False, True):
        begin = max((s.end for s in last.values()), default=0)
        for w in waiting:
            if bool(w.away) == away:
                before = last.get(w.visitor)
                first = max(begin, before.end if before else 0)
                if before:
                    before.last = first > before.end
                new = _Stretch(
                    w.run, ranks[w.visitor], first, first + w.seeds, max(w.seconds / w.seeds, 1e-9)
                )
                last[w.visitor] = new
                found.append(new)
    return found


class _Sums:
    """Numbers by place, with the sums of the first of them (a Fenwick tree)."""

    def __init__(self, size: int) -> None:
        self.total = 0.0
        self._values, self._tree = [0.0] * size, [0.0] * (size + 1)

    def put(self, place: int, value: float) -> None:
        """Sets one of them."""
        change = value - self._values[place]
        self._values[place] = value
        self.total += change
        at = place + 1
        while at < len(self._tree):
            self._tree[at] += change
            at += at & -at

    def upto(self, place: int) -> float:
        """The sum of all up to this one, and it."""
        at, found = place + 1, 0.0
        while at:
            found += self._tree[at]
            at -= at & -at
        return found

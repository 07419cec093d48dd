"""Whose seed is next: fair across visitors, in order within a visitor's runs. Pure.

The next seed goes to the visitor who has the fewest seeds running and, among those, has waited longest since
last getting one. A seed that several visitors wait for counts as running for each of them.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict, deque
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ticket:
    """One visitor's wish for one seed that is queued or running.

    Attributes:
        seconds: what is left of it, estimated.
        asked_at, served_at: Unix times at which the run was asked for and at which this visitor was last
            given a worker (0: never).
    """

    visitor: str
    run: int
    unit: int
    running: bool
    seconds: float
    asked_at: float
    served_at: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """place: runs that get a worker before this one does (None: nothing of it is queued); seconds_left: until
    its last seed ends."""

    place: int | None
    seconds_left: float


class FairQueue:
    """The visitors who wait. tickets: in the order asked for, the seeds of a run in their order."""

    def __init__(self, tickets: list[Ticket]) -> None:
        self._queues: dict[str, deque[Ticket]] = defaultdict(deque)
        self._visitors: dict[int, set[str]] = defaultdict(set)
        self._running: Counter[str] = Counter()
        self._since: dict[str, float] = {}
        self._taken: set[int] = set()
        for ticket in tickets:
            self._visitors[ticket.unit].add(ticket.visitor)
            if not ticket.running:
                self._queues[ticket.visitor].append(ticket)
                # Time in which a visitor waited for nothing gives no claim.
                self._since.setdefault(ticket.visitor, max(ticket.served_at, ticket.asked_at))
        running = {ticket.unit for ticket in tickets if ticket.running}
        for unit in running:
            self._running.update(self._visitors[unit])

    def visitors(self, unit: int) -> set[str]:
        """Everyone who waits for this seed."""
        return self._visitors[unit]

    def take(self, now: float) -> Ticket | None:
        """The next seed, from then on running; None when nothing is queued. `now`: Unix time."""
        while self._queues:
            visitor = min(self._queues, key=lambda v: (self._running[v], self._since[v], v))
            queue = self._queues[visitor]
            ticket = queue.popleft()
            if not queue:
                del self._queues[visitor]
            if ticket.unit in self._taken:
                continue
            self._taken.add(ticket.unit)
            for other in self._visitors[ticket.unit]:
                self._running[other] += 1
                self._since[other] = now
            return ticket
        return None

    def ended(self, unit: int) -> None:
        """A running seed ended."""
        self._running.subtract(self._visitors[unit])


def forecast(tickets: list[Ticket], workers: int, now: float) -> dict[int, Forecast]:
    """Place and time left of every run that has a ticket, by playing the queue forward on `workers` workers."""
    queue = FairQueue(tickets)
    runs: dict[int, set[int]] = defaultdict(set)
    for ticket in tickets:
        runs[ticket.unit].add(ticket.run)
    events: list[tuple[float, int]] = [
        (s, u) for u, s in {t.unit: t.seconds for t in tickets if t.running}.items()
    ]
    idle = -1  # stands for a worker that has no seed
    events += [(0.0, idle)] * max(0, workers - len(events))
    heapq.heapify(events)
    places: dict[int, int] = {}
    ends: dict[int, float] = {}
    while events:
        at, unit = heapq.heappop(events)
        if unit != idle:
            queue.ended(unit)
            for run in runs[unit]:
                ends[run] = max(at, ends.get(run, 0.0))
        taken = queue.take(now + at)
        if taken is not None:
            ahead = len(places)
            for run in runs[taken.unit]:
                places.setdefault(run, ahead)
            heapq.heappush(events, (at + taken.seconds, taken.unit))
    return {run: Forecast(places.get(run), end) for run, end in ends.items()}

"""The queue of requested runs in memory: who waits for them, whose turn is next, and the state of each seed.

Drafts and runs whose tab is gone come last. Otherwise, the next turn goes to the visitor with the fewest running seeds,
then to the one who has waited longest, and among that visitor's runs to the one that has waited longest, then to the
one requested first. The store calls a `Queue` under its lock.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from dprl.runs.limits import Lease
from dprl.runs.turn import HELD, MOST, Order, Report
from dprl.runs.workers import Slot

DEATHS = 2
AWAY = 5.0  # seconds without its tab after which a visitor's work comes last
QUESTIONS = 4096  # the most that may wait; the oldest are dropped
_IDLE = 1000  # seeds that nobody waits for but whose curves are kept
_RUNS = 10_000


class SpecLike(Protocol):
    """The part of a spec's interface that the queue needs."""

    @property
    def seeds(self) -> int: ...
    def to_json(self) -> str: ...
    def seed_key(self, seed: int) -> str: ...


@dataclass(eq=False)
class Seed:
    """A requested seed that is not finished.

    Attributes:
        state: stays `queued` while the seed is played.
        slot: the slot whose worker started it; playing: True during its turn; here: True if no cluster can play it.
        seconds: the duration of its turns so far.
    """

    key: str
    number: int
    spec: str
    state: Literal["queued", "failed", "cancelled", "done"] = "queued"
    slot: Slot | None = None
    playing: bool = False
    here: bool = False
    deaths: int = 0
    message: str = ""
    progress: float = 0.0
    curve: bytes = b""
    seconds: float = 0.0
    runs: list[Run] = field(default_factory=list)

    @property
    def fresh(self) -> bool:
        """Return whether a visitor is waiting for this seed and no worker has started it."""
        return self.state == "queued" and self.slot is None

    def wishes(self) -> list[tuple[Run, str, Ask]]:
        """Return all requests that wait for this seed, each as (run, visitor, request)."""
        return [(run, visitor, ask) for run in self.runs for visitor, ask in run.waiting()]


@dataclass
class Ask:
    """A visitor's request for a run. If closing a browser tab ends it, `lease` is this tab."""

    at: float
    lease: Lease | None
    draft: bool
    waiting: bool = True
    cancelled: bool = False


@dataclass(eq=False)
class Run:
    """A requested run with all its seeds.

    Attributes:
        keys: the keys of its seeds; seconds: the estimated time of one seed.
        asks: the requests by visitor; served: the start of its last turn; rev: increased by every change.
        there: sizes of stored traces, -1 for a curve alone; looked: the time and `Results.changes` at the last look.
        fresh: seeds not started for this run, although a worker may have started some of them for another run.
    """

    spec: Any
    name: str
    keys: tuple[str, ...]
    seconds: float = 0.0
    asks: dict[str, Ask] = field(default_factory=dict)
    served: float = 0.0
    rev: int = 0
    there: dict[str, int] = field(default_factory=dict)
    looked: tuple[float, int] = (float("-inf"), 0)
    fresh: deque[Seed] = field(default_factory=deque)

    def waiting(self) -> list[tuple[str, Ask]]:
        """Return the visitors who wait for this run, with their requests."""
        return [(visitor, ask) for visitor, ask in self.asks.items() if ask.waiting]


class Claim(NamedTuple):
    """A visitor's claim to the next turn of a worker, for a seed that no worker is computing now.

    last: True for a draft, or if its tab is gone; running: how many of the visitor's seeds have a turn now; served,
    run_served: when the visitor and the run last got a turn (0: never); asked: the time of the request.
    """

    last: bool
    running: int
    served: float
    run_served: float
    asked: float
    seed: Any


def first(claims: Iterable[Claim]) -> Claim | None:
    """Return the claim that comes first in the queue, or None if there are no claims."""
    return min(claims, key=lambda claim: claim[:5], default=None)


def may_begin(begun: int, run_has: bool, visitor_has: bool) -> bool:
    """Return whether a worker that has already started `begun` seeds may start another. `run_has` and `visitor_has` are
    True if a worker has started a seed of the same run or for the same visitor."""
    return begun == 0 or (begun < HELD and not run_has) or (begun < MOST and not visitor_has)


class Queue:
    """All requested runs, their unfinished seeds, and the workers that have started them."""

    def __init__(self) -> None:
        self.runs: OrderedDict[str, Run] = OrderedDict()  # by name, longest unused first
        self.seeds: dict[str, Seed] = {}  # unfinished ones by key
        self.questions: OrderedDict[str, Order] = OrderedDict()  # the newest last
        self.taken: set[str] = set()  # questions that a worker is answering
        self.failures: Counter[str] = Counter()  # by question; after DEATHS failures, there is no answer
        self.tabs: dict[str, float] = {}  # tabs with leases, and when each was last seen
        # by visitor: runs with fresh seeds, and the start of the last turn
        self._queues: defaultdict[str, dict[Run, None]] = defaultdict(dict)
        self._served: dict[str, float] = {}
        self._changes = 0

    def run(self, spec: SpecLike) -> Run:
        """Return the queue's record of a run, and create it if necessary. Its name depends on the first seed's key."""
        name = hashlib.sha256(f"{spec.to_json()}\n{spec.seed_key(0)}".encode()).hexdigest()
        if name not in self.runs:
            self.runs[name] = Run(spec, name, tuple(map(spec.seed_key, range(spec.seeds))))
            self.change(self.runs[name])
            if len(self.runs) > _RUNS and not (oldest := next(iter(self.runs.values()))).waiting():
                del self.runs[oldest.name]
        self.runs.move_to_end(name)
        return self.runs[name]

    def change(self, *runs: Run) -> None:
        """Record that these runs have changed, so that pages read them again."""
        self._changes += 1
        for run in runs:
            run.rev = self._changes

    def lacking(self, run: Run, again: bool) -> list[tuple[int, str]]:
        """Return the number and the key of each seed that a request would queue. `again` includes failed seeds."""
        going = ("queued",) if again else ("queued", "failed")
        return [
            (number, key)
            for number, key in enumerate(run.keys)
            if run.there.get(key, -1) < 0 and not ((seed := self.seeds.get(key)) and seed.state in going)
        ]

    def leased(self, by: str, whose: str) -> tuple[int, float]:
        """Return how many seeds a tab, a network address or everyone waits for, and how many seconds they need."""
        seeds, seconds = 0, 0.0
        for run in self.runs.values():
            if run.fresh and any(getattr(ask.lease, by, None) == whose for _, ask in run.waiting()):
                waiting = sum(seed.fresh for seed in run.fresh)
                seeds, seconds = seeds + waiting, seconds + waiting * run.seconds
        return seeds, seconds

    def ask(self, run: Run, visitor: str, lease: Lease | None, again: bool, draft: bool) -> None:
        """Add a visitor's request for a run, and queue the run's missing seeds."""
        before = run.asks.get(visitor)
        if before is not None and before.waiting:
            before.lease, before.draft = lease, before.draft and draft
        else:
            run.asks[visitor] = Ask(time.time(), lease, draft)
        if lease is not None:
            self.tabs[lease.tab] = time.monotonic()
        text = run.spec.to_json()
        for number, key in self.lacking(run, again):
            seed = self.seeds[key] = self.seeds.get(key) or Seed(key, number, text)
            seed.state, seed.message, seed.deaths = "queued", "", 0
            if seed.slot is None:
                seed.progress, seed.curve = 0.0, b""
        run.fresh.clear()
        for seed in self.going(run):
            if run not in seed.runs:
                seed.runs.append(run)
            if seed.fresh:
                run.fresh.append(seed)
        run.asks[visitor].waiting = bool(self.going(run))  # nobody waits for a run that has ended
        for name, _ in run.waiting() if run.fresh else ():
            self._queues[name].setdefault(run)
        self.change(run)

    def cancel(self, run: Run, visitor: str) -> None:
        """Withdraw a visitor's request for a run. Seeds that nobody waits for any more stop and keep their curves."""
        ask = run.asks.get(visitor)
        if ask is None or not ask.waiting:
            return
        ask.waiting, ask.cancelled = False, True
        self.change(run)
        for seed in self.going(run):
            if not seed.wishes():
                seed.state = "cancelled"
                self.change(*seed.runs)
        self._forget()

    def withdraw(self, grace: float) -> int:
        """Cancel the requests of tabs not seen for `grace` seconds, and return the number of these tabs."""
        now = time.monotonic()
        gone = {tab for tab, seen in self.tabs.items() if seen < now - grace}
        for run in list(self.runs.values()) if gone else ():
            for visitor, ask in run.waiting():
                if ask.lease and ask.lease.tab in gone:
                    self.cancel(run, visitor)
        self.tabs = {tab: seen for tab, seen in self.tabs.items() if tab not in gone}
        self._queues = defaultdict(dict, {visitor: runs for visitor, runs in self._queues.items() if runs})
        self._served = {visitor: at for visitor, at in self._served.items() if at > now - 3600}
        if len(self.failures) > QUESTIONS:  # they may be asked again
            self.failures.clear()
        return len(gone)

    def next(self, slot: Slot) -> Order | None:
        """Return the next task for a worker, or None if there is none."""
        if slot.plays != "away" and self.questions:
            key, order = self.questions.popitem()
            self.taken.add(key)
            return order
        if (claim := first(self._claims(slot))) is None:
            return None
        seed: Seed = claim.seed
        now = time.monotonic()
        for run, visitor, _ in seed.wishes():
            self._served[visitor] = run.served = now
        seed.slot, seed.playing = slot, True
        self.change(*seed.runs)
        return Order("seed", seed.key, seed.spec, seed.number)

    def _claims(self, slot: Slot) -> Iterator[Claim]:
        begun = self.begun()
        wishes = [(seed, run, visitor) for seed in begun for run, visitor, _ in seed.wishes()]
        runs, visitors = {run for _, run, _ in wishes}, {visitor for _, _, visitor in wishes}
        running = Counter(visitor for _, visitor in {(s, visitor) for s, _, visitor in wishes if s.playing})
        here = [seed for seed in begun if seed.slot is slot and not seed.playing]
        now = time.monotonic()

        def claim(seed: Seed, run: Run, visitor: str, ask: Ask) -> Claim:
            served = self._served.get(visitor, 0.0)
            return Claim(self.last(ask, now), running[visitor], served, run.served, ask.at, seed)

        claims = [claim(seed, run, visitor, ask) for seed in here for run, visitor, ask in seed.wishes()]
        yield from claims
        busy = {each.seed for each in claims if not each.last}  # the others make nobody wait
        for visitor, waiting in self._queues.items():
            found: list[tuple[bool, bool, int, Claim]] = []
            for place, run in enumerate(list(waiting)):
                seed_of_run, asked = self._first_fresh(run, slot), run.asks.get(visitor)
                if not (run.fresh and asked and asked.waiting):
                    del waiting[run]
                elif seed_of_run:
                    best = claim(seed_of_run, run, visitor, asked)
                    if may_begin(len(here if best.last else busy), run in runs, visitor in visitors):
                        found.append((best.last, run in runs, place, best))
                        if found[-1][:2] == (False, False):
                            break
            if found:
                yield min(found)[3]

    def put_back(self, order: Order, report: Report, seconds: float = 0.0) -> None:
        """Record the result of a turn: an answer, or the progress of a seed. `seconds` is the turn's duration."""
        if order.what == "question":
            self.taken.discard(order.key)
            if report.failed:
                self.failures[order.key] = DEATHS
        seed = self.seeds.get(order.key)
        if seed is None:
            return
        seed.playing, seed.seconds = False, seed.seconds + seconds
        self.change(*seed.runs)
        if report.refused and seed.slot is not None and seed.slot.plays == "away":
            seed.here = True  # the spec may need files that only this machine has
            self._give_back(seed)
        elif report.failed:
            self._fail(seed, report.failed)
        else:
            seed.progress, seed.curve = report.progress, report.curve

    def done(self, key: str, size: int) -> None:
        """Record that a seed is in the store, with the size of its trace in bytes."""
        if (seed := self.seeds.pop(key, None)) is not None:
            seed.state = "done"
            for run in seed.runs:
                run.there[key], run.seconds = size, seed.seconds or run.seconds
            self.change(*seed.runs)
            self._settle(seed)

    def died(self, order: Order, slot: Slot, cause: str) -> None:
        """Record that a worker process died. Its unfinished seeds start again, but the seed that it was working on
        fails if this happens a second time. `cause` is "" if the worker was idle."""
        seed = self.seeds.get(order.key)
        if cause and seed and seed.slot is slot:
            seed.deaths += 1
            seed.message = f"A worker process died; seed {seed.number} will run again."
            if seed.deaths >= DEATHS:
                why = f"its worker process died twice ({cause}), perhaps because memory ran out"
                self._fail(seed, f"Seed {seed.number} failed: {why}.")
        if order.what == "question":
            self.failures[order.key] += bool(cause)
        self.lost(slot, order)

    def lost(self, slot: Slot, order: Order | None = None) -> None:
        """Record that a worker cannot be reached. Its unfinished seeds start again."""
        if order is not None:
            self.taken.discard(order.key)
        for seed in [seed for seed in self.seeds.values() if seed.slot is slot]:
            seed.progress = 0.0
            self._give_back(seed)

    def ask_question(self, order: Order) -> None:
        """Add a question from a page. The newest question is answered first."""
        if order.key not in self.taken:
            self.questions.setdefault(order.key, order)
            if len(self.questions) > QUESTIONS:
                self.questions.popitem(last=False)

    def last(self, ask: Ask, now: float) -> bool:
        """Return whether a request has the lowest priority, as a draft or because its tab has not been seen lately."""
        return ask.draft or (ask.lease is not None and now - self.tabs.get(ask.lease.tab, 0.0) > AWAY)

    def begun(self) -> list[Seed]:
        """Return the seeds that workers have started and for which visitors still wait."""
        return [seed for seed in self.seeds.values() if seed.slot is not None and seed.state == "queued"]

    def going(self, run: Run) -> list[Seed]:
        """Return the unfinished seeds of a run for which visitors still wait."""
        return [seed for seed in map(self.seeds.get, run.keys) if seed and seed.state == "queued"]

    def _first_fresh(self, run: Run, slot: Slot) -> Seed | None:
        while run.fresh and not run.fresh[0].fresh:
            run.fresh.popleft()
        fits = (s for s in run.fresh if s.fresh and (slot.plays == "all" or s.here == (slot.plays == "here")))
        return next(fits, None)

    def _give_back(self, seed: Seed) -> None:
        """Take a seed from its worker. If visitors wait for it, it is next in the queue."""
        seed.slot, seed.playing = None, False
        self.change(*seed.runs)
        for run, visitor, _ in seed.wishes() if seed.fresh else ():
            if seed not in run.fresh:
                run.fresh.appendleft(seed)
            self._queues[visitor] = {run: None} | self._queues[visitor]

    def _fail(self, seed: Seed, message: str) -> None:
        seed.state, seed.message = "failed", message
        self._give_back(seed)
        self._settle(seed)
        self._forget()

    def _settle(self, seed: Seed) -> None:
        """End all requests for runs of which this was the last unfinished seed."""
        for run in seed.runs:
            for _, ask in () if self.going(run) else run.waiting():
                ask.waiting = False

    def _forget(self) -> None:
        """Delete all but the latest seeds that nobody waits for. The latest can continue if requested again."""
        idle = [seed for seed in self.seeds.values() if seed.state != "queued" and not seed.playing]
        for seed in idle[:-_IDLE]:
            del self.seeds[seed.key]

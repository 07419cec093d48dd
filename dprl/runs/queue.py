"""The queue, in memory: the visitors who wait, the seed that a worker gets next, and its end.

A `Queue` knows no thread, file or process: the store calls it under its lock.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from dprl.runs.asked import Ask, Run, Seed
from dprl.runs.limits import Lease
from dprl.runs.turn import Order, Report
from dprl.runs.turns import Claim, first, may_begin
from dprl.runs.workers import Slot

DEATHS = 2
DIED = "A worker process died; seed {} is run again."
DIED_TWICE = "Seed {} failed: its worker process died twice ({}), perhaps because memory ran out."
AWAY = 5.0  # s without its tab, after which a visitor's work comes last
QUESTIONS = 4096  # that wait; the oldest are dropped
_IDLE, _PARTIAL = 1000, 64 * 2**20  # seeds that nobody waits for, and bytes of their traces, that are kept
_RUNS = 10_000


class Queue:
    """All that was asked for, and who has begun what."""

    def __init__(self) -> None:
        self.runs: OrderedDict[str, Run] = OrderedDict()  # by name, longest unused first
        self.seeds: dict[str, Seed] = {}  # by key: none that is done
        self.questions: OrderedDict[str, Order] = OrderedDict()  # the newest last
        self.taken: dict[str, Order] = {}  # those that a worker is at
        self.unanswered: set[str] = set()
        self.tabs: dict[str, float] = {}  # that have leases, and when they were last there
        self._queues: dict[str, dict[Run, None]] = {}  # by visitor: runs with fresh seeds
        self._begun: dict[Seed, None] = {}
        self._stopped: list[Seed] = []  # of which what they have is to be fetched
        self._served: dict[str, float] = {}  # by visitor
        self._deaths: Counter[str] = Counter()  # by question
        self._asked = self._numbers = 0

    def run(self, spec: Any, name: str, keys: Callable[[], tuple[str, ...]]) -> Run:
        """Return what is known of a run."""
        found = self.runs.get(name)
        if found is None:
            self._numbers += 1
            found = self.runs[name] = Run(self._numbers, spec, spec.to_json(), name, keys())
            if len(self.runs) > _RUNS and not (oldest := next(iter(self.runs.values()))).waiting():
                del self.runs[oldest.name]
        self.runs.move_to_end(name)
        return found

    def lacking(self, run: Run, again: bool) -> list[tuple[int, str]]:
        """Return the seeds that asking for a run would queue, and their keys. again: failed ones, too."""
        going = ("queued",) if again else ("queued", "failed")
        return [
            (number, key)
            for number, key in enumerate(run.keys)
            if run.there.get(key, -1) < 0 and not ((seed := self.seeds.get(key)) and seed.state in going)
        ]

    def leased(self, by: str, whose: str) -> tuple[int, float]:
        """Return how many seeds wait under leases of a tab, of an address or in all, and their seconds, estimated."""
        seeds, seconds = 0, 0.0
        for run in self.runs.values():
            if run.fresh and any(getattr(ask.lease, by, None) == whose for _, ask in run.waiting()):
                waiting = sum(seed.fresh for seed in run.fresh)
                seeds, seconds = seeds + waiting, seconds + waiting * run.seconds
        return seeds, seconds

    def ask(self, run: Run, visitor: str, lease: Lease | None, again: bool, draft: bool) -> None:
        """Add a visitor who waits for a run."""
        self._asked += 1
        before = run.asks.get(visitor)
        if before is not None and before.waiting:
            before.lease = before.lease and lease  # what was asked for without a lease stays so
            before.draft = before.draft and draft
        else:
            run.asks[visitor] = Ask(time.time(), self._asked, lease, draft)
        if lease is not None:
            self.tabs[lease.tab] = time.monotonic()
        for number, key in self.lacking(run, again):
            seed = self.seeds[key] = self.seeds.get(key) or Seed(key, number, run.text)
            seed.state, seed.message, seed.deaths, seed.trace = "queued", "", 0, b""
            if seed.slot is None:
                seed.progress, seed.curve = 0.0, b""
        run.fresh.clear()
        for seed in filter(None, map(self.seeds.get, run.keys)):
            if seed.state == "queued":
                if run not in seed.runs:
                    seed.runs.append(run)
                if seed.fresh:
                    run.fresh.append(seed)
                else:
                    self._begun[seed] = None
        if run.fresh:
            for name, _ in run.waiting():
                self._queues.setdefault(name, {}).setdefault(run)
        run.rev += 1

    def cancel(self, run: Run, visitor: str) -> None:
        """Remove a visitor from a run: seeds for which nobody waits stop, and keep their results."""
        ask = run.asks.get(visitor)
        if ask is None or not ask.waiting:
            return
        ask.waiting, ask.cancelled = False, True
        run.rev += 1
        self._leave(visitor, run)
        for seed in filter(None, map(self.seeds.get, run.keys)):
            if seed.state == "queued" and next(seed.wishes(), None) is None:
                seed.state = "cancelled"
                self._changed(seed)
                if not seed.playing and seed in self._begun:
                    del self._begun[seed]
                    self._stopped.append(seed)
        self._forget()

    def withdraw(self, grace: float) -> int:
        """Release the leases of tabs that have gone; return their number."""
        now = time.monotonic()
        gone = {tab for tab, seen in self.tabs.items() if seen < now - grace}
        for run in list(self.runs.values()) if gone else ():
            for visitor, ask in run.waiting():
                if ask.lease and ask.lease.tab in gone:
                    self.cancel(run, visitor)
        self.tabs = {tab: seen for tab, seen in self.tabs.items() if tab not in gone}
        self._served = {visitor: at for visitor, at in self._served.items() if at > now - 3600}
        if len(self.unanswered) > QUESTIONS:  # they may be asked again
            self.unanswered.clear()
            self._deaths.clear()
        return len(gone)

    def next(self, slot: Slot) -> Order | None:
        """Return what a worker does now; None if there is nothing."""
        if slot.answers and self.questions:
            key, order = self.questions.popitem()
            self.taken[key] = order
            return order
        self._stopped = [seed for seed in self._stopped if seed.slot and seed.state == "cancelled"]
        if stopped := next((seed for seed in self._stopped if seed.slot is slot), None):
            self._stopped.remove(stopped)
            return Order("stop", stopped.key, stopped.spec, stopped.number)
        claim = first(self._claims(slot))
        if claim is None:
            return None
        seed: Seed = claim.seed
        now = time.monotonic()
        for run, visitor, _ in seed.wishes():
            self._served[visitor] = run.served = now
        seed.began_at = seed.began_at if seed.slot else time.time()
        seed.slot, seed.playing = slot, True
        self._begun[seed] = None
        self._changed(seed)
        return Order("seed", seed.key, seed.spec, seed.number)

    def _claims(self, slot: Slot) -> Iterator[Claim]:
        wishes = [(seed, run, visitor) for seed in self._begun for run, visitor, _ in seed.wishes()]
        runs = Counter(run for _, run in {(seed, run) for seed, run, _ in wishes})
        visitors = {visitor for _, _, visitor in wishes}
        running = Counter(visitor for _, visitor in {(s, visitor) for s, _, visitor in wishes if s.playing})
        here = [seed for seed in self._begun if seed.slot is slot and not seed.playing]
        alone = sum(all(runs[run] <= 1 for run in seed.runs) for seed in here)
        now = time.monotonic()

        def claim(seed: Seed, run: Run, visitor: str, ask: Ask) -> Claim:
            served = self._served.get(visitor, 0.0)
            return Claim(self.last(ask, now), running[visitor], served, run.served, ask.order, seed)

        for seed in here:
            for run, visitor, ask in seed.wishes():
                yield claim(seed, run, visitor, ask)
        for visitor, waiting in self._queues.items():
            best: tuple[bool, bool, int, Claim] | None = None
            for place, run in enumerate(list(waiting)):
                seed_of_run = self._first_fresh(run, slot)
                if not run.fresh:
                    del waiting[run]
                elif seed_of_run and may_begin(len(here), alone, runs[run] > 0, visitor in visitors):
                    found = claim(seed_of_run, run, visitor, run.asks[visitor])
                    rank = found.last, runs[run] > 0, place
                    best = best if best and best[:3] < rank else (*rank, found)
                    if rank[:2] == (False, False):
                        break
            if best is not None:
                yield best[3]

    def put_back(self, order: Order, report: Report, seconds: float = 0.0) -> None:
        """Record the end of a seed's turn: it has failed, is not wanted any more, or waits for the next
        one. Keep the results of one that was stopped."""
        seed = self.seeds.get(order.key)
        if seed is None:
            return
        if order.what == "stop":
            seed.trace = (report.trace or b"") if seed.state == "cancelled" else b""
            self._forget()
            return
        seed.playing, seed.seconds = False, seed.seconds + seconds
        self._changed(seed)
        if report.refused and seed.slot is not None and not seed.slot.answers:
            seed.here = True  # files may be kept on this machine alone
            self._give_back(seed)
        elif report.failed:
            self._fail(seed, report.failed)
        else:
            seed.progress, seed.curve = report.progress, report.curve
            if seed.state == "cancelled":
                self._begun.pop(seed, None)
                self._stopped.append(seed)

    def done(self, key: str, size: int) -> None:
        """Record that a seed is in the store. size: of its trace, in bytes."""
        if (seed := self.seeds.pop(key, None)) is not None:
            self._begun.pop(seed, None)
            seed.state = "done"
            for run in seed.runs:
                run.there[key] = size
            self._changed(seed)
            self._settle(seed)

    def died(self, order: Order, slot: Slot, cause: str) -> None:
        """Record the death of a worker. Its unfinished seeds start again; the seed that it played is blamed, and fails
        the second time. cause: "" if it played none."""
        seed = self.seeds.get(order.key)
        if cause and seed and seed.slot is slot:
            seed.deaths, seed.message = seed.deaths + 1, DIED.format(seed.number)
            if seed.deaths >= DEATHS:
                self._fail(seed, DIED_TWICE.format(seed.number, cause))
        if self.taken.pop(order.key, None):
            self._deaths[order.key] += bool(cause)
            if self._deaths[order.key] < DEATHS:
                self.questions[order.key] = order
            else:
                self.unanswered.add(order.key)
        self.lost(slot)

    def lost(self, slot: Slot) -> None:
        """Record the loss of a worker: its unfinished seeds start again."""
        for seed in [seed for seed in self.seeds.values() if seed.slot is slot]:
            seed.progress = 0.0
            self._give_back(seed)

    def ask_question(self, order: Order) -> None:
        """Add a page's question; the newest question is answered first."""
        if order.key not in self.taken:
            self.questions.setdefault(order.key, order)
            if len(self.questions) > QUESTIONS:
                self.questions.popitem(last=False)

    def last(self, ask: Ask, now: float) -> bool:
        """Return whether others come first: it is a draft, or its tab has not been seen for some seconds."""
        return ask.draft or (ask.lease is not None and now - self.tabs.get(ask.lease.tab, 0.0) > AWAY)

    def begun(self) -> list[Seed]:
        """Return the seeds that workers have begun, those that are played just now first."""
        return sorted((s for s in self._begun if s.state == "queued"), key=lambda seed: not seed.playing)

    def _first_fresh(self, run: Run, slot: Slot) -> Seed | None:
        while run.fresh and not run.fresh[0].fresh:
            run.fresh.popleft()
        if slot.plays == "all":
            return run.fresh[0] if run.fresh else None
        return next((s for s in run.fresh if s.fresh and s.here == (slot.plays == "here")), None)

    def _give_back(self, seed: Seed) -> None:
        """No worker has begun a seed any more; if somebody waits for it, it is the next of its run."""
        seed.slot, seed.playing = None, False
        self._begun.pop(seed, None)
        self._changed(seed)
        for run, visitor, _ in seed.wishes():
            if seed.fresh and seed not in run.fresh:
                run.fresh.appendleft(seed)
            self._queues[visitor] = {run: None} | self._queues.get(visitor, {})

    def _fail(self, seed: Seed, message: str) -> None:
        seed.state, seed.message, seed.slot, seed.playing = "failed", message, None, False
        self._begun.pop(seed, None)
        self._changed(seed)
        self._settle(seed)
        self._forget()

    def _settle(self, seed: Seed) -> None:
        """Nobody waits any more for runs that have come to their end with this seed."""
        for run in seed.runs:
            if not any((s := self.seeds.get(key)) and s.state == "queued" for key in run.keys):
                for visitor, ask in run.waiting():
                    ask.waiting = False
                    self._leave(visitor, run)

    def _leave(self, visitor: str, run: Run) -> None:
        self._queues.get(visitor, {}).pop(run, None)
        if not self._queues.get(visitor, True):
            del self._queues[visitor]

    def _changed(self, seed: Seed) -> None:
        for run in seed.runs:
            run.rev += 1

    def _forget(self) -> None:
        """Keep the latest unwanted seeds with their results; if requested again, they go on."""
        idle = [seed for seed in self.seeds.values() if seed.state != "queued" and not seed.playing]
        traces = 0
        for place, seed in enumerate(reversed(idle)):
            traces += len(seed.trace)
            seed.trace = seed.trace if traces <= _PARTIAL else b""
            if place >= _IDLE:
                del self.seeds[seed.key]

"""Who waits for what, in memory: which seed a worker gets next, and what becomes of it.

A `Queue` knows no thread, file or process: the store calls it under its lock.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from dprl.runs.asked import Ask, Run, Seed, SeedState
from dprl.runs.limits import Lease
from dprl.runs.turn import Order, Report
from dprl.runs.turns import Claim, first, may_begin
from dprl.runs.workers import Slot

DEATHS = 2
DIED = "A worker process died; seed {} is run again."
DIED_TWICE = "Seed {} failed: its worker process died twice ({}), perhaps for want of memory."
AWAY = 5.0  # s without its tab, after which a visitor's work comes last
_IDLE = 1000  # seeds that nobody waits for and that are kept with what they have
_PARTIAL = 64 * 2**20  # bytes of traces of cancelled seeds
_RUNS = 10_000
QUESTIONS = 4096  # that wait; the oldest are dropped


class Queue:
    """All that was asked for, and who has begun what."""

    def __init__(self) -> None:
        self.runs: OrderedDict[str, Run] = OrderedDict()  # by name, longest unused first
        self.seeds: OrderedDict[str, Seed] = OrderedDict()  # by key: none that is done
        self.questions: OrderedDict[str, Order] = OrderedDict()  # the newest last
        self.taken: dict[str, Order] = {}  # those that a worker is at
        self.unanswered: set[str] = set()
        self.tabs: dict[str, float] = {}  # that have leases, and when they were last there
        self._queues: dict[str, OrderedDict[Run, None]] = {}  # by visitor: runs with fresh seeds
        self._begun: dict[Seed, None] = {}
        self._served: dict[str, float] = {}
        self._stopped: list[Seed] = []
        self._question_deaths: Counter[str] = Counter()
        self._asked = 0
        self._numbers = 0

    def run(self, spec: Any, name: str, keys: Callable[[], tuple[str, ...]]) -> Run:
        """Return what is known of a run."""
        found = self.runs.get(name)
        if found is None:
            self._numbers += 1
            found = self.runs[name] = Run(self._numbers, spec, spec.to_json(), name, keys())
            for old in list(self.runs)[: max(0, len(self.runs) - _RUNS)]:
                if not any(ask.waiting for ask in self.runs[old].asks.values()):
                    del self.runs[old]
        self.runs.move_to_end(name)
        return found

    def lacking(self, run: Run, again: bool = True) -> list[tuple[int, str]]:
        """Return the seeds that asking for a run would queue, with their keys."""
        going = ("queued",) if again else ("queued", "failed")
        return [
            (number, key)
            for number, key in enumerate(run.keys)
            if run.there.get(key, -1) < 0 and not ((seed := self.seeds.get(key)) and seed.state in going)
        ]

    def leased(self, counts: Callable[[Lease], bool]) -> tuple[int, float]:
        """Return how many seeds wait under leases that count, and their seconds, estimated."""
        runs = [
            run
            for run in self.runs.values()
            if run.fresh and any(ask.waiting and ask.lease and counts(ask.lease) for ask in run.asks.values())
        ]
        waiting = [sum(seed.state == "queued" and seed.slot is None for seed in run.fresh) for run in runs]
        return sum(waiting), sum(n * run.seconds for n, run in zip(waiting, runs, strict=True))

    def ask(self, run: Run, visitor: str, lease: Lease | None, again: bool, draft: bool) -> int:
        """A visitor waits for a run; return how many seeds were queued for that."""
        self._asked += 1
        before = run.asks.get(visitor)
        if before is not None and before.waiting:
            before.lease = before.lease and lease  # what was asked for without a lease stays so
            before.draft = before.draft and draft
        else:
            run.asks[visitor] = Ask(time.time(), self._asked, lease, draft)
        if lease is not None:
            self.tabs[lease.tab] = time.monotonic()
        new = self.lacking(run, again)
        for number, key in new:
            seed = self.seeds.get(key) or Seed(key, number, run.text)
            seed.state, seed.message, seed.deaths, seed.trace = "queued", "", 0, b""
            if seed.slot is None and not seed.playing:
                seed.progress, seed.curve = 0.0, b""
            self.seeds[key] = seed
        run.fresh.clear()
        for key in run.keys:
            if (found := self.seeds.get(key)) is not None and found.state == "queued":
                if run not in found.runs:
                    found.runs.append(run)
                if found.slot is None:
                    run.fresh.append(found)
                else:
                    self._begun[found] = None
        if run.fresh:
            for name, ask in run.asks.items():
                if ask.waiting:
                    self._queues.setdefault(name, OrderedDict()).setdefault(run)
        run.rev += 1
        return len(new)

    def cancel(self, run: Run, visitor: str) -> None:
        """A visitor no longer waits for a run: seeds for which nobody waits stop, and keep what they have."""
        ask = run.asks.get(visitor)
        if ask is None or not ask.waiting:
            return
        ask.waiting, ask.cancelled = False, True
        run.rev += 1
        self._leave(visitor, run)
        for key in run.keys:
            seed = self.seeds.get(key)
            if seed is not None and seed.state == "queued" and next(seed.wishes(), None) is None:
                seed.state = "cancelled"
                self._changed(seed)
                if not seed.playing and seed in self._begun:
                    del self._begun[seed]
                    self._stopped.append(seed)
        self._forget()

    def withdraw(self, grace: float) -> int:
        """Nobody waits any more for what was leased by tabs that have gone; return how many these were."""
        now = time.monotonic()
        gone = {tab for tab, seen in self.tabs.items() if seen < now - grace}
        for tab in gone:
            del self.tabs[tab]
        if gone:
            for run in list(self.runs.values()):
                for visitor, ask in run.asks.items():
                    if ask.waiting and ask.lease and ask.lease.tab in gone:
                        self.cancel(run, visitor)
        self._served = {visitor: at for visitor, at in self._served.items() if at > now - 3600}
        return len(gone)

    def next(self, slot: Slot) -> Order | None:
        """Return what a worker does now; None if there is nothing."""
        if slot.answers and self.questions:
            key, order = self.questions.popitem()
            self.taken[key] = order
            return order
        for seed in self._stopped:
            if seed.slot is slot:
                self._stopped.remove(seed)
                if seed.state == "cancelled":
                    return Order("stop", seed.key, seed.spec, seed.number)
                break
        claim = first(self._claims(slot))
        if claim is None:
            return None
        seed, now = claim.seed, time.monotonic()
        for run, visitor, _ in seed.wishes():
            self._served[visitor] = run.served = now
        if seed.slot is None:
            seed.began_at = time.time()
        seed.slot, seed.playing = slot, True
        self._begun[seed] = None
        self._changed(seed)
        return Order("seed", seed.key, seed.spec, seed.number)

    def _claims(self, slot: Slot) -> Iterator[Claim]:
        now = time.monotonic()
        running: Counter[str] = Counter()
        visitors: set[str] = set()
        runs: set[Run] = set()
        here: list[Seed] = []
        for seed in self._begun:
            for run, visitor, _ in seed.wishes():
                runs.add(run)
                visitors.add(visitor)
            if seed.playing:
                running.update({visitor for _, visitor, _ in seed.wishes()})
            elif seed.slot is slot:
                here.append(seed)

        def claim(seed: Seed, run: Run, visitor: str, ask: Ask) -> Claim:
            last = ask.draft or self.away(ask, now)
            return Claim(last, running[visitor], self._served.get(visitor, 0.0), run.served, ask.order, seed)

        for seed in here:
            for run, visitor, ask in seed.wishes():
                yield claim(seed, run, visitor, ask)
        for visitor, waiting in self._queues.items():
            best: tuple[bool, bool, Run, Seed] | None = None
            for run in list(waiting):
                found = self._fresh(run, slot)
                if not run.fresh:
                    del waiting[run]
                elif found is not None and may_begin(len(here), run in runs, visitor in visitors):
                    ask = run.asks[visitor]
                    rank = ask.draft or self.away(ask, now), run in runs
                    if best is None or rank < best[:2]:
                        best = *rank, run, found
                    if rank == (False, False):
                        break
            if best is not None:
                yield claim(best[3], best[2], visitor, best[2].asks[visitor])

    def put_back(self, order: Order, report: Report, seconds: float = 0.0) -> None:
        """Take note of what became of a seed in its turn: it has failed, is not wanted any more, or waits for the next
        one. Of one that was stopped, keep what it has."""
        seed = self.seeds.get(order.key)
        if seed is None:
            return
        if order.what == "stop":
            if seed.state == "cancelled":
                seed.trace = report.trace or b""
            self._forget()
            return
        seed.playing = False
        seed.seconds += seconds
        self._changed(seed)
        if report.refused and seed.slot is not None and not seed.slot.answers:
            seed.here = True  # files may be kept on this machine alone
            self._give_back(seed)
        elif report.failed:
            seed.message, seed.slot = report.failed, None
            self._end(seed, "failed")
        else:
            seed.progress, seed.curve = report.progress, report.curve
            if seed.state == "cancelled":
                self._begun.pop(seed, None)
                self._stopped.append(seed)

    def done(self, key: str, size: int) -> None:
        """A seed is in the store. size: of its trace, in bytes."""
        seed = self.seeds.pop(key, None)
        if seed is None:
            return
        self._begun.pop(seed, None)
        seed.playing, seed.state = False, "idle"
        for run in seed.runs:
            run.there[key] = size
            run.rev += 1
        self._settle(seed)

    def died(self, order: Order, slot: Slot, cause: str) -> None:
        """A worker died. What it had begun is begun again; the seed that it played is blamed, and fails the second
        time. cause: "" if it played none."""
        for seed in [seed for seed in self.seeds.values() if seed.slot is slot]:
            seed.progress, blamed = 0.0, seed.key == order.key and cause
            if blamed:
                seed.deaths += 1
                seed.message = DIED.format(seed.number)
            if blamed and seed.deaths >= DEATHS:
                seed.playing, seed.slot = False, None
                seed.message = DIED_TWICE.format(seed.number, cause)
                self._end(seed, "failed")
            else:
                self._give_back(seed)
        if order.what == "question" and (asked := self.taken.pop(order.key, None)):
            self._question_deaths[order.key] += bool(cause)
            if self._question_deaths[order.key] < DEATHS:
                self.questions[order.key] = asked
            else:
                self.unanswered.add(order.key)

    def lost(self, slot: Slot) -> None:
        """A worker is gone without having died of anything: what it had begun is begun again."""
        for seed in [seed for seed in self.seeds.values() if seed.slot is slot]:
            seed.progress = 0.0
            self._give_back(seed)

    def ask_question(self, order: Order) -> None:
        """A page asks; the newest question is answered first."""
        if order.key not in self.taken:
            self.questions.setdefault(order.key, order)
            while len(self.questions) > QUESTIONS:
                self.questions.popitem(last=False)

    def answered(self, order: Order, report: Report) -> None:
        """A question has an answer, or has failed."""
        self.taken.pop(order.key, None)
        if report.failed:
            self.unanswered.add(order.key)

    def away(self, ask: Ask, now: float) -> bool:
        """Return whether the tab of a lease has not been seen for some seconds."""
        return ask.lease is not None and now - self.tabs.get(ask.lease.tab, 0.0) > AWAY

    def begun(self) -> list[Seed]:
        """Return the seeds that workers have begun, those that are played just now first."""
        return sorted((s for s in self._begun if s.state == "queued"), key=lambda seed: not seed.playing)

    def _fresh(self, run: Run, slot: Slot) -> Seed | None:
        """Return the first seed of a run that no worker has begun and this one may."""
        while run.fresh and (run.fresh[0].state != "queued" or run.fresh[0].slot is not None):
            run.fresh.popleft()
        if slot.plays == "all":
            return run.fresh[0] if run.fresh else None
        mine = (
            s
            for s in run.fresh
            if s.here == (slot.plays == "here") and s.state == "queued" and s.slot is None
        )
        return next(mine, None)

    def _give_back(self, seed: Seed) -> None:
        """No worker has begun a seed any more; if somebody waits for it, it is the next of its runs."""
        seed.slot, seed.playing = None, False
        self._begun.pop(seed, None)
        self._changed(seed)
        if seed.state != "queued":
            return
        for run, visitor, _ in seed.wishes():
            if seed not in run.fresh:
                run.fresh.appendleft(seed)
            queue = self._queues.setdefault(visitor, OrderedDict())
            queue[run] = None
            queue.move_to_end(run, last=False)

    def _end(self, seed: Seed, state: SeedState) -> None:
        seed.state = state
        self._begun.pop(seed, None)
        self._changed(seed)
        self._settle(seed)
        self._forget()

    def _settle(self, seed: Seed) -> None:
        """Nobody waits any more for runs that have come to their end with this seed."""
        for run in seed.runs:
            if not any((s := self.seeds.get(key)) and s.state == "queued" for key in run.keys):
                for visitor, ask in run.asks.items():
                    ask.waiting = False
                    self._leave(visitor, run)

    def _leave(self, visitor: str, run: Run) -> None:
        if (queue := self._queues.get(visitor)) is not None:
            queue.pop(run, None)
            if not queue:
                del self._queues[visitor]

    def _changed(self, seed: Seed) -> None:
        for run in seed.runs:
            run.rev += 1

    def _forget(self) -> None:
        """Of the seeds that nobody waits for, keep the latest with what they have; if asked for, they go on."""
        idle = [seed for seed in self.seeds.values() if seed.state != "queued" and not seed.playing]
        traces = 0
        for place, seed in enumerate(reversed(idle)):
            traces += len(seed.trace)
            if traces > _PARTIAL:
                seed.trace = b""
            if place >= _IDLE:
                del self.seeds[seed.key]

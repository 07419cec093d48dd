"""Who plays: a thread for each slot has it play turn after turn, as the queue gives them out."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from typing import Any

from dprl.runs.database import StoreError, setting
from dprl.runs.queue import Queue
from dprl.runs.results import Results
from dprl.runs.turn import Order, Report
from dprl.runs.workers import Died, Lost, PipeSlot, Slot

log = logging.getLogger("dprl.runs")

FAILURES = 5  # seeds that failed last, for `dprl status`


class Engine:
    """The queue with those who play.

    Attributes:
        queue: only touched under the lock `work`, which is notified when there is something to do.
        trouble: a sentence while no worker can be reached, else "".
        failures: the seeds that failed last.
    """

    def __init__(self, results: Results, simulation: str) -> None:
        self.queue = Queue()
        self.work = threading.Condition(threading.RLock())
        self.trouble = ""
        self.failures: list[dict[str, Any]] = []
        self._results, self._simulation = results, simulation
        self._slots: set[Slot] = set()
        self._cluster: Any = None
        self._closed = False

    @property
    def workers(self) -> int:
        """How many seeds are played at a time."""
        return sum(slot.plays != "here" for slot in self._slots)

    def begin(self, workers: int | None = None, engine: str | None = None) -> None:
        """Start workers unless there are some, or use a Dask cluster.

        Args:
            workers: how many processes, by default DPRL_WORKERS, else 2.
            engine: the address of a Dask scheduler.

        Raises:
            StoreError: the cluster cannot be used.
        """
        with self.work:
            address = self._cluster and self._cluster.address
            if self._slots and engine == address:
                return
            self._end_slots()
            if engine is not None:
                from dprl.runs.cluster import Cluster

                self._cluster = Cluster(engine, self.add, self.drop, self._say, self._simulation)
                self.add(PipeSlot(self._simulation, "here"))
            else:
                for _ in range(workers or setting("DPRL_WORKERS", 2, 1, 256)):
                    self.add(PipeSlot(self._simulation))

    def add(self, slot: Slot) -> None:
        """Have turns played there."""
        with self.work:
            self._slots.add(slot)
        threading.Thread(target=self._serve, args=(slot,), name="slot", daemon=True).start()

    def drop(self, slot: Slot) -> None:
        """Have no more turns played there."""
        with self.work:
            self._slots.discard(slot)
            self.queue.lost(slot)
            self.work.notify_all()
        slot.close()

    def _say(self, trouble: str) -> None:
        self.trouble = trouble

    def _end_slots(self) -> None:
        if self._cluster is not None:
            self._cluster.close()
            self._cluster = None
        for slot in list(self._slots):
            self.drop(slot)

    def close(self) -> None:
        """End the workers."""
        with self.work:
            self._closed = True
            self._end_slots()
            self.work.notify_all()

    def turn(self, slot: Slot, wait: bool = False) -> bool:
        """Have a slot do one thing; return whether there was any. wait: until there is."""
        with self.work:
            while (order := None if self._closed else self._next(slot)) is None:
                if not wait or self._closed or slot not in self._slots:
                    return False
                self.work.wait(1.0)
        began = time.monotonic()
        try:
            if order.what == "seed" and self._found(order):
                return True
            report = slot.play(order)
        except Died as error:
            log.warning("A worker process ended (%s); another one starts.", error)
            with self.work:
                self.queue.died(order, slot, str(error))
                self.work.notify_all()
        except Lost:
            with self.work:
                if order.what == "question":
                    self.queue.taken.pop(order.key, None)
                    self.queue.ask_question(order)
            self.drop(slot)
        else:
            self._report(order, report, time.monotonic() - began)
        return True

    def _next(self, slot: Slot) -> Order | None:
        if self._results.crowded:
            return None
        order = self.queue.next(slot)
        if order and order.what == "seed" and (seed := self.queue.seeds[order.key]).seconds == 0.0:
            log.info("A seed begins", extra={"run": seed.runs[0].name, "key": seed.key, "seed": seed.number})
        return order

    def _found(self, order: Order) -> bool:
        """Whether another process has put a seed that begins now into the file."""
        with self.work:
            seed = self.queue.seeds.get(order.key)
            if seed is None or seed.seconds:
                return False
        with contextlib.suppress(StoreError):
            if (size := self._results.there([order.key]).get(order.key, -1)) >= 0:
                with self.work:
                    self.queue.done(order.key, size)
                return True
        return False

    def _report(self, order: Order, report: Report, seconds: float) -> None:
        if order.what == "question":
            if not report.failed:
                self._results.put(order.key, report.curve, None)
            with self.work:
                self.queue.answered(order, report)
            return
        done = order.what == "seed" and report.trace is not None and not report.failed
        if done and report.trace is not None:
            self._results.put(order.key, report.curve, report.trace)
        with self.work:
            seed = self.queue.seeds.get(order.key)
            self.queue.put_back(order, report, seconds)
            if done and seed is not None and report.trace is not None:
                for run in seed.runs:
                    run.seconds = seed.seconds
                self.queue.done(order.key, len(report.trace))
                named = {"run": seed.runs[0].name, "key": seed.key, "seed": seed.number}
                log.info("A seed is done", extra=named | {"seconds": round(seed.seconds, 3)})
            if report.failed and seed is not None and seed.state == "failed":
                self.failures.append({"key": seed.key, "seed": seed.number, "message": seed.message,
                                       "began_at": seed.began_at})  # fmt: skip
                del self.failures[:-FAILURES]
            if done or report.failed:
                self.work.notify_all()

    def _serve(self, slot: Slot) -> None:
        while not self._closed and slot in self._slots:
            try:
                self.turn(slot, wait=True)
            except Exception:
                log.exception("A turn failed")
                time.sleep(1.0)

"""The engine that computes runs in the background. Each worker gets short turns (0.25 s) in the order of the queue."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from typing import Any

from dprl.runs.database import StoreError, setting
from dprl.runs.queue import Queue, Seed
from dprl.runs.results import Results
from dprl.runs.turn import Order, Report
from dprl.runs.workers import Died, Lost, PipeSlot, Slot

log = logging.getLogger("dprl.runs")


class Engine:
    """The queue of requested runs, with the workers that compute them.

    Attributes:
        queue: used only under the lock `work`, which is notified when there is something to do.
        trouble: a sentence while no worker can be reached, else ""; closed: True once the workers were stopped.
    """

    def __init__(self, results: Results, simulation: str) -> None:
        self.queue = Queue()
        self.work = threading.Condition(threading.RLock())
        self.trouble = ""
        self.slots: set[Slot] = set()
        self._results, self._simulation = results, simulation
        self._cluster: Any = None
        self.closed = False

    @property
    def workers(self) -> int:
        """Return the number of seeds that are simulated at the same time."""
        return sum(slot.plays != "here" for slot in list(self.slots))

    def begin(self, workers: int | None = None, engine: str | None = None) -> None:
        """Start workers (by default DPRL_WORKERS, else 2) if none exist, or use this scheduler. Raises StoreError."""
        with self.work:
            if self.slots and engine == (self._cluster and self._cluster.address):
                return
            self._end_slots()
            if engine is not None:
                from dprl.runs.cluster import Cluster

                self._cluster = Cluster(engine, self, self._simulation)
                self.add(PipeSlot(self._simulation, "here"))
            else:
                for _ in range(workers or setting("DPRL_WORKERS", 2, 1, 256)):
                    self.add(PipeSlot(self._simulation))

    def add(self, slot: Slot) -> None:
        """Add a worker, and start a thread that gives it tasks."""
        with self.work:
            self.slots.add(slot)
        threading.Thread(target=self._serve, args=(slot,), name="slot", daemon=True).start()

    def drop(self, slot: Slot) -> None:
        """Remove a worker, so that it gets no more tasks."""
        with self.work:
            self.slots.discard(slot)
            if not any(seed.playing and seed.slot is slot for seed in self.queue.begun()):
                self.queue.lost(slot)  # otherwise, the error from `play` decides about the seed
            self.work.notify_all()
        slot.close()

    def close(self) -> None:
        """Stop the workers."""
        with self.work:
            self.closed = True
            self._end_slots()
            self.work.notify_all()

    def turn(self, slot: Slot, wait: bool = False) -> bool:
        """Let a worker spend a turn on one task, and return whether there was a task. If `wait`, wait for one."""
        with self.work:
            while (order := None if self.closed or self._results.crowded else self.queue.next(slot)) is None:
                if not wait or self.closed or slot not in self.slots:
                    return False
                self.work.wait(1.0)
            seed = self.queue.seeds.get(order.key)
        began = time.monotonic()
        try:
            if seed is not None and not seed.seconds:
                log.info("A seed begins", extra=_named(seed))
                with contextlib.suppress(StoreError):
                    size = self._results.there([seed.key]).get(seed.key, -1)
                    if size >= 0:  # from another process
                        with self.work:
                            self.queue.done(seed.key, size)
                        return True
            self._report(order, slot.play(order), began)
        except Died as error:
            log.warning("A worker process ended (%s); another one starts.", error)
            with self.work:
                self.queue.died(order, slot, str(error))
                self.work.notify_all()
        except Lost:
            with self.work:
                self.queue.lost(slot, order)
            self.drop(slot)
        except Exception as error:
            log.exception("A turn failed")
            self._report(order, Report(failed=f"Seed {order.seed} failed: {type(error).__name__}."), began)
        return True

    def _report(self, order: Order, report: Report, began: float) -> None:
        done = order.what == "seed" and report.trace is not None
        if done or (order.what == "question" and not report.failed):
            self._results.put(order.key, report.curve, report.trace)
        with self.work:
            seed = self.queue.seeds.get(order.key)
            self.queue.put_back(order, report, time.monotonic() - began)
            if done and seed is not None:
                self.queue.done(order.key, len(report.trace or b""))
                log.info("A seed is done", extra=_named(seed) | {"seconds": round(seed.seconds, 3)})
            if done or report.failed:
                self.work.notify_all()

    def _serve(self, slot: Slot) -> None:
        while not self.closed and slot in self.slots:
            self.turn(slot, wait=True)

    def _end_slots(self) -> None:
        if self._cluster is not None:
            self._cluster.close()
            self._cluster = None
        for slot in list(self.slots):
            self.drop(slot)


def _named(seed: Seed) -> dict[str, object]:
    return {"run": seed.runs[0].name, "key": seed.key, "seed": seed.number}

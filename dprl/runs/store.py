"""The store of the dashboard: requested runs, their progress and their results, with the workers that compute them.

A run is a spec with all its seeds. `store.ask(spec, visitor)` requests it, `store.traces(spec)` returns its results.
"""

from __future__ import annotations

import atexit
import importlib
import json
import logging
import os
import threading
import time
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.engine import home
from dprl.metrics.curves import RunCurves, align
from dprl.runs.database import Database, StoreError, setting
from dprl.runs.engine import Engine
from dprl.runs.limits import CAPS, Cap, Lease
from dprl.runs.queue import DEATHS, Run, SpecLike
from dprl.runs.results import Results
from dprl.runs.rooms import TABLES, Rooms, ShortLinks
from dprl.runs.status import Activity, Forecast, RunRow, RunStatus, State, forecast, wishes
from dprl.runs.turn import SIMULATION, Order
from dprl.simulation import Spec, Trace

log = logging.getLogger("dprl.runs")

_LOOK = 2.0  # seconds after which the file is read again for the results of other processes
_FORECAST = 1.0  # seconds for which an estimate holds
_FAILURES = 5  # the most that are reported
_WEEK = 7 * 24 * 3600
_NO_POINTS = np.zeros(0, np.int64), np.zeros(0)
MADE_ROOM = "The details of this run were deleted to make room for newer results; its curve is still here."


class Store:
    """The store of runs, in two SQLite files: one for results, one for rooms and short links. All threads of a process
    may use one `Store`. Processes share results through the file; requests are known only to their own process.

    public: True if all requests of the dashboard are leased, not only those from links. link_seconds: the
    estimated seconds on one core that a link may start by itself. grace: the seconds for which leased work continues
    after its tab is gone. simulation: see turn.SIMULATION. Raises StoreError if the store cannot be used.
    """

    def __init__(self, path: Path | None = None, simulation: str = SIMULATION) -> None:
        self.path = (default_path() if path is None else Path(path)).absolute()
        self.grace = setting("DPRL_GRACE_SECONDS", 45, 1, _WEEK)
        self.public = bool(setting("DPRL_PUBLIC", 0, 0, 1))
        self.link_seconds: float = setting("DPRL_LINK_SECONDS", 20 if self.public else 60, 0, _WEEK)
        self._caps = {by: Cap(by) for by in CAPS}
        rooms_path = self.path.with_stem(f"{self.path.stem}-rooms")
        self._rooms_file = Database(rooms_path, "store of rooms", 2, TABLES, "secure_delete = ON")
        self.rooms, self.links = Rooms(self._rooms_file), ShortLinks(self._rooms_file)
        self.results = Results(self.path)
        self._simulation: Any = importlib.import_module(simulation)
        self.engine = Engine(self.results, simulation)
        self._queue, self._work = self.engine.queue, self.engine.work
        self._keeper: threading.Thread | None = None
        self._report = self.path.with_name(f"{self.path.name}.{os.getpid()}.json")
        self._forecasts: tuple[float, dict[Run, Forecast]] = (float("-inf"), {})

    def ask(
        self,
        spec: SpecLike,
        visitor: str,
        lease: Lease | None = None,
        again: bool = False,
        draft: bool = False,
    ) -> None:
        """Request a run for a visitor. Finished seeds are not computed again, nor are failed ones unless `again`. A
        draft yields to all other requests. `lease` is the browser tab if closing it ends the request. Raises SpecError
        if the run exceeds a limit, and Refused if more would wait than leases allow."""
        run = self._look(spec)
        with self._work:
            new = len(self._queue.lacking(run, again))
            if new:
                run.seconds = self._simulation.estimate(spec).seconds
            before = run.asks.get(visitor)
            if before and before.waiting and before.lease is None:
                lease = None
            for by, cap in self._caps.items() if lease and new else ():
                if whose := getattr(lease, by):
                    cap.check(new, new * run.seconds, *self._queue.leased(by, whose))
            self._queue.ask(run, visitor, lease, again, draft)
            self._changed()
        if new:
            log.info("A run is asked for", extra={"run": run.name, "seeds": new})

    def cancel(self, spec: SpecLike, visitor: str) -> None:
        """Withdraw the visitor's request for this run. Seeds stop if nobody else wants them, and keep their points."""
        run = self._run(spec)
        with self._work:
            self._queue.cancel(run, visitor)
            self._changed()

    def clear(self, visitor: str) -> int:
        """Remove a visitor's finished runs, and return their number. Runs that others have, too, stay in the store."""
        with self._work:
            own = [run for run in self._queue.runs.values() if visitor in run.asks]
            ended = [run for run in own if self.status(run.spec, visitor).state not in ("queued", "running")]
            for run in ended:
                del run.asks[visitor]
            kept = {key for run in self._queue.runs.values() if run.asks for key in run.keys}
            gone = {key for run in ended for key in run.keys} - kept
            for key in gone:
                self._queue.seeds.pop(key, None)
        self.results.forget(gone)
        return len(ended)

    def cost(self, specs: Iterable[SpecLike]) -> tuple[int, float]:
        """Estimate the cost of a request: the number of seeds still to compute, and their seconds on one core."""
        lacking = {spec: len(self._queue.lacking(self._look(spec), again=False)) for spec in specs}
        seconds = (n * self._simulation.estimate(spec).seconds for spec, n in lacking.items() if n)
        return sum(lacking.values()), sum(seconds)

    def status(self, spec: SpecLike, visitor: str | None = None) -> RunStatus:
        """Return a run's status. For a visitor who withdrew, it is "cancelled", even if others are still waiting."""
        run = self._look(spec)
        with self._work:
            whole = {key for key in run.keys if run.there.get(key, -1) >= 0}
            known = self._queue.seeds
            seeds = [known[key] for key in run.keys if key in known and key not in whole]
            states = {seed.state for seed in seeds}
            begun = any(seed.state == "queued" and not seed.fresh for seed in seeds)
            own = run.asks.get(visitor or "")
            state: State = "unknown"
            if len(whole) == len(run.keys):
                state = "done"
            elif "queued" in states and (bool(run.waiting()) if own is None else not own.cancelled):
                state = "running" if begun or whole or "failed" in states else "queued"
            elif states:
                state = "failed" if "failed" in states else "cancelled"
            ahead = self._forecast().get(run) if state in ("queued", "running") else None
            made_room = MADE_ROOM if state == "unknown" and run.there else ""
            return RunStatus(
                state=state,
                seeds=len(run.keys),
                seeds_done=len(whole),
                progress=(len(whole) + sum(seed.progress for seed in seeds)) / len(run.keys),
                place=None if ahead is None or begun else ahead.place,
                seconds_left=None if ahead is None else ahead.seconds_left,
                message=next((s.message for s in seeds if s.message), made_room),
            )

    def version(self, spec: SpecLike) -> str:
        """Return a short text that changes with the run, but not with its place in the queue or its time left."""
        return str(self._look(spec).rev)

    def runs(self, visitor: str) -> list[RunRow]:
        """Return the visitor's own runs, latest first."""
        with self._work:
            own = [(run.asks[visitor], run) for run in self._queue.runs.values() if visitor in run.asks]
        rows = []
        for ask, run in sorted(own, key=lambda row: -row[0].at):
            status = self.status(run.spec, visitor)
            size = sum(max(0, size) for size in run.there.values())
            rows.append(RunRow(spec=run.spec, asked_at=ask.at, bytes=size, **vars(status)))
        return rows

    def going(self, visitors: Collection[str]) -> int:
        """Return how many unfinished runs these visitors are waiting for."""
        with self._work:
            waiting = (ask for run in self._queue.runs.values() for ask in run.asks.items())
            return sum(name in visitors and ask.waiting for name, ask in waiting)

    def activity(self) -> Activity:
        """Return the total activity of workers and queue, for all visitors."""
        with self._work:
            runs, seeds = self._queue.runs.values(), self._queue.seeds.values()
            seconds = {seed.key: run.seconds for run in runs for seed in run.fresh if seed.fresh}
            return Activity(
                workers=self.engine.workers,
                seeds_running=len(self._queue.begun()),
                seeds_queued=sum(seed.fresh for seed in seeds),
                seconds_queued=sum(seconds.values()),
                runs_waiting=sum(any(seed.fresh for seed in run.fresh) for run in runs if run.waiting()),
            )

    def live(self, spec: SpecLike) -> list[tuple[int, NDArray[np.int64], NDArray[np.float64]]]:
        """Return each seed's points so far as (seed, at [C], values [C]). For an online run, values are regret."""
        keys = self._run(spec).keys
        with self._work:
            points = {key: self._queue.seeds[key].curve for key in keys if key in self._queue.seeds}
        points = self.results.curves(keys) | {key: curve for key, curve in points.items() if curve}
        found = []
        for number, key in enumerate(keys):
            if curve := points.get(key):
                at, values = np.frombuffer(curve, "<i8"), np.frombuffer(curve, "<f8")
                found.append(
                    (number, at[: len(at) // 2].astype(np.int64), values[len(at) // 2 :].astype(float))
                )
        return found

    def curves(self, spec: Spec) -> RunCurves:
        """Return the curves so far, with a row for each seed up to the last one that has points."""
        grown = {seed: (at, values) for seed, at, values in self.live(spec) if len(at)}
        rows = [grown.get(seed, _NO_POINTS) for seed in range(max(grown, default=-1) + 1)]
        at, values = align(rows)
        return RunCurves(at, values, ended=bool(len(at)) and bool(at[-1] == spec.size))

    def whole_curves(self, spec: Spec) -> RunCurves | None:
        """Return the curves of all seeds of a run up to its end; None if any seed has not reached the end."""
        run = self.curves(spec)
        return run if run.whole(spec.seeds) else None

    def traces(self, spec: SpecLike, seeds: Collection[int] | None = None) -> list[Any]:
        """Return the traces of finished seeds in order, either of all or only of the given `seeds`."""
        found = []
        for number, key in enumerate(self._run(spec).keys):
            if (seeds is None or number in seeds) and (data := self.results.trace(key)) is not None:
                try:
                    found.append(self._simulation.trace_from_bytes(data))
                except ValueError:  # damaged on disk, so it is computed again
                    self.results.forget([key])
        return found

    def whole_trace(self, spec: Spec) -> Trace | None:
        """Return a finished run with all details, or None if a seed is unfinished or its details were deleted."""
        traces = tuple(self.traces(spec))
        return Trace(spec, traces) if len(traces) == spec.seeds else None

    def answer(self, question: str, spec: SpecLike) -> str | None:
        """Return the answer to a question about a spec as JSON, "" if there is none, or None while it is unknown."""
        key = f"{question} {spec.seed_key(0)}"
        with self._work:
            if key in self._queue.questions or key in self._queue.taken:
                return None
            if self._queue.failures[key] >= DEATHS:
                return ""
        if (known := self.results.curves([key]).get(key)) is not None:
            return known.decode()
        with self._work:
            self._queue.ask_question(Order("question", key, spec.to_json(), question=question))
            self._work.notify_all()
        return None

    def present(self, tabs: Collection[str]) -> set[str]:
        """Record that these browser tabs are open, and return all tabs whose requests end when they close."""
        with self._work:
            self._queue.tabs |= dict.fromkeys(self._queue.tabs.keys() & set(tabs), time.monotonic())
            return set(self._queue.tabs)

    @property
    def notice(self) -> str:
        """Return a message about a problem (unsaved results, unreachable workers, a replaced file), or ""."""
        files = self.results.file.notice, self._rooms_file.notice
        return next(filter(None, (self.results.notice, self.engine.trouble, *files)), "")

    def begin(self, workers: int | None = None, engine: str | None = None) -> Store:
        """Start workers unless some are running, or use the Dask cluster at `engine`. Return the store itself."""
        with self._work:
            if self._keeper is None:
                self._keeper = threading.Thread(target=self._keep, name="keeper", daemon=True)
                self._keeper.start()
                atexit.register(self.close)
        self.engine.begin(workers, engine)
        return self

    def close(self) -> None:
        """Stop the workers, write the waiting results, and close the files."""
        if _opened.get(self.path) is self:
            del _opened[self.path]
        self.engine.close()
        self.results.news.set()
        if self._keeper is not None:
            atexit.unregister(self.close)
            self._keeper.join(5.0)
            self._report.unlink(missing_ok=True)
        self.results.write()
        self.results.file.close()
        self._rooms_file.close()

    def _keep(self) -> None:
        """Write results as they arrive. Each second, check tabs and rooms, and report to other processes."""
        looked, told = 0.0, ""
        others(self.path)  # this also removes the reports of killed processes
        while not self.engine.closed:
            self.results.news.wait(1.0)
            self.results.news.clear()
            try:
                if self.results.waiting:
                    self.results.write()
                if time.monotonic() - looked > 1.0:
                    looked = time.monotonic()
                    with self._work:
                        if self._queue.withdraw(self.grace):
                            self._changed()
                    self.rooms.forget_old()
                    told = self._tell(told)
            except (StoreError, OSError) as error:  # the next look tries again
                log.warning("%s", error)
            if self.results.notice:
                time.sleep(1.0)

    def _tell(self, told: str) -> str:
        """Write a report on this process for `others`, unless it has not changed. Return the report."""
        with self._work:
            failed = [f"{s.key}: {s.message}" for s in self._queue.seeds.values() if s.state == "failed"]
            activity = vars(self.activity())
        text = json.dumps({"notice": self.notice, "queue": activity, "errors": failed[-_FAILURES:]})
        if text != told:
            new = self._report.with_suffix(".new")
            new.write_text(text, encoding="utf-8")
            new.replace(self._report)
        return text

    def _changed(self) -> None:
        self._forecasts = float("-inf"), {}
        self._work.notify_all()

    def _run(self, spec: SpecLike) -> Run:
        with self._work:
            return self._queue.run(spec)

    def _look(self, spec: SpecLike) -> Run:
        """Return the queue's record of a run, first updating it from the file if that was not done lately."""
        run = self._run(spec)
        now, rev = (time.monotonic(), self.results.changes), run.rev
        if run.looked[1] != now[1] or now[0] - run.looked[0] > _LOOK:
            there = self.results.there(run.keys)
            with self._work:
                if run.rev == rev:  # otherwise the next call does this
                    run.looked = now
                    if there != run.there:
                        run.there = there
                        self._queue.change(run)
        return run

    def _forecast(self) -> dict[Run, Forecast]:
        if time.monotonic() - self._forecasts[0] > _FORECAST:
            self._forecasts = time.monotonic(), forecast(wishes(self._queue), max(1, self.engine.workers))
        return self._forecasts[1]


def default_path() -> Path:
    """Return the default path of the store's results file."""
    return home() / "runs.sqlite"


def others(path: Path) -> list[dict[str, Any]]:
    """Return the latest reports (see `Store._tell`) of all processes that have workers for this store."""
    found = []
    for file in sorted(path.parent.glob(f"{path.name}.*.json")):
        try:
            os.kill(int(file.name.split(".")[-2]), 0)
            found.append(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            file.unlink(missing_ok=True)
    return found


_opened: dict[Path, Store] = {}
_opening = threading.Lock()


def opened(path: Path | None = None) -> Store:
    """Return this process's store at `path` or the default path. A path is opened only once. Raises StoreError."""
    where = (default_path() if path is None else Path(path)).absolute()
    with _opening:
        if where not in _opened:
            _opened[where] = Store(where)
        return _opened[where]

"""The store: what was asked for, by whom, how far it is, and what came out; with workers that play it.

A run is a spec with all its seeds. `store.ask(spec, visitor)` has it computed, `store.traces(spec)` are what came out.
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
from dprl.runs import status as statuses
from dprl.runs.database import StoreError, setting
from dprl.runs.engine import Engine
from dprl.runs.limits import CAPS, Cap, Lease
from dprl.runs.queue import DEATHS, Run, SpecLike
from dprl.runs.results import Results
from dprl.runs.rooms import Rooms, rooms_file
from dprl.runs.short_links import ShortLinks
from dprl.runs.status import Activity, RunRow, RunStatus
from dprl.runs.turn import SIMULATION, Order
from dprl.runs.turns import Forecast, forecast

log = logging.getLogger("dprl.runs")

_LOOK = 2.0  # s, after which the file is asked again what other processes have put there
_FORECAST = 1.0  # s for which an estimate holds
_WEEK = 7 * 24 * 3600


class Store:
    """The store in two SQLite files: results, and next to it rooms and short links. All threads of a process may use
    one `Store`. Results are shared through the file; who waits is known to this process alone.

    public: everything that is asked for in the dashboard is leased, not only what comes through a link. link_seconds:
    of one core, estimated, that a link may start by itself. grace: seconds for which leased work goes on when its tab
    has gone. simulation: see turn.SIMULATION. Raises StoreError if no store can be had.
    """

    def __init__(self, path: Path | None = None, simulation: str = SIMULATION) -> None:
        self.path = (default_path() if path is None else Path(path)).absolute()
        self.grace = setting("DPRL_GRACE_SECONDS", 45, 1, _WEEK)
        self.public = bool(setting("DPRL_PUBLIC", 0, 0, 1))
        self.link_seconds: float = setting("DPRL_LINK_SECONDS", 20 if self.public else 60, 0, _WEEK)
        self._caps = {by: Cap(by) for by in CAPS}
        self._rooms_file = rooms_file(self.path)
        self.rooms, self.links = Rooms(self._rooms_file), ShortLinks(self._rooms_file)
        self.results = Results(self.path)
        self._simulation: Any = importlib.import_module(simulation)
        self.engine = Engine(self.results, simulation)
        self._queue, self._work = self.engine.queue, self.engine.work
        self._keeper: threading.Thread | None = None
        self._closed = False
        self._forecasts: tuple[float, dict[Run, Forecast]] = (float("-inf"), {})

    def ask(
        self,
        spec: SpecLike,
        visitor: str,
        lease: Lease | None = None,
        again: bool = False,
        draft: bool = False,
    ) -> None:
        """Ask for this run for a visitor who waits for it, with a lease as long as its tab is there.

        Seeds that are finished stay, and failed ones unless `again`. A draft gives way to all others. Raises SpecError
        if the run is past the limits, TooMuch if more would wait than may be leased.
        """
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
        """`visitor` no longer waits for this run; seeds nobody waits for stop and keep what they have."""
        run = self._run(spec)
        with self._work:
            self._queue.cancel(run, visitor)
            self._changed()

    def clear(self, visitor: str) -> int:
        """Take the visitor's ended runs off their list, and out of the store unless another visitor has them too;
        return how many left the list."""
        with self._work:
            own = [run for run in self._queue.runs.values() if visitor in run.asks]
            ended = [run for run in own if self._summary(run, visitor).state not in ("queued", "running")]
            for run in ended:
                del run.asks[visitor]
            kept = {key for run in self._queue.runs.values() if run.asks for key in run.keys}
            gone = {key for run in ended for key in run.keys} - kept
            for key in gone:
                self._queue.seeds.pop(key, None)
        self.results.forget(gone)
        return len(ended)

    def cost(self, specs: Iterable[SpecLike]) -> tuple[int, float]:
        """Return how many seeds asking for these runs would queue, and the seconds of one core that they need,
        estimated: what is done or goes on costs nothing."""
        lacking = {spec: len(self._queue.lacking(self._look(spec), again=False)) for spec in specs}
        seconds = (n * self._simulation.estimate(spec).seconds for spec, n in lacking.items() if n)
        return sum(lacking.values()), sum(seconds)

    def status(self, spec: SpecLike, visitor: str | None = None) -> RunStatus:
        """Return how the run stands; with `visitor`, as they see it."""
        run = self._look(spec)
        with self._work:
            return self._summary(run, visitor)

    def version(self, spec: SpecLike) -> str:
        """Return a short token that changes whenever anything of this run does, except its place and time left."""
        return str(self._look(spec).rev)

    def runs(self, visitor: str) -> list[RunRow]:
        """Return the visitor's own runs, latest first."""
        with self._work:
            own = [(run.asks[visitor], run) for run in self._queue.runs.values() if visitor in run.asks]
        rows = []
        for ask, run in sorted(own, key=lambda row: -row[0].order):
            self._look(run.spec)
            size = sum(max(0, size) for size in run.there.values())
            with self._work:
                status = vars(self._summary(run, visitor))
            rows.append(RunRow(spec=run.spec, asked_at=ask.at, bytes=size, **status))
        return rows

    def going(self, visitors: Collection[str]) -> int:
        """Return how many runs of these names are waited for and not finished."""
        with self._work:
            waiting = (ask for run in self._queue.runs.values() for ask in run.asks.items())
            return sum(name in visitors and ask.waiting for name, ask in waiting)

    def activity(self) -> Activity:
        """Return workers and queue, over all visitors."""
        with self._work:
            return statuses.activity(self._queue, self.engine.workers)

    def live(self, spec: SpecLike) -> list[tuple[int, NDArray[np.int64], NDArray[np.float64]]]:
        """Return (seed, at [C], values [C]) of every seed that has points, running or ended: episodes and cumulative
        regret of an online run."""
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

    def traces(self, spec: SpecLike, seeds: Collection[int] | None = None) -> list[Any]:
        """Return the traces of finished seeds, by seed, decoded. seeds: only these."""
        found = []
        for number, key in enumerate(self._run(spec).keys):
            if (seeds is None or number in seeds) and (data := self.results.trace(key)) is not None:
                try:
                    found.append(self._simulation.trace_from_bytes(data))
                except ValueError:  # damaged on the disk: it is computed again
                    self.results.forget([key])
        return found

    def answer(self, question: str, spec: SpecLike) -> str | None:
        """Return the spec's answer without a run, as the simulation writes it; "" if it could not be found, None
        while it is not known yet."""
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
        """Note that these tabs are there now, and return all that have leases: called every second or so by whoever
        sees Streamlit's sessions."""
        with self._work:
            self._queue.tabs |= dict.fromkeys(self._queue.tabs.keys() & set(tabs), time.monotonic())
            return set(self._queue.tabs)

    @property
    def notice(self) -> str:
        """A sentence if results cannot be written, no worker can be reached, or a file was set aside."""
        files = self.results.file.notice, self._rooms_file.notice
        return next(filter(None, (self.results.notice, self.engine.trouble, *files)), "")

    def begin(self, workers: int | None = None, engine: str | None = None) -> Store:
        """Start workers unless there are some, or use a Dask cluster, see `Engine.begin`; return the store."""
        with self._work:
            if self._keeper is None:
                self._keeper = threading.Thread(target=self._keep, name="keeper", daemon=True)
                self._keeper.start()
                atexit.register(self.close)
        self.engine.begin(workers, engine)
        return self

    def close(self) -> None:
        """End the workers, write what waits, and close the files."""
        if _opened.get(self.path) is self:
            del _opened[self.path]
        self.engine.close()
        self._closed = True
        self.results.news.set()
        self.results.write()
        if self._keeper is not None:
            atexit.unregister(self.close)
            self._keeper.join(5.0)
            _status_file(self.path).unlink(missing_ok=True)
        self.results.file.close()
        self._rooms_file.close()

    def _keep(self) -> None:
        """Write results as they come, and every second look after tabs, rooms, and what others may want to see."""
        looked, told = 0.0, ""
        others(self.path)  # of those that were killed nothing is left
        while not self._closed:
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
        """Leave word of how things stand for `others`."""
        with self._work:
            failures = statuses.failures(self._queue)
            text = json.dumps({"notice": self.notice, "queue": vars(self.activity()), "errors": failures})
        if text != told:
            file = _status_file(self.path)
            file.with_suffix(".new").write_text(text, encoding="utf-8")
            os.replace(file.with_suffix(".new"), file)
        return text

    def _changed(self) -> None:
        self._forecasts = float("-inf"), {}
        self._work.notify_all()

    def _run(self, spec: SpecLike) -> Run:
        with self._work:
            return self._queue.run(spec)

    def _look(self, spec: SpecLike) -> Run:
        """Return the known state of a run and its file, as of a moment ago."""
        run = self._run(spec)
        now, rev = (time.monotonic(), self.results.changes), run.rev
        if run.looked[1] != now[1] or now[0] - run.looked[0] > _LOOK:
            there = self.results.there(run.keys)
            with self._work:
                if run.rev == rev:  # else the next look sees to it
                    run.looked = now
                    if there != run.there:
                        run.there = there
                        self._queue.change(run)
        return run

    def _summary(self, run: Run, visitor: str | None) -> RunStatus:
        return statuses.summary(self._queue, run, visitor, self._forecast)

    def _forecast(self) -> dict[Run, Forecast]:
        if time.monotonic() - self._forecasts[0] > _FORECAST:
            found = forecast(statuses.wishes(self._queue), max(1, self.engine.workers))
            self._forecasts = time.monotonic(), found
        return self._forecasts[1]


def default_path() -> Path:
    """Return the default path of the store."""
    return home() / "runs.sqlite"


def _status_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.{os.getpid()}.json")


def others(path: Path) -> list[dict[str, Any]]:
    """Return the last reports of all processes with workers at a store, see `Store._tell`."""
    found = []
    for file in sorted(path.parent.glob(f"{path.name}.*.json")):
        try:
            os.kill(int(file.name.split(".")[-2]), 0)
            found.append(json.loads(file.read_text(encoding="utf-8")))
        except (ProcessLookupError, PermissionError, ValueError, OSError):
            file.unlink(missing_ok=True)
    return found


_opened: dict[Path, Store] = {}
_opening = threading.Lock()


def opened(path: Path | None = None) -> Store:
    """Return this process's store at a path, opened once. Raises StoreError."""
    where = (default_path() if path is None else Path(path)).absolute()
    with _opening:
        if where not in _opened:
            _opened[where] = Store(where)
        return _opened[where]

"""How runs stand."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from dataclasses import dataclass
from typing import Any, Literal

from dprl.jobs.component import StoreComponent, mending, run_key, setting
from dprl.jobs.file import StoreFile
from dprl.jobs.queue import Forecast, forecast
from dprl.jobs.seed_jobs import running_seeds, waiting_runs
from dprl.jobs.simulation import Simulation, SpecLike

State = Literal["unknown", "queued", "running", "done", "failed", "cancelled"]

_FORECAST_SECONDS = 1.0
_STATUS = """
SELECT run.id AS run, run.rev AS run_rev, unit.rev AS rev, run.seeds AS seeds, state, progress, message,
    bytes,
    coalesce((SELECT waiting FROM request WHERE request.run = run.id AND visitor = :visitor),
             EXISTS (SELECT 1 FROM request WHERE request.run = run.id AND waiting)) AS waiting
FROM run JOIN run_unit ON run_unit.run = run.id JOIN unit ON unit.id = run_unit.unit
WHERE run.key = :key ORDER BY run_unit.seed
"""


@dataclass(frozen=True, kw_only=True)
class RunStatus:
    """How a run stands.

    Attributes:
        state: `unknown` when nobody asked for it, or its results had to make room.
        seeds_done, seeds: how many seeds are finished, of how many.
        progress: 0 to 1.
        place: runs ahead of it (0: it is next), None unless it waits for a worker.
        seconds_left: estimated, None unless queued or running.
        message: one sentence, or "".
        version: as `Statuses.version` gives it.
    """

    state: State
    seeds: int
    seeds_done: int = 0
    progress: float = 0.0
    place: int | None = None
    seconds_left: float | None = None
    message: str = ""
    version: str = ""


@dataclass(frozen=True, kw_only=True)
class RunRow(RunStatus):
    """A run of a visitor: its spec, when it was asked for (Unix time), the size of its traces in bytes."""

    spec: Any
    asked_at: float
    bytes: int


@dataclass(frozen=True, kw_only=True)
class Activity:
    """What goes on for everybody.

    Attributes:
        workers: worker processes alive.
        warm: those ready to compute.
        seeds_running, seeds_queued: seeds of anybody's runs.
        runs_waiting: runs with a seed queued.
    """

    workers: int
    warm: int
    seeds_running: int
    seeds_queued: int
    runs_waiting: int


class Statuses(StoreComponent):
    """Reading how runs stand, for one visitor or for all."""

    def __init__(self, file: StoreFile, simulation: Simulation | None) -> None:
        super().__init__(file, simulation)
        self._workers = setting("DPRL_WORKERS", 2, 1, 256)
        self._forecasts: tuple[float, int, dict[int, Forecast]] = (float("-inf"), -1, {})
        self._forecasting = threading.Lock()

    @mending
    def of(self, spec: SpecLike, visitor: str | None = None) -> RunStatus:
        """How the run stands; with `visitor`, as they see it: cancelled when they withdrew, though another
        visitor may still wait for it."""
        with self._file.connection() as db:
            rows = db.execute(_STATUS, {"key": run_key(spec), "visitor": visitor}).fetchall()
        if not rows:
            return RunStatus(state="unknown", seeds=spec.seeds)
        return RunStatus(**self._summary(rows))

    @mending
    def version(self, spec: SpecLike) -> str:
        """A short token that changes whenever anything of this run does, except its place and time left."""
        with self._file.connection() as db:
            row = db.execute(
                "SELECT run.id, run.rev, sum(unit.rev) FROM run JOIN run_unit ON run_unit.run = run.id "
                "JOIN unit ON unit.id = run_unit.unit WHERE run.key = ? GROUP BY run.id",
                (run_key(spec),),
            ).fetchone()
        return "" if row is None else ".".join(map(str, row))

    @mending
    def runs(self, visitor: str) -> list[RunRow]:
        """The visitor's own runs, latest first. Runs made by an earlier version of the simulation are not
        among them: asking for them computes anew."""
        with self._file.reading() as db:
            own = db.execute(
                "SELECT key, spec, asked_at FROM request JOIN run ON run.id = run WHERE visitor = ? "
                "ORDER BY asked_at DESC, run DESC",
                (visitor,),
            ).fetchall()
            found = [db.execute(_STATUS, {"key": key, "visitor": visitor}).fetchall() for key, _, _ in own]
        result = []
        for (key, text, asked_at), rows in zip(own, found, strict=True):
            spec = self._spec(text, run_key, key)
            if spec is not None and rows:
                size = sum(row["bytes"] for row in rows)
                result.append(RunRow(spec=spec, asked_at=asked_at, bytes=size, **self._summary(rows)))
        return result

    @mending
    def activity(self) -> Activity:
        """Workers and queue, over all visitors."""
        with self._file.reading() as db:
            workers = db.execute("SELECT pid, warm FROM worker").fetchall()
            counts = dict(
                db.execute(
                    "SELECT state, count(*) FROM unit WHERE state IN ('queued', 'running') GROUP BY state"
                )
            )
            runs = db.execute(
                "SELECT count(*) FROM backlog WHERE EXISTS "
                "(SELECT 1 FROM request WHERE request.run = backlog.run AND waiting)"
            ).fetchone()[0]
        alive = [warm for pid, warm in workers if _alive(pid)]
        return Activity(
            workers=len(alive),
            warm=sum(alive),
            seeds_running=counts.get("running", 0),
            seeds_queued=counts.get("queued", 0),
            runs_waiting=runs,
        )

    def _summary(self, rows: list[sqlite3.Row]) -> dict[str, Any]:
        """The fields of RunStatus, from the rows of _STATUS."""
        states = [row["state"] for row in rows]
        run, waiting = rows[0]["run"], rows[0]["waiting"]
        running, queued = "running" in states, "queued" in states
        state: State
        if all(state == "done" for state in states):
            state = "done"
        elif (running or queued) and waiting:
            begun = running or any(s in ("done", "failed") for s in states)
            state = "running" if begun else "queued"
        elif "failed" in states:
            state = "failed"
        elif "cancelled" in states or running or queued:
            state = "cancelled"
        else:
            state = "unknown"
        place = seconds_left = None
        if state in ("queued", "running"):
            ahead = self._forecast().get(run)
            if ahead is not None:
                place = None if running else ahead.place
                seconds_left = ahead.seconds_left
        return {
            "state": state,
            "seeds": rows[0]["seeds"],
            "seeds_done": states.count("done"),
            "progress": sum(row["progress"] for row in rows if row["state"] != "gone") / rows[0]["seeds"],
            "place": place,
            "seconds_left": seconds_left,
            "message": next((row["message"] for row in rows if row["message"]), ""),
            "version": f"{run}.{rows[0]['run_rev']}.{sum(row['rev'] for row in rows)}",
        }

    def _forecast(self) -> dict[int, Forecast]:
        """Place and time left of all runs, as of this process's last write and at most a second old; one thread at a
        time computes it."""
        if (found := self._fresh_forecast()) is None:
            with self._forecasting:
                if (found := self._fresh_forecast()) is None:
                    now, commits = time.time(), self._file.commits
                    with self._file.reading() as db:
                        wishes, going = waiting_runs(db), running_seeds(db, now)
                        workers = db.execute("SELECT count(*) FROM worker").fetchone()[0] or self._workers
                    found = forecast(wishes, going, workers)
                    self._forecasts = (time.monotonic(), commits, found)
        return found

    def _fresh_forecast(self) -> dict[int, Forecast] | None:
        at, commits, found = self._forecasts
        fresh = commits == self._file.commits and time.monotonic() - at < _FORECAST_SECONDS
        return found if fresh else None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True

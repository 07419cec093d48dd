"""The store: what was asked for, by whom, how far it is, and what came out.

A run is a spec with all its seeds; a unit is one seed of it, keyed by `spec.seed_key(seed)`, so that specs
which share seeds share the work. Visitors ask for runs; workers claim units. States of a unit:

    queued -> running -> done
      ^         |-----> failed      (raised an error, or its worker died twice)
      |         |-----> cancelled   (nobody waits any more; keeps what it has)
      +---------+                   (worker ended gracefully, or died the first time)

and `gone` for a finished one whose trace had to make room; its curve stays. All methods may be called from any thread.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from dprl.jobs.file import DiskFull, StoreError, StoreFile, is_damage
from dprl.jobs.queue import Forecast, Line, Seat, forecast
from dprl.jobs.simulation import Simulation, Spec, dprl_simulation
from dprl.kernels import home

if TYPE_CHECKING:
    from dprl.simulation import SeedTrace

State = Literal["unknown", "queued", "running", "done", "failed", "cancelled"]
P = ParamSpec("P")
R = TypeVar("R")

NOTICE_SECONDS = 24 * 3600.0
_FORECAST_SECONDS = 1.0
_USED_SECONDS = 60.0
_DIGEST_BYTES = 16
_MADE_ROOM = "Its details had to make room for newer results; its curve was kept."
_NO_ROOM = "The disk was full: its curve was kept, its details were not."
_DAMAGES = 2  # a result found damaged this often is not computed again by itself


@dataclass(frozen=True, kw_only=True)
class RunStatus:
    """How a run stands.

    state: `unknown` when nobody asked for it, or its results had to make room; seeds_done of seeds are
    finished; progress: 0 to 1; place: runs ahead of it (0: it is next), None unless it waits for a worker;
    seconds_left: estimated, None unless queued or running; message: one sentence, or ""; version: as
    `Store.version` gives it.
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
    """What goes on for everybody. workers: worker processes alive, warm: those ready to compute;
    seeds_running, seeds_queued, and runs_waiting: runs with a seed queued."""

    workers: int
    warm: int
    seeds_running: int
    seeds_queued: int
    runs_waiting: int


@dataclass(frozen=True)
class Unit:
    """One seed, claimed by a worker; attempt: 1, or 2 after a worker died at it."""

    id: int
    key: str
    spec: Any
    seed: int
    attempt: int
    worker: str


def setting(name: str, default: int, low: int, high: int) -> int:
    """A whole number from the environment. Raises StoreError naming the variable when it is not one."""
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    try:
        value = int(text)
    except ValueError:
        value = low - 1
    if not low <= value <= high:
        raise StoreError(f"{name} is {text[:40]!r}, and must be a whole number from {low} to {high}.")
    return value


def _mending(method: Callable[Concatenate[Store, P], R]) -> Callable[Concatenate[Store, P], R]:
    """Turn SQLite's errors into StoreError; should the file prove damaged, begin a new one and try again."""

    @functools.wraps(method)
    def call(self: Store, /, *args: P.args, **kwargs: P.kwargs) -> R:
        inode = self._file.inode
        try:
            try:
                return method(self, *args, **kwargs)
            except sqlite3.DatabaseError as error:
                if not is_damage(error):
                    raise
                self._file.set_aside_damaged(inode)
                return method(self, *args, **kwargs)
        except sqlite3.Error as error:
            raise StoreError(f"The store of runs cannot be used just now ({error}).") from error

    return call


class Store:
    """The store in one SQLite file; each process opens its own `Store` on it.

    path: default `runs.sqlite` in DPRL_HOME, else in ~/.cache/dprl. Traces beyond DPRL_STORE_MB (default
    1024) make room, those longest unused first. Raises StoreError, one sentence, where no store can be had.
    """

    def __init__(self, path: Path | None = None, simulation: Simulation | None = None) -> None:
        self.path = default_path() if path is None else Path(path)
        self._capacity = setting("DPRL_STORE_MB", 1024, 1, 10**7) * 2**20
        self._workers = setting("DPRL_WORKERS", 2, 1, 256)
        self._given = simulation
        self._forecasts: tuple[float, dict[int, Forecast]] = (-1e9, {})
        self._forecasting = threading.Lock()
        self._file = StoreFile(self.path)

    @functools.cached_property
    def _simulation(self) -> Simulation:
        return self._given or dprl_simulation()

    def close(self) -> None:
        """Close the connections."""
        self._file.close()

    # What pages use -----------------------------------------------------------------------------------------

    @property
    def notice(self) -> str | None:
        """A sentence where the disk is full, or the store was set aside within the last day."""
        return str(DiskFull()) if self._file.full else self._notice()

    @_mending
    def _notice(self) -> str | None:
        with self._file.connection() as db:
            row = db.execute(
                "SELECT text FROM notice WHERE at > ?", (time.time() - NOTICE_SECONDS,)
            ).fetchone()
        return None if row is None else str(row[0])

    @_mending
    def request(self, spec: Spec, visitor: str) -> None:
        """`visitor` asks for this run and waits for it.

        Seeds that are missing, cancelled or had to make room are queued; finished, running and failed ones
        stay (`retry` is for those). Nothing changes when it is asked for again. Raises SpecError where the
        run is past the limits.
        """
        self._request(spec, visitor, retry=False)

    @_mending
    def retry(self, spec: Spec, visitor: str) -> None:
        """Like `request`, and failed seeds are tried again."""
        self._request(spec, visitor, retry=True)

    def _request(self, spec: Spec, visitor: str, retry: bool) -> None:
        again = ("cancelled", "gone", "failed") if retry else ("cancelled", "gone")
        key, now = _run_key(spec), time.time()
        with self._file.reading() as db:
            states = [row[0] for row in db.execute(_STATES, (key,))]
            asked = db.execute(
                "SELECT 1 FROM request JOIN run ON run.id = run WHERE key = ? AND visitor = ? AND waiting",
                (key, visitor),
            ).fetchone()
        if asked and not set(states) & set(again):
            return
        seconds = max(0.0, self._simulation.seconds(spec))
        units = [(spec.seed_key(seed), seed) for seed in range(spec.seeds)]
        with self._file.writing() as db:
            db.execute(
                "INSERT INTO run (key, spec, seeds) VALUES (?, ?, ?) "
                "ON CONFLICT (key) DO UPDATE SET rev = rev + 1, spec = excluded.spec",
                (key, spec.to_json(), spec.seeds),
            )
            run = db.execute("SELECT id FROM run WHERE key = ?", (key,)).fetchone()[0]
            db.execute(
                "INSERT INTO request VALUES (?, ?, 1, ?) ON CONFLICT (run, visitor) "
                "DO UPDATE SET waiting = 1, asked_at = excluded.asked_at",
                (run, visitor, now),
            )
            db.executemany(
                "INSERT INTO unit (key, seed, state, seconds, used_at) VALUES (?, ?, 'queued', ?, ?) "
                "ON CONFLICT (key) DO NOTHING",
                [(*unit, seconds, now) for unit in units],
            )
            db.executemany(
                "INSERT OR IGNORE INTO run_unit SELECT ?, ?, id FROM unit WHERE key = ?",
                [(run, seed, unit_key) for unit_key, seed in units],
            )
            # A worker that has not yet noticed that its seed was cancelled simply goes on.
            db.execute(
                "UPDATE unit SET state = CASE WHEN worker IS NULL THEN 'queued' ELSE 'running' END, "
                "progress = CASE WHEN worker IS NULL THEN 0 ELSE progress END, "
                "message = '', deaths = 0, damages = 0, rev = rev + 1 "
                f"WHERE id IN (SELECT unit FROM run_unit WHERE run = ?) AND state IN {again}",
                (run,),
            )
        self._forecasts = (-1e9, {})

    @_mending
    def cancel(self, spec: Spec, visitor: str) -> None:
        """`visitor` no longer waits for this run; seeds nobody waits for stop and keep what they have."""
        with self._file.writing() as db:
            row = db.execute("SELECT id FROM run WHERE key = ?", (_run_key(spec),)).fetchone()
            if row is None:
                return
            run = (row["id"],)
            db.execute("UPDATE request SET waiting = 0 WHERE run = ? AND visitor = ?", (*run, visitor))
            db.execute("UPDATE run SET rev = rev + 1 WHERE id = ?", run)
            db.execute(
                "UPDATE unit SET state = 'cancelled', rev = rev + 1 "
                "WHERE id IN (SELECT unit FROM run_unit WHERE run = ?) AND state IN ('queued', 'running') "
                "AND NOT EXISTS (SELECT 1 FROM run_unit u JOIN request q ON q.run = u.run AND q.waiting "
                "WHERE u.unit = unit.id)",
                run,
            )
        self._forecasts = (-1e9, {})

    @_mending
    def status(self, spec: Spec, visitor: str | None = None) -> RunStatus:
        """How the run stands; with `visitor`, as they see it: cancelled when they withdrew, though another
        visitor may still wait for it."""
        with self._file.connection() as db:
            rows = db.execute(_STATUS, {"key": _run_key(spec), "visitor": visitor}).fetchall()
        if not rows:
            return RunStatus(state="unknown", seeds=spec.seeds)
        return RunStatus(**self._summary(rows))

    @_mending
    def version(self, spec: Spec) -> str:
        """A short token that changes whenever anything of this run does, except its place and time left."""
        with self._file.connection() as db:
            row = db.execute(
                "SELECT run.id, run.rev, sum(unit.rev) FROM run JOIN run_unit ON run_unit.run = run.id "
                "JOIN unit ON unit.id = run_unit.unit WHERE run.key = ? GROUP BY run.id",
                (_run_key(spec),),
            ).fetchone()
        return "" if row is None else ".".join(map(str, row))

    @_mending
    def live(self, spec: Spec) -> list[tuple[int, NDArray[np.int64], NDArray[np.float64]]]:
        """(seed, episodes [C], cumulative regret [C]) of every seed that has points, running or ended.

        Points that prove damaged are left out, and a finished seed without them is computed again while somebody
        waits for it.
        """
        with self._file.connection() as db:
            rows = db.execute(
                "SELECT run_unit.seed, unit.id, points FROM run JOIN run_unit ON run_unit.run = run.id "
                "JOIN unit ON unit.id = run_unit.unit LEFT JOIN live ON live.unit = unit.id "
                "WHERE run.key = ? AND (points IS NOT NULL OR state = 'done') ORDER BY run_unit.seed",
                (_run_key(spec),),
            ).fetchall()
        curves = []
        for seed, unit, found in rows:
            points = _unsealed(spec.seed_key(seed), found)
            if points is None:
                self._damaged(unit, seed, "live", found)
            else:
                curves.append((seed, *_points(points)))
        return curves

    @_mending
    def traces(self, spec: Spec, seeds: Collection[int] | None = None) -> list[SeedTrace]:
        """The traces there are, by seed: whole ones of finished seeds, partial ones of cancelled seeds.

        `seeds`: only these. A trace that proves damaged is left out, and its seed computed again while
        somebody waits for it.
        """
        with self._file.reading() as db:
            rows = db.execute(
                "SELECT run_unit.seed, unit.id, unit.used_at FROM run "
                "JOIN run_unit ON run_unit.run = run.id JOIN unit ON unit.id = run_unit.unit "
                "WHERE run.key = ? AND (state = 'done' OR state = 'cancelled' AND bytes > 0) "
                "ORDER BY run_unit.seed",
                (_run_key(spec),),
            ).fetchall()
            stored = [
                (*row, *(db.execute(_TRACE, (row["id"],)).fetchone() or (None, None)))
                for row in rows
                if seeds is None or row["seed"] in seeds
            ]
        traces: list[SeedTrace] = []
        now = time.time()
        used: list[tuple[float, int]] = []
        for seed, unit, used_at, digest, data in stored:
            trace = self._decoded(digest, data)
            if trace is None:
                self._damaged(unit, seed, "trace", data)
            else:
                traces.append(trace)
                if now - used_at > _USED_SECONDS:
                    used.append((now, unit))
        if used:
            with contextlib.suppress(DiskFull), self._file.writing() as db:
                db.executemany("UPDATE unit SET used_at = ? WHERE id = ?", used)
        return traces

    @_mending
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
            spec = self._spec(text, run_key=key)
            if spec is not None and rows:
                size = sum(row["bytes"] for row in rows)
                result.append(RunRow(spec=spec, asked_at=asked_at, bytes=size, **self._summary(rows)))
        return result

    @_mending
    def clear(self, visitor: str) -> int:
        """Take the visitor's ended runs off their list, and out of the store unless another visitor has them
        too; how many left the list."""
        with self._file.writing() as db:
            own = [
                row[0]
                for row in db.execute(
                    "SELECT run FROM request WHERE visitor = ? AND (NOT waiting OR NOT EXISTS ("
                    "SELECT 1 FROM run_unit JOIN unit ON unit.id = unit "
                    "WHERE run_unit.run = request.run AND state IN ('queued', 'running')))",
                    (visitor,),
                )
            ]
            for run in own:
                db.execute("DELETE FROM request WHERE run = ? AND visitor = ?", (run, visitor))
                if db.execute("SELECT 1 FROM request WHERE run = ?", (run,)).fetchone():
                    continue
                units = db.execute("SELECT unit FROM run_unit WHERE run = ?", (run,)).fetchall()
                db.execute("DELETE FROM run WHERE id = ?", (run,))
                db.executemany(
                    "DELETE FROM unit WHERE id = ? AND worker IS NULL "
                    "AND NOT EXISTS (SELECT 1 FROM run_unit WHERE run_unit.unit = unit.id)",
                    units,
                )
        self._give_back()
        return len(own)

    @_mending
    def size_bytes(self) -> int:
        """Bytes of the file that are in use."""
        with self._file.reading() as db:
            pages, free, size = (
                db.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "freelist_count", "page_size")
            )
        return int((pages - free) * size)

    @_mending
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
                "SELECT count(DISTINCT run_unit.run) FROM unit JOIN run_unit ON run_unit.unit = unit.id "
                "JOIN request ON request.run = run_unit.run AND waiting WHERE state = 'queued'"
            ).fetchone()[0]
        alive = [warm for pid, warm in workers if _alive(pid)]
        return Activity(
            workers=len(alive),
            warm=sum(alive),
            seeds_running=counts.get("running", 0),
            seeds_queued=counts.get("queued", 0),
            runs_waiting=runs,
        )

    # What workers and their pool use ------------------------------------------------------------------------

    @_mending
    def claim(self, worker: str) -> Unit | None:
        """The next seed for this worker, from now on running; None when there is none."""
        while True:
            with self._file.connection() as db:
                if not db.execute("SELECT 1 FROM unit WHERE state = 'queued' LIMIT 1").fetchone():
                    return None
            now = time.time()
            with self._file.writing() as db:
                line = Line(_seats(db, now))
                seat = line.take(now)
                if seat is None:
                    return None
                db.execute("DELETE FROM live WHERE unit = ?", (seat.unit,))
                db.execute(
                    "UPDATE unit SET state = 'running', progress = 0, worker = ?, started_at = ?, "
                    "rev = rev + 1 WHERE id = ?",
                    (worker, now, seat.unit),
                )
                db.executemany(
                    "INSERT OR REPLACE INTO visitor VALUES (?, ?)",
                    [(visitor, now) for visitor in line.visitors(seat.unit)],
                )
                row = db.execute(
                    "SELECT key, seed, deaths, (SELECT spec FROM run WHERE id = ?) AS spec "
                    "FROM unit WHERE id = ?",
                    (seat.run, seat.unit),
                ).fetchone()
            spec = self._spec(row["spec"], seed=row["seed"], seed_key=row["key"])
            unit = Unit(seat.unit, row["key"], spec, row["seed"], row["deaths"] + 1, worker)
            if spec is not None:
                return unit
            self.fail(unit, "The simulation has changed since this run was asked for; ask for it again.")

    @_mending
    def report(
        self, unit: Unit, progress: float, episodes: NDArray[np.int64], regret: NDArray[np.float64]
    ) -> bool:
        """Progress (0 to 1) and points so far, both [C]; False when the seed is no longer wanted."""
        points = np.asarray(episodes, "<i8").tobytes() + np.asarray(regret, "<f8").tobytes()
        with self._file.writing() as db:
            mine = (unit.id, unit.worker)
            wanted = db.execute(
                "UPDATE unit SET progress = ?, rev = rev + 1 "
                "WHERE id = ? AND worker = ? AND state = 'running'",
                (min(1.0, max(0.0, float(progress))), *mine),
            ).rowcount
            # A seed that ends as it is cancelled is finished: its last points count.
            if wanted or db.execute(_MINE, mine).fetchone():
                db.execute("INSERT OR REPLACE INTO live VALUES (?, ?)", (unit.id, _sealed(unit.key, points)))
        return bool(wanted)

    @_mending
    def finish(self, unit: Unit, trace: bytes) -> None:
        """The seed is computed. Ignored when the seed is no longer this worker's.

        Where the disk has room for the reported curve alone, that is kept. Raises DiskFull where it was not reported.
        """
        mine = (unit.id, unit.worker)
        try:
            with self._file.writing() as db:
                done = db.execute(
                    "UPDATE unit SET state = 'done', progress = 1, message = '', worker = NULL, rev = rev + 1, "
                    "seconds = ? - started_at, used_at = ?, bytes = ? WHERE id = ? AND worker = ?",
                    (time.time(), time.time(), len(trace), *mine),
                ).rowcount
                if done:
                    _write_trace(db, unit.id, trace)
                    db.execute(
                        "UPDATE unit SET seconds = (SELECT seconds FROM unit WHERE id = :unit) "
                        "WHERE state = 'queued' AND id IN (SELECT other.unit FROM run_unit mine "
                        "JOIN run_unit other ON other.run = mine.run WHERE mine.unit = :unit)",
                        {"unit": unit.id},
                    )
                    removed = self._make_room(db, unit.id)
        except DiskFull:
            with self._file.writing() as db:
                kept = db.execute(
                    "UPDATE unit SET state = 'gone', progress = 0, message = ?, worker = NULL, rev = rev + 1 "
                    "WHERE id = ? AND worker = ? AND progress >= 1",
                    (_NO_ROOM, *mine),
                ).rowcount
                if not kept and db.execute(_MINE, mine).fetchone():
                    raise
        else:
            if done and removed:
                self._give_back()

    @_mending
    def keep(self, unit: Unit, trace: bytes) -> None:
        """The seed was cancelled and has stopped; `trace` is what there is, kept where the disk has room. Should it be
        wanted again by now, it goes back to the queue."""
        try:
            self._stopped(unit, trace)
        except DiskFull:
            self._stopped(unit, None)

    def _stopped(self, unit: Unit, trace: bytes | None) -> None:
        with self._file.writing() as db:
            kept = db.execute(
                "UPDATE unit SET worker = NULL, rev = rev + 1, used_at = ?, bytes = ? "
                "WHERE id = ? AND worker = ? AND state = 'cancelled'",
                (time.time(), len(trace or b""), unit.id, unit.worker),
            ).rowcount
            if not kept:
                _requeue(db, "id = ? AND worker = ?", (unit.id, unit.worker))
            elif trace is not None:
                _write_trace(db, unit.id, trace)
                self._make_room(db, unit.id)

    @_mending
    def fail(self, unit: Unit, message: str) -> None:
        """The seed cannot be computed, for the reason that `message` says in a sentence."""
        with self._file.writing() as db:
            db.execute(
                "UPDATE unit SET state = CASE state WHEN 'running' THEN 'failed' ELSE state END, "
                "message = ?, worker = NULL, rev = rev + 1 WHERE id = ? AND worker = ?",
                (message, unit.id, unit.worker),
            )

    @_mending
    def release(self, worker: str) -> None:
        """The worker ends gracefully: its seed goes back to the queue."""
        with self._file.writing() as db:
            _release(db, "worker = ?", (worker,))
            db.execute("DELETE FROM worker WHERE id = ?", (worker,))

    @_mending
    def died(self, worker: str, returncode: int | None = None) -> None:
        """The worker process died: its seed is run again once, and fails the second time.

        returncode: as of subprocess.Popen, negative for a signal.
        """
        with self._file.writing() as db:
            db.execute(
                "UPDATE unit SET state = 'failed', worker = NULL, rev = rev + 1, "
                "message = 'Seed ' || seed || ' failed: its worker process died' || ? "
                "WHERE worker = ? AND state = 'running' AND deaths > 0",
                (f" twice ({_cause(returncode)}), perhaps for want of memory.", worker),
            )
            db.execute(
                "UPDATE unit SET deaths = deaths + 1, "
                "message = 'A worker process died; seed ' || seed || ' is run again.' "
                "WHERE worker = ? AND state = 'running'",
                (worker,),
            )
            _release(db, "worker = ?", (worker,))
            db.execute("DELETE FROM worker WHERE id = ?", (worker,))

    @_mending
    def recover(self) -> None:
        """A pool begins, so no worker is alive: what was running goes back to the queue."""
        with self._file.writing() as db:
            _release(db, "worker IS NOT NULL", ())
            db.execute("DELETE FROM worker")

    @_mending
    def enlist(self, worker: str, pid: int, warm: bool) -> None:
        """A worker process exists, and whether it is ready to compute."""
        with self._file.connection() as db:
            known = db.execute("SELECT pid, warm FROM worker WHERE id = ?", (worker,)).fetchone()
            if known is None or tuple(known) != (pid, int(warm)):
                db.execute("INSERT OR REPLACE INTO worker VALUES (?, ?, ?)", (worker, pid, int(warm)))

    # Inside -------------------------------------------------------------------------------------------------

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
        """Place and time left of all runs; at most a second old, and one thread at a time computes it."""
        at, found = self._forecasts
        if time.monotonic() - at < _FORECAST_SECONDS:
            return found
        with self._forecasting:
            at, found = self._forecasts
            if time.monotonic() - at >= _FORECAST_SECONDS:
                now = time.time()
                with self._file.reading() as db:
                    seats = _seats(db, now)
                    workers = db.execute("SELECT count(*) FROM worker").fetchone()[0] or self._workers
                found = forecast(seats, workers, now)
                self._forecasts = (time.monotonic(), found)
        return found

    def _spec(self, text: str, *, run_key: str = "", seed: int = 0, seed_key: str = "") -> Any | None:
        """The spec that was stored as `text`; None when the simulation has changed since."""
        try:
            spec = self._simulation.spec_from_json(text)
            same = spec.seed_key(seed) == seed_key if seed_key else _run_key(spec) == run_key
        except (ValueError, TypeError, KeyError):
            return None
        return spec if same else None

    def _decoded(self, digest: bytes | None, data: bytes | None) -> SeedTrace | None:
        if not isinstance(data, bytes) or _digest(data) != digest:
            return None
        try:
            trace: SeedTrace = self._simulation.trace_from_bytes(data)
        except Exception:  # whatever stored bytes make a decoder raise, the answer is the same
            return None
        return trace

    def _damaged(self, unit: int, seed: int, table: Literal["trace", "live"], found: Any) -> None:
        """Drop what was found damaged; compute a finished seed again while somebody waits for it."""
        what = f"The stored result of seed {seed} was damaged"
        column = "data" if table == "trace" else "points"
        with contextlib.suppress(DiskFull), self._file.writing() as db:
            now = db.execute(f"SELECT {column} FROM {table} WHERE unit = ?", (unit,)).fetchone()
            if (None if now is None else now[0]) != found:
                return  # another thread was here first, or it is already computed again
            state, damages = db.execute("SELECT state, damages FROM unit WHERE id = ?", (unit,)).fetchone()
            db.execute(f"DELETE FROM {table} WHERE unit = ?", (unit,))
            db.execute("UPDATE unit SET rev = rev + 1 WHERE id = ?", (unit,))
            if state == "done":
                again = damages + 1 < _DAMAGES and bool(db.execute(_WANTED, (unit,)).fetchone())
                db.execute("DELETE FROM trace WHERE unit = ?", (unit,))
                db.execute(
                    "UPDATE unit SET state = ?, message = ?, progress = 0, bytes = 0, damages = damages + 1 "
                    "WHERE id = ?",
                    (
                        "queued" if again else "failed",
                        f"{what}; it is computed again." if again else f"{what}; run it again.",
                        unit,
                    ),
                )
            elif table == "trace":
                dropped = (f"{what} and was dropped.", unit)
                db.execute("UPDATE unit SET message = ?, bytes = 0 WHERE id = ?", dropped)

    def _make_room(self, db: sqlite3.Connection, newest: int) -> bool:
        """Drop traces longest unused while there are too many bytes; never those of a run that still goes on,
        nor the newest."""
        total = db.execute("SELECT coalesce(sum(bytes), 0) FROM unit").fetchone()[0]
        removed = False
        while total > self._capacity:
            row = db.execute(_OLDEST, (newest,)).fetchone()
            if row is None:
                break
            total -= row["bytes"]
            removed = True
            # its curve stays, of a few kB: sweeps need no more
            db.execute("DELETE FROM trace WHERE unit = ?", (row["id"],))
            db.execute(
                "UPDATE unit SET message = CASE state WHEN 'done' THEN ? ELSE message END, bytes = 0, "
                "state = CASE state WHEN 'done' THEN 'gone' ELSE state END, progress = 0, rev = rev + 1 "
                "WHERE id = ?",
                (_MADE_ROOM, row["id"]),
            )
        return removed

    def _give_back(self) -> None:
        """Return free pages to the disk."""
        with self._file.connection() as db:
            db.execute("PRAGMA incremental_vacuum(4096)").fetchall()


_STATES = """
SELECT state FROM run JOIN run_unit ON run_unit.run = run.id JOIN unit ON unit.id = run_unit.unit
WHERE run.key = ?
"""
_STATUS = """
SELECT run.id AS run, run.rev AS run_rev, unit.rev AS rev, run.seeds AS seeds, state, progress, message,
    bytes,
    coalesce((SELECT waiting FROM request WHERE request.run = run.id AND visitor = :visitor),
             EXISTS (SELECT 1 FROM request WHERE request.run = run.id AND waiting)) AS waiting
FROM run JOIN run_unit ON run_unit.run = run.id JOIN unit ON unit.id = run_unit.unit
WHERE run.key = :key ORDER BY run_unit.seed
"""
_MINE = "SELECT 1 FROM unit WHERE id = ? AND worker = ?"
_TRACE = "SELECT digest, data FROM trace WHERE unit = ?"
_WANTED = "SELECT 1 FROM run_unit JOIN request ON request.run = run_unit.run AND waiting WHERE unit = ?"
_SEATS = """
SELECT visitor, run_unit.run AS run, unit.id AS unit, state = 'running' AS running, progress, seconds,
    started_at, asked_at, coalesce((SELECT served_at FROM visitor WHERE name = visitor), 0) AS served_at
FROM unit JOIN run_unit ON run_unit.unit = unit.id JOIN request ON request.run = run_unit.run AND waiting
WHERE state IN ('queued', 'running') ORDER BY asked_at, run_unit.run, run_unit.seed
"""
_OLDEST = """
SELECT id, bytes FROM unit
WHERE bytes > 0 AND id != ? AND state IN ('done', 'failed', 'cancelled') AND NOT EXISTS (
    SELECT 1 FROM run_unit mine JOIN run_unit other ON other.run = mine.run JOIN unit u ON u.id = other.unit
    WHERE mine.unit = unit.id AND u.state IN ('queued', 'running'))
ORDER BY used_at, id LIMIT 1
"""


def default_path() -> Path:
    """Where the store is unless said otherwise."""
    return home() / "runs.sqlite"


def _seats(db: sqlite3.Connection, now: float) -> list[Seat]:
    """Everyone in line. What is left of a running seed follows from its own pace once it has one."""
    seats = []
    for row in db.execute(_SEATS):
        progress, seconds = row["progress"], row["seconds"]
        if row["running"]:
            elapsed = now - row["started_at"]
            paced = progress > 0.02 and elapsed > 0.2
            seconds = (elapsed / progress if paced else seconds) * (1 - progress)
        seats.append(
            Seat(
                row["visitor"],
                row["run"],
                row["unit"],
                bool(row["running"]),
                seconds,
                row["asked_at"],
                row["served_at"],
            )
        )
    return seats


def _write_trace(db: sqlite3.Connection, unit: int, data: bytes) -> None:
    db.execute("INSERT OR REPLACE INTO trace VALUES (?, ?, ?)", (unit, _digest(data), data))


def _requeue(db: sqlite3.Connection, where: str, values: tuple[object, ...]) -> None:
    db.execute(
        f"UPDATE unit SET state = 'queued', progress = 0, worker = NULL, rev = rev + 1 WHERE {where}", values
    )


def _release(db: sqlite3.Connection, where: str, values: tuple[object, ...]) -> None:
    """No worker is at these units any more: running ones are queued again, cancelled ones just stop."""
    _requeue(db, f"{where} AND state = 'running'", values)
    db.execute(f"UPDATE unit SET worker = NULL, rev = rev + 1 WHERE {where}", values)


def _run_key(spec: Spec) -> str:
    """Names a run: its spec, and through the first seed's key the simulation that computes it."""
    return hashlib.sha256(f"{spec.to_json()}\n{spec.seed_key(0)}".encode()).hexdigest()


def _sealed(key: str, data: bytes) -> bytes:
    """`data` behind a digest that says whose it is."""
    return _digest(key.encode() + data) + data


def _unsealed(key: str, sealed: Any) -> bytes | None:
    """What was sealed for this key; None where something else is stored."""
    if not isinstance(sealed, bytes):
        return None
    data = sealed[_DIGEST_BYTES:]
    return data if sealed == _sealed(key, data) else None


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


def _points(data: bytes) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    half = len(data) // 2
    episodes = np.frombuffer(data[:half], "<i8").astype(np.int64)
    return episodes, np.frombuffer(data[half:], "<f8").astype(np.float64)


def _cause(returncode: int | None) -> str:
    if returncode is None:
        return "for an unknown reason"
    if returncode >= 0:
        return f"exit status {returncode}"
    with contextlib.suppress(ValueError):
        return f"killed by {signal.Signals(-returncode).name}"
    return f"killed by signal {-returncode}"


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True

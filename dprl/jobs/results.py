"""What came out: curves, which grow while a seed is computed, and traces, of which the longest unused make room."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.jobs.capacity import Capacity
from dprl.jobs.component import StoreComponent, mending, run_key
from dprl.jobs.file import DiskFull, StoreFile, UnreadableResult
from dprl.jobs.seed_jobs import SeedJob, requeue
from dprl.jobs.simulation import Simulation, SpecLike

_USED_SECONDS = 60.0  # that a trace is used is written down no more often
_NO_ROOM = "The disk was full: its curve was kept, its details were not."
_MINE = "SELECT 1 FROM unit WHERE id = ? AND worker = ?"


class Results(StoreComponent):
    """Write and read curves and traces."""

    def __init__(self, file: StoreFile, simulation: Simulation | None, capacity: Capacity) -> None:
        super().__init__(file, simulation)
        self._capacity = capacity

    @mending
    def report(
        self, job: SeedJob, progress: float, at: NDArray[np.int64], values: NDArray[np.float64]
    ) -> bool:
        """Progress (0 to 1), and the curve so far: points `at`, and the `values` there, [C].

        False when the seed is no longer wanted.
        """
        points = np.asarray(at, "<i8").tobytes() + np.asarray(values, "<f8").tobytes()
        with self._file.writing() as db:
            mine = (job.id, job.worker)
            wanted = db.execute(
                "UPDATE unit SET progress = ?, rev = rev + 1 "
                "WHERE id = ? AND worker = ? AND state = 'running'",
                (min(1.0, max(0.0, float(progress))), *mine),
            ).rowcount
            # A seed that ends as it is cancelled is finished: its last points count.
            if wanted or db.execute(_MINE, mine).fetchone():
                db.execute("INSERT OR REPLACE INTO live VALUES (?, ?)", (job.id, points))
        return bool(wanted)

    @mending
    def finish(self, job: SeedJob, trace: bytes) -> None:
        """The seed is computed. Ignored when the seed is no longer this worker's.

        Where the disk has room for the reported curve alone, that is kept. Raises DiskFull where it was not reported.
        """
        mine = (job.id, job.worker)
        try:
            with self._file.writing() as db:
                done = db.execute(
                    "UPDATE unit SET state = 'done', progress = 1, message = '', worker = NULL, rev = rev + 1, "
                    "seconds = ?, used_at = ?, bytes = ? WHERE id = ? AND worker = ?",
                    (time.monotonic() - job.claimed, time.time(), len(trace), *mine),
                ).rowcount
                if done:
                    _write_trace(db, job, trace)
                    db.execute(
                        "UPDATE unit SET seconds = (SELECT seconds FROM unit WHERE id = :unit) "
                        "WHERE state = 'queued' AND id IN (SELECT other.unit FROM run_unit mine "
                        "JOIN run_unit other ON other.run = mine.run WHERE mine.unit = :unit)",
                        {"unit": job.id},
                    )
                    removed = self._capacity.make_room(db, job.id)
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
                self._file.give_back()

    @mending
    def keep(self, job: SeedJob, trace: bytes) -> None:
        """The seed was cancelled and has stopped; `trace` is what there is, kept where the disk has room. Should it be
        wanted again by now, it goes back to the queue."""
        try:
            self._stopped(job, trace)
        except DiskFull:
            self._stopped(job, None)

    def _stopped(self, job: SeedJob, trace: bytes | None) -> None:
        with self._file.writing() as db:
            kept = db.execute(
                "UPDATE unit SET worker = NULL, rev = rev + 1, used_at = ?, bytes = ? "
                "WHERE id = ? AND worker = ? AND state = 'cancelled'",
                (time.time(), len(trace or b""), job.id, job.worker),
            ).rowcount
            if not kept:
                requeue(db, "id = ? AND worker = ?", (job.id, job.worker))
            elif trace is not None:
                _write_trace(db, job, trace)
                self._capacity.make_room(db, job.id)

    @mending
    def live(self, spec: SpecLike) -> list[tuple[int, NDArray[np.int64], NDArray[np.float64]]]:
        """(seed, at [C], values [C]) of every seed that has points, running or ended: episodes and cumulative regret of
        an online run.
        """
        with self._file.connection() as db:
            rows = db.execute(
                "SELECT run_unit.seed, points FROM run JOIN run_unit ON run_unit.run = run.id "
                "JOIN live ON live.unit = run_unit.unit WHERE run.key = ? ORDER BY run_unit.seed",
                (run_key(spec),),
            ).fetchall()
        curves = []
        for seed, points in rows:
            half = len(points) // 2
            at, values = np.frombuffer(points[:half], "<i8"), np.frombuffer(points[half:], "<f8")
            curves.append((seed, at.astype(np.int64), values.astype(np.float64)))
        return curves

    @mending
    def traces(self, spec: SpecLike, seeds: Collection[int] | None = None) -> list[Any]:
        """The traces there are, by seed, decoded: whole ones of finished seeds, partial ones of cancelled seeds.

        `seeds`: only these.
        """
        with self._file.reading() as db:
            rows = db.execute(
                "SELECT run_unit.seed, unit.id, unit.used_at FROM run "
                "JOIN run_unit ON run_unit.run = run.id JOIN unit ON unit.id = run_unit.unit "
                "WHERE run.key = ? AND state IN ('done', 'cancelled') AND bytes > 0 "
                "ORDER BY run_unit.seed",
                (run_key(spec),),
            ).fetchall()
            rows = [row for row in rows if seeds is None or row["seed"] in seeds]
            stored = [
                db.execute("SELECT data FROM trace WHERE unit = ?", (row["id"],)).fetchone()[0]
                for row in rows
            ]
        try:
            traces = [self._simulation.trace_from_bytes(data) for data in stored]
        except ValueError as error:
            raise UnreadableResult(str(error)) from error
        now = time.time()
        used = [(now, row["id"]) for row in rows if now - row["used_at"] > _USED_SECONDS]
        if used:
            with contextlib.suppress(DiskFull), self._file.writing() as db:
                db.executemany("UPDATE unit SET used_at = ? WHERE id = ?", used)
        return traces

    @mending
    def use(self, spec: SpecLike, seed: int) -> None:
        """This seed's trace is looked at, by whoever has kept it: so it is not one of the longest unused."""
        mine = "SELECT unit FROM run_unit JOIN run ON run.id = run WHERE key = ? AND run_unit.seed = ?"
        now = time.time()
        with contextlib.suppress(DiskFull), self._file.writing() as db:
            db.execute(
                f"UPDATE unit SET used_at = ? WHERE id = ({mine}) AND used_at < ?",
                (now, run_key(spec), seed, now - _USED_SECONDS),
            )


def _write_trace(db: sqlite3.Connection, job: SeedJob, data: bytes) -> None:
    db.execute("INSERT OR REPLACE INTO trace VALUES (?, ?)", (job.id, data))

"""What workers do: jobs, each one seed of a spec, a row of the table `unit`.

Keyed by `spec.seed_key(seed)`, so that specs which share seeds share the work. States of a unit:

    queued -> running -> done
      ^         |-----> failed      (raised an error, or its worker died twice)
      |         |-----> cancelled   (nobody waits any more; keeps what it has)
      +---------+                   (worker ended gracefully, or died the first time)

and `gone` for a finished one whose trace had to make room; its curve stays.
"""

from __future__ import annotations

import contextlib
import signal
import sqlite3
import time
from dataclasses import dataclass, field
from operator import methodcaller
from typing import Any

from dprl.jobs.component import StoreComponent, mending
from dprl.jobs.queue import Running, Waiting, claim, seeds_by_visitor
from dprl.jobs.runs_file import BACKLOG

DIED = "A worker process died; seed {seed} is run again."
DIED_TWICE = "Seed {seed} failed: its worker process died twice ({cause}), perhaps for want of memory."
_AWAY = """coalesce((SELECT NOT here FROM lease JOIN tab ON tab.name = lease.tab
    WHERE lease.run = request.run AND lease.visitor = request.visitor), 0)"""
_SERVED = "coalesce((SELECT served_at FROM visitor WHERE name = request.visitor), 0)"
_WAITING = f"""
SELECT request.visitor, backlog.run, seeds, seconds, asked_at, {_SERVED}, {_AWAY}
FROM backlog CROSS JOIN request ON request.run = backlog.run AND waiting ORDER BY asked_at, backlog.run
"""
_RUNNING = """
SELECT visitor, run_unit.run AS run, unit.id AS unit, seconds, progress, started_at
FROM unit JOIN run_unit ON run_unit.unit = unit.id JOIN request ON request.run = run_unit.run AND waiting
WHERE state = 'running'
"""
_AWAY_OF_UNIT = f"""
SELECT {_AWAY} FROM run_unit JOIN request ON request.run = run_unit.run AND waiting WHERE unit = ?
"""
_FIRST = """
SELECT unit.id AS unit, unit.key AS key, unit.seed AS seed, deaths, spec, run.key AS run
FROM run JOIN run_unit ON run_unit.run = run.id JOIN unit ON unit.id = run_unit.unit
WHERE run.id = ? AND state = 'queued' ORDER BY run_unit.seed LIMIT 1
"""
_THREADS = "(id = ? OR id GLOB ? || '.*')"
# Whether anybody waits for a seed, of whichever of the runs that share it; the seed is added.
WANTED = "SELECT 1 FROM run_unit JOIN request ON request.run = run_unit.run AND waiting WHERE run_unit.unit ="


@dataclass(frozen=True)
class SeedJob:
    """One seed, claimed by a worker; run: names a run that wants it; attempt: 1, or 2 after a worker died at it.

    claimed: when, on the monotonic clock of the process that did it: others may set the time of day.
    """

    id: int
    key: str
    spec: Any
    seed: int
    attempt: int
    worker: str
    run: str
    claimed: float = field(default_factory=time.monotonic, compare=False)


class SeedJobs(StoreComponent):
    """Which worker is at which job, and what becomes of it."""

    @mending
    def claim(self, worker: str, beside: bool = False) -> SeedJob | None:
        """The next seed for this worker, from now on running; None when there is none.

        beside: this worker holds others, which give way only to a visitor who is here and has no seed running.
        """
        while True:
            with self._file.reading() as db:  # others write meanwhile
                row = _next(db, beside)
            if row is None:
                return None
            now = time.time()
            with self._file.writing() as db:
                taken = db.execute(
                    "UPDATE unit SET state = 'running', progress = 0, worker = ?, started_at = ?, "
                    "rev = rev + 1 WHERE id = ? AND state = 'queued'",
                    (worker, now, row["unit"]),
                ).rowcount
                if not taken:
                    continue
                db.execute("DELETE FROM live WHERE unit = ?", (row["unit"],))
                db.execute(
                    "INSERT OR REPLACE INTO visitor SELECT DISTINCT visitor, ? FROM run_unit "
                    "JOIN request ON request.run = run_unit.run AND waiting WHERE unit = ?",
                    (now, row["unit"]),
                )
            seed, key = row["seed"], row["key"]
            spec = self._spec(row["spec"], methodcaller("seed_key", seed), key)
            job = SeedJob(row["unit"], key, spec, seed, row["deaths"] + 1, worker, row["run"])
            if spec is not None:
                return job
            self.fail(job, "The simulation has changed since this run was asked for; ask for it again.")

    @mending
    def switch_to(self, job: SeedJob) -> None:
        """Of the seeds that its worker has begun, this one is computed now: should it die, the others did no harm."""
        with self._file.writing() as db:
            db.execute("DELETE FROM preempted WHERE unit = ?", (job.id,))
            db.execute(
                "INSERT OR IGNORE INTO preempted SELECT id FROM unit WHERE worker = ? AND id != ?",
                (job.worker, job.id),
            )

    @mending
    def left_alone(self, job: SeedJob) -> bool:
        """Whether the tabs of all who wait for a seed have gone."""
        with self._file.reading() as db:
            rows = db.execute(_AWAY_OF_UNIT, (job.id,)).fetchall()
        return all(row[0] for row in rows)

    @mending
    def wanted(self, worker: str) -> set[int]:
        """Which of the jobs that this worker is at are still wanted, by id."""
        with self._file.reading() as db:
            rows = db.execute("SELECT id FROM unit WHERE worker = ? AND state = 'running'", (worker,))
            return {row["id"] for row in rows}

    @mending
    def give_back(self, job: SeedJob) -> None:
        """A running seed goes back to the queue, to be begun again."""
        with self._file.writing() as db:
            _release(db, "id = ? AND worker = ?", (job.id, job.worker))

    @mending
    def fail(self, job: SeedJob, message: str) -> None:
        """The seed cannot be computed, for the reason that `message` says in a sentence."""
        with self._file.writing() as db:
            db.execute(
                "UPDATE unit SET state = CASE state WHEN 'running' THEN 'failed' ELSE state END, "
                "message = ?, worker = NULL, rev = rev + 1 WHERE id = ? AND worker = ?",
                (message, job.id, job.worker),
            )

    @mending
    def release(self, worker: str) -> None:
        """The worker ends gracefully: its seed goes back to the queue."""
        with self._file.writing() as db:
            _release(db, "worker = ?", (worker,))
            db.execute(f"DELETE FROM worker WHERE {_THREADS}", (worker,) * 2)

    @mending
    def died(self, worker: str, returncode: int | None = None) -> None:
        """The worker process died: the seed it computed is run again once, and fails the second time.

        No death counts for those that it had preempted: they did no harm, and go back to the queue.
        returncode: as of subprocess.Popen, negative for a signal.
        """
        with self._file.writing() as db:
            db.execute(
                "UPDATE unit SET state = 'failed', worker = NULL, rev = rev + 1, "
                "message = replace(?, '{seed}', seed) "
                "WHERE worker = ? AND state = 'running' AND deaths > 0 "
                "AND id NOT IN (SELECT unit FROM preempted)",
                (DIED_TWICE.replace("{cause}", _cause(returncode)), worker),
            )
            db.execute(
                "UPDATE unit SET deaths = deaths + (id NOT IN (SELECT unit FROM preempted)), "
                "message = replace(?, '{seed}', seed) "
                "WHERE worker = ? AND state = 'running'",
                (DIED, worker),
            )
            _release(db, "worker = ?", (worker,))
            db.execute(f"DELETE FROM worker WHERE {_THREADS}", (worker,) * 2)

    @mending
    def recover(self) -> None:
        """A pool begins, so no worker of another one counts: what was running goes back to the queue, counted anew."""
        with self._file.writing() as db:
            _release(db, "worker IS NOT NULL", ())
            db.execute("DELETE FROM worker")
            db.execute("DELETE FROM backlog")
            db.execute(BACKLOG)

    @mending
    def enlist(self, worker: str, pid: int, warm: bool, threads: int = 1) -> None:
        """A worker process exists, whether it is ready to compute, and on how many threads, here or elsewhere."""
        rows = [(worker, pid, int(warm)), *((f"{worker}.{i}", pid, int(warm)) for i in range(1, threads))]
        with self._file.connection() as db:
            known = db.execute(f"SELECT id, pid, warm FROM worker WHERE {_THREADS}", (worker,) * 2).fetchall()
        if set(map(tuple, known)) != set(rows):
            with self._file.writing() as db:
                db.execute(f"DELETE FROM worker WHERE {_THREADS}", (worker,) * 2)
                db.executemany("INSERT INTO worker VALUES (?, ?, ?)", rows)


def waiting_runs(db: sqlite3.Connection) -> list[Waiting]:
    """Everyone who waits for a run that has seeds queued, in the order asked for."""
    return [Waiting(*row) for row in db.execute(_WAITING)]


def running_seeds(db: sqlite3.Connection, now: float) -> list[Running]:
    """The seeds that run. What is left of one follows from its own pace once it has one."""
    found = []
    for row in db.execute(_RUNNING):
        progress, elapsed = row["progress"], now - row["started_at"]
        paced = progress > 0.02 and elapsed > 0.2
        seconds = (elapsed / progress if paced else row["seconds"]) * (1 - progress)
        found.append(Running(row["visitor"], row["run"], row["unit"], seconds))
    return found


def _next(db: sqlite3.Connection, beside: bool) -> sqlite3.Row | None:
    """Job, key, seed, deaths and spec of the seed that is next."""
    wishes, busy = waiting_runs(db), seeds_by_visitor(running_seeds(db, 0.0))
    if beside:
        wishes = [wish for wish in wishes if not wish.away and not busy[wish.visitor]]
    if not wishes:
        return None
    first = min(wishes, key=lambda wish: claim(wish, busy))
    found: sqlite3.Row | None = db.execute(_FIRST, (first.run,)).fetchone()
    return found


def requeue(db: sqlite3.Connection, where: str, values: tuple[object, ...]) -> None:
    """These jobs are queued again."""
    db.execute(
        f"UPDATE unit SET state = 'queued', progress = 0, worker = NULL, rev = rev + 1 WHERE {where}", values
    )


def stop_unwanted(db: sqlite3.Connection, run: int) -> None:
    """Somebody no longer waits for this run: those of its seeds for which nobody waits, in whichever run, stop, and
    keep what they have."""
    db.execute("UPDATE run SET rev = rev + 1 WHERE id = ?", (run,))
    db.execute(
        "UPDATE unit SET state = 'cancelled', rev = rev + 1 "
        "WHERE id IN (SELECT unit FROM run_unit WHERE run = ?) AND state IN ('queued', 'running') "
        f"AND NOT EXISTS ({WANTED} unit.id)",
        (run,),
    )


def _release(db: sqlite3.Connection, where: str, values: tuple[object, ...]) -> None:
    """No worker is at these jobs any more: running ones are queued again, cancelled ones just stop."""
    db.execute(f"DELETE FROM preempted WHERE unit IN (SELECT id FROM unit WHERE {where})", values)
    requeue(db, f"{where} AND state = 'running'", values)
    db.execute(f"UPDATE unit SET worker = NULL, rev = rev + 1 WHERE {where}", values)


def _cause(returncode: int | None) -> str:
    if returncode is None:
        return "for an unknown reason"
    if returncode >= 0:
        return f"exit status {returncode}"
    with contextlib.suppress(ValueError):
        return f"killed by {signal.Signals(-returncode).name}"
    return f"killed by signal {-returncode}"

"""What workers do: units, each one seed of a spec.

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
from dataclasses import dataclass
from operator import methodcaller
from typing import Any

from dprl.jobs.part import Part, mending
from dprl.jobs.queue import FairQueue, Ticket

_TICKETS = """
SELECT visitor, run_unit.run AS run, unit.id AS unit, state = 'running' AS running, progress, seconds,
    started_at, asked_at, coalesce((SELECT served_at FROM visitor WHERE name = visitor), 0) AS served_at
FROM unit JOIN run_unit ON run_unit.unit = unit.id JOIN request ON request.run = run_unit.run AND waiting
WHERE state IN ('queued', 'running') ORDER BY asked_at, run_unit.run, run_unit.seed
"""


@dataclass(frozen=True)
class Unit:
    """One seed, claimed by a worker; attempt: 1, or 2 after a worker died at it."""

    id: int
    key: str
    spec: Any
    seed: int
    attempt: int
    worker: str


class Units(Part):
    """Which worker is at which unit, and what becomes of it."""

    @mending
    def claim(self, worker: str) -> Unit | None:
        """The next seed for this worker, from now on running; None when there is none."""
        while True:
            with self._file.connection() as db:
                if not db.execute("SELECT 1 FROM unit WHERE state = 'queued' LIMIT 1").fetchone():
                    return None
            now = time.time()
            with self._file.writing() as db:
                queue = FairQueue(tickets(db, now))
                ticket = queue.take(now)
                if ticket is None:
                    return None
                db.execute("DELETE FROM live WHERE unit = ?", (ticket.unit,))
                db.execute(
                    "UPDATE unit SET state = 'running', progress = 0, worker = ?, started_at = ?, "
                    "rev = rev + 1 WHERE id = ?",
                    (worker, now, ticket.unit),
                )
                db.executemany(
                    "INSERT OR REPLACE INTO visitor VALUES (?, ?)",
                    [(visitor, now) for visitor in queue.visitors(ticket.unit)],
                )
                row = db.execute(
                    "SELECT key, seed, deaths, (SELECT spec FROM run WHERE id = ?) AS spec "
                    "FROM unit WHERE id = ?",
                    (ticket.run, ticket.unit),
                ).fetchone()
            seed, key = row["seed"], row["key"]
            spec = self._spec(row["spec"], methodcaller("seed_key", seed), key)
            unit = Unit(ticket.unit, key, spec, seed, row["deaths"] + 1, worker)
            if spec is not None:
                return unit
            self.fail(unit, "The simulation has changed since this run was asked for; ask for it again.")

    @mending
    def fail(self, unit: Unit, message: str) -> None:
        """The seed cannot be computed, for the reason that `message` says in a sentence."""
        with self._file.writing() as db:
            db.execute(
                "UPDATE unit SET state = CASE state WHEN 'running' THEN 'failed' ELSE state END, "
                "message = ?, worker = NULL, rev = rev + 1 WHERE id = ? AND worker = ?",
                (message, unit.id, unit.worker),
            )

    @mending
    def release(self, worker: str) -> None:
        """The worker ends gracefully: its seed goes back to the queue."""
        with self._file.writing() as db:
            _release(db, "worker = ?", (worker,))
            db.execute("DELETE FROM worker WHERE id = ?", (worker,))

    @mending
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

    @mending
    def recover(self) -> None:
        """A pool begins, so no worker is alive: what was running goes back to the queue."""
        with self._file.writing() as db:
            _release(db, "worker IS NOT NULL", ())
            db.execute("DELETE FROM worker")

    @mending
    def enlist(self, worker: str, pid: int, warm: bool) -> None:
        """A worker process exists, and whether it is ready to compute."""
        with self._file.connection() as db:
            known = db.execute("SELECT pid, warm FROM worker WHERE id = ?", (worker,)).fetchone()
            if known is None or tuple(known) != (pid, int(warm)):
                db.execute("INSERT OR REPLACE INTO worker VALUES (?, ?, ?)", (worker, pid, int(warm)))


def tickets(db: sqlite3.Connection, now: float) -> list[Ticket]:
    """Everyone who waits, in order. What is left of a running seed follows from its own pace once it has one."""
    found = []
    for row in db.execute(_TICKETS):
        progress, seconds = row["progress"], row["seconds"]
        if row["running"]:
            elapsed = now - row["started_at"]
            paced = progress > 0.02 and elapsed > 0.2
            seconds = (elapsed / progress if paced else seconds) * (1 - progress)
        whose, running = (row["visitor"], row["run"], row["unit"]), bool(row["running"])
        found.append(Ticket(*whose, running, seconds, row["asked_at"], row["served_at"]))
    return found


def requeue(db: sqlite3.Connection, where: str, values: tuple[object, ...]) -> None:
    """These units are queued again."""
    db.execute(
        f"UPDATE unit SET state = 'queued', progress = 0, worker = NULL, rev = rev + 1 WHERE {where}", values
    )


def _release(db: sqlite3.Connection, where: str, values: tuple[object, ...]) -> None:
    """No worker is at these units any more: running ones are queued again, cancelled ones just stop."""
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

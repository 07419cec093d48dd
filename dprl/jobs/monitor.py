"""What whoever runs a store wants to see of it: what is at work, what is in it, and what failed last."""

from __future__ import annotations

import time
from dataclasses import dataclass

from dprl.jobs.capacity import Capacity, used
from dprl.jobs.component import StoreComponent, mending
from dprl.jobs.file import StoreFile

_AT_WORK = """
SELECT key, seed, progress, started_at, id IN (SELECT unit FROM preempted) AS preempted
FROM unit WHERE worker IS NOT NULL AND state = 'running' ORDER BY preempted, started_at, id
"""
_FAILED = """
SELECT key, seed, message, started_at FROM unit WHERE state = 'failed' ORDER BY started_at DESC, id DESC LIMIT ?
"""


@dataclass(frozen=True, kw_only=True)
class AtWork:
    """A seed that a worker has begun.

    Attributes:
        key: names its unit of work.
        progress: 0 to 1.
        seconds: since it was begun.
        parked: preempted, the worker is at another seed just now; what `dprl status --json` calls it.
    """

    key: str
    seed: int
    progress: float
    seconds: float
    parked: bool


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A seed that failed, and why, in a sentence; began_at: Unix time at which it was begun."""

    key: str
    seed: int
    message: str
    began_at: float


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What a store holds: results with all their details, runs, bytes in use, and beyond how many something goes."""

    results: int
    runs: int
    bytes: int
    capacity: int


class StoreMonitor(StoreComponent):
    """Reading what goes on in all of a store, without any visitor's name."""

    def __init__(self, file: StoreFile, capacity: Capacity) -> None:
        super().__init__(file)
        self._capacity = capacity

    @mending
    def at_work(self) -> list[AtWork]:
        """The seeds that workers have begun, those that are computed just now first."""
        now = time.time()
        with self._file.connection() as db:
            rows = db.execute(_AT_WORK).fetchall()
        return [
            AtWork(
                key=row["key"],
                seed=row["seed"],
                progress=row["progress"],
                seconds=max(0.0, now - row["started_at"]),
                parked=bool(row["preempted"]),
            )
            for row in rows
        ]

    @mending
    def failures(self, count: int = 5) -> list[Failure]:
        """The seeds that failed, those begun last first."""
        with self._file.connection() as db:
            rows = db.execute(_FAILED, (count,)).fetchall()
        return [Failure(key=key, seed=seed, message=message, began_at=at) for key, seed, message, at in rows]

    @mending
    def contents(self) -> Contents:
        """How much is in the store."""
        with self._file.reading() as db:
            results = db.execute("SELECT count(*) FROM unit WHERE state = 'done'").fetchone()[0]
            runs = db.execute("SELECT count(*) FROM run").fetchone()[0]
            return Contents(results=results, runs=runs, bytes=used(db), capacity=self._capacity.bytes)

    @mending
    def size_bytes(self) -> int:
        """Bytes of the file that are in use."""
        with self._file.reading() as db:
            return used(db)

    @mending
    def backlog_seconds(self) -> float:
        """What is queued takes so many seconds of one core, estimated."""
        with self._file.connection() as db:
            row = db.execute("SELECT coalesce(sum(seconds), 0) FROM unit WHERE state = 'queued'").fetchone()
        return float(row[0])

"""The store: what was asked for, by whom, how far it is, and what came out.

A run is a spec with all its seeds; a job is one seed of it. The store holds its components, each of which reads and
writes some of its tables: `store.requests.add(spec, visitor)`, `store.results.traces(spec)`.
"""

from __future__ import annotations

import time
from pathlib import Path

from dprl.jobs.capacity import Capacity, used
from dprl.jobs.component import StoreComponent, mending, setting
from dprl.jobs.file import DiskFull, StoreError, StoreFile
from dprl.jobs.leases import Lease, Leases, TooMuch
from dprl.jobs.monitor import StoreMonitor
from dprl.jobs.questions import Questions
from dprl.jobs.requests import Requests
from dprl.jobs.results import Results
from dprl.jobs.rooms import Room, RoomError, Rooms
from dprl.jobs.seed_jobs import SeedJob, SeedJobs
from dprl.jobs.short_links import LinkError, ShortLinks
from dprl.jobs.simulation import Simulation
from dprl.jobs.status import Activity, RunRow, RunStatus, State, Statuses
from dprl.kernels import home

__all__ = [
    "Activity",
    "Lease",
    "LinkError",
    "Room",
    "RoomError",
    "RunRow",
    "RunStatus",
    "SeedJob",
    "State",
    "Store",
    "StoreError",
    "TooMuch",
    "default_path",
    "setting",
]

NOTICE_SECONDS = 24 * 3600.0


class Store(StoreComponent):
    """The store in one SQLite file; each process opens its own `Store` on it, and all its threads may use that.

    path: default `runs.sqlite` in DPRL_HOME, else in ~/.cache/dprl. Beyond DPRL_STORE_MB (default 1024) what
    is longest unused makes room, traces before curves. Raises StoreError, one sentence, where no store can be had.

    Attributes:
        leases: how much may wait, and which browser tabs are there for it.
        requests: what visitors ask for: runs.
        jobs: what workers do: seeds of runs.
        results: the curves and traces that come out.
        status: how runs stand.
        questions: what pages ask of a spec without running it.
        monitor: what whoever runs the store wants to see.
        rooms, links: rooms of classes, and short links.
    """

    def __init__(self, path: Path | None = None, simulation: Simulation | None = None) -> None:
        self.path = default_path() if path is None else Path(path)
        file = StoreFile(self.path)
        super().__init__(file, simulation)
        capacity = Capacity()
        self.leases = Leases(file)
        self.requests = Requests(file, simulation, self.leases, capacity)
        self.jobs = SeedJobs(file, simulation)
        self.results = Results(file, simulation, capacity)
        self.status = Statuses(file, simulation)
        self.questions = Questions(file, simulation, capacity)
        self.monitor = StoreMonitor(file, capacity)
        self.rooms = Rooms(file)
        self.links = ShortLinks(file)

    def close(self) -> None:
        """Close the connections."""
        self._file.close()

    @property
    def notice(self) -> str | None:
        """A sentence where the disk is full, or the store was set aside within the last day."""
        return str(DiskFull()) if self._file.full else self._notice()

    @mending
    def _notice(self) -> str | None:
        with self._file.connection() as db:
            row = db.execute(
                "SELECT text FROM notice WHERE at > ?", (time.time() - NOTICE_SECONDS,)
            ).fetchone()
        return None if row is None else str(row[0])

    @mending
    def size_bytes(self) -> int:
        """Bytes of the file that are in use."""
        with self._file.reading() as db:
            return used(db)


def default_path() -> Path:
    """Where the store is unless said otherwise."""
    return home() / "runs.sqlite"

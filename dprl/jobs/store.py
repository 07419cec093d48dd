"""The store: what was asked for, by whom, how far it is, and what came out.

A run is a spec with all its seeds; a job is one seed of it. The store holds its components, each of which reads and
writes some of its tables: `store.requests.add(spec, visitor)`, `store.results.traces(spec)`.
"""

from __future__ import annotations

from pathlib import Path

from dprl.engine import home
from dprl.jobs.capacity import Capacity
from dprl.jobs.component import StoreComponent, mending, setting
from dprl.jobs.file import DiskFull, StoreError
from dprl.jobs.leases import Lease, Leases, TooMuch
from dprl.jobs.monitor import StoreMonitor
from dprl.jobs.questions import Questions
from dprl.jobs.requests import Requests
from dprl.jobs.results import Results
from dprl.jobs.rooms import Room, RoomError, Rooms
from dprl.jobs.rooms_file import RoomsFile, rooms_path
from dprl.jobs.runs_file import RunsFile
from dprl.jobs.seed_jobs import SeedJob, SeedJobs
from dprl.jobs.short_links import LinkError, ShortLinks
from dprl.jobs.simulation import Simulation
from dprl.jobs.status import Activity, RunRow, RunStatus, State, Statuses

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


class _Notices(StoreComponent):
    """What is to be said of one of the files."""

    @mending
    def latest(self) -> str | None:
        return str(DiskFull()) if self._file.full else self._file.notice()


class Store:
    """The store in two SQLite files: what runs need, and beside it rooms and short links. Each process opens its own
    `Store` on them, and all its threads may use that.

    path: of the file of runs, default `runs.sqlite` in DPRL_HOME, else in ~/.cache/dprl. Beyond DPRL_STORE_MB (default
    1024) what is longest unused of it makes room, traces before curves. Raises StoreError, one sentence, where no store
    can be had.

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
        rooms = RoomsFile(rooms_path(self.path))
        runs = RunsFile(self.path)
        capacity = Capacity()
        self.leases = Leases(runs)
        self.requests = Requests(runs, simulation, self.leases, capacity)
        self.jobs = SeedJobs(runs, simulation)
        self.results = Results(runs, simulation, capacity)
        self.status = Statuses(runs, simulation)
        self.questions = Questions(runs, simulation, capacity)
        self.monitor = StoreMonitor(runs, capacity)
        self.rooms = Rooms(rooms)
        self.links = ShortLinks(rooms)
        self._files = (runs, rooms)
        self._notices = tuple(_Notices(file) for file in self._files)

    def close(self) -> None:
        """Close the connections."""
        for file in self._files:
            file.close()

    @property
    def notice(self) -> str | None:
        """A sentence where the disk is full, or a file was set aside within the last day."""
        return next(filter(None, (notices.latest() for notices in self._notices)), None)

    def size_bytes(self) -> int:
        """Bytes of the file of runs that are in use."""
        return self.monitor.size_bytes()


def default_path() -> Path:
    """Where the store is unless said otherwise."""
    return home() / "runs.sqlite"

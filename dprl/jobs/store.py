"""The store: what was asked for, by whom, how far it is, and what came out.

A run is a spec with all its seeds; a unit is one seed of it. Visitors ask for runs (`requests`), some of which last as
long as a browser tab (`tabs`), workers claim units
(`units`) and store curves and traces (`results`), pages read how runs stand (`status`). What a page wants to know of a
spec without running it is asked and answered here too (`questions`), and rooms of classes (`rooms`) and short
links (`short`) are kept.
"""

from __future__ import annotations

import time
from pathlib import Path

from dprl.jobs.capacity import used
from dprl.jobs.file import DiskFull, StoreError
from dprl.jobs.part import mending, setting
from dprl.jobs.questions import Questions
from dprl.jobs.requests import Requests
from dprl.jobs.results import Results
from dprl.jobs.rooms import Room, RoomError, Rooms
from dprl.jobs.short import LinkError, ShortLinks
from dprl.jobs.simulation import Simulation
from dprl.jobs.status import Activity, RunRow, RunStatus, State, Statuses
from dprl.jobs.tabs import Lease, TooMuch
from dprl.jobs.units import Unit, Units
from dprl.jobs.watch import Watch
from dprl.kernels import home

__all__ = [
    "Activity",
    "Lease",
    "LinkError",
    "Room",
    "RoomError",
    "RunRow",
    "RunStatus",
    "State",
    "Store",
    "StoreError",
    "TooMuch",
    "Unit",
    "default_path",
    "setting",
]

NOTICE_SECONDS = 24 * 3600.0


class Store(Requests, Units, Results, Statuses, Questions, Rooms, ShortLinks, Watch):
    """The store in one SQLite file; each process opens its own `Store` on it, and all its threads may use that.

    path: default `runs.sqlite` in DPRL_HOME, else in ~/.cache/dprl. Beyond DPRL_STORE_MB (default 1024) what
    is longest unused makes room, traces before curves. Raises StoreError, one sentence, where no store can be had.
    """

    def __init__(self, path: Path | None = None, simulation: Simulation | None = None) -> None:
        super().__init__(default_path() if path is None else Path(path), simulation)

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

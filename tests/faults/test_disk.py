"""A disk that is full at random writes."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from dprl.jobs import worker
from dprl.jobs.file import DiskFull
from dprl.jobs.store import Store
from tests.faults import walk
from tests.faults.walk import WalkSpec, right, rng, times
from tests.jobs import disk as disks


class Unreliable(disks.Disk):
    """Every fifth write or so finds no room, the others do."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        self.refused = 0

    def check(self, statement: str) -> None:
        """Raise what SQLite raises."""
        self.full = "all" if self._random.random() < 0.2 else ""
        self.refused += bool(self.full)
        super().check(statement)


def insist(wish: Callable[[], None]) -> None:
    """As a visitor does who is told that the disk is full."""
    for _ in range(200):
        with contextlib.suppress(DiskFull):
            wish()
            return
    raise AssertionError("there never was room")


def compute_all(store: Store, spec: WalkSpec) -> None:
    """Work until the run is done, as a worker that is told nothing but that the disk is full."""
    for _ in range(5000):
        time.sleep(0.001)
        if store.status.of(spec).state == "done":
            return
        with contextlib.suppress(DiskFull):
            unit = store.jobs.claim("w")
            if unit is None:  # what was claimed when the disk was full is still this worker's
                store.jobs.release("w")
                store.requests.retry(spec, "ann")
            else:
                worker.compute_seed(store, walk.simulation(), unit, threading.Event())
    raise AssertionError(store.status.of(spec).message)


def test_a_disk_that_is_full_at_random_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_PATIENCE", 0.001)
    Store(tmp_path / "runs.sqlite").close()
    disk = Unreliable(rng("disk"))
    monkeypatch.setattr(disks, "Disk", lambda: disk)
    disks.install(monkeypatch)
    store = Store(tmp_path / "runs.sqlite", walk.simulation())
    done: list[WalkSpec] = []
    while disk.refused < times(100, 1000):
        spec = WalkSpec(f"walk {len(done)}", seeds=3, chunks=5)
        insist(partial(store.requests.add, spec, "ann"))
        compute_all(store, spec)
        done.append(spec)
    # Where only its curve found room, that is said, and asking again computes the rest.
    disk.refused = 0
    monkeypatch.setattr(disk, "check", lambda statement: None)
    assert [right(store, spec) for spec in done] == [3] * len(done)

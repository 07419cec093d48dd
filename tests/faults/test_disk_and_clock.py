"""A disk that is full at random writes, and a clock that is set while work goes on."""

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
from dprl.jobs.store import Lease, Store
from tests.faults import walk
from tests.faults.forms import right, rng, times
from tests.faults.walk import WalkSpec
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


class Clock:
    """A clock that can be set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ahead = 0.0
        real = time.time
        monkeypatch.setattr(time, "time", lambda: real() + self.ahead)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_a_clock_that_is_set_at_random_while_seeds_run(tmp_path: Path, clock: Clock) -> None:
    random = rng("clock")
    store = Store(tmp_path / "runs.sqlite", walk.simulation())
    specs = []
    for i in range(times(10, 300)):
        specs.append(WalkSpec(f"walk {i}", seeds=3, chunks=3))
        store.requests.add(specs[-1], f"visitor {i % 3}", Lease("tab"))
        while store.status.of(specs[-1]).state != "done":
            clock.ahead = float(random.choice([0.0, 40.0, -40.0, 3e8, -3e8]))
            store.leases.withdraw()
            unit = store.jobs.claim("w")
            assert unit is not None, store.status.of(specs[-1])
            clock.ahead += float(random.choice([0.0, 5.0, -5.0, 1e6, -1e6]))
            store.leases.withdraw()  # the pool does it every second
            left = store.status.of(specs[-1]).seconds_left
            assert left is None or 0.0 <= left < 60.0
            worker.compute_seed(store, walk.simulation(), unit, threading.Event())
    assert [right(store, spec) for spec in specs] == [3] * len(specs)
    store.close()


@pytest.mark.parametrize("step", [1e6, -1e6])
def test_a_clock_that_is_set_makes_a_tab_neither_gone_nor_immortal(
    tmp_path: Path, clock: Clock, step: float
) -> None:
    store = Store(tmp_path / "runs.sqlite", walk.simulation())
    spec = WalkSpec("leased", seeds=3)
    store.requests.add(spec, "ann", Lease("tab"))
    assert store.leases.withdraw() == 0
    clock.ahead += step
    assert store.leases.withdraw() == 0
    assert store.status.of(spec, "ann").state == "queued"
    store.leases.seen([], left=["tab"])
    clock.ahead -= step
    assert store.leases.withdraw() == 0
    store.leases.grace = -1
    assert store.leases.withdraw() == 1
    store.close()

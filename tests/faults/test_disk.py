"""A disk that is full at random writes."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from dprl.runs.results import HELD
from dprl.runs.store import Store
from dprl.runs.turn import Order, Report, play
from tests.faults import walk
from tests.faults.walk import WalkSpec, right, rng, times
from tests.runs import disk as disks
from tests.runs import slots


class Unreliable(disks.Disk):
    """Every fifth write or so finds no room, the others do."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        self.refused = 0

    def check(self, statement: str) -> None:
        """Raise what SQLite raises."""
        self.full = self._random.random() < 0.2
        self.refused += self.full
        super().check(statement)


def do(order: Order) -> Report:
    return play(order, walk.NAME, 1e9)


def test_a_disk_that_is_full_at_random_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store(tmp_path / "runs.sqlite").close()
    disk = Unreliable(rng("disk"))
    monkeypatch.setattr(disks, "Disk", lambda: disk)
    disks.install(monkeypatch)
    store = Store(tmp_path / "runs.sqlite", walk.NAME)
    done: list[WalkSpec] = []
    said: set[str] = set()
    while disk.refused < times(100, 1000):
        spec = WalkSpec(f"walk {len(done)}", seeds=3, chunks=5)
        store.ask(spec, "ann")
        slots.work(store, slots.Hand(do))
        store.results.write()
        said.add(store.notice)
        done.append(spec)
        assert right(store, spec) == 3
    assert said == {"", HELD.format("The store of runs cannot be used now (its disk is full).")}
    monkeypatch.setattr(disk, "check", lambda statement: None)
    store.close()
    with closing(Store(tmp_path / "runs.sqlite", walk.NAME)) as store:
        assert [right(store, spec) for spec in done] == [3] * len(done)

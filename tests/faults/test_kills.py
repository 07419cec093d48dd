"""kill -9 at random points, of workers and of dashboards that share a store; and a disk full at random writes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from dprl.runs.results import HELD
from dprl.runs.store import Store
from dprl.runs.turn import Order, Report, play
from tests.faults import walk
from tests.faults.walk import WalkSpec, right, rng, sentence, times
from tests.runs import disk as disks
from tests.runs import slots
from tests.runs.test_workers import ROOT, alive, wait_for, workers

PATIENCE = 120.0


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with closing(Store(path, walk.NAME)) as store:
        yield store


def kill_until(
    enough: int, store: Store, kill: Callable[[], bool], pause: float, random: np.random.Generator
) -> str:
    """Kill while results come in, let all end, and return in words what happened."""
    specs: list[WalkSpec] = []
    killed = failed = 0
    done: dict[WalkSpec, int] = {}
    while killed < enough:
        if len(done) == len(specs):  # so that there is always something to do, and something that is done
            specs.append(WalkSpec(f"walk {len(specs)}", seeds=6, chunks=20, pause=0.02))
            store.ask(specs[-1], "ann")
        time.sleep(random.uniform(0.0, 2.0 * pause))
        killed += kill()
        for spec in specs:
            found = right(store, spec)
            assert found >= done.get(spec, 0), "a finished result was lost"
            if found == spec.seeds:
                done[spec] = found
        failed += ask_again(store, specs)

    def all_is_done() -> bool:
        nonlocal failed
        failed += ask_again(store, specs)
        return all(store.status(spec).state == "done" for spec in specs)

    wait_for(all_is_done, PATIENCE)
    assert [right(store, spec) for spec in specs] == [spec.seeds for spec in specs]
    assert store.notice == ""
    return f"{killed} killed, {6 * len(specs)} results, {failed} asked for again, 0 lost, 0 wrong"


def ask_again(store: Store, specs: list[WalkSpec]) -> int:
    """As a visitor does who reads that a seed failed: it was played at two kills."""
    found = 0
    for spec in specs:
        status = store.status(spec)
        if status.state == "failed":
            assert sentence(status.message), status.message
            assert "its worker process died twice" in status.message
            found += 1
            store.ask(spec, "ann", again=True)
    return found


@pytest.mark.thorough
def test_killed_workers(store: Store) -> None:
    random = rng("workers")
    store.begin(times(2, 4))

    def kill() -> bool:
        pids = [pid for pid in workers(store) if alive(pid)]
        if pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(random.choice(pids)), signal.SIGKILL)
        return bool(pids)

    print("workers:", kill_until(times(4, 100), store, kill, 0.6, random))


DASHBOARD = """
import sys, time
from pathlib import Path
from dprl.runs.store import Store
from tests.faults import walk
store = Store(Path(sys.argv[1]), walk.NAME).begin(1)
for i in range(int(sys.argv[2])):
    store.ask(walk.WalkSpec(f"walk {i}", seeds=6, chunks=20, pause=0.02), "ann")
while True: time.sleep(1.0)
"""


@pytest.mark.thorough
def test_killed_dashboards_of_which_two_share_a_store(path: Path) -> None:
    random, runs = rng("dashboards"), times(2, 20)
    specs = [WalkSpec(f"walk {i}", seeds=6, chunks=20, pause=0.02) for i in range(runs)]

    def dashboard() -> subprocess.Popen[bytes]:
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        return subprocess.Popen(
            [sys.executable, "-c", DASHBOARD, str(path), str(runs)], cwd=ROOT, env=environment
        )

    both, killed, before = [dashboard(), dashboard()], 0, 0
    try:
        with closing(Store(path, walk.NAME)) as store:
            until = time.monotonic() + PATIENCE * runs
            while sum(right(store, spec) for spec in specs) < 6 * runs:
                assert time.monotonic() < until
                time.sleep(random.uniform(1.0, 4.0))
                which = int(random.integers(2))
                both[which].kill()
                both[which].wait()
                both[which] = dashboard()
                killed += 1
                found = sum(right(store, spec) for spec in specs)
                assert found >= before, "a finished result was lost"
                before = found
        print(f"dashboards: {killed} killed, {6 * runs} results, 0 lost, 0 wrong")
    finally:
        for process in both:
            process.kill()
            process.wait()


class Unreliable(disks.Disk):
    """Every fifth write or so finds no room, the others do."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        self.refused = 0

    def check(self, statement: str) -> None:
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

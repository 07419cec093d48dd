"""kill -9 at random points: of workers, and of whatever serves a store of which there are two servers."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from dprl.jobs.store import Store
from tests.faults import walk
from tests.faults.walk import WalkSpec, failures, right, rng, sentence, times
from tests.jobs.test_processes import ROOT, alive, start_pool, wait_for, workers

# As the dashboard does while a page is open, and more often: whoever finds no pool starts one, and takes it along
# when it ends.
SERVER = (
    "import sys, time; from pathlib import Path; from dprl.jobs import local\n"
    f"while True: local.ensure_pool(Path(sys.argv[1]), {walk.NAME!r}); time.sleep(0.1)"
)
_LONGER_THAN_A_PAUSE = 90.0


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    store = Store(path, walk.simulation())
    yield store
    store.close()


def kill_until(
    enough: int, store: Store, kill: Callable[[], bool], pause: float, random: np.random.Generator
) -> str:
    """Kill while results come in and nothing is asked for twice by anybody but who is told that a seed failed; let all
    end. What happened, in words."""
    specs: list[WalkSpec] = []
    killed = failed = 0
    done: dict[WalkSpec, int] = {}
    while killed < enough:
        if len(done) == len(specs):  # so that there is always something to do, and something that is done
            specs.append(WalkSpec(f"walk {len(specs)}", seeds=6, chunks=20, pause=0.02))
            store.requests.add(specs[-1], "ann")
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
        return all(store.status.of(spec).state == "done" for spec in specs)

    wait_for(all_is_done, _LONGER_THAN_A_PAUSE)
    assert [right(store, spec) for spec in specs] == [spec.seeds for spec in specs]
    assert store.notice is None
    return f"{killed} killed, {6 * len(specs)} results, {failed} asked for again, 0 lost, 0 wrong"


def ask_again(store: Store, specs: list[WalkSpec]) -> int:
    """As a visitor does who reads that a seed failed."""
    found = failures(store.path)
    for message in found:
        assert sentence(message), message
        assert "died" in message
    for spec in specs if found else ():
        if store.status.of(spec).state != "done":
            store.requests.retry(spec, "ann")
    return len(found)


@pytest.mark.thorough
def test_killed_workers(store: Store, path: Path) -> None:
    random = rng("workers")
    pool = start_pool(path, "--workers", str(times(2, 4)), "--simulation", walk.NAME)

    def kill() -> bool:
        pids = [pid for pid in workers(path) if alive(pid)]
        if pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(random.choice(pids)), signal.SIGKILL)
        return bool(pids)

    try:
        wait_for(lambda: store.status.activity().warm, _LONGER_THAN_A_PAUSE)
        print("workers:", kill_until(times(2, 100), store, kill, times(1, 2) * 0.3, random))
    finally:
        pool.terminate()
        pool.communicate(timeout=20)


@pytest.mark.thorough
def test_killed_servers_of_which_there_are_two(store: Store, path: Path) -> None:
    random = rng("servers")

    def server() -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", SERVER, str(path)]
        return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)

    servers = [server(), server()]

    def kill() -> bool:
        if not store.status.activity().warm:
            return False
        which = int(random.integers(2))
        servers[which].kill()
        servers[which].wait()
        servers[which] = server()
        return True

    try:
        print("servers:", kill_until(times(1, 100), store, kill, 0.3, random))
    finally:
        pids = workers(path)
        for process in servers:
            process.kill()
            process.wait()
        wait_for(lambda: not any(alive(pid) for pid in pids), 20.0)

"""kill -9 of Dask's workers and of its scheduler at random points. Run by `make faults` alone: a cluster takes long to
start."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dprl.runs.store import Store
from dprl.runs.workers import child_environment
from tests.browser.server import free_port
from tests.faults import walk
from tests.faults.test_kills import kill_until
from tests.faults.walk import rng, times
from tests.runs.test_workers import wait_for

_START = 90.0
WORKERS = 2


class Cluster:
    """A scheduler and workers as processes of their own; what ends is started again, as systemd and Kubernetes do."""

    def __init__(self) -> None:
        port, dask = str(free_port()), ["nice", sys.executable, "-m", "dask"]
        self.address = f"tcp://127.0.0.1:{port}"
        scheduler = [*dask[1:], "scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard"]
        worker = [*dask, "worker", self.address, "--nthreads", "1", "--no-dashboard", "--no-nanny"]
        self.commands = [scheduler, *[worker] * WORKERS]
        self.processes = [self._start(command) for command in self.commands]
        self.ending = threading.Event()
        self.keeper = threading.Thread(target=self._keep)
        self.keeper.start()

    def end(self) -> None:
        self.ending.set()
        self.keeper.join()
        for process in self.processes[::-1]:
            process.kill()
            process.wait()

    def _keep(self) -> None:
        while not self.ending.wait(0.5):
            for i, process in enumerate(self.processes):
                if process.poll() is not None:
                    self.processes[i] = self._start(self.commands[i])

    def _start(self, command: list[str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(command, env=child_environment(), stderr=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    cluster = Cluster()
    yield cluster
    cluster.end()


@pytest.fixture
def far(cluster: Cluster, path: Path) -> Iterator[Store]:
    """A store whose seeds are played there."""
    with closing(Store(path, walk.NAME)) as store:
        store.begin(engine=cluster.address)
        wait_for(lambda: store.activity().workers == WORKERS, _START)
        yield store


def whole(cluster: Cluster, store: Store, which: Callable[[], int]) -> Callable[[], bool]:
    """Kills one of its processes, once all of them are there again. which: 0: the scheduler, 1, 2, ...: a worker."""

    def kill() -> bool:
        if store.activity().workers < WORKERS:
            return False
        cluster.processes[which()].kill()
        wait_for(lambda: store.activity().workers < WORKERS, _START)
        return True

    return kill


def test_killed_dask_workers(cluster: Cluster, far: Store) -> None:
    random = rng("dask workers")
    kill = whole(cluster, far, lambda: 1 + int(random.integers(WORKERS)))
    print("Dask workers:", kill_until(times(2, 100), far, kill, 0.3, random))


def test_killed_schedulers(cluster: Cluster, far: Store) -> None:
    random = rng("schedulers")
    kill = whole(cluster, far, lambda: 0)
    print("schedulers:", kill_until(times(2, 100), far, kill, 0.3, random))

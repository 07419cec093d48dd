"""kill -9 of Dask's workers and of its scheduler at random points. Run by `make faults` alone: a cluster takes long to
start."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.cluster import WORKERS, Cluster
from dprl.jobs import local
from dprl.jobs.store import Store
from tests.faults import walk
from tests.faults.forms import rng, times
from tests.faults.test_kills import kill_until
from tests.jobs.test_processes import wait_for

_START = 90.0


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A scheduler and two workers; what ends is started again."""
    cluster = Cluster()
    yield cluster
    cluster.end()


@pytest.fixture
def bridged(cluster: Cluster, path: Path) -> Iterator[Store]:
    """A store whose seeds are computed there."""
    store = Store(path, walk.simulation())
    local.ensure_pool(path, walk.NAME, cluster.address)
    wait_for(lambda: store.status.activity().warm == WORKERS, _START)
    yield store
    local.stop(path)
    store.close()


def whole(cluster: Cluster, store: Store, which: Callable[[], int]) -> Callable[[], bool]:
    """Kills one of its processes, once all of them are there again."""

    def kill() -> bool:
        if store.status.activity().warm < WORKERS:
            return False
        cluster.kill(which())
        wait_for(lambda: store.status.activity().warm < WORKERS, _START)
        return True

    return kill


def test_killed_dask_workers(cluster: Cluster, bridged: Store) -> None:
    random = rng("dask workers")
    kill = whole(cluster, bridged, lambda: 1 + int(random.integers(WORKERS)))
    print("Dask workers:", kill_until(times(2, 100), bridged, kill, 0.3, random))


def test_killed_schedulers(cluster: Cluster, bridged: Store) -> None:
    random = rng("schedulers")
    kill = whole(cluster, bridged, lambda: 0)
    print("schedulers:", kill_until(times(2, 100), bridged, kill, 0.3, random))

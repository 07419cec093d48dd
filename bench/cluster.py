"""A sweep of 1,000 seeds on a Dask cluster of two worker processes, against two workers on this machine.

    python -m bench.cluster [--rounds 5] [--seeds 100] [--schedule adaptive]
    python -m bench.cluster --faults

Prints how much longer the sweep takes on the cluster, both timed in turn from the moment that all are ready, and
whether its table is the same byte for byte. With --faults instead: the sweep while two workers are killed and the
scheduler is killed and started again; then how long seeds that run go on after they are cancelled.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from dprl import RunSpec, Sweep
from dprl.jobs import local
from dprl.jobs.pool import child_environment
from dprl.jobs.store import Store
from dprl.jobs.sweeps import compute_runs
from dprl.tables import csv

WORKERS = 2
BUDGETS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)  # and without privacy: ten runs
LONG = RunSpec(schedule="episodic", episodes=10**6, seeds=WORKERS)  # of which a seed takes minutes


class Cluster:
    """A scheduler and workers as processes of their own; what ends is started again, as systemd and Kubernetes do."""

    def __init__(self, workers: int = WORKERS) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        port = self.address.rpartition(":")[2]
        dask = [sys.executable, "-m", "dask"]
        flags = ["--nthreads", "1", "--no-dashboard"]
        scheduler = ["scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard"]
        self.commands = [[*dask, *scheduler]] + [
            ["nice", *dask, "worker", self.address, *flags, "--no-nanny"] for _ in range(workers)
        ]
        self.processes = [self._start(command) for command in self.commands]
        self.ending = threading.Event()
        self.keeper = threading.Thread(target=self._keep)
        self.keeper.start()

    def kill(self, which: int) -> None:
        """0: the scheduler, 1, 2, ...: a worker."""
        self.processes[which].send_signal(signal.SIGKILL)

    def end(self) -> None:
        """All of it."""
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


@contextlib.contextmanager
def ready(home: str, engine: str | None) -> Iterator[Store]:
    """A new store, whose workers or cluster have computed something already."""
    path = Path(tempfile.mkdtemp(dir=home)) / "runs.sqlite"
    store = Store(path)
    local.ensure_pool(path, engine=engine)
    try:
        while not WORKERS == store.status.activity().workers == store.status.activity().warm:
            time.sleep(0.05)
        compute_runs(store, [RunSpec(seeds=4 * WORKERS, delta=1e-9)], "bench")
        yield store
    finally:
        local.stop(path)
        store.close()


def cpu() -> float:
    """CPU seconds of this process and of all that it started."""
    mine = psutil.Process()
    return sum(sum(process.cpu_times()[:2]) for process in (mine, *mine.children(recursive=True)))


def timed(home: str, sweep: Sweep[RunSpec], engine: str | None) -> tuple[float, float, str]:
    """Seconds that the sweep takes, CPU seconds of all processes, and its table."""
    with ready(home, engine) as store:
        began, used = time.monotonic(), cpu()
        final = compute_runs(store, sweep.specs, "bench")
        return time.monotonic() - began, cpu() - used, csv(sweep.frame(final))


def overhead(home: str, sweep: Sweep[RunSpec], rounds: int) -> int:
    """Prints the ratio of each round and their median; how many tables differ."""
    ratios, wrong = [], 0
    cluster = Cluster()
    try:
        for turn in range(rounds):
            found = {}
            for engine in (None, cluster.address) if turn % 2 else (cluster.address, None):
                found[engine] = timed(home, sweep, engine)
            (here, work, table), (there, more, other) = found[None], found[cluster.address]
            ratios.append(there / here)
            wrong += table != other
            same = "the same table" if table == other else "ANOTHER TABLE"
            print(f"local {here:.1f} s, cluster {there:.1f} s, ratio {there / here:.3f}; ", end="")
            print(f"CPU {work:.1f} s and {more:.1f} s, ratio {more / work:.3f}; {same}", flush=True)
    finally:
        cluster.end()
    low, high = min(ratios), max(ratios)
    print(f"ratio, median of {rounds}: {statistics.median(ratios):.3f} ({low:.3f} to {high:.3f})")
    return wrong


def faults(home: str, sweep: Sweep[RunSpec]) -> int:
    """Prints what came of killing two workers and the scheduler, and of cancelling; how many tables differ."""
    seconds, _, table = timed(home, sweep, None)
    print(f"local {seconds:.1f} s")
    cluster = Cluster()
    try:
        with ready(home, cluster.address) as store:
            began = time.monotonic()
            kills = [
                threading.Timer(seconds * at, cluster.kill, [which])
                for at, which in ((0.15, 1), (0.35, 2), (0.6, 0))
            ]
            for kill in kills:
                kill.start()
            other = csv(sweep.frame(compute_runs(store, sweep.specs, "bench")))
            lasted = time.monotonic() - began
            for kill in kills:
                kill.join()
            print(f"cluster {lasted:.1f} s, with two workers and the scheduler killed: ", end="")
            print("the same table" if table == other else "ANOTHER TABLE", flush=True)
            while store.status.activity().workers < WORKERS:
                time.sleep(0.05)
            store.requests.add(LONG, "bench")
            while sum(len(at) > 0 for _, at, _ in store.results.live(LONG)) < WORKERS:
                time.sleep(0.05)
            store.requests.cancel(LONG, "bench")
            began = time.monotonic()
            while len(store.results.traces(LONG)) < WORKERS:
                time.sleep(0.01)
            print(
                f"cancelled: the last seed has stopped, and is kept, after {time.monotonic() - began:.2f} s"
            )
    finally:
        cluster.end()
    return int(table != other)


def main() -> int:
    """1 where a table differs."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=100, help="of each of ten runs")
    parser.add_argument("--schedule", default=RunSpec().schedule)
    parser.add_argument("--faults", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the cluster ends, too
    os.environ |= {"DPRL_STORE_MB": "8192", "DPRL_WORKERS": str(WORKERS)}
    sweep = Sweep(RunSpec(seeds=options.seeds, schedule=options.schedule), {"epsilon": BUDGETS})
    assert len(sweep.specs) == len(BUDGETS) + 1
    with tempfile.TemporaryDirectory() as home:
        wrong = faults(home, sweep) if options.faults else overhead(home, sweep, options.rounds)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())

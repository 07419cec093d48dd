"""Measure how soon the queue serves each visitor: `python -m bench.queue`, in a new store with DPRL_WORKERS workers.

Prints what must hold: five seeds behind another visitor's 2,000 begin within 1 s and end within 3 s, also behind four
seeds of ten minutes; eight runs of one seed each grow at 1 Hz, and of five seeds each at 0.5 Hz; no run of 100 closed
tabs continues after the grace period. Also CPU seconds of 1,000 small seeds, 2,000 requests, 40 checks.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from dprl.runs.limits import Lease
from dprl.runs.store import Store
from dprl.simulation import RunSpec

SMALL = RunSpec(environment_params={"S": 3, "H": 3}, privacy="none", episodes=1000, seeds=5)
MINUTES = RunSpec(
    environment_params={"S": 50, "H": 40}, privacy="none", episodes=10**6, schedule="episodic", seeds=1
)


def seconds_until(condition: Callable[[], object], most: float = 120.0) -> float:
    """Return the seconds until a condition holds."""
    begin = time.monotonic()
    while not condition():
        if time.monotonic() - begin > most:
            raise SystemExit("It did not happen.")
        time.sleep(0.005)
    return time.monotonic() - begin


def newcomer(store: Store, root: int) -> str:
    """Describe when five seeds of a new visitor begin and end."""
    spec = SMALL.replace(root_seed=root)
    begin = time.monotonic()
    store.ask(spec, "newcomer")
    seconds_until(lambda: store.live(spec))
    first = time.monotonic() - begin
    seconds_until(lambda: store.status(spec).state == "done")
    return f"first points after {first:.2f} s, all done after {time.monotonic() - begin:.2f} s"


def rates(store: Store, specs: list[RunSpec], seconds: float = 15.0) -> float:
    """Return how often per second the slowest run makes progress."""
    seen = {spec: set[float]() for spec in specs}
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for spec in specs:
            seen[spec].add(store.status(spec).progress)
        time.sleep(0.02)
    return min(len(found) for found in seen.values()) / seconds


def main() -> None:
    """Measure everything, and print a line for each result."""
    os.environ["DPRL_GRACE_SECONDS"] = "5"
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Store(Path(folder) / "runs.sqlite").begin()) as store,
    ):
        for root in range(2):  # until the workers have loaded all code
            newcomer(store, 10**6 + root)
        many = [
            SMALL.replace(seeds=100, root_seed=100 + i, episodes=10**5, schedule="episodic")
            for i in range(20)
        ]
        cpu = time.process_time()
        for spec in many:
            store.ask(spec, "sweep")
        print(f"asking for 2,000 seeds: {time.process_time() - cpu:.2f} CPU s")
        time.sleep(1.0)
        for root in range(3):
            print(f"five seeds behind 2,000: {newcomer(store, root)}")
        for spec in many:
            store.cancel(spec, "sweep")
        long = [MINUTES.replace(root_seed=i) for i in range(8)]
        for spec in long[:4]:
            store.ask(spec, "patient")
        seconds_until(lambda: store.activity().seeds_running == 4)
        for root in range(3, 6):
            print(f"five seeds behind four of ten minutes: {newcomer(store, root)}")
        for spec in long[4:]:
            store.ask(spec, "patient")
        time.sleep(3.0)
        print(f"eight runs of one seed each: the slowest curve grows {rates(store, long):.2f} times a second")
        for spec in long:
            store.cancel(spec, "patient")
        fives = [spec.replace(seeds=5, root_seed=100 + i) for i, spec in enumerate(long)]
        for spec in fives:
            store.ask(spec, "patient")
        time.sleep(3.0)
        print(f"eight runs of five seeds each: the slowest grows {rates(store, fives):.2f} times a second")
        cpu = time.thread_time()
        for _ in range(25):
            for spec in (*fives, *many, *long):
                store.status(spec, "patient")
                store.version(spec)
        print(f"a status of a run: {(time.thread_time() - cpu) / 25 / 36 * 1e6:.0f} microseconds of CPU")
        for spec in fives:
            store.cancel(spec, "patient")
        for i in range(100):
            store.ask(MINUTES.replace(root_seed=1000 + i), f"tab {i}", Lease(f"tab {i}"))
        went = time.monotonic()
        seconds_until(lambda: store.activity().seeds_running + store.activity().seeds_queued == 0)
        print(f"100 closed tabs, a grace of 5 s: nothing runs after {time.monotonic() - went:.1f} s")
        small = [SMALL.replace(seeds=100, root_seed=10**4 + i) for i in range(10)]
        cpu, began = time.process_time(), time.monotonic()
        for spec in small:
            store.ask(spec, "small")
        seconds_until(lambda: all(store.status(spec).state == "done" for spec in small[-1:]))
        seconds_until(lambda: store.activity().seeds_queued == 0 and not store.results.waiting)
        spent, wall = time.process_time() - cpu, time.monotonic() - began
        print(f"1,000 small seeds: {wall:.1f} s, and {spent:.1f} CPU s of the dashboard's process")


if __name__ == "__main__":
    main()

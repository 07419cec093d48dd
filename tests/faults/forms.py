"""How much is tried: little in `make test`, all of it by `make faults`, and where the random points come from."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dprl.jobs.store import Store
from tests.faults import walk
from tests.faults.walk import WalkSpec
from tests.jobs.seed_jobs import POINTS, claim

# FAULTS is `long` or a share of that such as 0.1: with ten seeds, all of it in ten parts.
SHARE = float(os.environ.get("FAULTS", "0").replace("long", "1"))
SEED = int(os.environ.get("FAULTS_SEED", "0"))


def times(short: int, long: int) -> int:
    """How often a fault is tried."""
    return max(short, round(SHARE * long))


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Ends what would never end. For the main thread of a process."""

    def late(*_: object) -> None:
        raise AssertionError(f"not at an end after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def rng(name: str) -> np.random.Generator:
    """The points at which a test does harm."""
    return np.random.default_rng([SEED, *name.encode()])


def finish(store: Store) -> None:
    """Computes the next seed as a worker does, at once."""
    unit = claim(store)
    run = walk.Walk(unit.spec, unit.seed)
    while not run.advance(1.0):
        pass
    store.results.report(unit, 1.0, *POINTS)
    store.results.finish(unit, run.trace().to_bytes())


def right(store: Store, spec: WalkSpec) -> int:
    """How many results of a run there are: each is what it has to be, bit for bit."""
    traces = store.results.traces(spec)
    for trace in traces:
        if trace.complete:
            assert trace.to_bytes() == walk.result(spec, trace.seed)
    return sum(trace.complete for trace in traces)


def sentence(text: str) -> bool:
    """Whether this can be shown to a visitor."""
    return text[:1].isupper() and text.endswith(".") and "Traceback" not in text and "\n" not in text


def failures(path: Path) -> list[str]:
    """What is said of the seeds that failed."""
    with sqlite3.connect(path) as db:
        found = [row[0] for row in db.execute("SELECT message FROM unit WHERE state = 'failed'")]
    db.close()
    return found

"""Seeds as a worker claims and finishes them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np

from dprl.jobs.store import SeedJob, Store
from tests.jobs.fake import FakeTrace

POINTS = (np.array([1, 5, 10]), np.array([0.5, 1.5, 2.5]))


def claim(store: Store, worker: str = "w") -> SeedJob:
    unit = store.jobs.claim(worker)
    assert unit is not None
    return unit


def finish(store: Store, worker: str = "w", size: int = 0) -> SeedJob:
    unit = claim(store, worker)
    store.results.report(unit, 1.0, *POINTS)
    store.results.finish(unit, FakeTrace(unit.seed, True, size).to_bytes())
    return unit


def sql(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as db:
        db.execute(statement)
    db.close()

"""Seeds as a worker claims and finishes them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np

from dprl.jobs.store import Store, Unit
from tests.jobs.fake import FakeTrace

POINTS = (np.array([1, 5, 10]), np.array([0.5, 1.5, 2.5]))


def claim(store: Store, worker: str = "w") -> Unit:
    unit = store.claim(worker)
    assert unit is not None
    return unit


def finish(store: Store, worker: str = "w", size: int = 0) -> Unit:
    unit = claim(store, worker)
    store.report(unit, 1.0, *POINTS)
    store.finish(unit, FakeTrace(unit.seed, True, size).to_bytes())
    return unit


def sql(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as db:
        db.execute(statement)
    db.close()

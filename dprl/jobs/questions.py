"""What is asked of a spec without running it, such as what its noise proves. Workers answer between slices of seeds.

An answer is computed once, however many ask. The newest question goes first: whoever moves a slider has no use for the
answers on its way.
"""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass
from typing import Any

from dprl.jobs.capacity import Capacity
from dprl.jobs.component import StoreComponent, mending
from dprl.jobs.file import StoreFile
from dprl.jobs.simulation import Simulation, SpecLike

KEPT = 4096  # answers; the oldest go
_ATTEMPTS = 2
_LOST_SECONDS = 60.0  # after which whoever took a question is thought to have died of it
_OPEN = "SELECT key, question, spec, attempts FROM question WHERE answer IS NULL AND taken_at < ?"
_OLDEST = "SELECT key FROM question ORDER BY asked_at DESC LIMIT -1 OFFSET ?"


@dataclass(frozen=True)
class OpenQuestion:
    """A question, taken by a worker."""

    key: str
    question: str
    spec: Any


class Questions(StoreComponent):
    """Asking, and answering."""

    def __init__(self, file: StoreFile, simulation: Simulation | None, capacity: Capacity) -> None:
        super().__init__(file, simulation)
        self._capacity = capacity

    @mending
    def ask(self, question: str, spec: SpecLike) -> str | None:
        """The answer, as the simulation writes it; "" where it could not be found, None while it is not known yet.

        Raises DiskFull where it is not known and there is no room to ask.
        """
        key = f"{question} {spec.seed_key(0)}"
        with self._file.connection() as db:
            row = db.execute("SELECT answer FROM question WHERE key = ?", (key,)).fetchone()
        if row is not None:
            return None if row["answer"] is None else str(row["answer"])
        with self._file.writing() as db:
            db.execute(
                "INSERT OR IGNORE INTO question (key, question, spec, asked_at) VALUES (?, ?, ?, ?)",
                (key, question, spec.to_json(), time.time()),
            )
            db.execute(f"DELETE FROM question WHERE key IN ({_OLDEST})", (KEPT,))
            self._capacity.make_room(db)
        return None

    @mending
    def next(self) -> OpenQuestion | None:
        """The newest question without an answer, for the worker that calls this; None when there is none."""
        while True:
            lost = time.time() - _LOST_SECONDS
            with self._file.connection() as db:
                if not db.execute(f"{_OPEN} LIMIT 1", (lost,)).fetchone():
                    return None
            with self._file.writing() as db:
                row = db.execute(f"{_OPEN} ORDER BY asked_at DESC LIMIT 1", (lost,)).fetchone()
                if row is None:
                    return None
                asked = self._asked(row)
                if asked is None:  # the simulation has changed since
                    db.execute("DELETE FROM question WHERE key = ?", (row["key"],))
                elif row["attempts"] >= _ATTEMPTS:
                    self._write(db, asked, "")
                else:
                    db.execute(
                        "UPDATE question SET taken_at = ?, attempts = attempts + 1 WHERE key = ?",
                        (time.time(), asked.key),
                    )
                    return asked

    @mending
    def answer(self, asked: OpenQuestion, answer: str) -> None:
        """Keeps an answer; "" where none could be found."""
        with self._file.writing() as db:
            self._write(db, asked, answer)

    def _asked(self, row: sqlite3.Row) -> OpenQuestion | None:
        question, key = row["question"], row["key"]
        spec = self._spec(row["spec"], lambda spec: f"{question} {spec.seed_key(0)}", key)
        return None if spec is None else OpenQuestion(key, question, spec)

    def _write(self, db: sqlite3.Connection, asked: OpenQuestion, answer: str) -> None:
        db.execute("UPDATE question SET answer = ? WHERE key = ?", (answer, asked.key))

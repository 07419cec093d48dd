"""Runs that go on from what a class reported when it played the clinic. Workers look for them and compute them; pages
read what came out. They are kept with the room, and go with it.
"""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass

from dprl.jobs.component import StoreComponent, mending
from dprl.rooms.steps import Clinic, from_json

LOOK = 0.25  # seconds between two looks of a worker
_ATTEMPTS = 2
_LOST_SECONDS = 60.0  # after which whoever took one is thought to have died of it
# Revealed, so that no report comes any more, and answered by somebody. SQLite reads JSON itself.
_OPEN = """
SELECT s.room, s.place, s.content, r.attempts FROM room_step s LEFT JOIN class_run r USING (room, place)
WHERE s.state = 'revealed' AND json_extract(s.content, '$.kind') = 'clinic'
    AND (r.room IS NULL OR (r.result IS NULL AND r.taken_at < ?))
    AND EXISTS (SELECT 1 FROM room_answer a WHERE a.room = s.room AND a.place = s.place)
LIMIT 1
"""


@dataclass(frozen=True)
class OpenClassRun:
    """One that a worker has taken: of which step of which room, and what the class reported."""

    room: str
    place: int
    epsilon: float
    reports: tuple[str, ...]


class ClassRuns(StoreComponent):
    """Taking them, and reading what came out."""

    _looked = float("-inf")

    @mending
    def next(self) -> OpenClassRun | None:
        """One that nobody has computed, for the worker that calls this; None where there is none, or the last look is
        not long ago."""
        if time.monotonic() - self._looked < LOOK:
            return None
        self._looked = time.monotonic()
        lost = time.time() - _LOST_SECONDS
        with self._file.connection() as db:
            if not db.execute(_OPEN, (lost,)).fetchone():
                return None
        with self._file.writing() as db:
            row = db.execute(_OPEN, (lost,)).fetchone()
            if row is None:
                return None
            attempts = 1 + (row["attempts"] or 0)
            taken = (row["room"], row["place"], time.time(), attempts, "" if attempts > _ATTEMPTS else None)
            db.execute("INSERT OR REPLACE INTO class_run VALUES (?, ?, ?, ?, ?)", taken)
            content = from_json(row["content"])
            if attempts > _ATTEMPTS or not isinstance(content, Clinic):
                return None
            return OpenClassRun(row["room"], row["place"], content.epsilon, self._reports(db, row))

    @mending
    def keep(self, taken: OpenClassRun, result: str) -> None:
        """Keeps what came out; "" where nothing did. Of a room that was deleted meanwhile, nothing."""
        with self._file.writing() as db:
            where = (taken.room, taken.place)
            db.execute("UPDATE class_run SET result = ? WHERE room = ? AND place = ?", (result, *where))
            db.execute("UPDATE room SET version = version + 1 WHERE code = ?", (taken.room,))

    @mending
    def found(self, room: str, place: int) -> str | None:
        """What came out, "" where nothing did; None while it is not known yet."""
        with self._file.connection() as db:
            row = db.execute(
                "SELECT result FROM class_run WHERE room = ? AND place = ?", (room, place)
            ).fetchone()
        return None if row is None else row["result"]

    def _reports(self, db: sqlite3.Connection, row: sqlite3.Row) -> tuple[str, ...]:
        """In an order that says nothing of when or from whom."""
        found = db.execute(
            "SELECT answer FROM room_answer WHERE room = ? AND place = ? ORDER BY answer",
            (row["room"], row["place"]),
        )
        return tuple(str(answer) for (answer,) in found)

"""Classroom rooms: who opened each, the questions asked, and the reports received. A room is deleted after a day.

The code of a room is not secret; the teacher holds a key of 128 bits, of which only a digest is stored. A device is
stored as a digest that differs between rooms; nothing is stored about a person. Answers to questions are randomised on
the phone, so only the randomised report arrives here. Deleted data are overwritten.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import re
import secrets
import sqlite3
import time
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dprl.messages import filled, messages
from dprl.rooms.steps import TOTAL, ClassStep, Content, Recap, State, budget_left, from_json, spends, to_json
from dprl.runs.database import Database, StoreError, setting
from dprl.runs.limits import Lease, RateLimiter

LETTERS = "BCDFGHJKLMNPRSTVWXYZ"  # of codes: no vowels, so no words; no digits, and nothing like O and Q
CODE_LENGTH = 6  # of a room's code: 64 million of them
HOURS = 24  # after which a room is forgotten
MOST_PEOPLE, MOST_STEPS, MOST_ROOMS = 200, 30, 50  # of a room, of a room, and on this server

SAID = messages("room")["refused"]
OFF, CLOSED, TWICE, WAIT = SAID["off"], SAID["closed"], SAID["twice"], SAID["wait"]
UNKNOWN, OVER, SPENT, STRANGER = SAID["unknown"], SAID["over"], SAID["spent"], SAID["stranger"]
FULL = filled(SAID["full"], most=MOST_PEOPLE)
MANY_ROOMS = filled(SAID["many_rooms"], most=MOST_ROOMS)
MANY_STEPS = filled(SAID["many_steps"], most=MOST_STEPS)

TABLES = """
-- Rooms of classes, what was put to them, and what came back: of a device and of the teacher's key a digest.
CREATE TABLE room (
    code TEXT PRIMARY KEY, teacher BLOB NOT NULL, opened_at REAL NOT NULL, closed INTEGER NOT NULL,
    version INTEGER NOT NULL, total REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE room_device (
    room TEXT NOT NULL REFERENCES room(code) ON DELETE CASCADE, device BLOB NOT NULL,
    PRIMARY KEY (room, device)) WITHOUT ROWID;
CREATE TABLE room_step (
    room TEXT NOT NULL REFERENCES room(code) ON DELETE CASCADE, place INTEGER NOT NULL, content TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'paused', 'revealed')), PRIMARY KEY (room, place)) WITHOUT ROWID;
CREATE TABLE room_answer (
    room TEXT NOT NULL, place INTEGER NOT NULL, device BLOB NOT NULL, answer TEXT NOT NULL,
    PRIMARY KEY (room, place, device), FOREIGN KEY (room, place) REFERENCES room_step(room, place) ON DELETE CASCADE,
    FOREIGN KEY (room, device) REFERENCES room_device(room, device) ON DELETE CASCADE) WITHOUT ROWID;
CREATE INDEX room_answer_device ON room_answer(room, device);
-- Links made short. They hold nothing of a visitor, and nothing makes room at their cost.
CREATE TABLE short_link (
    code TEXT PRIMARY KEY, page TEXT NOT NULL, query TEXT NOT NULL, UNIQUE (page, query)) WITHOUT ROWID;
"""

_ROOM = """
SELECT code, opened_at, closed, version, total, (SELECT count(*) FROM room_device WHERE room = code) AS people,
    (SELECT count(*) FROM room_step WHERE room = code) AS steps,
    (SELECT state FROM room_step WHERE room = code ORDER BY place DESC LIMIT 1) AS state
FROM room WHERE code = ? AND opened_at > ?
"""
_JOINED = "SELECT 1 FROM room_device WHERE room = ? AND device = ?"


def rooms_file(runs: Path) -> Database:
    """Open the file of a store's rooms, next to its runs. Deleted or changed data are overwritten with zeros."""
    path = runs.with_stem(f"{runs.stem}-rooms")
    return Database(path, "store of rooms", 2, TABLES, "secure_delete = ON")


def read_code(text: str, length: int = CODE_LENGTH) -> str:
    """Return the code of `length` letters that somebody typed or copied, or "" if the text is not a code.

    It may be in lower case or in full-width letters, with spaces, dashes and other signs around and between them.
    """
    code = re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", text[:40])).upper()
    return code if len(code) == length and set(code) <= set(LETTERS) else ""


def draw_code(length: int) -> str:
    """Draw a random code that cannot be guessed."""
    return "".join(secrets.choice(LETTERS) for _ in range(length))


class RoomError(StoreError):
    """The error for an action that a room does not allow, in one sentence for the person who tried it."""


@dataclass(frozen=True)
class Room:
    """The state of a room.

    version: different after every change in the room; total: the largest epsilon of one phone over all questions;
    people: the number of devices that have joined; steps: the number of steps so far; state: of the last one, or None.
    """

    code: str
    opened_at: float
    closed: bool
    version: int
    total: float
    people: int
    steps: int
    state: State | None

    @property
    def turn(self) -> tuple[bool, int, State | None]:
        """Return the part of the state that only the teacher's actions change."""
        return self.closed, self.steps, self.state


class Rooms:
    """The operations on rooms: open, join, ask, answer, close. allowed: whether this server may have rooms."""

    def __init__(self, file: Database) -> None:
        self._file = file
        self.allowed = bool(setting("DPRL_ROOMS", 1 - setting("DPRL_PUBLIC", 0, 0, 1), 0, 1))
        self._limits = RateLimiter()
        self._unwiped = False

    def open(self, who: Lease, total: float = TOTAL.default) -> tuple[str, str]:
        """Open a room; return its code and its teacher's key. total: the limit on epsilon of one phone over all
        questions, fixed from now on. Raises RoomError, SpecError."""
        total = TOTAL.check(total)
        self._refuse_unless_allowed()
        self._limits.check("room", who)
        self._limits.note("room", who)
        self.forget_old()
        key = secrets.token_hex(16)
        with self._file.writing() as db:
            if db.execute("SELECT count(*) FROM room").fetchone()[0] >= MOST_ROOMS:
                raise RoomError(MANY_ROOMS)
            while True:
                code = draw_code(CODE_LENGTH)
                values = (code, _room_digest(code, key), time.time(), total)
                if db.execute("INSERT OR IGNORE INTO room VALUES (?, ?, ?, 0, 0, ?)", values).rowcount:
                    return code, key

    def find(self, code: str) -> Room | None:
        """Return the state of a room, or None if there is no such room. It is cheap: pages call it every second."""
        rows = self._file.rows(_ROOM, code, _day_ago())
        return Room(**{**rows[0], "closed": bool(rows[0]["closed"])}) if rows else None

    def join(self, code: str, device: str, who: Lease) -> Room:
        """Join a room, or return to it as the same device, which is a random name of the browser in this room. A
        device stays in its room when the room is closed. Raises RoomError: there is no such room, it is closed or
        full, or too many wrong codes were tried."""
        self._refuse_unless_allowed()
        name = _room_digest(code, device)
        joined = bool(self._file.rows(_JOINED, code, name))
        if not joined:
            self._limits.check("code", who)
        room = self.find(code)
        if room is None:
            self._limits.note("code", who)
            raise RoomError(filled(UNKNOWN, code=code[:20]))
        if joined:
            return room
        if room.closed:
            raise RoomError(CLOSED)
        with self._file.writing() as db:
            added = db.execute(
                "INSERT OR IGNORE INTO room_device SELECT ?, ? WHERE "
                "(SELECT count(*) FROM room_device WHERE room = ?) < ?",
                (code, name, code, MOST_PEOPLE),
            )
            if not added.rowcount and not db.execute(_JOINED, (code, name)).fetchone():
                raise RoomError(FULL)
            _changed(db, code)
        return self.find(code) or room

    def teaches(self, code: str, key: str) -> bool:
        """Return whether this is the key of the room's teacher."""
        rows = self._file.rows("SELECT teacher FROM room WHERE code = ? AND opened_at > ?", code, _day_ago())
        return any(hmac.compare_digest(row["teacher"], _room_digest(code, key)) for row in rows)

    def put_step(self, code: str, key: str, content: Content) -> None:
        """Open a step for the class, and close the previous one. Raises RoomError, also if phones would spend more
        than the room's total."""
        with self._teaching(code, key) as db:
            closed, total = db.execute("SELECT closed, total FROM room WHERE code = ?", (code,)).fetchone()
            if closed:
                raise RoomError(CLOSED)
            before = db.execute("SELECT content FROM room_step WHERE room = ?", (code,)).fetchall()
            place = len(before)
            if place >= MOST_STEPS:
                raise RoomError(MANY_STEPS)
            left = budget_left(total, (from_json(text) for (text,) in before))
            if spends(content) > left:
                known = {"total": f"{total:g}", "left": f"{left:g}"}
                raise RoomError(filled(OVER, **known) if left else filled(SPENT, total=known["total"]))
            db.execute("UPDATE room_step SET state = 'revealed' WHERE room = ?", (code,))
            state: State = "revealed" if isinstance(content, Recap) else "open"
            row = (code, place, to_json(content), state)
            db.execute("INSERT INTO room_step VALUES (?, ?, ?, ?)", row)

    def turn_step(self, code: str, key: str, place: int, state: State) -> None:
        """Pause a step, continue it, or reveal it, after which it accepts no more answers. Raises RoomError."""
        with self._teaching(code, key) as db:
            db.execute(
                "UPDATE room_step SET state = ? WHERE room = ? AND place = ? AND state != 'revealed'",
                (state, code, place),
            )

    def close(self, code: str, key: str) -> None:
        """Close a room: nobody can join or answer, and an open step is revealed. All data stay until the room is
        deleted. Raises RoomError."""
        with self._teaching(code, key) as db:
            db.execute("UPDATE room_step SET state = 'revealed' WHERE room = ?", (code,))
            db.execute("UPDATE room SET closed = 1 WHERE code = ?", (code,))

    def delete(self, code: str, key: str) -> None:
        """Delete the room with all its data. Raises RoomError."""
        with self._teaching(code, key) as db:
            db.execute("DELETE FROM room WHERE code = ?", (code,))
        self._wipe()

    def respond(self, code: str, device: str, place: int, answer: str) -> None:
        """Record an answer to a step, one per device; repeating it changes nothing. answer: for a question, the report
        after the phone's coin. Raises RoomError, and SpecError if this is not an answer to the step."""
        with self._file.writing() as db:
            room = db.execute(_ROOM, (code, _day_ago())).fetchone()
            if room is None:
                raise RoomError(filled(UNKNOWN, code=code[:20]))
            step = db.execute(
                "SELECT content, state FROM room_step WHERE room = ? AND place = ?", (code, place)
            ).fetchone()
            name = _room_digest(code, device)
            if room["closed"]:
                raise RoomError(CLOSED)
            if step is None or step["state"] != "open" or not db.execute(_JOINED, (code, name)).fetchone():
                raise RoomError(WAIT)
            from_json(step["content"]).check(answer)
            row = (code, place, name, answer)
            if db.execute("INSERT OR IGNORE INTO room_answer VALUES (?, ?, ?, ?)", row).rowcount:
                _changed(db, code)
            elif self.written(code, device)[place] != answer:
                raise RoomError(TWICE)

    def written(self, code: str, device: str) -> dict[int, str]:
        """Return the answers of a device, by the place of their steps."""
        mine = "SELECT place, answer FROM room_answer WHERE room = ? AND device = ?"
        return dict(map(tuple, self._file.rows(mine, code, _room_digest(code, device))))

    def steps(self, code: str) -> list[ClassStep]:
        """Return all steps of a class with the answers, in an order that reveals nothing of their times or senders."""
        steps = self._file.rows(
            "SELECT place, content, state FROM room_step WHERE room = ? ORDER BY place", code
        )
        answers = self._file.rows(
            "SELECT place, answer FROM room_answer WHERE room = ? ORDER BY answer", code
        )
        return [
            ClassStep(place, from_json(text), state, tuple(a for at, a in answers if at == place))
            for place, text, state in steps
        ]

    def forget_old(self) -> int:
        """Delete rooms that are a day old, and return their number. The store calls this about every second."""
        if not self._file.rows("SELECT 1 FROM room WHERE opened_at <= ? LIMIT 1", _day_ago()):
            if self._unwiped:
                self._wipe()
            return 0
        with self._file.writing() as db:
            gone = db.execute("DELETE FROM room WHERE opened_at <= ?", (_day_ago(),)).rowcount
        self._wipe()
        return gone

    def _refuse_unless_allowed(self) -> None:
        if not self.allowed:
            raise RoomError(OFF)

    @contextlib.contextmanager
    def _teaching(self, code: str, key: str) -> Iterator[sqlite3.Connection]:
        """Open a transaction for a change by the teacher. Raises RoomError for anybody else."""
        if not self.teaches(code, key):
            raise RoomError(STRANGER if self.find(code) else filled(UNKNOWN, code=code[:20]))
        with self._file.writing() as db:
            yield db
            _changed(db, code)

    def _wipe(self) -> None:
        """Erase deleted content from the write-ahead log, too; if somebody is reading, do it later."""
        self._unwiped = bool(self._file.rows("PRAGMA wal_checkpoint(TRUNCATE)")[0][0])


def _changed(db: sqlite3.Connection, code: str) -> None:
    db.execute("UPDATE room SET version = version + 1 WHERE code = ?", (code,))


def _room_digest(code: str, name: str) -> bytes:
    """Return the digest of a device or a key, which differs between rooms."""
    return hashlib.blake2b(name.encode(), key=code.encode(), digest_size=16).digest()


def _day_ago() -> float:
    return time.time() - 3600 * HOURS

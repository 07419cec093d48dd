"""Rooms of classes: who opened one, what was put to it, and what came back. A room is forgotten after a day.

A room is known by a code, which is no secret, and its teacher by a key of 128 bits, of which a digest is kept. Of a
device there is a digest that differs from room to room; of a person nothing. An answer to a question passes its coin on
the phone: what arrives here is its report. Deleted data are overwritten.
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
    """Open the rooms of a store, by where its runs are. Deleted or changed data are overwritten with zeros."""
    path = runs.with_stem(f"{runs.stem}-rooms")
    return Database(path, "store of rooms", 2, TABLES, "secure_delete = ON")


def read_code(text: str, length: int = CODE_LENGTH) -> str:
    """Return the code of that many letters that somebody typed or copied, "" if the text is none.

    It may be in lower case or in full-width letters, with spaces, dashes and other signs around and between them.
    """
    code = re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", text[:40])).upper()
    return code if len(code) == length and set(code) <= set(LETTERS) else ""


def draw_code(length: int) -> str:
    """Draw a code that nobody can guess."""
    return "".join(secrets.choice(LETTERS) for _ in range(length))


class RoomError(StoreError):
    """Something that a room does not allow, in one sentence for whoever is before it."""


@dataclass(frozen=True)
class Room:
    """The state of a room.

    version: another one whenever anything in the room has changed; total: epsilon of one phone over all questions, at
    most; people: devices that have joined; steps: put to the class; state: of the last, None if there is none.
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
        """The part of a room's state that only the teacher changes."""
        return self.closed, self.steps, self.state


class Rooms:
    """Opening, joining, asking, answering, closing; allowed: there may be rooms on this server."""

    def __init__(self, file: Database) -> None:
        self._file = file
        self.allowed = bool(setting("DPRL_ROOMS", 1 - setting("DPRL_PUBLIC", 0, 0, 1), 0, 1))
        self._limits = RateLimiter()
        self._unwiped = False

    def open(self, who: Lease, total: float = TOTAL.default) -> tuple[str, str]:
        """Open a room; return its code and its teacher's key. total: epsilon of one phone over all questions, held from
        then on. Raises RoomError, SpecError."""
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
        """Return the state of a room; None if there is none. Cheap: pages ask every second."""
        rows = self._file.rows(_ROOM, code, _day_ago())
        return Room(**{**rows[0], "closed": bool(rows[0]["closed"])}) if rows else None

    def join(self, code: str, device: str, who: Lease) -> Room:
        """Join a room, repeatedly as the same device: a browser's name in this room, drawn at random. Whoever is in a
        room that is closed stays in it. Raises RoomError: there is no such room, it is closed or full, or too many
        wrong codes were tried."""
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
        """Whether this is the key of the room's teacher."""
        rows = self._file.rows("SELECT teacher FROM room WHERE code = ? AND opened_at > ?", code, _day_ago())
        return any(hmac.compare_digest(row["teacher"], _room_digest(code, key)) for row in rows)

    def put_step(self, code: str, key: str, content: Content) -> None:
        """Open a step for the class, and close the previous one. Raises RoomError, also if phones would spend more than
        the room's total."""
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
        """Pauses a step, goes on with it, or reveals it, after which no more answers come. Raises RoomError."""
        with self._teaching(code, key) as db:
            db.execute(
                "UPDATE room_step SET state = ? WHERE room = ? AND place = ? AND state != 'revealed'",
                (state, code, place),
            )

    def close(self, code: str, key: str) -> None:
        """Nobody joins or answers any more, and what was open is revealed; all of it stays until the room is forgotten.
        Raises RoomError."""
        with self._teaching(code, key) as db:
            db.execute("UPDATE room_step SET state = 'revealed' WHERE room = ?", (code,))
            db.execute("UPDATE room SET closed = 1 WHERE code = ?", (code,))

    def delete(self, code: str, key: str) -> None:
        """Delete the room with all that is in it. Raises RoomError."""
        with self._teaching(code, key) as db:
            db.execute("DELETE FROM room WHERE code = ?", (code,))
        self._wipe()

    def respond(self, code: str, device: str, place: int, answer: str) -> None:
        """Record an answer to a step, once from each device: the same again changes nothing. answer: to a question, the
        report after the phone's coin. Raises RoomError, and SpecError if this is no answer to the step."""
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
        """Return the answers of a device, by the place of their step."""
        mine = "SELECT place, answer FROM room_answer WHERE room = ? AND device = ?"
        return dict(map(tuple, self._file.rows(mine, code, _room_digest(code, device))))

    def steps(self, code: str) -> list[ClassStep]:
        """Return all steps of a class with the answers, in an order that reveals nothing of when or from whom."""
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
        """Delete rooms that are a day old; return their number. The store calls this about every second."""
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
        """Open a change by the teacher. Raises RoomError for anybody else."""
        if not self.teaches(code, key):
            raise RoomError(STRANGER if self.find(code) else filled(UNKNOWN, code=code[:20]))
        with self._file.writing() as db:
            yield db
            _changed(db, code)

    def _wipe(self) -> None:
        """Erase deleted content from the write-ahead log, too; later if somebody is reading."""
        self._unwiped = bool(self._file.rows("PRAGMA wal_checkpoint(TRUNCATE)")[0][0])


def _changed(db: sqlite3.Connection, code: str) -> None:
    db.execute("UPDATE room SET version = version + 1 WHERE code = ?", (code,))


def _room_digest(code: str, name: str) -> bytes:
    """Return the digest of a device or a key; another one in every room."""
    return hashlib.blake2b(name.encode(), key=code.encode(), digest_size=16).digest()


def _day_ago() -> float:
    return time.time() - 3600 * HOURS

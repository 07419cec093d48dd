"""Classroom rooms and short links, stored under random codes that cannot be computed from anything else.

A room's code is not secret. The teacher has a key of 128 bits, of which only a digest is stored. Devices are stored as
digests that differ between rooms, and nothing is stored about people. Answers to questions are randomised on the phone,
so only randomised reports arrive here. A room is deleted after a day, and deleted data are overwritten.

A short link has eight letters, which replace a page and its query for as long as the store exists. The letters are
random, so nobody can try all links, but they are not secret. So that nobody can fill the store, the length of links,
their total number, and the number made in a period are limited.
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

from dprl.fields import shown
from dprl.messages import filled, messages
from dprl.rooms.steps import TOTAL, ClassStep, Content, Recap, State, budget_left, from_json, spends, to_json
from dprl.runs.database import Database, setting
from dprl.runs.limits import Lease, RateLimiter, Refused

LETTERS = "BCDFGHJKLMNPRSTVWXYZ"  # of codes: no vowels, so no words; no digits, and nothing like O and Q
CODE_LENGTH, LINK_LENGTH = 6, 8  # letters of a room's code and of a short link
MOST_LETTERS = 4000  # of a link
HOURS = 24  # after which a room is deleted
MOST_PEOPLE, MOST_STEPS, MOST_ROOMS = 200, 30, 50  # in a room, in a room, and on the server

SAID, LINKS = messages("room")["refused"], messages("refusals")["link"]
OFF, CLOSED, TWICE, WAIT = SAID["off"], SAID["closed"], SAID["twice"], SAID["wait"]
UNKNOWN, OVER, SPENT, STRANGER = SAID["unknown"], SAID["over"], SAID["spent"], SAID["stranger"]

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
-- Links made short. They contain no visitor's data, and are never deleted to make room for anything else.
CREATE TABLE short_link (
    code TEXT PRIMARY KEY, page TEXT NOT NULL, query TEXT NOT NULL, UNIQUE (page, query)) WITHOUT ROWID;
"""

_ROOM = """
SELECT code, opened_at, closed, version, total, (SELECT count(*) FROM room_device WHERE room = code) AS people,
    (SELECT count(*) FROM room_step WHERE room = code) AS steps,
    (SELECT state FROM room_step WHERE room = code ORDER BY place DESC LIMIT 1) AS state
FROM room WHERE code = ? AND opened_at > ?
"""
_PEOPLE = "SELECT count(*) FROM room_device WHERE room = ?"
_JOINED = "SELECT 1 FROM room_device WHERE room = ? AND device = ?"
_LINK = "SELECT code FROM short_link WHERE page = ? AND query = ?"


def read_code(text: str, length: int = CODE_LENGTH) -> str:
    """Return a typed code in capital letters without separators, or "" if it is not a code of this length."""
    code = re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", text[:40])).upper()
    return code if len(code) == length and set(code) <= set(LETTERS) else ""


def draw_code(length: int) -> str:
    """Draw a random code of `length` letters that cannot be guessed."""
    return "".join(secrets.choice(LETTERS) for _ in range(length))


@dataclass(frozen=True)
class Room:
    """The current state of a classroom's room.

    version: different after every change in the room; total: the largest epsilon of one phone over all questions;
    people: the number of devices that have joined; steps: the number of steps so far; state: the last step's, or None.
    """

    code: str
    opened_at: float
    closed: bool
    version: int
    total: float
    people: int
    steps: int
    state: State | None


class Rooms:
    """Classroom rooms that can be opened, joined, changed and closed. `allowed` is False if rooms are switched off."""

    def __init__(self, file: Database) -> None:
        self._file = file
        self.allowed = bool(setting("DPRL_ROOMS", 1 - setting("DPRL_PUBLIC", 0, 0, 1), 0, 1))
        self._limits = RateLimiter()
        self._unwiped = False

    def open(self, who: Lease, total: float = TOTAL.default) -> tuple[str, str]:
        """Open a room, and return its code and the teacher's key. `total` is the epsilon that one phone may spend on
        all questions together. It cannot be changed later. Raises Refused, SpecError."""
        total = TOTAL.check(total)
        if not self.allowed:
            raise Refused(OFF)
        self._limits.check("room", who)
        self.forget_old()
        key = secrets.token_hex(16)
        with self._file.writing() as db:
            if db.execute("SELECT count(*) FROM room").fetchone()[0] >= MOST_ROOMS:
                raise Refused(filled(SAID["many_rooms"], most=MOST_ROOMS))
            code = draw_code(CODE_LENGTH)
            values = (code, _room_digest(code, key), time.time(), total)
            db.execute("INSERT INTO room VALUES (?, ?, ?, 0, 0, ?)", values)
        return code, key

    def find(self, code: str) -> Room | None:
        """Return a room's current state, or None if it does not exist. Pages call this every second, so it is fast."""
        rows = self._file.rows(_ROOM, code, _day_ago())
        return Room(**{**rows[0], "closed": bool(rows[0]["closed"])}) if rows else None

    def join(self, code: str, device: str, who: Lease) -> Room:
        """Join a room, or return to it even if it is closed by now. `device` is a random name for the browser in this
        room. Raises Refused if the room does not exist, is closed or full, or after too many wrong codes."""
        name = _room_digest(code, device)
        joined = bool(self._file.rows(_JOINED, code, name))
        if not joined:
            self._limits.check("code", who, count=False)
        room = self.find(code)
        if room is None:
            self._limits.check("code", who)
            raise Refused(filled(UNKNOWN, code=code[:20]))
        if joined:
            return room
        if room.closed:
            raise Refused(CLOSED)
        with self._file.writing() as db:
            if db.execute(_PEOPLE, (code,)).fetchone()[0] >= MOST_PEOPLE:
                raise Refused(filled(SAID["full"], most=MOST_PEOPLE))
            db.execute("INSERT OR IGNORE INTO room_device VALUES (?, ?)", (code, name))
            _changed(db, code)
        return self.find(code) or room

    def teaches(self, code: str, key: str) -> bool:
        """Return whether this key belongs to the room's teacher."""
        rows = self._file.rows("SELECT teacher FROM room WHERE code = ? AND opened_at > ?", code, _day_ago())
        return any(hmac.compare_digest(row["teacher"], _room_digest(code, key)) for row in rows)

    def put_step(self, code: str, key: str, content: Content) -> None:
        """Open a step and close the previous one. Raises Refused, e.g. if a phone would exceed its total epsilon."""
        with self._teaching(code, key) as db:
            closed, total = db.execute("SELECT closed, total FROM room WHERE code = ?", (code,)).fetchone()
            if closed:
                raise Refused(CLOSED)
            before = db.execute("SELECT content FROM room_step WHERE room = ?", (code,)).fetchall()
            place = len(before)
            if place >= MOST_STEPS:
                raise Refused(filled(SAID["many_steps"], most=MOST_STEPS))
            left = budget_left(total, (from_json(text) for (text,) in before))
            if spends(content) > left:
                known = {"total": f"{total:g}", "left": f"{left:g}"}
                raise Refused(filled(OVER, **known) if left else filled(SPENT, total=known["total"]))
            db.execute("UPDATE room_step SET state = 'revealed' WHERE room = ?", (code,))
            state: State = "revealed" if isinstance(content, Recap) else "open"
            row = (code, place, to_json(content), state)
            db.execute("INSERT INTO room_step VALUES (?, ?, ?, ?)", row)

    def turn_step(self, code: str, key: str, place: int, state: State) -> None:
        """Pause a step, continue it, or reveal its result. A revealed step accepts no more answers. Raises Refused."""
        with self._teaching(code, key) as db:
            db.execute(
                "UPDATE room_step SET state = ? WHERE room = ? AND place = ? AND state != 'revealed'",
                (state, code, place),
            )

    def close(self, code: str, key: str) -> None:
        """Close a room. Nobody can join or answer any more, an open step is revealed, and data stay. Raises Refused."""
        with self._teaching(code, key) as db:
            db.execute("UPDATE room_step SET state = 'revealed' WHERE room = ?", (code,))
            db.execute("UPDATE room SET closed = 1 WHERE code = ?", (code,))

    def delete(self, code: str, key: str) -> None:
        """Delete the room with all its data. Raises Refused."""
        with self._teaching(code, key) as db:
            db.execute("DELETE FROM room WHERE code = ?", (code,))
        self._wipe()

    def respond(self, code: str, device: str, place: int, answer: str) -> None:
        """Record a device's answer to a step; only its first answer counts. For a question, it is the report after the
        phone's coin flip. Raises Refused, and SpecError if the answer does not fit the step."""
        with self._file.writing() as db:
            room = db.execute(_ROOM, (code, _day_ago())).fetchone()
            if room is None:
                raise Refused(filled(UNKNOWN, code=code[:20]))
            step = db.execute(
                "SELECT content, state FROM room_step WHERE room = ? AND place = ?", (code, place)
            ).fetchone()
            name = _room_digest(code, device)
            if room["closed"]:
                raise Refused(CLOSED)
            if step is None or step["state"] != "open" or not db.execute(_JOINED, (code, name)).fetchone():
                raise Refused(WAIT)
            from_json(step["content"]).check(answer)
            row = (code, place, name, answer)
            if db.execute("INSERT OR IGNORE INTO room_answer VALUES (?, ?, ?, ?)", row).rowcount:
                _changed(db, code)
            elif self.written(code, device)[place] != answer:
                raise Refused(TWICE)

    def written(self, code: str, device: str) -> dict[int, str]:
        """Return the answers that a device has given, keyed by the position of their step."""
        mine = "SELECT place, answer FROM room_answer WHERE room = ? AND device = ?"
        return dict(map(tuple, self._file.rows(mine, code, _room_digest(code, device))))

    def steps(self, code: str) -> list[ClassStep]:
        """Return all steps of a room with their answers, in an order that reveals neither times nor senders."""
        rows = self._file.rows
        steps = rows("SELECT place, content, state FROM room_step WHERE room = ? ORDER BY place", code)
        answers = rows("SELECT place, answer FROM room_answer WHERE room = ? ORDER BY answer", code)
        return [
            ClassStep(place, from_json(text), state, tuple(a for at, a in answers if at == place))
            for place, text, state in steps
        ]

    def forget_old(self) -> int:
        """Delete rooms that are a day old, and return their number. The store calls this about every second."""
        gone = 0
        if self._file.rows("SELECT 1 FROM room WHERE opened_at <= ? LIMIT 1", _day_ago()):
            with self._file.writing() as db:
                gone = db.execute("DELETE FROM room WHERE opened_at <= ?", (_day_ago(),)).rowcount
        if gone or self._unwiped:
            self._wipe()
        return gone

    @contextlib.contextmanager
    def _teaching(self, code: str, key: str) -> Iterator[sqlite3.Connection]:
        """Open a transaction in which the teacher changes the room. Raises Refused if the key is wrong."""
        if not self.teaches(code, key):
            raise Refused(STRANGER if self.find(code) else filled(UNKNOWN, code=code[:20]))
        with self._file.writing() as db:
            yield db
            _changed(db, code)

    def _wipe(self) -> None:
        """Erase deleted content from the database's write-ahead log, too, or later if the log is in use."""
        self._unwiped = bool(self._file.rows("PRAGMA wal_checkpoint(TRUNCATE)")[0][0])


def _changed(db: sqlite3.Connection, code: str) -> None:
    db.execute("UPDATE room SET version = version + 1 WHERE code = ?", (code,))


def _room_digest(code: str, name: str) -> bytes:
    """Return a digest of a device's name or a teacher's key. The same text has different digests in different rooms."""
    return hashlib.blake2b(name.encode(), key=code.encode(), digest_size=16).digest()


def _day_ago() -> float:
    return time.time() - 3600 * HOURS


class ShortLinks:
    """Short links to pages of the dashboard."""

    def __init__(self, file: Database) -> None:
        self._file = file
        self._most_links = setting("DPRL_SHORT_LINKS", 10_000, 0, 1_000_000)
        self._limits = RateLimiter()

    def shorten(self, page: str, query: str, who: Lease) -> str:
        """Return the letters of the short link to a page, the same for each call. `page` is its path ("" for Home), and
        `query` has no question mark. Raises Refused if the link is too long, or if there are too many links."""
        if len(query) > MOST_LETTERS:
            raise Refused(filled(LINKS["long"], length=f"{len(query):,}", most=f"{MOST_LETTERS:,}"))
        if known := self._file.rows(_LINK, page, query):
            return str(known[0]["code"])
        self._limits.check("link", who)
        with self._file.writing() as db:
            if db.execute("SELECT count(*) FROM short_link").fetchone()[0] >= self._most_links:
                raise Refused(filled(LINKS["full"], most=f"{self._most_links:,}"))
            values = (draw_code(LINK_LENGTH), page, query)
            db.execute("INSERT INTO short_link VALUES (?, ?, ?) ON CONFLICT (page, query) DO NOTHING", values)
            return str(db.execute(_LINK, (page, query)).fetchone()["code"])

    def lengthen(self, text: str) -> tuple[str, str]:
        """Return the page and the query of a short link, given its letters as a visitor typed them. Raises Refused."""
        code = read_code(text, LINK_LENGTH)
        if not code:
            raise Refused(filled(LINKS["no_code"], given=shown(text) or "nothing", length=LINK_LENGTH))
        for page, query in self._file.rows("SELECT page, query FROM short_link WHERE code = ?", code):
            return page, query
        raise Refused(filled(LINKS["unknown"], code=code))

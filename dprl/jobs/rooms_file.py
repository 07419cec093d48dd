"""The file of rooms and short links, beside the file of runs: small, and what people made themselves.

Nobody can compute that again, so what stands whole in a damaged file is saved. It is read from the pages themselves,
whatever has become of the trees above them; each row is checked before it is believed.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
import time
import unicodedata
from pathlib import Path
from typing import Any

from dprl.fields import SpecError
from dprl.jobs.checksums import link_digest
from dprl.jobs.file import Contradiction, StoreFile
from dprl.jobs.sqlite_log import logged_pages
from dprl.jobs.sqlite_pages import rows_on_pages
from dprl.rooms.steps import LEAST_TOTAL, MOST_TOTAL, TOTAL, from_json
from dprl.words import plural

LETTERS = "BCDFGHJKLMNPRSTVWXYZ"  # of codes: no vowels, so no words; no digits, and nothing like O and Q
CODE_LENGTH = 6  # of a room's code: 64 million of them
HOURS = 24  # after which a room is forgotten

# What workers compute of the reports of a class. It goes with its room, and is computed again where it is lost.
CLASS_RUN = """
CREATE TABLE IF NOT EXISTS class_run (
    room TEXT NOT NULL, place INTEGER NOT NULL, taken_at REAL NOT NULL, attempts INTEGER NOT NULL, result TEXT,
    PRIMARY KEY (room, place), FOREIGN KEY (room, place) REFERENCES room_step(room, place) ON DELETE CASCADE
) WITHOUT ROWID;
"""
TABLES = f"""
CREATE TABLE notice (text TEXT NOT NULL, at REAL NOT NULL);
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
    room TEXT NOT NULL, place INTEGER NOT NULL, device BLOB NOT NULL, answer TEXT NOT NULL, sent INTEGER NOT NULL,
    PRIMARY KEY (room, place, device), FOREIGN KEY (room, place) REFERENCES room_step(room, place) ON DELETE CASCADE,
    FOREIGN KEY (room, device) REFERENCES room_device(room, device) ON DELETE CASCADE) WITHOUT ROWID;
CREATE INDEX room_answer_device ON room_answer(room, device);
{CLASS_RUN}
-- Links made short. They hold nothing of a visitor, and nothing makes room at their cost.
CREATE TABLE short_link (
    code TEXT PRIMARY KEY, digest BLOB NOT NULL UNIQUE, page TEXT NOT NULL, query TEXT NOT NULL) WITHOUT ROWID;
"""
# Columns that earlier versions did not have, each the last of its table: how it is declared, and its value there.
_ADDED = {"room": ("total", "REAL NOT NULL", MOST_TOTAL), "room_answer": ("sent", "INTEGER NOT NULL", 1)}
_NAMES = ("room", "room_device", "room_step", "room_answer", "short_link")  # none before what it refers to
_STATES = ("open", "paused", "revealed")  # a step never goes back to an earlier one for good


class RoomsFile(StoreFile):
    """Rooms of classes, and short links. What is deleted or changed is overwritten with zeros."""

    name = "store of rooms"
    begin_with = TABLES
    lost = "The last changes to the store of rooms were damaged, and are lost; look whether yours are there."
    checks = (
        "SELECT max(at) FROM notice",
        "SELECT max(opened_at + version) FROM room",
        "SELECT max(device) FROM room_device",
        "SELECT max(length(content)) FROM room_step",
        "SELECT max(length(answer)) FROM room_answer",
        "SELECT max(length(digest) + length(page) + length(query)) FROM short_link",
    )
    pragmas = (*StoreFile.pragmas, "secure_delete = ON")

    def _upgrade(self, db: sqlite3.Connection) -> None:
        for table, (column, declared, value) in _ADDED.items():
            if column not in {row["name"] for row in db.execute(f"PRAGMA table_info({table})")}:
                db.execute(f"ALTER TABLE {table} ADD COLUMN {column} {declared} DEFAULT {value}")
        db.execute(CLASS_RUN)

    def _rescue(self, damaged: Path, begun: Path) -> str:
        return rescue(damaged, begun)


def rooms_path(runs: Path) -> Path:
    """Where the rooms of a store are, by where its runs are."""
    return runs.with_stem(f"{runs.stem}-rooms")


def take_over(db: sqlite3.Connection, names: set[str], rooms: Path) -> None:
    """Moves rooms and short links from a file of runs, where earlier versions kept them, into a file of their own.

    Interrupted between the two steps, it begins again before anybody has used what it copied.

    Args:
        db: the file of runs.
        names: of all tables in it.
        rooms: the file of rooms, which is there.
    """
    there = [name for name in _NAMES if name in names]
    if not there:
        return
    db.execute("ATTACH ? AS own", (str(rooms),))
    try:
        db.execute("BEGIN IMMEDIATE")
        for name in there:
            added = f", {_ADDED[name][2]}" if name in _ADDED else ""
            db.execute(f"INSERT OR IGNORE INTO own.{name} SELECT *{added} FROM main.{name}")
        db.execute("COMMIT")
    except sqlite3.IntegrityError as error:
        raise Contradiction("an answer is of no room") from error
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
        db.execute("DETACH own")
    db.execute("PRAGMA secure_delete = ON")
    drops = " ".join(f"DROP TABLE {name};" for name in reversed(there))
    db.executescript(f"BEGIN IMMEDIATE; {drops} COMMIT;")
    db.execute("PRAGMA secure_delete = OFF")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def rescue(damaged: Path, into: Path) -> str:
    """Copies the rooms and short links that are whole in a damaged file, which stays as it is, into the file of rooms
    at `into`; what they were, in words.

    A link has a digest of its own. A row of a room counts where it is of the form that it has to be, and belongs to
    others that are there.
    """
    found: dict[str, dict[tuple[Any, ...], tuple[Any, ...]]] = {name: {} for name in _NAMES}
    for row, columns in rows_on_pages(damaged, logged_pages(damaged)):
        match row, columns:
            case None, [str(code), bytes(digest), str(page), str(query)] if (
                link_digest(page, query) == digest
            ):
                found["short_link"][code,] = (code, digest, page, query)
            case None, [str(code), bytes(key), int() | float() as opened, int(closed), int(version), *rest]:
                if is_room_code(code) and time.time() - 3600 * HOURS < opened and len(rest) <= 1:
                    known = found["room"].get((code,), (0, 0, 0, 0, -1))
                    room = (code, key, opened, closed, version, _total(rest))
                    found["room"][code,] = max(known, room, key=_version)
            case None, [str(code), bytes(device)] if is_room_code(code):
                found["room_device"][code, device] = (code, device)
            case None, [str(code), int(place), str(content), str(state)] if state in _STATES:
                known = found["room_step"].get((code, place), (code, place, content, "open"))
                found["room_step"][code, place] = max(known, (code, place, content, state), key=_progress)
            case None, [str(code), int(place), bytes(device), str(answer), *rest] if rest in ([], [0], [1]):
                found["room_answer"][code, place, device] = (code, place, device, answer, *(rest or [1]))
    steps = found["room_step"] = {at: step for at, step in found["room_step"].items() if _allows(step[2])}
    answers = found["room_answer"].items()
    found["room_answer"] = {
        at: answer for at, answer in answers if at[:2] in steps and _allows(steps[at[:2]][2], answer[3])
    }
    with contextlib.closing(sqlite3.connect(into, isolation_level=None)) as db:
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("BEGIN IMMEDIATE")
        kept = {name: sum(_insert(db, name, row) for row in rows.values()) for name, rows in found.items()}
        db.execute("COMMIT")
    counts = [plural(kept[name], what) for name, what in (("room", "room"), ("short_link", "short link"))]
    return " and ".join(count for count in counts if not count.startswith("0 "))


def read_code(text: str, length: int = CODE_LENGTH) -> str:
    """The code of so many letters that somebody typed or copied, "" if the text is none.

    It may be in lower case or in full-width letters, with spaces, dashes and other signs around and between them.
    """
    code = re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", text[:40])).upper()
    return code if len(code) == length and set(code) <= set(LETTERS) else ""


def is_room_code(code: str) -> bool:
    """Whether a room could have this code."""
    return len(code) == CODE_LENGTH and set(code) <= set(LETTERS)


def _total(given: list[Any]) -> float:
    """The total epsilon of a room, as far as it can be read: the least where it is damaged, so that no phone spends
    more. A room of a version that had no total yet has the largest."""
    try:
        return float(TOTAL.check(given[0])) if given else MOST_TOTAL
    except SpecError:
        return LEAST_TOTAL


def _version(room: tuple[Any, ...]) -> int:
    return int(room[4])


def _progress(step: tuple[Any, ...]) -> int:
    return _STATES.index(step[3])


def _allows(content: str, answer: str | None = None) -> bool:
    """Whether this was put to a class, and whether that may have been written down of an answer."""
    try:
        step = from_json(content)
        if answer is not None:
            step.check(answer)
    except (SpecError, ValueError, KeyError, TypeError, AttributeError):
        return False
    return True


def _insert(db: sqlite3.Connection, table: str, row: tuple[Any, ...]) -> int:
    """How many rows that added: none where it is there, or belongs to nothing that is."""
    try:
        marks = ", ".join("?" * len(row))
        return db.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row).rowcount
    except sqlite3.IntegrityError:
        return 0

"""The file of rooms and short links, next to the file of runs: what people made themselves, and nobody can compute
again."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from dprl.runs.database import Database

LETTERS = "BCDFGHJKLMNPRSTVWXYZ"  # of codes: no vowels, so no words; no digits, and nothing like O and Q
CODE_LENGTH = 6  # of a room's code: 64 million of them
HOURS = 24  # after which a room is forgotten

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

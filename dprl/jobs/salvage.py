"""What can be kept of a damaged store, and whether the last changes to one were lost.

Every result has a digest of its own, so that a page that went bad costs the rows on it and no others. Rows are read one
by one; what cannot be read, or is not what it was, is left out. Queued seeds stay queued.
"""

from __future__ import annotations

import contextlib
import sqlite3
import struct
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dprl.jobs.checksums import digest, link_digest, without_checksum
from dprl.jobs.sqlite_pages import PAGE, rows

_MISSED = 10_000  # rows in a row that cannot be read, after which there are no more
_STATES = {"queued", "running", "done", "failed", "cancelled", "gone"}
_UNIT = "id, key, seed, state, progress, message, rev, deaths, damages, seconds, started_at, used_at, bytes"
_MARKS = ", ".join("?" * 13)
_LOST = "Its stored result was damaged."
_REQUESTS = "SELECT run, visitor, waiting, asked_at FROM request WHERE run = ?"
_NOBODYS = """
UPDATE unit SET state = 'cancelled' WHERE state = 'queued' AND NOT EXISTS (
    SELECT 1 FROM run_unit JOIN request ON request.run = run_unit.run AND waiting WHERE run_unit.unit = unit.id)
"""  # who waited for them is not known any more
_UNUSABLE = (
    sqlite3.IntegrityError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
)  # what no store would hold


def salvage(old: Path, new: Path) -> int:
    """Copies what is whole in the store at `old`, which stays as it is, into the new one at `new`; how many results."""
    with contextlib.ExitStack() as open_:
        into = open_.enter_context(contextlib.closing(sqlite3.connect(new, isolation_level=None)))
        into.execute("PRAGMA foreign_keys = ON")
        wal = _logged(old)
        with contextlib.suppress(sqlite3.OperationalError):  # no room for more
            with _together(into):
                _traces(old, wal, into)
            with contextlib.suppress(sqlite3.DatabaseError, UnicodeDecodeError):
                source = sqlite3.connect(f"{old.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
                open_.callback(source.close)
                source.text_factory = lambda text: text.decode(errors="replace")
                with _together(into):
                    _requests(source, into)
            with _together(into):
                _curves(old, wal, into)
            with _together(into):
                _links(old, wal, into)
        return int(into.execute("SELECT count(*) FROM trace").fetchone()[0])


@contextlib.contextmanager
def _together(db: sqlite3.Connection) -> Iterator[None]:
    """One transaction, of which is kept what there is room for."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        if db.in_transaction:
            db.execute("COMMIT")


def _traces(old: Path, wal: dict[int, bytes], into: sqlite3.Connection) -> None:
    """Copies the results that are what their digest says, and what there is to know of their seeds."""
    known: dict[int, tuple[int, str, int, str]] = {}  # rev, key, seed and state
    keys: dict[int, set[str]] = defaultdict(set)  # where an index has them
    states: dict[int, set[str]] = defaultdict(set)
    for row, columns in rows(old, wal):
        match row, columns:
            case int(), [None, str(key), int(seed), str(state), _, str(), int(rev), _, _, _, _, _, _, _]:
                known[row] = max((rev, key, seed, state), known.get(row, (-1, "", 0, "")))
            case None, [str(text), int(unit)]:
                (states if text in _STATES else keys)[unit].add(text)
    for row, columns in rows(old, wal):
        match row, columns:
            case int(), [None, bytes(seal), bytes(data)]:
                found = {known[row]} if row in known else {(0, key, 0, "done") for key in keys[row]}
                for rev, key, seed, state in found:
                    sure = row in known or states[row] == {"done"}
                    if sure and state in ("done", "cancelled") and digest(key, data) == seal:
                        now = time.time()
                        values = (row, key, seed, state, 1.0, "", rev + 1, 0, 0, 0.0, now, now, len(data))
                        into.execute(f"INSERT OR IGNORE INTO unit ({_UNIT}) VALUES ({_MARKS})", values)
                        into.execute("INSERT OR IGNORE INTO trace VALUES (?, ?, ?)", (row, seal, data))


def _requests(source: sqlite3.Connection, into: sqlite3.Connection) -> None:
    """Copies the other seeds, and the runs of which all seeds are there, with who asked for them."""
    for unit, key, seed, state, progress, message, rev, *more, size in _by_id(source, _UNIT, "unit"):
        if state == "running":
            state, progress = "queued", 0.0
        elif size:
            state, progress, message, size = "gone" if state == "done" else state, 0.0, _LOST, 0
        values = (unit, key, seed, state, progress, message, rev, *more, size)
        with contextlib.suppress(*_UNUSABLE):
            into.execute(f"INSERT OR IGNORE INTO unit ({_UNIT}) VALUES ({_MARKS})", values)
    units = {row[0] for row in into.execute("SELECT id FROM unit")}
    for run in _by_id(source, "id, key, spec, seeds, rev + 1", "run"):
        seeds = _of(source, "SELECT seed, unit FROM run_unit WHERE run = ?", run[0])
        if len(seeds) != run[3] or not {unit for _, unit in seeds} <= units:
            continue
        with contextlib.suppress(*_UNUSABLE):
            into.execute("INSERT INTO run (id, key, spec, seeds, rev) VALUES (?, ?, ?, ?, ?)", run)
            into.executemany("UPDATE unit SET seed = ? WHERE id = ?", seeds)
            into.executemany("INSERT INTO run_unit VALUES (?, ?, ?)", [(run[0], *seed) for seed in seeds])
            into.executemany("INSERT INTO request VALUES (?, ?, ?, ?)", _of(source, _REQUESTS, run[0]))
            leases = _of(source, "SELECT run, visitor, tab FROM lease WHERE run = ?", run[0])
            into.executemany("INSERT INTO lease VALUES (?, ?, ?)", leases)
    into.execute(_NOBODYS)
    into.executemany("INSERT INTO tab VALUES (?, ?, ?, ?)", source.execute("SELECT * FROM tab").fetchall())


def _curves(old: Path, wal: dict[int, bytes], into: sqlite3.Connection) -> None:
    """Copies the curves of the seeds that were kept."""
    keys = dict(into.execute("SELECT id, key FROM unit").fetchall())
    for row, columns in rows(old, wal):
        match row, columns:
            case int(), [None, bytes(points)] if (
                row in keys and without_checksum(keys[row], points) is not None
            ):
                into.execute("INSERT OR REPLACE INTO live VALUES (?, ?)", (row, points))


def _links(old: Path, wal: dict[int, bytes], into: sqlite3.Connection) -> None:
    """Copies the short links that are what their digest says: whoever has one expects it to last."""
    for row, columns in rows(old, wal):
        match row, columns:
            case None, [str(code), bytes(seal), str(page), str(query)] if link_digest(page, query) == seal:
                into.execute(
                    "INSERT OR IGNORE INTO short_link VALUES (?, ?, ?, ?)", (code, seal, page, query)
                )


def _by_id(db: sqlite3.Connection, columns: str, table: str) -> Iterator[tuple[Any, ...]]:
    """The rows of a table that can be read; `columns` begin with the id."""
    try:
        db.execute(f"SELECT {columns} FROM {table} LIMIT 0")
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return  # not even what it is made of can be read, so no row
    at, missed = 0, 0
    seen: set[int] = set()  # where pages have changed places, rows come in any order, and again
    while missed < _MISSED:
        try:
            for row in db.execute(f"SELECT {columns} FROM {table} WHERE id > ? ORDER BY id", (at,)):
                at = max(at, row[0])
                if row[0] not in seen:
                    seen.add(row[0])
                    missed = 0
                    yield row
            return
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            at, missed = at + 1, missed + 1  # past what cannot be read, row by row


def _of(db: sqlite3.Connection, query: str, run: int) -> list[tuple[Any, ...]]:
    """What a query of one run gives; nothing where that cannot be read."""
    try:
        return db.execute(query, (run,)).fetchall()
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return []


def _logged(path: Path) -> dict[int, bytes]:
    """The newest committed pages in the write-ahead log, by their number."""
    found: dict[int, bytes] = {}
    if (last := _last_commit(path)) is not None:
        with open(f"{path}-wal", "rb") as file:
            file.seek(32)
            for _ in range(last[1]):
                header, page = file.read(24), file.read(PAGE)
                if header[8:16] == last[0] and len(page) == PAGE:
                    found[int.from_bytes(header[:4])] = page
    return found


def lost_changes(path: Path) -> bool:
    """Whether committed changes stand in the write-ahead log of a store that SQLite passed over, because something
    before them is damaged. To be asked before anything is written.

    SQLite counts what it accepts; commits beyond that, under the log's own salt, were accepted once.
    """
    before = _last_commit(path)
    if before is None:
        return False
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        accepted = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1]
        after = _last_commit(path)  # others may have begun the log anew meanwhile
    return after is not None and after[0] == before[0] and accepted < before[1]


def _is_log(header: bytes) -> bool:
    """Whether the header of a write-ahead log has the checksum that it says."""
    (magic,) = struct.unpack(">I", header[:4])
    order = ">" if magic & 1 else "<"
    a = b = 0
    for x, y in struct.iter_unpack(f"{order}II", header[:24]):
        a = (a + x + b) % 2**32
        b = (b + y + a) % 2**32
    return (a, b) == struct.unpack(">II", header[24:])


def _last_commit(path: Path) -> tuple[bytes, int] | None:
    """Salt of the write-ahead log, and the number of its last frame that ends a commit; None where there is none."""
    with contextlib.suppress(OSError), open(f"{path}-wal", "rb") as file:
        header = file.read(32)
        size = file.seek(0, 2)
        if size <= 32:
            return None
        (page,), salt = struct.unpack(">I", header[8:12]), header[16:24]
        if not _is_log(header):
            return header, size
        last = 0
        for frame in range((size - 32) // (24 + page)):
            file.seek(32 + frame * (24 + page))
            found = file.read(24)
            if found[8:16] == salt and found[4:8] != bytes(4):
                last = frame + 1
        return (salt, last) if last else None
    return None

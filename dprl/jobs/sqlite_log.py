"""What stands in the write-ahead log of an SQLite file, and whether the last changes in one were lost.

After the file format of SQLite (sqlite.org/fileformat2.html, section 4).
"""

from __future__ import annotations

import contextlib
import sqlite3
import struct
from pathlib import Path

from dprl.jobs.sqlite_pages import PAGE


def logged_pages(path: Path) -> dict[int, bytes]:
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

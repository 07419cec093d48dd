"""What came out, by key: curve, trace, when it was used. First in memory, and a moment later in the file."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from dprl.runs.database import Database, DiskFull, StoreError, setting

TABLES = """
CREATE TABLE result (key TEXT PRIMARY KEY, curve BLOB NOT NULL, trace BLOB, used_at REAL NOT NULL);
CREATE INDEX result_trace ON result(used_at) WHERE trace IS NOT NULL;
CREATE INDEX result_used ON result(used_at);
"""
FULL = "The disk of this server is full: new results are kept in memory, and written when there is room."
LOCKED = "The store of runs cannot be written to just now: new results are kept in memory, and written later."
CROWDED = 256 * 2**20  # bytes in memory, above which nothing new is computed until they are written
_CHUNK = 500  # keys in one statement
_TRACE = "SELECT key FROM result WHERE trace IS NOT NULL ORDER BY used_at LIMIT 1"
_ROW = "SELECT key FROM result ORDER BY used_at LIMIT 1"


class Results:
    """Curves and traces of seeds by their keys, and answers by their questions, which have no trace.

    Beyond DPRL_STORE_MB traces that were unused longest make room, then curves.

    Attributes:
        notice: a sentence while results cannot be written, else "".
        changes: how often anything has gone from the file.
        bytes: of the file that are in use, as of the last write.
        news: set when something waits to be written.
    """

    def __init__(self, path: Path) -> None:
        self.file = Database(path, "store of runs", 3, TABLES)
        self.notice, self.changes, self.bytes = "", 0, 0
        self.capacity = setting("DPRL_STORE_MB", 1024, 1, 10**7) * 2**20
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self.news = threading.Event()
        self._held: dict[str, tuple[bytes, bytes | None]] = {}  # not in the file yet
        self._used: set[str] = set()
        self._gone: set[str] = set()  # to be deleted
        self._measure()

    @property
    def crowded(self) -> bool:
        """Whether too much waits to be written."""
        if not self.notice:
            return False
        with self._lock:
            return sum(len(curve) + len(trace or b"") for curve, trace in self._held.values()) > CROWDED

    @property
    def waiting(self) -> bool:
        """Whether anything waits to be written."""
        return bool(self._held or self._used or self._gone)

    def put(self, key: str, curve: bytes, trace: bytes | None) -> None:
        """Keep a result, or an answer as its curve."""
        with self._lock:
            self._gone.discard(key)
            self._held[key] = curve, trace
        self.news.set()

    def use(self, key: str) -> None:
        """Note that a trace is looked at, so that it is not one of those unused longest."""
        with self._lock:
            self._used.add(key)

    def forget(self, keys: Collection[str]) -> None:
        """Delete results."""
        with self._lock:
            for key in keys:
                self._held.pop(key, None)
            self._gone.update(keys)
            self.changes += 1
        self.news.set()

    def there(self, keys: Collection[str]) -> dict[str, int]:
        """Return the size of each trace in bytes, and -1 if only a curve is left. Raises StoreError."""
        found = {
            key: size
            for some in self._chunks(keys)
            for key, size in self._select(
                "SELECT key, coalesce(length(trace), -1) FROM result WHERE key IN", some
            )
        }
        with self._lock:
            for key in keys:
                if key in self._gone:
                    found.pop(key, None)
                elif held := self._held.get(key):
                    found[key] = -1 if held[1] is None else len(held[1])
        return found

    def curves(self, keys: Collection[str]) -> dict[str, bytes]:
        """Return the curves that are there, and answers. Raises StoreError."""
        found = {
            key: bytes(curve)
            for some in self._chunks(keys)
            for key, curve in self._select("SELECT key, curve FROM result WHERE key IN", some)
        }
        with self._lock:
            for key in keys:
                if key in self._gone:
                    found.pop(key, None)
                elif held := self._held.get(key):
                    found[key] = held[0]
        return found

    def trace(self, key: str) -> bytes | None:
        """Return a trace. Raises StoreError."""
        with self._lock:
            if key in self._gone:
                return None
            if held := self._held.get(key):
                return held[1]
        rows = self._select("SELECT trace, used_at FROM result WHERE key IN", [key])
        if not rows or rows[0][0] is None:
            return None
        if time.time() - rows[0][1] > 60:
            self.use(key)
        return bytes(rows[0][0])

    def write(self) -> None:
        """Write what waits, and make room; what cannot be written goes on waiting, and `notice` reports it."""
        with self._writing:
            with self._lock:
                held, used, gone = dict(self._held), set(self._used), set(self._gone)
            now = time.time()
            try:
                with self.file.writing() as db:
                    db.executemany("DELETE FROM result WHERE key = ?", [(key,) for key in gone])
                    rows = [(key, curve, trace, now) for key, (curve, trace) in held.items()]
                    db.executemany("INSERT OR REPLACE INTO result VALUES (?, ?, ?, ?)", rows)
                    db.executemany(
                        "UPDATE result SET used_at = ? WHERE key = ?", [(now, key) for key in used]
                    )
            except StoreError as error:
                self.notice = FULL if isinstance(error, DiskFull) else LOCKED
                return
            self.notice = ""
            with self._lock:
                for key, value in held.items():
                    if self._held.get(key) is value:
                        del self._held[key]
                self._used -= used
                self._gone -= gone
            self._make_room(set(held))

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def _make_room(self, newest: set[str]) -> None:
        try:
            self._measure()
            if self.bytes <= self.capacity:
                return
            while self.bytes > self.capacity:
                with self.file.writing() as db:
                    if (row := db.execute(_TRACE).fetchone()) and row["key"] not in newest:
                        db.execute("UPDATE result SET trace = NULL WHERE key = ?", (row["key"],))
                    elif (row := db.execute(_ROW).fetchone()) and row["key"] not in newest:
                        db.execute("DELETE FROM result WHERE key = ?", (row["key"],))
                    else:
                        break
                self.changes += 1
                self._measure()
            with self.file.outside() as db:
                db.execute("PRAGMA incremental_vacuum(4096)").fetchall()
        except StoreError:
            return  # the next write tries again

    def _measure(self) -> None:
        with self.file.reading() as db:
            pages, free, size = (
                int(db.execute(f"PRAGMA {name}").fetchone()[0])
                for name in ("page_count", "freelist_count", "page_size")
            )
            self.bytes = (pages - free) * size

    def count(self) -> int:
        """Return how many traces are in the file. Raises StoreError."""
        with self.file.reading() as db:
            return int(db.execute("SELECT count(*) FROM result WHERE trace IS NOT NULL").fetchone()[0])

    def _chunks(self, keys: Collection[str]) -> Iterator[list[str]]:
        rest = list(keys)
        for first in range(0, len(rest), _CHUNK):
            yield rest[first : first + _CHUNK]

    def _select(self, statement: str, keys: list[str]) -> list[tuple[Any, Any]]:
        before = self.file.notice
        try:
            with self.file.outside() as db:
                return [tuple(row) for row in db.execute(f"{statement} ({','.join('?' * len(keys))})", keys)]
        except StoreError:
            if self.file.notice == before:
                raise
            self.changes += 1  # the file was damaged, and a new one is empty
            return []

"""The results of finished seeds: curves and traces by key, in memory until they are written to a file."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from dprl.runs.database import Database, StoreError, setting

TABLES = """
CREATE TABLE result (key TEXT PRIMARY KEY, curve BLOB NOT NULL, trace BLOB, used_at REAL NOT NULL);
CREATE INDEX result_trace ON result(used_at) WHERE trace IS NOT NULL;
CREATE INDEX result_used ON result(used_at);
"""
HELD = "New results are kept in memory and will be written later. {}"
CROWDED = 256 * 2**20  # bytes in memory beyond which nothing new is computed until they are written
_SIZE = (
    "SELECT (page_count - freelist_count) * page_size"
    " FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
)
_TRACE = "SELECT key FROM result WHERE trace IS NOT NULL ORDER BY used_at LIMIT 1"
_ROW = "SELECT key FROM result ORDER BY used_at LIMIT 1"


class Results:
    """Stored curves and traces of seeds. Answers to questions are stored as curves without a trace.

    Beyond DPRL_STORE_MB, the traces unused for the longest time are deleted, then curves. Reading raises StoreError.

    notice: a sentence while results cannot be written, else ""; changes: the number of deletions from the file;
    bytes: the space in use, as of the last write; news: set when something waits to be written.
    """

    def __init__(self, path: Path) -> None:
        self.file = Database(path, "store of runs", 3, TABLES)
        self.notice, self.changes, self.bytes = "", 0, 0
        self.capacity = setting("DPRL_STORE_MB", 1024, 1, 10**7) * 2**20
        self.news = threading.Event()
        self._lock = threading.Lock()
        self._held: dict[str, tuple[bytes, bytes | None]] = {}  # not in the file yet
        self._used: set[str] = set()
        self._measure()

    @property
    def crowded(self) -> bool:
        """Return whether too many results wait to be written to the file."""
        with self._lock:
            return bool(self.notice) and sum(len(c) + len(t or b"") for c, t in self._held.values()) > CROWDED

    @property
    def waiting(self) -> bool:
        """Return whether any results wait to be written to the file."""
        return bool(self._held or self._used)

    def put(self, key: str, curve: bytes, trace: bytes | None) -> None:
        """Store a result under its key, in memory until `write` is called."""
        with self._lock:
            self._held[key] = curve, trace
        self.news.set()

    def forget(self, keys: Collection[str]) -> None:
        """Delete the results with these keys. Raises StoreError."""
        with self._lock:
            for key in keys:
                self._held.pop(key, None)
        with self.file.writing() as db:
            db.executemany("DELETE FROM result WHERE key = ?", [(key,) for key in keys])
        self.changes += 1

    def there(self, keys: Collection[str]) -> dict[str, int]:
        """Return the size of each stored trace in bytes, or -1 if only the seed's curve is left."""
        return self._find(keys, "coalesce(length(trace), -1)", lambda _, t: -1 if t is None else len(t))

    def curves(self, keys: Collection[str]) -> dict[str, bytes]:
        """Return the stored curves of seeds and answers to questions, by key."""
        return self._find(keys, "curve", lambda curve, _: curve)

    def trace(self, key: str) -> bytes | None:
        """Return a seed's trace, or None if it is not stored, and update the time of its last use."""
        found: bytes | None = self._find([key], "trace", lambda _, trace: trace).get(key)
        if found is not None:
            with self._lock:
                self._used.add(key)
        return found

    def write(self) -> None:
        """Write the waiting results to the file, and delete old ones if space is short. Set `notice` on failure."""
        with self._lock:
            held, used = dict(self._held), set(self._used)
        now = time.time()
        rows = [(key, *row, now) for key, row in held.items()]
        try:
            with self.file.writing() as db:
                db.executemany("INSERT OR REPLACE INTO result VALUES (?, ?, ?, ?)", rows)
                db.executemany("UPDATE result SET used_at = ? WHERE key = ?", [(now, k) for k in used])
            with self._lock:
                self._used -= used
                self._held = {key: row for key, row in self._held.items() if row is not held.get(key)}
            self.notice = ""
            self._make_room(set(held))
        except StoreError as error:
            self.notice = HELD.format(error)

    def _make_room(self, newest: set[str]) -> None:
        self._measure()
        while self.bytes > self.capacity:
            with self.file.writing() as db:
                if (row := db.execute(_TRACE).fetchone()) and row["key"] not in newest:
                    db.execute("UPDATE result SET trace = NULL WHERE key = ?", (row["key"],))
                elif (row := db.execute(_ROW).fetchone()) and row["key"] not in newest:
                    db.execute("DELETE FROM result WHERE key = ?", (row["key"],))
                else:
                    break
            self.file.rows("PRAGMA incremental_vacuum(4096)")
            self.changes += 1
            self._measure()

    def _measure(self) -> None:
        self.bytes = int(self.file.rows(_SIZE)[0][0])

    def _find(
        self, keys: Collection[str], column: str, held: Callable[[bytes, bytes | None], Any]
    ) -> dict[str, Any]:
        """Return stored values by key: a column of the file or, for results in memory, the value of `held`."""
        before = self.file.notice
        with self._lock:  # memory first, because results written after this are found in the file
            mine = {key: self._held[key] for key in keys if key in self._held}
        found: dict[str, Any] = {}
        try:
            several = f"SELECT key, {column} FROM result WHERE key IN (SELECT value FROM json_each(?))"
            found = dict(map(tuple, self.file.rows(several, json.dumps([*keys]))))
        except StoreError:
            if self.file.notice == before:
                raise
            self.changes += 1  # the file was damaged, and the new one is empty
        found |= {key: held(*row) for key, row in mine.items()}
        return {key: value for key, value in found.items() if value is not None}

"""A SQLite file and its connections. A missing file is created, and an unusable one is renamed and replaced."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from dprl.engine import private

log = logging.getLogger("dprl.runs")

BUSY_SECONDS = 10.0
_DAMAGED = sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB


class StoreError(RuntimeError):
    """Raised when a store cannot be used. The message is one sentence without a path, so visitors may see it."""


def setting(name: str, default: int, low: int, high: int) -> int:
    """Read a whole number from an environment variable. Raises StoreError if the variable has any other value."""
    text = os.environ.get(name, "").strip() or str(default)
    if not text.isdecimal() or not low <= int(text) <= high:
        raise StoreError(f"{name} is {text[:40]!r}; give a whole number from {low} to {high}.")
    return int(text)


class Database:
    """One SQLite file in WAL mode, shared by the threads of one process; other processes open their own `Database`.

    One thread at a time uses each connection. If the file is moved or deleted, the next use creates a new one. A file
    whose tables have another `version` is set aside. Messages call the file `name`. Every use may raise StoreError.
    """

    def __init__(self, path: Path, name: str, version: int, tables: str, *pragmas: str) -> None:
        self.path, self.name, self._version, self._tables = path, name, version, tables
        self._pragmas = (
            "synchronous = NORMAL",
            "foreign_keys = ON",
            "journal_size_limit = 67108864",
            *pragmas,
        )
        self._turn = threading.Lock()
        self._aside = 0.0, ""
        self._open()

    @property
    def notice(self) -> str:
        """Return a message if this process has replaced an unusable file within the last day, else ""."""
        at, text = self._aside
        return text if time.time() - at < 24 * 3600 else ""

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Open a connection in a write transaction, which is committed at the end or rolled back on an error."""
        with self._turn, self.reading() as db:  # without the lock, threads that come later may overtake
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open a connection without a transaction."""
        if _inode(self.path) != self._inode:
            self._open()
        inode, spare = self._inode, self._spare
        try:
            try:
                db = spare.pop()
            except IndexError:
                db = self._connect()
            try:
                yield db
            except BaseException:
                db.close()  # this rolls back an open transaction
                raise
            spare.append(db)
        except sqlite3.Error as error:
            if _is_damage(error):
                with self._locked():
                    if _inode(self.path) == inode:
                        self._set_aside("damaged")
                raise StoreError(self.notice or f"The {self.name} was damaged; try again.") from error
            raise StoreError(f"The {self.name} cannot be used now ({self._reason(error)}).") from error

    def rows(self, statement: str, *values: object) -> list[sqlite3.Row]:
        """Run one SQL statement, and return its rows."""
        with self.reading() as db:
            return db.execute(statement, values).fetchall()

    def close(self) -> None:
        """Close the connections that are not in use."""
        while self._spare:
            self._spare.pop().close()

    def _reason(self, error: sqlite3.Error | OSError) -> str:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        # If there is no space for the index of the write-ahead log, even reading fails, with a vague error.
        full = code == sqlite3.SQLITE_IOERR and shutil.disk_usage(self.path.parent).free < 2**20
        if full or code == sqlite3.SQLITE_FULL:
            return "its disk is full"
        return getattr(error, "strerror", None) or str(error)

    def _open(self) -> None:
        """Create the file at `path` if it is missing; rename and replace it if it cannot be used."""
        try:
            private(self.path.parent)
            with self._locked():
                version = self._version_found()
                if version == 0:
                    self._begin()
                elif version != self._version:
                    self._set_aside(f"version-{version}" if version > 0 else "damaged")
                self._inode, self._spare = _inode(self.path), list[sqlite3.Connection]()
        except (OSError, sqlite3.OperationalError) as error:
            wrong = f"The {self.name} cannot be used ({self._reason(error)})"
            raise StoreError(f"{wrong}; set DPRL_HOME to a folder that can be written to.") from error

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold a lock, so that only one process at a time creates or replaces the file."""
        with open(f"{self.path}.lock", "a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _version_found(self) -> int:
        """Return the file's version: 0 if it is missing or empty, -1 if it is damaged or from another program."""
        try:
            with contextlib.closing(self._connect()) as db:
                version = int(db.execute("PRAGMA user_version").fetchone()[0])
                foreign = not version and db.execute("SELECT 1 FROM sqlite_schema").fetchone()
                return -1 if foreign else version
        except sqlite3.DatabaseError as error:
            if _is_damage(error):
                return -1
            raise

    def _begin(self) -> None:
        with contextlib.closing(self._connect()) as db:
            db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # possible only in an empty file, before WAL
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(
                f"BEGIN IMMEDIATE; {self._tables} PRAGMA user_version = {self._version}; COMMIT;"
            )

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        db.row_factory = sqlite3.Row
        for pragma in self._pragmas:
            db.execute(f"PRAGMA {pragma}")
        return db

    def _set_aside(self, why: str) -> None:
        """Rename the file together with its write-ahead log, which keeps its content readable, and create a new one."""
        when = f"{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 10**9:09}"
        target = self.path.with_name(f"{self.path.stem}.{why}-{when}{self.path.suffix}")
        for ending in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.rename(f"{self.path}{ending}", f"{target}{ending}")
        what = "damaged" if why == "damaged" else "written by another version of dprl"
        notice = f"The {self.name} was {what}: it was set aside as {target.name}, and a new one was created."
        log.error("%s", notice)
        self._aside = time.time(), notice
        self._begin()


def _is_damage(error: sqlite3.Error) -> bool:
    """Return whether the error means that the file is damaged, rather than busy, full or unreadable."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in _DAMAGED or str(error).startswith(("no such table", "no such column"))


def _inode(path: Path) -> int:
    return path.stat().st_ino if path.exists() else 0

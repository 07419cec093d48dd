"""A SQLite file: opened, begun if it is missing, set aside if it cannot be used, and its connections."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import shutil
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from dprl.kernels import private

log = logging.getLogger("dprl.runs")

BUSY_SECONDS = 10.0
_SPARE = 16  # connections kept open
_NOTICE_SECONDS = 24 * 3600.0
DAMAGED = "The {file} was damaged: it was set aside as {aside}, and a new one was begun."
OTHER_VERSION = (
    "The {file} was written by another version of dprl: it was set aside as {aside}, and a new one was begun."
)


class StoreError(RuntimeError):
    """The store cannot be used; the message is one sentence, for visitors too: it holds no path."""


class DiskFull(StoreError):
    """Nothing was written, because the disk has no room."""

    def __init__(self) -> None:
        super().__init__("The disk of this server is full, and nothing new is kept until there is room.")


def setting(name: str, default: int, low: int, high: int) -> int:
    """A whole number from the environment. Raises StoreError naming the variable if it is not one."""
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    try:
        value = int(text)
    except ValueError:
        value = low - 1
    if not low <= value <= high:
        raise StoreError(f"{name} is {text[:40]!r}, and must be a whole number from {low} to {high}.")
    return value


class Database:
    """One SQLite file in WAL mode, for the threads of one process; other processes have their own.

    A connection is lent to one thread at a time. If the file is moved or deleted under a running process, the next use
    begins a new one.

    Args:
        path: of the file.
        name: what it is called in sentences.
        version: of its tables; a file of another version is set aside.
        tables: statements that make an empty file one of these.
        pragmas: of each connection.

    Raises:
        StoreError: the file can be neither opened nor begun.
    """

    def __init__(self, path: Path, name: str, version: int, tables: str, *pragmas: str) -> None:
        self.path, self.name, self._version, self._tables = path, name, version, tables
        self._pragmas = (
            "synchronous = NORMAL",
            "foreign_keys = ON",
            "journal_size_limit = 67108864",
            *pragmas,
        )
        self._spare: deque[tuple[int, sqlite3.Connection]] = deque()
        self._inode = 0
        self._lock = threading.Lock()
        self._turn = threading.Lock()  # SQLite's own waiting sleeps, and lets late comers pass
        self._aside: tuple[float, str] | None = None
        with self.reading():
            pass

    @property
    def notice(self) -> str:
        """A sentence if this process has set the file aside within the last day, else ""."""
        return self._aside[1] if self._aside and time.time() - self._aside[0] < _NOTICE_SECONDS else ""

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one moment of the file. Raises StoreError."""
        with self._connection() as db:
            db.execute("BEGIN")
            yield db

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection in a write transaction, committed at the end, rolled back on an error. Raises StoreError."""
        with self._turn, self._connection() as db:
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")

    @contextlib.contextmanager
    def outside(self) -> Iterator[sqlite3.Connection]:
        """A connection in no transaction. Raises StoreError."""
        with self._connection() as db:
            yield db

    def close(self) -> None:
        """Close the connections that nobody is using."""
        while self._spare:
            self._spare.pop()[1].close()

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        db = None
        inode = self._current_inode()
        try:
            db = self._borrow(inode)
            yield db
        except sqlite3.Error as error:
            if _is_damage(error):
                with self._locked():
                    if _inode(self.path) == inode:
                        self._set_aside("damaged")
                raise StoreError(self.notice or f"The {self.name} was damaged; try again.") from error
            if self._says_full(error):
                raise DiskFull from error
            raise StoreError(f"The {self.name} cannot be used just now ({error}).") from error
        finally:
            if db is not None:
                if db.in_transaction:
                    with contextlib.suppress(sqlite3.Error):  # a damaged file may refuse even that
                        db.execute("ROLLBACK")
                if inode == self._inode and len(self._spare) < _SPARE and not db.in_transaction:
                    self._spare.append((inode, db))
                else:
                    db.close()

    def _says_full(self, error: sqlite3.Error) -> bool:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        # Without room for the index of the write-ahead log not even reading works, and the error is a general one.
        return code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _free(self.path) < 2**20)

    def _current_inode(self) -> int:
        inode = _inode(self.path)
        if inode == 0 or inode != self._inode:
            with self._lock:
                inode = _inode(self.path)
                if inode == 0 or inode != self._inode:
                    inode = self._inode = self._open()
        return inode

    def _borrow(self, inode: int) -> sqlite3.Connection:
        while self._spare:
            with contextlib.suppress(IndexError):
                known, db = self._spare.pop()
                if known == inode:
                    return db
                db.close()
        return self._connect(self.path)

    def _open(self) -> int:
        """Make sure that a usable file is at `path`; return its inode."""
        try:
            private(self.path.parent)
            with self._locked():
                if _inode(self.path):
                    self._examine()
                if not _inode(self.path):
                    self._begin(self.path)
                return _inode(self.path)
        except (OSError, sqlite3.OperationalError) as error:
            full = isinstance(error, sqlite3.Error) and self._says_full(error)
            reason = "its disk is full" if full else getattr(error, "strerror", None) or str(error)
            raise StoreError(
                f"The {self.name} cannot be used ({reason}); set DPRL_HOME to a folder that can be written to."
            ) from error

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Only one process at a time begins a file or sets it aside."""
        with open(f"{self.path}.lock", "a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _examine(self) -> None:
        """Set the file aside if this version cannot use it."""
        try:
            with contextlib.closing(self._connect(self.path)) as db:
                version = db.execute("PRAGMA user_version").fetchone()[0]
                empty = version == 0 and not db.execute("SELECT 1 FROM sqlite_schema").fetchone()
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise
            version, empty = 0, False
        if empty:
            self._begin(self.path)
        elif version != self._version:
            self._set_aside(f"version-{version}" if version else "damaged")

    def _begin(self, path: Path) -> None:
        """Begin a file at `path`, where there is nothing or an empty file."""
        with contextlib.closing(self._connect(path)) as db:
            db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # only an empty file takes it, before WAL
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(
                f"BEGIN IMMEDIATE; {self._tables} PRAGMA user_version = {self._version}; COMMIT;"
            )

    def _connect(self, path: Path) -> sqlite3.Connection:
        db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        db.row_factory = sqlite3.Row
        for pragma in self._pragmas:
            db.execute(f"PRAGMA {pragma}")
        return db

    def _set_aside(self, why: str) -> None:
        """Rename the file with its write-ahead log, under which it stays readable, and begin a new one."""
        stem, count = f"{self.path.stem}.{why}-{time.strftime('%Y%m%d-%H%M%S')}", 1
        while (target := self.path.with_name(f"{stem}-{count}{self.path.suffix}")).exists():
            count += 1
        for ending in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.rename(f"{self.path}{ending}", f"{target}{ending}")
        notice = (DAMAGED if why == "damaged" else OTHER_VERSION).format(file=self.name, aside=target.name)
        log.error("%s", notice)
        self._aside = time.time(), notice
        self._begin(self.path)


def _is_damage(error: sqlite3.Error) -> bool:
    """Return whether the file is damaged, rather than busy, full or unreadable."""
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return True
    return str(error).startswith(("no such table", "no such column"))


def _inode(path: Path) -> int:
    try:
        return os.stat(path).st_ino
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _free(path: Path) -> int:
    """Free bytes on the disk of `path`; as good as endless if that cannot be known."""
    try:
        return shutil.disk_usage(path.parent).free
    except OSError:
        return 2**62

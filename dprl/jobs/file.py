"""A file of the store: opened, begun when missing, set aside when it cannot be used, and its connections."""

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
from typing import ClassVar

from dprl.engine import private

log = logging.getLogger("dprl.jobs.file")

SCHEMA = 2  # user_version of each file
BUSY_SECONDS = 10.0
_ROOM = 2**20  # bytes; less is as good as nothing
_SILENCE = 60.0  # seconds between two words on that in the log
_SPARE = 16  # connections kept open: more threads than these seldom use a file at once
_NOTICE_SECONDS = 24 * 3600.0  # for which a notice is shown
DAMAGED = "The {file} was damaged: it was set aside as {aside}, and a new one was begun."
OTHER_VERSION = (
    "The {file} was written by another version of dprl: it was set aside as {aside}, and a new one was begun."
)


class StoreError(RuntimeError):
    """The store cannot be used; the message is one sentence, for visitors too: it holds no path."""


class DiskFull(StoreError):
    """Nothing was written, because the store's disk has no room; reading goes on."""

    def __init__(self) -> None:
        super().__init__(
            "The disk for runs is full: finished ones can be looked at, and nothing new is kept until there is room."
        )


class UnreadableResult(sqlite3.DatabaseError):
    """A stored result cannot be decoded: the file is damaged."""


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether the file is damaged, rather than busy, full or unreadable."""
    if isinstance(error, UnreadableResult):
        return True
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return True
    return str(error).startswith(("no such table", "no such column"))


class StoreFile:
    """One SQLite file in WAL mode, for the threads of one process; other processes have their own.

    A connection is lent to one thread at a time. Should the file be moved or deleted under a running process,
    the next use begins a new one instead of writing into nothing. The old one's connections are closed like any other:
    SQLite removes a write-ahead log by its name, but not once the file that it belongs to has left its place (a test
    holds that; 3.26 and newer do so).

    Attributes:
        name: what it is called in sentences.
        begin_with: statements that make an empty file one of these.
        pragmas: of each connection.
        commits: write transactions of this process.
    """

    name: ClassVar[str]
    begin_with: ClassVar[str]
    pragmas: ClassVar[tuple[str, ...]] = (
        "synchronous = NORMAL",
        "foreign_keys = ON",
        "journal_size_limit = 67108864",
    )

    def __init__(self, path: Path) -> None:
        """Open or begin the file at `path`. Raises StoreError where that is impossible."""
        self.path = path
        self._spare: deque[tuple[int, sqlite3.Connection]] = deque()
        self._inode = 0
        self._lock = threading.Lock()
        self._turn = threading.Lock()  # SQLite's own waiting sleeps, and lets late comers pass
        self.commits = 0
        self._needed = _ROOM
        self._silent_until = 0.0
        with self.connection():
            pass

    @contextlib.contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """A connection in autocommit mode, for this thread, for a moment. Raises DiskFull where there is no room."""
        inode = self._current_inode()
        db = self._borrow(inode)
        try:
            yield db
        except sqlite3.Error as error:
            if not self._says_full(error):
                raise
            if time.monotonic() > self._silent_until:
                log.error("The disk of %s is full.", self.path)
                self._silent_until = time.monotonic() + _SILENCE
            self._needed = _free(self.path) + _ROOM
            raise DiskFull from error
        finally:
            if db.in_transaction:
                with contextlib.suppress(sqlite3.Error):  # a damaged file may refuse even that
                    db.execute("ROLLBACK")
            if inode == self._inode and len(self._spare) < _SPARE and not db.in_transaction:
                self._spare.append((inode, db))
            else:
                db.close()

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection inside a write transaction, committed at the end, rolled back on an error."""
        with self._turn, self.connection() as db:
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")
            self.commits += 1
            self._needed = _ROOM

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one moment of the store."""
        with self.connection() as db:
            db.execute("BEGIN")
            yield db

    def notice(self) -> str | None:
        """The sentence on this file if it was set aside within the last day."""
        with self.connection() as db:
            since = time.time() - _NOTICE_SECONDS
            row = db.execute("SELECT text FROM notice WHERE at > ?", (since,)).fetchone()
        return None if row is None else str(row[0])

    @property
    def full(self) -> bool:
        """Whether the disk is full: next to nothing is free, or no more than when something found no room."""
        return _free(self.path) < self._needed

    def _says_full(self, error: sqlite3.Error) -> bool:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        # Without room for the index of the write-ahead log not even reading works, and the error is a general one.
        return code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and self.full)

    @property
    def inode(self) -> int:
        """Tells one file at this path from the next one."""
        return self._inode

    def set_aside_damaged(self, inode: int) -> None:
        """Set the file aside because using it showed damage, unless another thread or process already did."""
        with self._locked():
            if _inode(self.path) == inode:
                self._set_aside("damaged")

    def close(self) -> None:
        """Close the connections that nobody is using."""
        while self._spare:
            self._spare.pop()[1].close()

    def give_back(self) -> None:
        """Return free pages to the disk."""
        with self.connection() as db:
            db.execute("PRAGMA incremental_vacuum(4096)").fetchall()

    def _current_inode(self) -> int:
        inode = _inode(self.path)
        if inode == 0 or inode != self._inode:
            with self._lock:
                inode = _inode(self.path)
                if inode == 0 or inode != self._inode:
                    inode = self._inode = self._open()
        return inode

    def _borrow(self, inode: int) -> sqlite3.Connection:
        while True:
            try:
                known, db = self._spare.pop()
            except IndexError:
                return self._connect(self.path)
            if known == inode:
                return db
            db.close()

    def _open(self) -> int:
        """Make sure that a usable store is at `path`; its inode."""
        try:
            private(self.path.parent)
            with self._locked():
                if _inode(self.path):
                    self._examine()
                if not _inode(self.path):
                    self._begin(self.path)
                return _inode(self.path)
        except (OSError, sqlite3.OperationalError) as error:
            if isinstance(error, sqlite3.Error) and self._says_full(error):
                reason = "its disk is full"
            else:
                reason = getattr(error, "strerror", None) or str(error)
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
        """Set the file aside if it is not a store that this version can use."""
        try:
            with contextlib.closing(self._connect(self.path)) as db:
                version = db.execute("PRAGMA user_version").fetchone()[0]
                empty = version == 0 and not db.execute("SELECT 1 FROM sqlite_schema").fetchone()
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            version, empty = 0, False
        if empty:
            self._begin(self.path)
        elif version != SCHEMA:
            self._set_aside(f"version-{version}" if version else "damaged")

    def _begin(self, path: Path, notice: str | None = None) -> None:
        """Begin a file at `path`, where there is nothing or an empty file."""
        with contextlib.closing(self._connect(path)) as db:
            db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # only an empty file takes it, before WAL
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(f"BEGIN IMMEDIATE; {self.begin_with} PRAGMA user_version = {SCHEMA}; COMMIT;")
            if notice is not None:
                db.execute("INSERT INTO notice VALUES (?, ?)", (notice, time.time()))

    def _connect(self, path: Path) -> sqlite3.Connection:
        db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        db.row_factory = sqlite3.Row
        for pragma in self.pragmas:
            db.execute(f"PRAGMA {pragma}")
        return db

    def _set_aside(self, why: str) -> None:
        """Rename the file with its write-ahead log, under which it stays readable, and begin a new one."""
        stamp = time.strftime("%Y%m%d-%H%M%S")
        stem, count = f"{self.path.stem}.{why}-{stamp}", 1
        while (target := self.path.with_name(stem + self.path.suffix)).exists():
            count += 1
            stem = f"{self.path.stem}.{why}-{stamp}-{count}"
        for ending in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.rename(f"{self.path}{ending}", f"{target}{ending}")
        begun = self.path.with_name(f"{self.path.name}.new")
        for ending in ("", "-wal", "-shm"):
            Path(f"{begun}{ending}").unlink(missing_ok=True)
        notice = (DAMAGED if why == "damaged" else OTHER_VERSION).format(file=self.name, aside=target.name)
        log.error("%s", notice)
        self._begin(begun, notice)
        os.rename(begun, self.path)  # closed, so that it has no log beside it


def _inode(path: Path) -> int:
    try:
        return os.stat(path).st_ino
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _free(path: Path) -> int:
    """Free bytes on the disk of `path`; as good as endless where that cannot be told."""
    try:
        return shutil.disk_usage(path.parent).free
    except OSError:
        return 2**62

"""A disk that can be full."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from dprl.runs import database as file


class Disk:
    full = False

    def check(self, statement: str) -> None:
        """Raise what SQLite raises where a statement finds no room."""
        if self.full and statement.startswith(("INSERT", "UPDATE", "DELETE")):
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error


def install(monkeypatch: pytest.MonkeyPatch) -> Disk:
    """Put stores that are opened from now on onto such a disk."""
    disk = Disk()
    connect = sqlite3.connect

    class Connection(sqlite3.Connection):
        def execute(self, sql: str, *more: Any) -> sqlite3.Cursor:
            disk.check(sql)
            return super().execute(sql, *more)

        def executemany(self, sql: str, *more: Any) -> sqlite3.Cursor:
            disk.check(sql)
            return super().executemany(sql, *more)

    def opened(path: Path, **options: Any) -> sqlite3.Connection:
        return connect(path, factory=Connection, **options)

    monkeypatch.setattr(file.sqlite3, "connect", opened)
    return disk

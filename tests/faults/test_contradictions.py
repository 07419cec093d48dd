"""A store whose pages are whole, but say what cannot all be true: nobody waits for ever, nothing turns in circles."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from dprl.jobs.sqlite_pages import PAGE, rows_on_pages
from dprl.jobs.store import Store
from tests.jobs import fake
from tests.jobs.fake import FakeSpec
from tests.jobs.seed_jobs import claim, finish, sql

FIRST, SECOND = FakeSpec("first"), FakeSpec("second")


def forgotten(path: Path, index: str, statement: str) -> None:
    """A statement that an index knows nothing of."""
    with sqlite3.connect(path) as db:
        row = db.execute("SELECT * FROM sqlite_schema WHERE name = ?", (index,)).fetchone()
        db.execute("PRAGMA writable_schema = ON")
        db.execute("DELETE FROM sqlite_schema WHERE name = ?", (index,))
    db.close()
    sql(path, statement)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", row)
    db.close()


def test_a_backlog_of_seeds_that_are_done_stops_nobody(store: Store, path: Path) -> None:
    store.requests.add(FIRST, "ann")
    finish(store), finish(store)
    sql(path, "INSERT INTO backlog SELECT id, 2, 1.0 FROM run")
    store.requests.add(SECOND, "bob")
    assert store.jobs.claim("w") is None  # what was asked for went with the file
    assert store.notice is not None
    assert store.notice.endswith("and a new one was begun.")
    for spec in (FIRST, SECOND):
        store.requests.add(spec, "ann")
    assert claim(store).spec == FIRST


def test_seeds_that_the_backlog_has_not_are_counted_when_a_pool_begins(store: Store, path: Path) -> None:
    store.requests.add(FIRST, "ann")
    sql(path, "DELETE FROM backlog")
    assert store.jobs.claim("w") is None
    store.jobs.recover()
    assert claim(store).spec == FIRST


def test_what_makes_room_is_found_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPRL_STORE_MB", "1")
    store = Store(path, fake.simulation())
    store.requests.add(FIRST, "ann")
    finish(store, size=300_000), finish(store, size=300_000)
    store.close()
    forgotten(path, "unit_used", "UPDATE unit SET bytes = 0")
    store = Store(path, fake.simulation())
    store.requests.add(SECOND, "ann")
    finish(store, size=300_000), finish(store, size=300_000)
    store.requests.add(SECOND, "ann")  # went with the file when that was noticed
    finish(store), finish(store)
    assert store.size_bytes() <= 2**20
    assert store.status.of(SECOND).state == "done"
    assert store.notice is not None


def test_a_row_longer_than_its_file_is_none(tmp_path: Path) -> None:
    """Page 2, which its rest is on, says that page 2 follows."""
    first, size = 489, 489 + 2**16 * (PAGE - 4)  # bytes on its own page, and in all
    cell = bytes([size >> 21 | 0x80, size >> 14 & 0x7F | 0x80, size >> 7 & 0x7F | 0x80, size & 0x7F, 1])
    leaf = bytearray(PAGE)
    leaf[100:110] = bytes([0x0D, 0, 0, 0, 1, 0, 0, 0, 0, 200])
    leaf[200 : 200 + len(cell)] = cell
    leaf[205 + first : 209 + first] = (2).to_bytes(4)
    path = tmp_path / "file"
    path.write_bytes(leaf + (2).to_bytes(4) + bytes(PAGE - 4))
    assert list(rows_on_pages(path, {})) == []


def test_a_queue_for_which_nobody_is_known_to_wait_is_none(store: Store, path: Path) -> None:
    store.requests.add(FIRST, "ann")
    sql(path, "DELETE FROM request")
    sql(path, "DROP TABLE visitor")  # it has to be set aside
    assert store.jobs.claim("w") is None
    assert store.status.activity().seeds_queued == 0
    store.requests.add(FIRST, "ann")
    assert claim(store).spec == FIRST


def test_a_connection_that_cannot_roll_back_is_not_lent_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stuck(sqlite3.Connection):
        def execute(self, query: str, *values: object) -> sqlite3.Cursor:
            if query == "ROLLBACK":
                raise sqlite3.OperationalError("disk I/O error")
            return super().execute(query, *values)  # type: ignore[arg-type]

    store.close()
    connect = sqlite3.connect
    with monkeypatch.context() as here:
        here.setattr(sqlite3, "connect", lambda path, **more: connect(path, factory=Stuck, **more))
        with pytest.raises(ZeroDivisionError), store.jobs._file.writing():
            raise ZeroDivisionError
    assert not store.jobs._file._spare
    store.requests.add(FIRST, "ann")

"""Stores of earlier versions, which kept rooms and short links in the file of runs: all of it is there afterwards."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import time
from pathlib import Path

import pytest

from dprl.jobs.rooms_file import rooms_path
from dprl.jobs.store import Lease, Store
from dprl.rooms.steps import TOTAL, Guess, Question
from tests.jobs import fake
from tests.jobs.fake import FakeSpec
from tests.jobs.seed_jobs import claim, sql

DONE, BEGUN = FakeSpec("done"), FakeSpec("begun")
ROOM, KEY, LINK = "VTMVZM", "66e198c46d1728abcaf415eec0711f80", "YRYBHKDP"


@pytest.fixture
def earlier(path: Path) -> Path:
    """Such a store, whose room was opened just now."""
    script = Path(__file__).with_name("one_file.sql").read_text(encoding="utf-8")
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(script + "; PRAGMA user_version = 1;")
        db.execute("UPDATE room SET opened_at = ?", (time.time(),))
    return path


def has_room_and_link(store: Store) -> bool:
    """Whether all of the room is there, and the link."""
    question, guess = store.rooms.steps(ROOM)
    room = store.rooms.find(ROOM)
    return (
        room is not None
        and (room.people, room.version, room.closed, room.total) == (2, 7, False, TOTAL.high)
        and store.rooms.teaches(ROOM, KEY)
        and store.rooms.written(ROOM, "d0") == {0: "yes", 1: "100"}
        and question.content == Question("Did you ever copy an answer?", 5.0)
        and (question.state, sorted(question.answers)) == ("revealed", ["no", "yes"])
        and (guess.content, guess.state, guess.answers) == (Guess("first", 0), "open", ("100",))
        and store.links.lengthen(LINK) == ("explore", "v=1&c=eps.0.3~K.1e7")
    )


def in_file(path: Path) -> bytes:
    """All that stands in a file and in its log."""
    log = Path(f"{path}-wal")
    return path.read_bytes() + (log.read_bytes() if log.exists() else b"")


def test_runs_results_rooms_and_links_are_taken_over(earlier: Path) -> None:
    with contextlib.closing(Store(earlier, fake.simulation())) as store:
        assert store.notice is None
        assert has_room_and_link(store)
        assert [trace.complete for trace in store.results.traces(DONE)] == [True, True]
        assert [len(at) for _, at, _ in store.results.live(DONE)] == [3, 3]
        assert store.status.of(BEGUN, "ann").state == "running"
        assert store.leases.seen(()) == {"tab"}
        store.jobs.recover()
        assert claim(store).spec == BEGUN
        store.rooms.respond(ROOM, "d1", 1, "200")
    with contextlib.closing(Store(earlier, fake.simulation())) as again:
        assert again.rooms.written(ROOM, "d1") == {0: "no", 1: "200"}


def test_nothing_of_a_room_stays_in_the_file_of_runs(earlier: Path) -> None:
    found = (ROOM.encode(), b"copy an answer", bytes.fromhex("C3601C753853AE54FE91C058164575C0"))
    assert all(one in in_file(earlier) for one in found)
    Store(earlier, fake.simulation()).close()
    assert not any(one in in_file(earlier) for one in found)


def test_taking_over_that_was_interrupted_begins_again(earlier: Path, tmp_path: Path) -> None:
    """Rooms have been copied, and not yet been deleted where they were."""
    before = tmp_path / "before.sqlite"
    with contextlib.closing(sqlite3.connect(earlier)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    shutil.copyfile(earlier, before)
    Store(earlier, fake.simulation()).close()
    shutil.copyfile(before, earlier)
    with contextlib.closing(Store(earlier, fake.simulation())) as store:
        assert store.notice is None
        assert has_room_and_link(store)
    assert ROOM.encode() not in in_file(earlier)


@pytest.mark.parametrize(
    ("harm", "said", "rooms"),
    [
        (
            "DROP TABLE visitor",
            "a new one was begun",
            1,
        ),  # what was moved before that was found is where it belongs
        ("DROP TABLE room_device", "1 room and 1 short link could be kept", 1),
        ("DELETE FROM room", "1 short link could be kept", 0),
    ],
)
def test_a_damaged_one_leaves_what_is_whole_of_its_rooms_and_links(
    earlier: Path, harm: str, said: str, rooms: int
) -> None:
    sql(earlier, harm)
    with contextlib.closing(Store(earlier, fake.simulation())) as store:
        [aside] = earlier.parent.glob("runs.damaged-*.sqlite")
        assert store.notice == f"The store of runs was damaged: it was set aside as {aside.name}, and {said}."
        assert store.links.lengthen(LINK)[0] == "explore"
        assert [step.place for step in store.rooms.steps(ROOM)] == [0, 1] * rooms
        assert store.rooms.teaches(ROOM, KEY) == bool(rooms)
        assert store.status.of(DONE).state == "unknown"
        store.requests.add(DONE, "ann")
        assert claim(store).spec == DONE


def test_one_from_before_rooms_gets_them(earlier: Path) -> None:
    for table in ("room_answer", "room_step", "room_device", "room", "short_link"):
        sql(earlier, f"DROP TABLE {table}")
    with contextlib.closing(Store(earlier, fake.simulation())) as store:
        assert store.notice is None
        assert store.rooms.find(ROOM) is None
        assert len(store.results.traces(DONE)) == 2
    assert rooms_path(earlier).exists()


@pytest.mark.parametrize("damaged", [False, True])
def test_a_file_of_rooms_without_totals_and_drafts_gets_them(earlier: Path, damaged: bool) -> None:
    """Rooms of both kinds stand side by side, also after what was whole of them has been saved."""
    Store(earlier, fake.simulation()).close()
    rooms = rooms_path(earlier)
    sql(rooms, "ALTER TABLE room DROP COLUMN total")
    sql(rooms, "ALTER TABLE room_answer DROP COLUMN sent")
    with contextlib.closing(Store(earlier, fake.simulation())) as store:
        assert store.notice is None
        code, key = store.rooms.open(Lease("tab"), 3.0)
        store.rooms.put_step(code, key, Guess("trust", 1))
        store.rooms.join(code, "d9", Lease("tab"))
        store.rooms.draft(code, "d9", 0, "1e5")
    if damaged:
        sql(rooms, "DROP TABLE notice")
    with contextlib.closing(Store(earlier, fake.simulation())) as store:
        assert bool(store.notice) == damaged
        assert has_room_and_link(store)
        new = store.rooms.find(code)
        assert new is not None
        assert new.total == 3.0
        assert store.rooms.drafts(code, "d9") == {0: "1e5"}

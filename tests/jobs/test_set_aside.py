"""Files that are damaged, foreign, missing or of another version are set aside, and a new one is begun."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dprl.jobs.file import SCHEMA, StoreError
from dprl.jobs.rooms_file import rooms_path
from dprl.jobs.store import Lease, Store
from tests.jobs import fake
from tests.jobs.fake import FakeSpec
from tests.jobs.seed_jobs import POINTS, claim, finish, sql


def garbage(path: Path) -> None:
    path.write_bytes(b"this is no store " * 1000)


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:9000])


def overwritten(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)


def foreign(path: Path) -> None:
    path.unlink()
    sql(path, "CREATE TABLE recipes (name TEXT)")


def halved(path: Path) -> None:
    sql(path, "DROP TABLE unit")


def other_version(path: Path) -> None:
    sql(path, f"PRAGMA user_version = {SCHEMA + 7}")


@pytest.mark.parametrize("harm", [garbage, truncated, overwritten, foreign, halved, other_version])
def test_a_store_that_cannot_be_used_is_set_aside(path: Path, harm: Callable[[Path], None]) -> None:
    store = Store(path, fake.simulation())
    assert store.notice is None
    store.requests.add(FakeSpec(), "ann")
    finish(store)
    store.close()
    harm(path)
    before = path.read_bytes()

    store = Store(path, fake.simulation())
    assert store.status.of(FakeSpec()).state == "unknown"
    word = f"version-{SCHEMA + 7}" if harm is other_version else "damaged"
    [aside] = path.parent.glob(f"runs.{word}-*.sqlite")
    assert aside.read_bytes() == before
    assert store.notice is not None
    assert aside.name in store.notice
    assert ("another version" if harm is other_version else "was damaged") in store.notice
    assert store.notice.endswith("a new one was begun.")
    assert Store(path, fake.simulation()).notice == store.notice
    store.requests.add(FakeSpec(), "ann")
    finish(store)


def test_stores_set_aside_do_not_replace_each_other(path: Path) -> None:
    for i in range(3):
        path.write_text(f"garbage {i} " * 100)
        Store(path).close()
    assert len(list(path.parent.glob("runs.damaged-*.sqlite"))) == 3


def test_damage_under_a_running_app(path: Path) -> None:
    spec = FakeSpec()
    store, other = Store(path, fake.simulation()), Store(path, fake.simulation())
    store.requests.add(spec, "ann")
    unit = claim(other)
    # Both have open connections; one meets the damage first, the other finds the new file.
    sql(path, "DROP TABLE run_unit")
    assert store.status.of(spec).state == "unknown"
    assert store.notice is not None
    assert other.notice == store.notice
    assert not other.results.report(unit, 0.5, *POINTS)
    other.requests.add(spec, "ann")
    assert store.status.of(spec).state == "queued"
    assert len(list(path.parent.glob("runs.damaged-*.sqlite"))) == 1


def test_the_file_is_deleted_under_a_running_app(path: Path) -> None:
    spec = FakeSpec()
    store, other = Store(path, fake.simulation()), Store(path, fake.simulation())
    store.requests.add(spec, "ann")
    for ending in ("", "-wal", "-shm"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
    assert store.status.of(spec).state == "unknown"
    store.requests.add(spec, "ann")
    assert other.status.of(spec).state == "queued"
    other.close()
    assert store.status.of(spec).state == "queued"


def test_closing_a_file_that_was_moved_leaves_the_log_of_the_new_one(path: Path) -> None:
    """SQLite deletes logs by name."""
    old = Store(path, fake.simulation())
    old.requests.add(FakeSpec("old"), "ann")
    for ending in ("", "-wal", "-shm"):
        Path(f"{path}{ending}").rename(path.with_name(f"moved{ending}"))
    new = Store(path, fake.simulation())
    new.requests.add(FakeSpec("new"), "ann")
    log = Path(f"{path}-wal").read_bytes()
    assert len(log) > 0
    old.close()
    assert Path(f"{path}-wal").read_bytes() == log
    assert Store(path, fake.simulation()).status.of(FakeSpec("new")).state == "queued"
    assert new.status.of(FakeSpec("new")).state == "queued"


def test_a_result_that_cannot_be_decoded_is_computed_again(path: Path, store: Store) -> None:
    spec = FakeSpec(seeds=1)
    store.requests.add(spec, "ann")
    finish(store)
    sql(path, "UPDATE trace SET data = x'00'")
    assert store.results.traces(spec) == []
    assert store.notice is not None
    store.requests.add(spec, "ann")
    finish(store)
    assert len(store.results.traces(spec)) == 1


def test_damaged_rooms_are_set_aside_and_leave_the_runs_alone(path: Path, store: Store) -> None:
    store.requests.add(FakeSpec(), "ann")
    code, _ = store.rooms.open(Lease("tab"))
    sql(rooms_path(path), "DROP TABLE room_step")
    assert store.rooms.find(code) is None
    [aside] = path.parent.glob("runs-rooms.damaged-*.sqlite")
    assert store.notice == (
        f"The store of rooms was damaged: it was set aside as {aside.name}, and a new one was begun."
    )
    store.rooms.open(Lease("tab"))
    assert store.status.of(FakeSpec()).state == "queued"


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(
        StoreError, match=r"cannot be used \(.*\); set DPRL_HOME to a folder that can be written to\.$"
    ):
        Store(tmp_path / "file" / "runs.sqlite")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError, match="cannot be used"):
        Store(tmp_path / "folder")

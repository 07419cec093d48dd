"""Damaged, foreign and missing files: what can be kept is kept, and nothing damaged becomes a number."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dprl.jobs.file import SCHEMA, StoreError
from dprl.jobs.store import Store
from tests.jobs import fake
from tests.jobs.fake import FakeSpec, FakeTrace
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


def newer(path: Path) -> None:
    sql(path, f"PRAGMA user_version = {SCHEMA + 7}")


@pytest.mark.parametrize("harm", [garbage, truncated, overwritten, foreign, halved, newer])
def test_a_store_that_cannot_be_used_is_set_aside(path: Path, harm: Callable[[Path], None]) -> None:
    store = Store(path, fake.simulation())
    assert store.notice is None
    store.requests.add(FakeSpec(), "ann")
    finish(store)
    store.close()
    harm(path)
    before = path.read_bytes()

    store = Store(path, fake.simulation())
    word = "version-8" if harm is newer else "damaged"
    [aside] = path.parent.glob(f"runs.{word}-*.sqlite")
    assert aside.read_bytes() == before
    assert store.notice is not None
    assert aside.name in store.notice
    assert ("newer version" if harm is newer else "was damaged") in store.notice
    assert store.notice.endswith("a new one was begun.")
    assert Store(path, fake.simulation()).notice == store.notice
    assert store.status.of(FakeSpec()).state == "unknown"
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


def test_a_damaged_trace_for_which_nobody_waits(path: Path, store: Store) -> None:
    spec = FakeSpec(seeds=2)
    store.requests.add(spec, "ann")
    finish(store)
    unit = claim(store)
    store.requests.cancel(spec, "ann")
    store.results.keep(unit, FakeTrace(1, False).to_bytes())
    sql(path, "UPDATE trace SET data = x'00'")
    assert store.results.traces(spec) == []
    status = store.status.of(spec)
    assert (status.state, status.message) == (
        "failed",
        "The stored result of seed 0 was damaged; run it again.",
    )


HARM_TO_TRACES = [
    "UPDATE trace SET data = x'00' || substr(data, 2)",
    "UPDATE trace SET data = 'text'",
    "UPDATE trace SET data = ''",
    "UPDATE trace SET digest = x''",
    "UPDATE trace SET (digest, data) = (SELECT digest, data FROM trace ORDER BY unit DESC LIMIT 1)",
    "DELETE FROM trace",
]
HARM_TO_POINTS = [
    "UPDATE live SET points = x'000000'",
    "UPDATE live SET points = 'text'",
    "UPDATE live SET points = (SELECT points FROM live WHERE unit = (SELECT max(id) FROM unit))",
    "DELETE FROM live",
]


@pytest.mark.parametrize("harm", HARM_TO_TRACES + HARM_TO_POINTS)
def test_a_damaged_trace_or_curve_is_computed_again_once(path: Path, store: Store, harm: str) -> None:
    spec = FakeSpec(seeds=2)
    store.requests.add(spec, "ann")
    finish(store)
    finish(store)
    for again in (True, False):
        sql(path, f"{harm} WHERE unit = (SELECT min(id) FROM unit)")
        if harm in HARM_TO_TRACES:
            assert [trace.seed for trace in store.results.traces(spec)] == [1]
        else:
            assert [seed for seed, _, _ in store.results.live(spec)] == [1]
        status = store.status.of(spec)
        assert (status.state, status.seeds_done) == ("running" if again else "failed", 1)
        what = "it is computed again" if again else "run it again"
        assert status.message == f"The stored result of seed 0 was damaged; {what}."
        if not again:
            store.requests.retry(spec, "ann")
        assert finish(store).seed == 0
        assert (store.status.of(spec).state, store.status.of(spec).message) == ("done", "")
        assert [len(store.results.live(spec)), len(store.results.traces(spec))] == [2, 2]


def test_no_flipped_bit_of_a_curve_becomes_a_number(path: Path, store: Store) -> None:
    spec = FakeSpec(seeds=1)
    store.requests.add(spec, "ann")
    finish(store)
    [(_, _, regret)] = store.results.live(spec)
    with sqlite3.connect(path) as db:
        [(points,)] = db.execute("SELECT points FROM live")
    db.close()
    for place in range(0, len(points), 3):
        harmed = points[:place] + bytes([points[place] ^ 1 << place % 8]) + points[place + 1 :]
        sql(path, f"UPDATE live SET points = x'{harmed.hex()}'")
        assert store.results.live(spec) == []
        store.requests.retry(spec, "ann")
        finish(store)
        np.testing.assert_array_equal(store.results.live(spec)[0][2], regret)


@pytest.mark.parametrize("harm", HARM_TO_POINTS)
def test_damaged_points_of_what_is_not_finished_are_left_out(path: Path, store: Store, harm: str) -> None:
    spec, other = FakeSpec(seeds=1), FakeSpec("other", seeds=1)
    store.requests.add(spec, "ann")
    store.requests.add(other, "ann")
    unit = claim(store)
    store.results.report(unit, 0.5, *POINTS)
    finish(store)
    sql(path, f"{harm} WHERE unit = (SELECT min(id) FROM unit)")
    assert store.results.live(spec) == []
    assert store.status.of(spec).state == "running"
    assert store.results.report(unit, 0.6, *POINTS)
    assert len(store.results.live(spec)) == 1
    store.requests.cancel(spec, "ann")
    store.results.keep(unit, FakeTrace(0, False).to_bytes())
    sql(path, f"{harm} WHERE unit = (SELECT min(id) FROM unit)")
    assert store.results.live(spec) == []
    assert store.status.of(spec).state == "cancelled"
    assert len(store.results.traces(spec)) == 1


def test_a_damaged_spec_is_written_anew_by_asking_again(path: Path, store: Store) -> None:
    spec = FakeSpec(seeds=1)
    store.requests.add(spec, "ann")
    sql(path, """UPDATE run SET spec = replace(spec, '"a"', '"b"')""")
    assert store.jobs.claim("w") is None
    assert store.status.of(spec).state == "failed"
    store.requests.retry(spec, "ann")
    assert finish(store).spec == spec


def test_a_bad_byte_in_what_was_asked_for(path: Path, store: Store) -> None:
    """SQLite hands it over, and Python cannot decode it."""
    spec = FakeSpec(seeds=1)
    store.requests.add(spec, "ann")
    sql(path, """UPDATE run SET spec = CAST(x'ff' || spec AS TEXT)""")
    assert store.jobs.claim("w") is None or store.notice is not None
    store.requests.add(spec, "ann")
    store.requests.retry(spec, "ann")
    assert finish(store).spec == spec


@pytest.mark.parametrize("name", [b"run_unit", b"trace"])
def test_a_bad_byte_in_the_name_of_a_table(path: Path, name: bytes) -> None:
    """SQLite's sentence on it cannot be decoded either."""
    store = Store(path, fake.simulation())
    store.requests.add(FakeSpec(seeds=1), "ann")
    finish(store)
    store.close()
    path.write_bytes(path.read_bytes().replace(b"table" + name + name, b"table\x81" + name[1:] + name))
    store = Store(path, fake.simulation())
    assert store.notice is not None
    store.requests.add(FakeSpec(seeds=1), "ann")
    store.close()


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(
        StoreError, match=r"cannot be used \(.*\); set DPRL_HOME to a folder that can be written to\.$"
    ):
        Store(tmp_path / "file" / "runs.sqlite")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError, match="cannot be used"):
        Store(tmp_path / "folder")

"""Where there is no room: the longest unused goes, and a full disk is waited for."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dprl.jobs import worker
from dprl.jobs.capacity import _TRACE
from dprl.jobs.file import DiskFull, StoreError
from dprl.jobs.store import Store
from tests.jobs import fake
from tests.jobs.disk import Disk
from tests.jobs.fake import FakeRun, FakeSpec, FakeTrace
from tests.jobs.units import claim, finish, sql

# Size -------------------------------------------------------------------------------------------------------


def test_the_longest_unused_make_room(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPRL_STORE_MB", "1")
    store = Store(path, fake.simulation())
    specs = [FakeSpec(str(i), seeds=1) for i in range(3)]
    for i, spec in enumerate(specs[:2]):
        store.request(spec, "ann")
        finish(store, size=400_000)
        sql(path, f"UPDATE unit SET used_at = {1000 + i} WHERE key = '{spec.seed_key(0)}'")
    assert len(store.traces(specs[0])) == 1  # so that the other one is the longest unused
    store.request(specs[2], "ann")
    before = store.version(specs[1])
    finish(store, size=400_000)
    assert [store.status(spec).state for spec in specs] == ["done", "unknown", "done"]
    made_room = "Its details had to make room for newer results; its curve was kept."
    assert [store.status(spec).message for spec in specs] == ["", made_room, ""]
    assert store.version(specs[1]) != before
    assert store.size_bytes() < 1_000_000
    assert path.stat().st_size < 1_500_000
    store.request(specs[1], "ann")
    assert store.status(specs[1]).state == "queued"


def test_what_is_longest_unused_is_found_without_looking_at_all(store: Store, path: Path) -> None:
    with sqlite3.connect(path) as db:
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {_TRACE}", {"newest": -1})]
    db.close()
    assert plan[0] == "SCAN unit USING INDEX unit_used"
    assert not any("TEMP B-TREE" in step for step in plan)


def test_requests_curves_and_answers_make_room_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPRL_STORE_MB", "1")
    store = Store(path, fake.simulation())
    curve = np.arange(1, 5001)
    for i in range(40):  # 80 kB each
        store.request(FakeSpec(str(i), seeds=1), "ann")
        unit = claim(store)
        store.report(unit, 1.0, curve, curve / 2)
        store.finish(unit, FakeTrace(0, True).to_bytes())
    assert store.size_bytes() <= 2**20
    assert [len(store.live(FakeSpec(str(i), seeds=1))) for i in (0, 39)] == [0, 1]
    assert store.status(FakeSpec("0", seeds=1)).state == "unknown"
    going = FakeSpec("going", seeds=3, diary="a long path " * 100)
    store.request(going, "ann")
    for i in range(600):  # links that nobody waits for any more, of 4 kB each
        spec = FakeSpec(f"link {i}", seeds=1, diary="x" * 4000)
        store.request(spec, "bob")
        store.cancel(spec, "bob")
    assert store.size_bytes() <= 2**20
    assert store.status(going).state == "queued"
    assert store.status(FakeSpec("link 599", seeds=1, diary="x" * 4000)).state == "cancelled"
    for i in range(600):
        spec = FakeSpec(f"asked {i}", diary="x" * 4000)
        assert store.ask("size", spec) is None
        asked = store.next_question()
        assert asked is not None
        store.answer(asked, "y")
    assert store.size_bytes() <= 2**20
    assert store.status(going).state == "queued"


@pytest.mark.parametrize("last", ["queued", "running"])
def test_traces_of_a_run_that_goes_on_stay(path: Path, monkeypatch: pytest.MonkeyPatch, last: str) -> None:
    monkeypatch.setenv("DPRL_STORE_MB", "1")
    store = Store(path, fake.simulation())
    spec = FakeSpec(seeds=4)
    store.request(spec, "ann")
    if last == "running":
        claim(store, "slow")
    for _ in range(3):
        finish(store, size=700_000)
    assert store.status(spec).seeds_done == 3


def test_a_senseless_setting_is_one_sentence(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPRL_STORE_MB", "much")
    with pytest.raises(StoreError, match=r"^DPRL_STORE_MB is 'much', and must be a whole number from 1 to "):
        Store(path)


# A full disk ------------------------------------------------------------------------------------------------

FULL = (
    "The disk for runs is full: finished ones can be looked at, and nothing new is kept until there is room."
)


def test_a_full_disk_keeps_what_there_is_and_says_so(disk: Disk, store: Store) -> None:
    def said() -> str:
        return store.notice or ""

    done, other = FakeSpec("1", seeds=1), FakeSpec("2", seeds=1)
    store.request(done, "ann")
    finish(store)
    sql(store.path, "UPDATE unit SET used_at = 0")
    disk.full = "all"
    assert said() == ""
    with pytest.raises(DiskFull, match=f"^{FULL}$"):
        store.request(other, "ann")
    assert said() == FULL
    assert store.status(other).state == "unknown"
    assert store.status(done).state == "done"
    assert [len(store.traces(done)), len(store.live(done))] == [1, 1]
    disk.full = ""
    store.request(other, "ann")
    assert said() == ""


def test_where_a_trace_has_no_room_its_curve_is_kept(disk: Disk, store: Store) -> None:
    spec = FakeSpec(seeds=1)
    store.request(spec, "ann")
    disk.full = "traces"
    finish(store)
    status = store.status(spec)
    assert (status.state, status.message) == (
        "unknown",
        "The disk was full: its curve was kept, its details were not.",
    )
    assert [len(store.traces(spec)), len(store.live(spec))] == [0, 1]
    disk.full = ""
    store.request(spec, "ann")
    finish(store)
    assert (store.status(spec).state, store.status(spec).message) == ("done", "")


@pytest.mark.parametrize("cancelled", [False, True])
def test_what_has_no_room_is_not_lost_while_its_worker_waits(
    disk: Disk, store: Store, cancelled: bool
) -> None:
    class Run(FakeRun):
        def trace(self) -> FakeTrace:
            disk.full = "all"
            return super().trace()

    class Patience(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            assert store.status(spec).state == ("cancelled" if cancelled else "running")
            assert store.traces(spec) == []
            disk.full = ""
            return False

    spec = FakeSpec(seeds=1)
    store.request(spec, "ann")
    unit = claim(store)
    if cancelled:
        store.cancel(spec, "ann")
    worker.compute(store, replace(fake.simulation(), start=Run), unit, Patience())
    assert store.status(spec).state == ("cancelled" if cancelled else "done")
    assert [trace.complete for trace in store.traces(spec)] == [not cancelled]
    store.request(spec, "ann")
    assert store.status(spec).state == ("queued" if cancelled else "done")

"""Where there is no room: the longest unused goes, and a full disk is waited for."""

from __future__ import annotations

import sqlite3
import threading
import time
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
from tests.jobs.seed_jobs import claim, finish, sql

# Size -------------------------------------------------------------------------------------------------------


def test_the_longest_unused_make_room(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPRL_STORE_MB", "1")
    store = Store(path, fake.simulation())
    specs = [FakeSpec(str(i), seeds=1) for i in range(3)]
    for i, spec in enumerate(specs[:2]):
        store.requests.add(spec, "ann")
        finish(store, size=400_000)
        sql(path, f"UPDATE unit SET used_at = {1000 + i} WHERE key = '{spec.seed_key(0)}'")
    assert len(store.results.traces(specs[0])) == 1  # so that the other one is the longest unused
    store.requests.add(specs[2], "ann")
    before = store.status.version(specs[1])
    finish(store, size=400_000)
    assert [store.status.of(spec).state for spec in specs] == ["done", "unknown", "done"]
    made_room = "Its details had to make room for newer results; its curve was kept."
    assert [store.status.of(spec).message for spec in specs] == ["", made_room, ""]
    assert store.status.version(specs[1]) != before
    assert store.size_bytes() < 1_000_000
    assert path.stat().st_size < 1_500_000
    store.requests.add(specs[1], "ann")
    assert store.status.of(specs[1]).state == "queued"


def test_what_is_looked_at_every_day_stays_and_what_nobody_opens_goes(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPRL_STORE_MB", "1")
    now = 1e9
    monkeypatch.setattr(time, "time", lambda: now)
    store = Store(path, fake.simulation())
    read, kept, left, new = (FakeSpec(name, seeds=1) for name in ("read", "kept", "left", "new"))
    for spec in (read, kept, left):  # what is opened was computed first
        store.requests.add(spec, "ann")
        finish(store, size=300_000)
        now += 3600
    for _ in range(14):
        now += 86_400
        assert len(store.results.traces(read)) == 1
        store.results.use(kept, 0)  # as a page does that has decoded it before
    store.requests.add(new, "ann")
    finish(store, size=300_000)
    assert [len(store.results.traces(spec)) for spec in (read, kept, left, new)] == [1, 1, 0, 1]
    assert store.requests.cost([read, kept])[0] == 0  # nothing of them is computed again
    store.close()


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
        store.requests.add(FakeSpec(str(i), seeds=1), "ann")
        unit = claim(store)
        store.results.report(unit, 1.0, curve, curve / 2)
        store.results.finish(unit, FakeTrace(0, True).to_bytes())
    assert store.size_bytes() <= 2**20
    assert [len(store.results.live(FakeSpec(str(i), seeds=1))) for i in (0, 39)] == [0, 1]
    assert store.status.of(FakeSpec("0", seeds=1)).state == "unknown"
    going = FakeSpec("going", seeds=3, diary="a long path " * 100)
    store.requests.add(going, "ann")
    for i in range(600):  # links that nobody waits for any more, of 4 kB each
        spec = FakeSpec(f"link {i}", seeds=1, diary="x" * 4000)
        store.requests.add(spec, "bob")
        store.requests.cancel(spec, "bob")
    assert store.size_bytes() <= 2**20
    assert store.status.of(going).state == "queued"
    assert store.status.of(FakeSpec("link 599", seeds=1, diary="x" * 4000)).state == "cancelled"
    for i in range(600):
        spec = FakeSpec(f"asked {i}", diary="x" * 4000)
        assert store.questions.ask("size", spec) is None
        asked = store.questions.next()
        assert asked is not None
        store.questions.answer(asked, "y")
    assert store.size_bytes() <= 2**20
    assert store.status.of(going).state == "queued"


@pytest.mark.parametrize("last", ["queued", "running"])
def test_traces_of_a_run_that_goes_on_stay(path: Path, monkeypatch: pytest.MonkeyPatch, last: str) -> None:
    monkeypatch.setenv("DPRL_STORE_MB", "1")
    store = Store(path, fake.simulation())
    spec = FakeSpec(seeds=4)
    store.requests.add(spec, "ann")
    if last == "running":
        claim(store, "slow")
    for _ in range(3):
        finish(store, size=700_000)
    assert store.status.of(spec).seeds_done == 3


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
    store.requests.add(done, "ann")
    finish(store)
    sql(store.path, "UPDATE unit SET used_at = 0")
    disk.full = "all"
    assert said() == ""
    with pytest.raises(DiskFull, match=f"^{FULL}$"):
        store.requests.add(other, "ann")
    assert said() == FULL
    assert store.status.of(other).state == "unknown"
    assert store.status.of(done).state == "done"
    assert [len(store.results.traces(done)), len(store.results.live(done))] == [1, 1]
    disk.full = ""
    store.requests.add(other, "ann")
    assert said() == ""


def test_where_a_trace_has_no_room_its_curve_is_kept(disk: Disk, store: Store) -> None:
    spec = FakeSpec(seeds=1)
    store.requests.add(spec, "ann")
    disk.full = "traces"
    finish(store)
    status = store.status.of(spec)
    assert (status.state, status.message) == (
        "unknown",
        "The disk was full: its curve was kept, its details were not.",
    )
    assert [len(store.results.traces(spec)), len(store.results.live(spec))] == [0, 1]
    disk.full = ""
    store.requests.add(spec, "ann")
    finish(store)
    assert (store.status.of(spec).state, store.status.of(spec).message) == ("done", "")


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
            assert store.status.of(spec).state == ("cancelled" if cancelled else "running")
            assert store.results.traces(spec) == []
            disk.full = ""
            return False

    spec = FakeSpec(seeds=1)
    store.requests.add(spec, "ann")
    unit = claim(store)
    if cancelled:
        store.requests.cancel(spec, "ann")
    worker.compute_seed(store, replace(fake.simulation(), start=Run), unit, Patience())
    assert store.status.of(spec).state == ("cancelled" if cancelled else "done")
    assert [trace.complete for trace in store.results.traces(spec)] == [not cancelled]
    store.requests.add(spec, "ann")
    assert store.status.of(spec).state == ("queued" if cancelled else "done")

"""What is kept, and what happens where that is impossible: full, locked, damaged, shared; and sweeps collected."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

import dprl
from dprl.research import Sweep
from dprl.research.background import RunFailed, collect
from dprl.runs.database import StoreError
from dprl.runs.limits import Lease
from dprl.runs.results import HELD, Results
from dprl.runs.store import Store
from dprl.runs.turn import Order, Report, play
from dprl.runs.workers import Lost
from tests.runs import fake, slots
from tests.runs.disk import Disk
from tests.runs.fake import FakeSpec
from tests.runs.slots import Hand, work

SPEC = FakeSpec(seconds=0.01)


def sql(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(statement)


def computed(store: Store, spec: FakeSpec = SPEC) -> None:
    store.ask(spec, "ann")
    work(store)
    store.results.write()


def test_results_are_there_after_a_restart(path: Path) -> None:
    with closing(Store(path, fake.NAME)) as store:
        store.ask(SPEC, "ann")
        work(store)
    with closing(Store(path, fake.NAME)) as store:
        assert store.status(SPEC, "bob").state == "done"
        assert [trace.seed for trace in store.traces(SPEC)] == [0, 1]
        assert [at.tolist() for _, at, _ in store.live(SPEC)] == [list(range(1, 11))] * 2
        store.ask(SPEC, "bob")
        assert work(store) == 0


def test_two_stores_on_one_file_share_results(path: Path) -> None:
    """Two dashboards: each has its own queue, and a seed that the other has finished is not played again."""
    with closing(Store(path, fake.NAME)) as one, closing(Store(path, fake.NAME)) as two:
        one.ask(SPEC, "ann")
        two.ask(SPEC, "bob")
        computed(one)
        assert two.status(SPEC, "bob").state == "queued"
        work(two, Hand(lambda order: pytest.fail("it is played again")))
        assert two.status(SPEC, "bob").state == "done"
        assert len(two.traces(SPEC)) == 2


def test_the_longest_unused_make_room_traces_before_curves(store: Store) -> None:
    specs = [FakeSpec(f"run {i}", seeds=1, seconds=0.01) for i in range(6)]
    for spec in specs:
        computed(store, spec)
        sql(store.path, "UPDATE result SET used_at = used_at - 1000")
    sql(store.path, "UPDATE result SET trace = trace || zeroblob(200000)")
    store.results.trace(specs[0].seed_key(0))
    store.results.capacity = 700_000
    computed(store, FakeSpec("new", seeds=1, seconds=0.01))
    states = [store.status(spec).state for spec in specs]
    assert states == ["done"] + ["unknown"] * 3 + ["done"] * 2
    gone = "The details of this run were deleted to make room for newer results; its curve is still here."
    assert store.status(specs[1]).message == gone
    assert len(store.live(specs[1])) == 1
    assert store.traces(specs[1]) == []
    store.ask(specs[1], "ann")
    work(store)
    assert store.status(specs[1]).state == "done"
    store.results.capacity = 1
    computed(store, FakeSpec("newest", seeds=1, seconds=0.01))
    assert store.live(specs[2]) == []
    assert store.status(FakeSpec("newest", seeds=1, seconds=0.01)).state == "done"


def test_on_a_full_disk_results_are_held_and_written_later(disk: Disk, path: Path, store: Store) -> None:
    disk.full = True
    computed(store)
    assert store.notice == HELD.format("The store of runs cannot be used now (its disk is full).")
    assert store.status(SPEC).state == "done"
    assert len(store.traces(SPEC)) == len(store.live(SPEC)) == 2
    assert Results(path).there([SPEC.seed_key(0)]) == {}
    disk.full = False
    store.results.write()
    assert store.notice == ""
    assert len(Results(path).there([SPEC.seed_key(0), SPEC.seed_key(1)])) == 2


def test_with_too_much_to_hold_no_seed_begins(
    disk: Disk, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dprl.runs.results.CROWDED", 50)
    disk.full = True
    computed(store)
    store.ask(FakeSpec("more", seconds=0.01), "ann")
    assert work(store) == 0
    disk.full = False
    store.results.write()
    assert work(store) == 2


def test_a_locked_file_holds_nobody_up(path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dprl.runs.database.BUSY_SECONDS", 0.05)
    store.results.file.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        computed(store)
        assert store.notice == HELD.format("The store of runs cannot be used now (database is locked).")
        assert store.status(SPEC).state == "done"
        assert len(store.traces(SPEC)) == 2
        other.execute("ROLLBACK")
    store.results.write()
    assert store.notice == ""
    assert len(stored(store.results)) == 2


def stored(results: Results) -> list[str]:
    return [key for (key,) in results.file.rows("SELECT key FROM result WHERE trace IS NOT NULL")]


def foreign(path: Path) -> None:
    path.unlink()
    sql(path, "CREATE TABLE recipes (name TEXT)")


HARM: dict[str, Callable[[Path], object]] = {
    "garbage": lambda path: path.write_bytes(b"this is no store " * 1000),
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:9000]),
    "overwritten": lambda path: path.write_bytes(
        path.read_bytes()[:4096] + b"\xff" * (path.stat().st_size - 4096)
    ),
    "foreign": foreign,
    "halved": lambda path: sql(path, "DROP TABLE result"),
    "another version": lambda path: sql(path, "PRAGMA user_version = 7"),
}


@pytest.mark.parametrize("harm", HARM)
def test_a_store_that_cannot_be_used_is_set_aside(path: Path, harm: str) -> None:
    with closing(Store(path, fake.NAME)) as store:
        assert store.notice == ""
        computed(store)
    HARM[harm](path)
    called, said = ("version-7", harm) if harm == "another version" else ("damaged", "was damaged")
    before = path.read_bytes()
    with closing(Store(path, fake.NAME)) as store:
        assert store.status(SPEC).state == "unknown"
        [aside] = path.parent.glob(f"runs.{called}-*.sqlite")
        assert aside.read_bytes() == before
        assert aside.name in store.notice
        assert said in store.notice
        computed(store)
        assert len(store.traces(SPEC)) == 2


def test_stores_set_aside_do_not_replace_each_other(path: Path) -> None:
    for i in range(3):
        path.write_text(f"garbage {i} " * 100)
        Store(path).close()
    assert len(list(path.parent.glob("runs.damaged-*.sqlite"))) == 3


def test_damage_under_a_running_dashboard_is_one_sentence_and_results_are_computed_again(
    path: Path, store: Store
) -> None:
    computed(store)
    sql(path, "DROP TABLE result")
    store.results.changes += 1  # look at once
    assert store.status(SPEC).state == "unknown"
    assert "was damaged" in store.notice
    store.ask(SPEC, "ann")
    work(store)
    store.results.write()
    assert store.status(SPEC).state == "done"
    assert len(list(path.parent.glob("runs.damaged-*.sqlite"))) == 1


def test_the_file_is_deleted_under_a_running_dashboard(path: Path, store: Store) -> None:
    computed(store)
    for ending in ("", "-wal", "-shm"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
    other = FakeSpec("other", seconds=0.01)
    computed(store, other)
    assert store.status(other).state == "done"
    assert sorted(stored(Results(path))) == sorted(map(other.seed_key, range(2)))


def test_a_trace_that_cannot_be_decoded_is_computed_again(path: Path, store: Store) -> None:
    computed(store)
    sql(path, "UPDATE result SET trace = x'00'")
    assert store.traces(SPEC) == []
    store.ask(SPEC, "ann")
    work(store)
    assert len(store.traces(SPEC)) == 2


def test_damaged_rooms_are_set_aside_and_leave_the_results_alone(path: Path, store: Store) -> None:
    computed(store)
    code, _ = store.rooms.open(Lease("tab"))
    sql(path.with_name("runs-rooms.sqlite"), "DROP TABLE room_step")
    said = r"^The store of rooms was damaged: it was set aside as .* was created\.$"
    with pytest.raises(StoreError, match=said):
        store.rooms.find(code)
    assert store.rooms.find(code) is None
    [aside] = path.parent.glob("runs-rooms.damaged-*.sqlite")
    assert aside.name in store.notice
    store.rooms.open(Lease("tab"))
    assert store.status(SPEC).state == "done"


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = r"cannot be used \(.*\); set DPRL_HOME to a folder that can be written to\.$"
    with pytest.raises(StoreError, match=said):
        Store(tmp_path / "file" / "runs.sqlite")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError, match="cannot be used"):
        Store(tmp_path / "folder")


BASE = dprl.RunSpec(environment_params={"S": 3, "H": 3}, episodes=500, seeds=2)
SWEEP = Sweep(BASE, {"epsilon": [1.0, 10.0], "privacy": ["none", "local"]})


@pytest.fixture
def real(path: Path) -> Iterator[Store]:
    with closing(Store(path)) as store:
        yield store


@pytest.fixture
def worker(real: Store) -> Callable[[int], None]:
    """worker(most): a thread that plays so many seeds."""

    def begin(most: int) -> None:
        left = most

        def do(order: Order) -> Report:
            nonlocal left
            left -= 1
            if left < 0:
                raise Lost
            report = play(order, turn=1e9)
            real.results.put(order.key, report.curve, report.trace)
            real.results.write()
            return report

        real.engine.add(Hand(do))

    return begin


def test_stopping_withdraws_and_keeps_what_is_finished(real: Store, worker: Callable[[int], None]) -> None:
    worker(2)

    def interrupt(share: float) -> None:
        if share >= 1 / 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        collect(real, SWEEP.specs, "ann", Store.whole_curves, interrupt)
    assert real.activity().seeds_queued == 0
    assert sum(real.whole_curves(spec) is not None for spec in SWEEP.specs) == 1
    worker(100)
    assert len(collect(real, SWEEP.specs, "ann", Store.whole_curves)) == 3


def test_a_failure_is_one_sentence_and_ends_the_rest(real: Store) -> None:
    def break_one(share: float) -> None:
        slots.work(real, slots.failing("Seed 0 failed: no memory."), most=1)

    with pytest.raises(RunFailed, match="no memory"):
        collect(real, SWEEP.specs, "ann", Store.whole_curves, break_one)
    assert real.activity().seeds_queued == 0


def test_ends_outlive_the_traces(
    real: Store, monkeypatch: pytest.MonkeyPatch, worker: Callable[[int], None]
) -> None:
    """Where traces had to make room, curves stay, and a sweep needs no more."""
    monkeypatch.setattr(real.results, "capacity", 2**20)
    base = BASE.replace(environment_params={"S": 6, "H": 10}, privacy="local", seeds=1)
    specs = [base.replace(root_seed=i) for i in range(4)]  # each trace is of about half a megabyte
    worker(100)
    for spec in specs:
        collect(real, [spec], "ann", Store.whole_curves)
    assert "unknown" in [real.status(spec).state for spec in specs]
    assert all(real.whole_curves(spec) is not None for spec in specs)


def test_what_makes_room_before_it_is_read_is_computed_again_and_in_the_end_refused(
    real: Store, monkeypatch: pytest.MonkeyPatch, worker: Callable[[int], None]
) -> None:
    """A run whose traces do not fit the store together was waited for without end."""
    monkeypatch.setattr(real.results, "capacity", 2**20)
    large = BASE.replace(environment_params={"S": 6, "H": 10}, privacy="local", seeds=4)
    worker(100)
    with pytest.raises(RunFailed, match="deleted for space before they could be read; raise DPRL_STORE_MB"):
        collect(real, [large], "ann", Store.whole_trace)
    assert real.activity().seeds_queued == 0
    small = BASE.replace(seeds=1)
    assert collect(real, [small], "ann", Store.whole_trace)[small].spec == small


def test_a_run_that_another_process_of_the_same_name_withdraws_is_asked_for_again(
    real: Store, worker: Callable[[int], None]
) -> None:
    seen: list[float] = []

    def withdraw(share: float) -> None:
        seen.append(share)
        if len(seen) == 1:
            real.cancel(BASE, "ann")
            worker(100)

    assert collect(real, [BASE], "ann", Store.whole_curves, withdraw)[BASE].whole(BASE.seeds)

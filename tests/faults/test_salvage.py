"""What is kept of a damaged store: all but what stood on the bad page; and what is said where something was lost."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from dprl.jobs.store import Store
from tests.jobs import fake
from tests.jobs.fake import FakeSpec
from tests.jobs.seed_jobs import finish, sql

PAGE = 4096
SPECS = [FakeSpec(f"run {i}", seeds=5) for i in range(8)]
RESULTS = 40


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of a hundred pages and more, with forty results."""
    path = tmp_path_factory.mktemp("whole") / "runs.sqlite"
    store = Store(path, fake.simulation())
    for spec in SPECS:
        store.requests.add(spec, "ann")
    for _ in range(RESULTS):
        finish(store, size=9000)
    store.requests.add(FakeSpec("queued", seeds=2), "ann")
    store.close()
    assert path.stat().st_size > 100 * PAGE
    return path


def kept(store: Store) -> int:
    """Results that can be had now; what was lost is asked for."""
    return sum(len(store.results.traces(spec)) for spec in SPECS for _ in [store.requests.add(spec, "bob")])


@pytest.mark.parametrize("first", range(4))
def test_a_bad_page_costs_what_stood_on_it(whole: Path, path: Path, first: int) -> None:
    pages = whole.stat().st_size // PAGE
    lost = {}
    for page in [*range(first, 40, 4), *range(40 + first, pages, 16)]:
        for rest in path.parent.glob("*"):
            rest.unlink()
        shutil.copyfile(whole, path)
        with open(path, "r+b") as file:
            file.seek(page * PAGE)
            file.write(b"\xa5" * PAGE)
        store = Store(path, fake.simulation())
        lost[page] = RESULTS - kept(store)
        for aside in path.parent.glob("runs.damaged-*.sqlite"):
            assert store.notice is not None
            assert aside.name in store.notice
        store.close()
    assert max(lost.values()) <= RESULTS // 10, lost


def test_runs_and_the_queue_go_on_where_they_are_whole(whole: Path, path: Path) -> None:
    shutil.copyfile(whole, path)
    sql(path, "DROP TABLE visitor")
    store = Store(path, fake.simulation())
    [aside] = path.parent.glob("runs.damaged-*.sqlite")
    assert store.notice == (
        f"The store of runs was damaged: it was set aside as {aside.name}, and 40 results could be kept."
    )
    assert [store.status.of(spec, "ann").state for spec in SPECS] == ["done"] * 8
    assert len(store.results.live(SPECS[0])) == 5
    assert len(store.status.runs("ann")) == 9
    assert finish(store).spec.name == "queued"


def test_an_emptied_file_is_said(whole: Path, path: Path) -> None:
    shutil.copyfile(whole, path)
    path.write_bytes(b"")
    assert Store(path, fake.simulation()).notice == "The store of runs was found empty, and was begun anew."


def test_a_store_that_is_begun_says_nothing(path: Path) -> None:
    assert Store(path, fake.simulation()).notice is None


@pytest.fixture
def crashed(path: Path, tmp_path: Path) -> Iterator[Path]:
    """A store whose server was killed: its last changes are in the write-ahead log alone."""
    store = Store(tmp_path / "running" / "runs.sqlite", fake.simulation())
    for i in range(4):
        store.requests.add(FakeSpec(f"run {i}", seeds=3), "ann")
    for ending in ("", "-wal"):
        shutil.copyfile(tmp_path / "running" / f"runs.sqlite{ending}", f"{path}{ending}")
    yield path
    store.close()


def test_a_log_that_is_whole_is_taken_over(crashed: Path) -> None:
    store = Store(crashed, fake.simulation())
    assert store.notice is None
    assert store.status.activity().seeds_queued == 12


@pytest.mark.parametrize("at", [17, 40, 32 + 24 + PAGE + 300])
def test_a_damaged_log_is_said_once(crashed: Path, at: int) -> None:
    """The salt of the log, the first frame, or a later one."""
    log = Path(f"{crashed}-wal")
    data = bytearray(log.read_bytes())
    data[at] ^= 0x55
    log.write_bytes(data)
    store = Store(crashed, fake.simulation())
    assert store.notice == (
        "The last changes to the store of runs were damaged, and are lost; what is missing can be run again."
    )
    assert store.status.activity().seeds_queued < 12
    with sqlite3.connect(crashed) as db:
        db.execute("DELETE FROM notice")
    db.close()
    store.close()
    assert Store(crashed, fake.simulation()).notice is None


def test_a_log_that_was_cut_is_no_damage(crashed: Path) -> None:
    """The last commit was under way."""
    log = Path(f"{crashed}-wal")
    log.write_bytes(log.read_bytes()[: -PAGE // 2])
    assert Store(crashed, fake.simulation()).notice is None

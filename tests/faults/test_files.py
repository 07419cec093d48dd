"""Files of the store and of compiled kernels, damaged at random places: nothing wrong is ever shown or run."""

from __future__ import annotations

import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest

from dprl import kernels
from dprl.jobs.rooms_file import rooms_path
from dprl.jobs.store import Lease, LinkError, Store, StoreError
from dprl.kernels import disk
from dprl.rooms.steps import Question
from tests.faults import walk
from tests.faults.forms import finish, right, rng, sentence, times, within
from tests.faults.walk import WalkSpec

PAGE = 4096
SPECS = [WalkSpec(f"walk {i}", seeds=4) for i in range(5)]
WAITING = WalkSpec("waiting", seeds=4)
RESULTS = 20


def bit(data: bytearray, random: np.random.Generator) -> None:
    data[random.integers(len(data))] ^= 1 << int(random.integers(8))


def page(data: bytearray, random: np.random.Generator) -> None:
    start = int(random.integers(len(data) // PAGE + 1)) * PAGE
    data[start : start + PAGE] = random.bytes(len(data[start : start + PAGE]))


def zeros(data: bytearray, random: np.random.Generator) -> None:
    start = int(random.integers(len(data)))
    stretch = data[start : start + int(random.integers(1, 3 * PAGE))]
    data[start : start + len(stretch)] = bytes(len(stretch))


def swapped(data: bytearray, random: np.random.Generator) -> None:
    a, b = (int(i) * PAGE for i in random.integers(max(1, len(data) // PAGE), size=2))
    data[a : a + PAGE], data[b : b + PAGE] = data[b : b + PAGE], data[a : a + PAGE]


def cut(data: bytearray, random: np.random.Generator) -> None:
    del data[int(random.integers(len(data))) :]


HARMS: list[Callable[[bytearray, np.random.Generator], None]] = [bit, page, zeros, swapped, cut]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A store as a crash leaves it: twenty results, half of them in the log; a run that waits."""
    place = tmp_path_factory.mktemp("whole")
    store = Store(tmp_path_factory.mktemp("running") / "running.sqlite", walk.simulation())
    for spec in SPECS:
        store.requests.add(spec, "ann")
    for i in range(RESULTS):
        finish(store)
        if i == RESULTS // 2:
            db = sqlite3.connect(store.path)
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            db.close()
    store.requests.add(WAITING, "ann")
    for ending in ("", "-wal"):
        shutil.copyfile(f"{store.path}{ending}", f"{place / 'runs.sqlite'}{ending}")
    yield place / "runs.sqlite"
    store.close()


def damaged(
    whole: Path, tmp_path: Path, random: np.random.Generator, count: int
) -> Iterator[tuple[Path, bool]]:
    """Copies of a file and its log, of which one has come to harm, and whether nobody can tell that it has: of a log
    that was cut nobody knows that more was in it. What is in the folder `found` is left there when a test fails."""
    for i in range(count):
        found, place = tmp_path / "found", tmp_path / "one"
        shutil.copytree(whole.parent, found, dirs_exist_ok=True)
        harm, ending = HARMS[i % len(HARMS)], "-wal" if random.random() < 0.3 else ""
        harmed = Path(f"{found / whole.name}{ending}")
        data = bytearray(harmed.read_bytes())
        harm(data, random)
        harmed.write_bytes(data)
        shutil.copytree(found, place)
        with within(60.0):
            yield place / whole.name, (harm, ending) == (cut, "-wal")
        shutil.rmtree(place)


def test_damaged_stores(whole: Path, tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    for path, unknown in damaged(whole, tmp_path, rng("stores"), times(15, 1000)):
        lost, said = used(path)
        counts["damaged"] += 1
        counts["results lost"] += lost
        counts["files that cost results"] += lost > 0
        counts["said"] += lost > 0 and said
        assert said or not lost or unknown
    print("stores:", dict(counts), "of", RESULTS * counts["damaged"], "results; 0 wrong")
    # Much of a file this small is trees and lists, whose damage costs all of it; that of a result costs this one.
    assert counts["results lost"] < 0.6 * RESULTS * counts["damaged"]


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Rooms and links as a crash leaves them, some in the log; beside no runs."""
    place = tmp_path_factory.mktemp("rooms")
    store = Store(tmp_path_factory.mktemp("running") / "runs.sqlite", walk.simulation())
    for i in range(DEVICES):
        LINKS[store.links.shorten("explore", "c=eps." + f"{i:03}" * 30, Lease(f"tab {i}"))] = i
    code, key = store.rooms.open(Lease("tab"))
    store.rooms.put_step(code, key, Question("Did you ever copy an answer?", 5.0))
    for i in range(DEVICES):
        store.rooms.join(code, f"d{i}", Lease("tab"))
        store.rooms.respond(code, f"d{i}", 0, "yes")
        WRITTEN.add((code, f"d{i}"))
        if i == DEVICES // 2:
            with closing(sqlite3.connect(rooms_path(store.path))) as db:
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    for ending in ("", "-wal"):
        shutil.copyfile(f"{rooms_path(store.path)}{ending}", f"{place / 'runs-rooms.sqlite'}{ending}")
    yield place / "runs-rooms.sqlite"
    store.close()


DEVICES = 60
LINKS: dict[str, int] = {}  # short links that were made
WRITTEN: set[tuple[str, str]] = set()  # devices that answered, by room


def test_damaged_rooms(rooms: Path, tmp_path: Path) -> None:
    """A link is what was made short, or it is not there; and most are. An answer has no digest: a bit of it that turns
    is noticed by nobody, but what is saved of a file that is set aside is a yes or a no."""
    counts: Counter[str] = Counter()
    for path, _ in damaged(rooms, tmp_path, rng("rooms"), times(30, 1000)):
        with closing(Store(path.with_name("runs.sqlite"), walk.simulation())) as store:
            links = answers = 0
            for code, i in LINKS.items():
                with suppress(LinkError):
                    assert store.links.lengthen(code) == ("explore", "c=eps." + f"{i:03}" * 30)
                    links += 1
            for code, device in WRITTEN:
                if store.rooms.find(code) is not None:
                    found = set(store.rooms.written(code, device).values())
                    assert store.notice is None or found <= {"yes", "no"}
                    answers += len(found)
            assert sentence(store.notice or "A sentence.")
            store.rooms.open(Lease("tab"))
            assert store.links.lengthen(store.links.shorten("", "new", Lease("tab"))) == ("", "new")
        counts["damaged"] += 1
        counts["links lost"] += DEVICES - links
        counts["answers lost"] += DEVICES - answers
    print("rooms:", dict(counts), "of", DEVICES * counts["damaged"], "of each; 0 wrong")
    assert counts["links lost"] < 0.25 * DEVICES * counts["damaged"]
    assert counts["answers lost"] < 0.4 * DEVICES * counts["damaged"]


def used(path: Path) -> tuple[int, bool]:
    """Uses a store that may be damaged until all that was asked for is there; how many results had to be computed
    again, and whether the loss of any is said."""
    try:
        store = Store(path, walk.simulation())
        store.jobs.recover()  # as the pool does
        kept = sum(right(store, spec) for spec in SPECS)
        told = [store.notice or "", *(store.status.of(spec).message for spec in SPECS)]
        everything = [*SPECS, WAITING]
        for _ in range(4):  # two results that share a page harm each other when one of them is written again
            for spec in everything:
                store.requests.add(spec, "bob")
                right(store, spec)  # finds what is damaged
                store.results.live(spec)
                store.requests.retry(spec, "bob")
            for _ in range(2 * sum(spec.seeds for spec in everything)):
                if store.status.activity().seeds_queued:
                    finish(store)
            assert not store.status.activity().seeds_queued, "the queue never ends"
            if (found := [right(store, spec) for spec in everything]) == [spec.seeds for spec in everything]:
                break
        else:
            pytest.fail(f"not all can be computed again: {found}")
        assert all(sentence(text) for text in told if text)
    except StoreError as error:
        pytest.fail(f"the store cannot be used: {error}")
    store.close()
    return RESULTS - kept, any(told)


def twice(x: int) -> int:
    return 2 * x


def test_damaged_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("DPRL_HOME", str(tmp_path))
    random = rng("kernels")

    def compiled() -> bool:
        """Whether what is on disk could be used; right in any case."""
        function = kernels.compiled.__wrapped__(twice, "int64(int64)")
        assert function(21) == 42
        return not function.stats.cache_misses

    kernels.cache_folder.cache_clear()
    compiled()
    [file] = [each for each in tmp_path.glob("kernels/*/*") if each.stat().st_size]
    count = times(len(HARMS), 1000)
    said = 0
    for i in range(count):
        disk._say.cache_clear()
        before = file.read_bytes()
        data = bytearray(before)
        while data == before:
            HARMS[i % len(HARMS)](data, random)
        file.write_bytes(data)
        assert not compiled()
        said += caplog.records[-1].message.endswith("were damaged; they are compiled again.")
        caplog.clear()
        assert compiled()
    kernels.cache_folder.cache_clear()
    print(f"kernels: {count} damaged, {said} said and compiled again, 0 wrong")
    assert said == count

"""A damaged file of runs is set aside, and results are computed again; of rooms and short links all is saved but what
stood on the bad page; and where something was lost, that is said."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import time
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import pytest

from dprl.jobs import rooms_file
from dprl.jobs.rooms_file import rooms_path
from dprl.jobs.sqlite_pages import PAGE
from dprl.jobs.store import Lease, LinkError, Store
from dprl.rooms.steps import Question, to_json
from tests.jobs import fake
from tests.jobs.fake import FakeSpec
from tests.jobs.seed_jobs import finish, sql

SPECS = [FakeSpec(f"run {i}", seeds=5) for i in range(4)]
ROOMS, DEVICES, LINKS = 6, 40, 300
TEXT = "Did you ever copy an answer?"


def query(i: int) -> str:
    return f"v=1&c=eps.0.{i}~K.1e7" + "&k=1000" * 20


class Whole:
    """A store with results, and with rooms and links on many pages, of which some stand in the log alone."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = folder / "running.sqlite"
        with monkeypatch.context() as here:
            here.setattr("dprl.jobs.rate_limiter.OPENED", {"tab": ROOMS, "address": 0, "all": ROOMS})
            here.setattr("dprl.jobs.rate_limiter.SHORTENED", {"tab": LINKS, "address": 0, "all": LINKS})
            self.store = Store(self.path, fake.simulation())
            for spec in SPECS:
                self.store.requests.add(spec, "ann")
            for _ in range(20):
                finish(self.store)
            self.answers: dict[str, list[str]] = {}
            self.links: dict[str, str] = {}
            for i in range(ROOMS):
                code, key = self.store.rooms.open(Lease("tab"))
                for device in range(DEVICES):
                    self.store.rooms.join(code, f"d{device}", Lease("tab"))
                self.store.rooms.put_step(code, key, Question(TEXT, 5.0))
                for device in range(DEVICES):
                    self.store.rooms.respond(code, f"d{device}", 0, "yes")
                for j in range(LINKS // ROOMS):
                    text = query(LINKS // ROOMS * i + j)
                    self.links[self.store.links.shorten("explore", text, Lease("tab"))] = text
                self.answers[code] = list(self.store.rooms.steps(code)[0].answers)
                if i == ROOMS // 2:
                    with contextlib.closing(sqlite3.connect(rooms_path(self.path))) as db:
                        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def copied(self, path: Path) -> None:
        """As a crash leaves it, to `path`."""
        for there in path.parent.glob("*"):
            there.unlink()
        for of in (lambda path: path, rooms_path):
            for ending in ("", "-wal"):
                shutil.copyfile(f"{of(self.path)}{ending}", f"{of(path)}{ending}")

    def lost(self, store: Store) -> tuple[int, int, int]:
        """How many rooms, answers and links are not there; what is there is what it was."""
        there = [code for code in self.answers if store.rooms.find(code) is not None]
        answers = 0
        for code in there:
            for step in store.rooms.steps(code):
                assert step.content == Question(TEXT, 5.0)
                assert set(step.answers) <= {"yes", "no"}
                answers += len(step.answers)
        links = 0
        for code, text in self.links.items():
            with contextlib.suppress(LinkError):
                assert store.links.lengthen(code) == ("explore", text)
                links += 1
        return ROOMS - len(there), ROOMS * DEVICES - answers, LINKS - links


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        found = Whole(tmp_path_factory.mktemp("whole"), monkeypatch)
    yield found
    found.store.close()


@pytest.mark.thorough
def test_a_bad_page_of_rooms_costs_what_stood_on_it(whole: Whole, path: Path) -> None:
    """All rooms stand on one page, and all steps on another; answers and links on many."""
    whole.copied(path)
    with contextlib.closing(sqlite3.connect(rooms_path(path))) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    data = rooms_path(path).read_bytes()
    lost = {}
    for page in range(len(data) // PAGE):
        whole.copied(path)
        Path(f"{rooms_path(path)}-wal").unlink()
        rooms_path(path).write_bytes(data[: page * PAGE] + b"\xa5" * PAGE + data[(page + 1) * PAGE :])
        with contextlib.closing(Store(path, fake.simulation())) as store:
            rooms, answers, links = lost[page] = whole.lost(store)
            if store.notice is None:
                assert (rooms, answers, links) == (0, 0, 0), page
            else:
                [aside] = path.parent.glob("runs-rooms.damaged-*.sqlite")
                assert aside.name in store.notice
            assert len(store.results.traces(SPECS[0])) == 5  # they are in the other file
    assert len(lost) > 25
    assert lost[0] == (0, 0, 0)  # where it stands what the file is made of
    assert max(links for _, _, links in lost.values()) <= LINKS // 10, lost
    everything = ROOMS * DEVICES
    assert sorted(rooms for rooms, _, _ in lost.values() if rooms) == [ROOMS], lost
    assert [answers for _, answers, _ in lost.values()].count(everything) == 2, lost
    assert max(answers for _, answers, _ in lost.values() if answers < everything) <= 0.6 * everything, lost


@pytest.mark.parametrize(
    ("harm", "lost"),
    [
        ("DROP TABLE notice", (0, 0, 0)),
        ("DROP INDEX room_answer_device; DROP TABLE notice", (0, 0, 0)),
        ("DROP TABLE room_device", (0, ROOMS * DEVICES, 0)),
        ("DROP TABLE short_link", (0, 0, LINKS)),
    ],
)
def test_what_is_whole_of_rooms_and_links_is_saved(
    whole: Whole, path: Path, harm: str, lost: tuple[int, int, int]
) -> None:
    whole.copied(path)
    with contextlib.closing(sqlite3.connect(rooms_path(path))) as db:
        db.execute("PRAGMA secure_delete = ON")  # what is dropped is not read off its pages
        db.executescript(harm)
    with contextlib.closing(Store(path, fake.simulation())) as store:
        [aside] = path.parent.glob("runs-rooms.damaged-*.sqlite")
        kept = "6 rooms" if lost[2] else "6 rooms and 300 short links"
        assert (
            store.notice
            == f"The store of rooms was damaged: it was set aside as {aside.name}, and {kept} could be kept."
        )
        assert whole.lost(store) == lost
        for code, answers in whole.answers.items():
            assert lost[1] or sorted(store.rooms.steps(code)[0].answers) == sorted(answers)


@pytest.mark.parametrize("states", list(permutations(("open", "paused", "revealed"))))
def test_of_a_step_that_is_on_several_pages_the_latest_state_is_saved(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, states: tuple[str, ...]
) -> None:
    """What was revealed is not closed again, nor an older question asked twice."""
    content = to_json(Question(TEXT, 5.0))
    rows = [
        (None, ["BCDFGH", b"key", time.time(), 0, 1]),
        *((None, ["BCDFGH", 0, content, state]) for state in states),
    ]
    monkeypatch.setattr(rooms_file, "rows_on_pages", lambda *_: iter(rows))
    monkeypatch.setattr(rooms_file, "logged_pages", lambda *_: {})
    into = tmp_path / "rooms.sqlite"
    with contextlib.closing(sqlite3.connect(into)) as db:
        db.executescript(rooms_file.TABLES)
    assert rooms_file.rescue(tmp_path / "damaged", into) == "1 room"
    with contextlib.closing(sqlite3.connect(into)) as db:
        assert db.execute("SELECT place, state FROM room_step").fetchall() == [(0, "revealed")]


@pytest.mark.parametrize(
    ("harm", "lost"),
    [
        ("UPDATE room_answer SET answer = 'perhaps' WHERE rowid_ = 1", 1),
        ("UPDATE room_answer SET answer = x'00' WHERE rowid_ = 1", 1),
        ("UPDATE room_step SET content = 'nothing'", ROOMS * DEVICES),
        ("UPDATE room SET opened_at = opened_at - 90000", ROOMS * DEVICES),
    ],
)
def test_rows_that_cannot_be_are_not_believed(whole: Whole, path: Path, harm: str, lost: int) -> None:
    whole.copied(path)
    first = "(room, place, device) = (SELECT room, place, device FROM room_answer LIMIT 1)"
    sql(rooms_path(path), harm.replace("rowid_ = 1", first))
    sql(rooms_path(path), "DROP TABLE notice")
    with contextlib.closing(Store(path, fake.simulation())) as store:
        assert whole.lost(store)[1] == lost


def test_a_damaged_file_of_runs_is_set_aside_and_computed_again(
    whole: Whole, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    whole.copied(path)
    sql(path, "DROP TABLE visitor")
    with contextlib.closing(Store(path, fake.simulation())) as store:
        [aside] = path.parent.glob("runs.damaged-*.sqlite")
        said = f"The store of runs was damaged: it was set aside as {aside.name}, and a new one was begun."
        assert (store.notice, caplog.messages) == (said, [said])
        assert [store.status.of(spec).state for spec in SPECS] == ["unknown"] * 4
        store.requests.add(SPECS[0], "ann")
        for _ in range(5):
            finish(store)
        assert len(store.results.traces(SPECS[0])) == len(store.results.live(SPECS[0])) == 5
        assert whole.lost(store) == (0, 0, 0)


@pytest.fixture
def emptied(whole: Whole, path: Path) -> Path:
    whole.copied(path)
    path.write_bytes(b"")
    Path(f"{path}-wal").unlink()
    return path


def test_an_emptied_file_is_said(emptied: Path) -> None:
    assert (
        Store(emptied, fake.simulation()).notice == "The store of runs was found empty, and was begun anew."
    )


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

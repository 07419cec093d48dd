"""Files that visitors give: read by a process, one at a time, in limited memory, and gone with whoever gave them."""

from __future__ import annotations

import io
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from dprl.fields import SpecError
from dprl.simulation.uploads import kept
from dprl.simulation.uploads.declaration import declaration_text
from dprl.uploads import readings
from dprl.uploads.readings import Reading, Readings
from tests.runs.test_workers import wait_for
from tests.two_rooms import EXAMPLE, example

DATA = "\n".join(example().splitlines()[:401]).encode()  # 200 people
ASKED: dict[str, Any] = {"declared": declaration_text(EXAMPLE), "held_out": 0.25} | dict.fromkeys(
    ("budget", "total")
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPRL_HOME", str(tmp_path))
    return tmp_path


def in_here(reading: Reading, file: BinaryIO) -> dict[str, Any]:
    return readings.read(file, reading.asked)


def run_with(
    monkeypatch: pytest.MonkeyPatch, run: Callable[..., dict[str, Any]], thread: bool = False
) -> Readings:
    """Readings that read in this process, and at once unless in a thread."""
    monkeypatch.setattr(readings, "by_process", run)
    if not thread:
        monkeypatch.setattr(readings, "in_thread", lambda work: work())
    return Readings()


def test_a_process_reads_a_file_and_says_how_far_it_is(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And one that is no longer wanted ends, with all that was kept of it."""
    all_of_them = Readings()
    first = all_of_them.begin(io.BytesIO(DATA), ASKED)
    second = all_of_them.begin(io.BytesIO(DATA), ASKED)
    assert (first.ahead, second.ahead) == (0, 1)
    wait_for(lambda: first.done)
    assert first.problem == ""
    assert first.spec is not None
    assert first.spec.n == 200
    assert kept.held(first.spec.data).n == 200
    wait_for(lambda: second.process is not None or second.done)
    all_of_them.cancel(second)
    wait_for(lambda: second.done)
    assert second.spec is None
    assert second.problem == ""
    assert second.process is None or second.process.returncode != 0
    assert not kept.there(second.name)
    assert {path.stem for path in (home / "uploads").iterdir()} == {first.name}  # nothing of the file


def test_files_wait_for_each_other_up_to_a_limit_and_one_may_stop_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order: list[str] = []
    going = threading.Event()

    def slowly(reading: Reading, file: BinaryIO) -> dict[str, Any]:
        order.append(reading.name)
        going.wait(60)
        return in_here(reading, file)

    monkeypatch.setattr(readings, "MOST_WAITING", 3 * len(DATA))
    all_of_them = run_with(monkeypatch, slowly, thread=True)
    first, second, third = (all_of_them.begin(io.BytesIO(DATA), ASKED) for _ in range(3))
    with pytest.raises(SpecError, match="data: too many files are being read"):
        all_of_them.begin(io.BytesIO(DATA), ASKED)
    all_of_them.cancel(second)
    wait_for(lambda: second.done)
    assert (first.done, third.done, third.ahead) == (False, False, 1)
    going.set()
    wait_for(lambda: first.done and third.done)
    assert order == [first.name, third.name]
    assert not kept.there(second.name)
    again = all_of_them.begin(io.BytesIO(DATA), ASKED)
    wait_for(lambda: again.done)
    assert None not in (first.spec, third.spec, again.spec)


def test_what_is_wrong_is_a_sentence_and_leaves_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    all_of_them = run_with(monkeypatch, in_here)
    found = all_of_them.begin(io.BytesIO(DATA.replace(b"0,1,", b"0,7,", 1)), ASKED)
    assert found.problem.startswith("data: row 3, column step: step 1 of episode 0 is missing")
    assert list((home / "uploads").iterdir()) == []

    def no_memory(*_: Any, **__: Any) -> None:
        raise MemoryError

    def unforeseen(*_: Any, **__: Any) -> None:
        raise RuntimeError("somebody's row")

    for fault, said in ((no_memory, readings.TOO_LARGE), (unforeseen, readings.FAILED)):
        monkeypatch.setattr(readings, "take", fault)
        assert all_of_them.begin(io.BytesIO(DATA), ASKED).problem == said
    all_of_them = run_with(monkeypatch, lambda *_: {"problem": readings.DIED})
    assert all_of_them.begin(io.BytesIO(DATA), ASKED).problem == readings.DIED
    assert list((home / "uploads").iterdir()) == []


def test_a_reading_has_so_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(readings.resource, "getrlimit", lambda kind: (resource.RLIM_INFINITY,) * 2)
    monkeypatch.setattr(readings.resource, "setrlimit", lambda kind, limits: asked.append((kind, limits)))
    readings.limit_memory()
    assert asked == [(resource.RLIMIT_DATA, (readings.MEMORY, resource.RLIM_INFINITY))]


def test_how_much_was_read_follows_from_the_place_in_the_file(tmp_path: Path) -> None:
    """Which a process of one's own shares."""
    path = tmp_path / "people.csv"
    path.write_bytes(DATA * 100)
    with path.open("rb") as file, open(os.devnull, "rb") as marker:
        reading = Reading("name", path.stat().st_size, {}, marker, copy=file)
        assert reading.share == 0.0
        code = f"import os; os.read({file.fileno()}, {reading.size // 2})"
        subprocess.run([sys.executable, "-c", code], pass_fds=[file.fileno()], check=True)
        assert reading.share == pytest.approx(0.5, abs=0.01)
    assert reading.share == 0.0


def test_counts_of_a_session_go_when_nobody_holds_them(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run_with(monkeypatch, in_here).begin(io.BytesIO(DATA), ASKED)
    kept.remove_old()
    assert kept.there(found.name)
    waiting = kept.hold(kept.new_name())  # no counts yet
    kept.remove_old()
    assert Path(waiting.name if isinstance(waiting.name, str) else home).exists()
    found.marker.close()  # as the system does where the server is killed
    waiting.close()
    kept.remove_old()
    assert list((home / "uploads").iterdir()) == []


@pytest.mark.parametrize(
    ("public", "switched", "allowed"),
    [("0", None, True), ("1", None, False), ("1", "1", True), ("0", "0", False)],
)
def test_where_anybody_may_come_files_are_read_if_that_is_switched_on(
    monkeypatch: pytest.MonkeyPatch, public: str, switched: str | None, allowed: bool
) -> None:
    monkeypatch.setenv("DPRL_PUBLIC", public)
    if switched is not None:
        monkeypatch.setenv("DPRL_UPLOADS", switched)
    assert readings.allowed() == allowed

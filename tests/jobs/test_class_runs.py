"""Runs that go on from what a class reported: taken once, kept with the room, and gone with it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from dprl.fields import SpecError
from dprl.jobs import class_runs, rooms, worker
from dprl.jobs.rooms_file import rooms_path
from dprl.jobs.store import Lease, RoomError, Store
from dprl.rooms.steps import Clinic, Onward, Question

REPORT, OTHER = "3-n010011", "0-r000100"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(class_runs, "LOOK", 0.0)
    found = Store(tmp_path / "runs.sqlite")
    yield found
    found.close()


def played(store: Store, *reports: str) -> tuple[str, str]:
    """Code and key of a room whose phones have played."""
    code, key = store.rooms.open(Lease("tab"))
    store.rooms.put_step(code, key, Clinic(1.0))
    for i, report in enumerate(reports):
        store.rooms.join(code, f"d{i}", Lease("tab"))
        store.rooms.respond(code, f"d{i}", 0, report)
    return code, key


def test_what_a_class_reported_is_taken_once_it_is_revealed_and_once(store: Store) -> None:
    code, key = played(store, REPORT, OTHER)
    assert store.class_runs.next() is None
    store.rooms.turn_step(code, key, 0, "revealed")
    before = store.rooms.find(code)
    taken = store.class_runs.next()
    assert taken is not None
    assert (taken.room, taken.place, taken.epsilon, taken.reports) == (code, 0, 1.0, (OTHER, REPORT))
    assert store.class_runs.next() is None
    assert store.class_runs.found(code, 0) is None
    store.class_runs.keep(taken, "{}")
    assert store.class_runs.found(code, 0) == "{}"
    assert store.class_runs.next() is None
    after = store.rooms.find(code)
    assert before is not None
    assert after is not None
    assert before.turn != after.turn  # phones are drawn anew


def test_nothing_is_computed_of_a_class_that_did_not_report_nor_of_other_steps(store: Store) -> None:
    code, key = played(store)
    store.rooms.put_step(code, key, Question("Is this one?", 1.0))
    store.rooms.put_step(code, key, Onward(0))
    assert store.class_runs.next() is None


def test_a_run_that_kills_its_workers_is_given_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_runs, "_LOST_SECONDS", -1.0)
    code, key = played(store, REPORT)
    store.rooms.close(code, key)
    assert store.class_runs.next() is not None
    assert store.class_runs.next() is not None
    assert store.class_runs.next() is None
    assert store.class_runs.found(code, 0) == ""


def test_a_worker_that_cannot_compute_it_says_so(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    code, key = played(store, REPORT)
    store.rooms.close(code, key)
    monkeypatch.setattr("dprl.rooms.clinic_run.after_class", lambda reports, epsilon: 1 / 0)
    worker.run_classes(store)
    assert store.class_runs.found(code, 0) == ""


def test_what_came_out_goes_with_its_room_from_the_file_too(store: Store) -> None:
    code, key = played(store, REPORT)
    store.rooms.close(code, key)
    taken = store.class_runs.next()
    assert taken is not None
    secret = secrets.token_hex(16)
    store.class_runs.keep(taken, secret)
    path = rooms_path(store.path)
    store.rooms.delete(code, key)
    store.class_runs.keep(taken, secret)  # of a room that was deleted meanwhile, nothing
    assert store.class_runs.found(code, 0) is None
    files = [file.read_bytes() for file in path.parent.glob(f"{path.name}*")]
    assert not any(secret.encode() in data for data in files)


def test_hundreds_of_reports_of_a_script_count_as_one_phone_and_leave_the_others_alone(store: Store) -> None:
    """It sends whatever it likes without the page: what is malformed is refused, and of the rest the first counts."""
    code, _ = played(store, REPORT, OTHER)
    store.rooms.join(code, "script", Lease("tab"))
    refused = 0
    for i in range(200):
        wrong = [f"{i}", "9-n000000", f"0-n{i % 2}", "0-m" + "1" * 35, "yes", REPORT + "\0"][i % 6]
        with pytest.raises(SpecError):
            store.rooms.respond(code, "script", 0, wrong)
        refused += 1
    store.rooms.respond(code, "script", 0, "1-n111111")
    for i in range(200):
        with pytest.raises(RoomError, match=rooms.TWICE):
            store.rooms.respond(code, "script", 0, f"2-n{i % 64:06b}")
    with pytest.raises(RoomError, match=rooms.WAIT):
        store.rooms.respond(code, "a device that has not joined", 0, REPORT)
    assert refused == 200
    assert store.rooms.steps(code)[0].answers == (OTHER, "1-n111111", REPORT)


def test_a_phone_never_plays_beyond_the_rooms_total(store: Store) -> None:
    code, key = store.rooms.open(Lease("tab"), 2.5)
    store.rooms.put_step(code, key, Clinic(1.0))
    store.rooms.put_step(code, key, Question("Is this one?", 1.0))
    with pytest.raises(RoomError, match=r"0\.5"):
        store.rooms.put_step(code, key, Clinic(1.0))
    store.rooms.put_step(code, key, Clinic(0.5))
    with pytest.raises(RoomError):
        store.rooms.put_step(code, key, Clinic(0.1))

"""What is asked of a spec without running it: answered once, newest first, between slices of seeds."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from dprl.jobs import questions
from dprl.jobs.store import Store
from dprl.jobs.worker import answer, compute
from tests.jobs import fake
from tests.jobs.fake import FakeSpec


def test_an_answer_is_computed_once_for_everybody(store: Store, path: Path) -> None:
    assert store.ask("size", FakeSpec()) is None
    assert Store(path, fake.simulation()).ask("size", FakeSpec()) is None
    asked = store.next_question()
    assert asked is not None
    assert (asked.question, asked.spec) == ("size", FakeSpec())
    assert store.next_question() is None  # it is taken
    store.answer(asked, "small")
    assert store.ask("size", FakeSpec()) == "small"
    assert store.ask("size", FakeSpec(name="b")) is None
    assert store.ask("age", FakeSpec()) is None


def test_the_newest_question_goes_first(store: Store) -> None:
    for name in "abc":
        store.ask("size", FakeSpec(name=name))
    taken = [asked.spec.name for _ in "abc" if (asked := store.next_question())]
    assert taken == ["c", "b", "a"]


def test_a_worker_answers_between_the_slices_of_a_seed(store: Store) -> None:
    store.request(FakeSpec(seconds=0.1), "ann")
    unit = store.claim("w")
    assert unit is not None
    store.ask("size", FakeSpec())
    compute(store, fake.simulation(), unit, threading.Event())
    assert store.ask("size", FakeSpec()) == "size of a"


def test_what_breaks_is_not_asked_for_ever(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.ask("raise", FakeSpec())
    answer(store, fake.simulation())
    assert store.ask("raise", FakeSpec()) == ""
    monkeypatch.setattr(questions, "_LOST_SECONDS", -1.0)  # at once
    store.ask("size", FakeSpec())  # of which whoever takes it dies
    assert [store.next_question() is None for _ in range(3)] == [False, False, True]
    assert store.ask("size", FakeSpec()) == ""


def test_a_question_of_another_version_is_dropped(store: Store) -> None:
    store.ask("size", FakeSpec(source="yesterday"))
    assert store.next_question() is None
    assert store.ask("size", FakeSpec()) is None


def test_the_oldest_answers_make_room(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "KEPT", 2)
    for name in "abc":
        store.ask("size", FakeSpec(name=name))
        answer(store, fake.simulation())
    assert store.ask("size", FakeSpec(name="c")) == "size of c"
    assert store.ask("size", FakeSpec(name="a")) is None


def test_a_damaged_answer_is_found_again(store: Store, path: Path) -> None:
    store.ask("size", FakeSpec())
    answer(store, fake.simulation())
    with sqlite3.connect(path) as db:
        db.execute("UPDATE question SET answer = x'0000'")
    assert store.ask("size", FakeSpec()) is None
    answer(store, fake.simulation())
    assert store.ask("size", FakeSpec()) == "size of a"


def test_a_store_begun_without_questions_takes_them(store: Store, path: Path) -> None:
    store.request(FakeSpec(), "ann")
    store.close()
    with sqlite3.connect(path) as db:
        db.execute("DROP TABLE question")
    again = Store(path, fake.simulation())
    assert again.ask("size", FakeSpec()) is None
    assert again.status(FakeSpec()).state == "queued"
    assert again.notice is None

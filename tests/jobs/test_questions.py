"""What is asked of a spec without running it: answered once, newest first, between slices of seeds."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from dprl.jobs import questions
from dprl.jobs.store import Store
from dprl.jobs.worker import answer_questions, compute_seed
from tests.jobs import fake
from tests.jobs.fake import FakeSpec


def test_an_answer_is_computed_once_for_everybody(store: Store, path: Path) -> None:
    assert store.questions.ask("size", FakeSpec()) is None
    assert Store(path, fake.simulation()).questions.ask("size", FakeSpec()) is None
    asked = store.questions.next()
    assert asked is not None
    assert (asked.question, asked.spec) == ("size", FakeSpec())
    assert store.questions.next() is None  # it is taken
    store.questions.answer(asked, "small")
    assert store.questions.ask("size", FakeSpec()) == "small"
    assert store.questions.ask("size", FakeSpec(name="b")) is None
    assert store.questions.ask("age", FakeSpec()) is None


def test_the_newest_question_goes_first(store: Store) -> None:
    for name in "abc":
        store.questions.ask("size", FakeSpec(name=name))
    taken = [asked.spec.name for _ in "abc" if (asked := store.questions.next())]
    assert taken == ["c", "b", "a"]


def test_a_worker_answers_between_the_slices_of_a_seed(store: Store) -> None:
    store.requests.add(FakeSpec(seconds=0.1), "ann")
    unit = store.jobs.claim("w")
    assert unit is not None
    store.questions.ask("size", FakeSpec())
    compute_seed(store, fake.simulation(), unit, threading.Event())
    assert store.questions.ask("size", FakeSpec()) == "size of a"


def test_what_breaks_is_not_asked_for_ever(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.questions.ask("raise", FakeSpec())
    answer_questions(store, fake.simulation())
    assert store.questions.ask("raise", FakeSpec()) == ""
    monkeypatch.setattr(questions, "_LOST_SECONDS", -1.0)  # at once
    store.questions.ask("size", FakeSpec())  # of which whoever takes it dies
    assert [store.questions.next() is None for _ in range(3)] == [False, False, True]
    assert store.questions.ask("size", FakeSpec()) == ""


def test_a_question_of_another_version_is_dropped(store: Store) -> None:
    store.questions.ask("size", FakeSpec(source="yesterday"))
    assert store.questions.next() is None
    assert store.questions.ask("size", FakeSpec()) is None


def test_the_oldest_answers_make_room(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "KEPT", 2)
    for name in "abc":
        store.questions.ask("size", FakeSpec(name=name))
        answer_questions(store, fake.simulation())
    assert store.questions.ask("size", FakeSpec(name="c")) == "size of c"
    assert store.questions.ask("size", FakeSpec(name="a")) is None

"""Pages of several visitors take turns."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

import pytest

from dprl.simulation import RunSpec
from pages.shared.layout import frame
from pages.shared.results import answers
from pages.shared.visitor.turns import AT_ONCE, Turns

LIMIT = 20.0


def begun(what: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=what, daemon=True)
    thread.start()
    return thread


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT
    while not true():
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_so_many_at_once(at_once: int) -> None:
    turns, lock, now, most = Turns(at_once), threading.Lock(), 0, 0

    def one() -> None:
        nonlocal now, most
        with turns.taken():
            with lock:
                now += 1
                most = max(most, now)
            time.sleep(0.002)
            with lock:
                now -= 1

    threads = [begun(one) for _ in range(20)]
    for thread in threads:
        thread.join(LIMIT)
    assert (now, most) == (0, at_once)


def test_in_the_order_in_which_they_came() -> None:
    turns, come, threads = Turns(1), list[int](), list[threading.Thread]()

    def one(number: int) -> None:
        with turns.taken():
            come.append(number)

    with turns.taken():
        for number in range(12):
            threads.append(begun(partial(one, number)))
            until(lambda: len(turns._line) == len(threads))
    for thread in threads:
        thread.join(LIMIT)
    assert come == list(range(12))


def test_who_has_a_turn_needs_no_second_one() -> None:
    turns = Turns(1)
    with turns.taken(), turns.taken():
        pass
    done = list[int]()

    def other() -> None:
        with turns.taken():
            done.append(1)

    begun(other).join(LIMIT)
    assert done


def test_an_error_ends_a_turn() -> None:
    turns = Turns(1)
    for _ in range(3):
        with pytest.raises(KeyError), turns.taken():
            raise KeyError
    with turns.taken():
        pass


def test_who_waits_leaves_the_turn_to_others() -> None:
    turns, order = Turns(1), list[str]()

    def other() -> None:
        with turns.taken():
            order.append("other")

    with turns.left():  # has none
        pass
    with turns.taken():
        thread = begun(other)
        until(lambda: len(turns._line) == 1)
        order.append("mine")
        with turns.left():
            thread.join(LIMIT)
        order.append("mine again")
    assert order == ["mine", "other", "mine again"]


def test_who_comes_back_goes_on_at_once_and_is_made_up_for() -> None:
    turns, go, come = Turns(1), [threading.Event(), threading.Event()], list[int]()

    def other(number: int) -> None:
        with turns.taken():
            come.append(number)
            go[number].wait(LIMIT)

    threads = []
    with turns.taken():
        with turns.left():  # the first gets the turn, and keeps it
            for number in (0, 1):
                threads.append(begun(partial(other, number)))
                until(lambda: len(come) + len(turns._line) == len(threads))
        go[0].set()
        threads[0].join(LIMIT)
        assert come == [0]  # the second waits: there was one too many
    until(lambda: come == [0, 1])
    go[1].set()
    threads[1].join(LIMIT)
    assert turns._free == 1


def test_pages_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    turns, go, drawn = Turns(), threading.Event(), list[int]()
    monkeypatch.setattr(frame, "turns", turns)

    @frame.guarded
    def page() -> None:
        drawn.append(1)
        go.wait(LIMIT)

    threads = [begun(page) for _ in range(AT_ONCE + 3)]
    until(lambda: len(turns._line) == 3)
    assert len(drawn) == AT_ONCE
    go.set()
    for thread in threads:
        thread.join(LIMIT)
    assert len(drawn) == AT_ONCE + 3


def test_a_page_that_waits_for_workers_lets_others_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    turns, others = Turns(1), list[int]()
    said: list[str | None] = [None, None, None, "1.0"]
    monkeypatch.setattr(answers, "turns", turns)
    monkeypatch.setattr(answers, "PATIENCE", LIMIT)
    monkeypatch.setattr(answers, "session", lambda: SimpleNamespace(asked=set()))
    ready = SimpleNamespace(answer=lambda question, spec: said.pop(0))
    monkeypatch.setattr(answers, "store", lambda: ready)

    def other() -> None:
        with turns.taken():
            others.append(1)

    with turns.taken():
        thread = begun(other)
        until(lambda: len(turns._line) == 1)
        assert answers._asked("v_star", RunSpec()) == "1.0"
        thread.join(LIMIT)
        assert others == [1]

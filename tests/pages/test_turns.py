"""Many visitors at once: the order in which their pages are drawn, and how often the sender is woken."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.runtime.runtime import Runtime

from dprl import streamlit_patches
from pages.shared.layout.frame import AT_ONCE, line, turn


def test_pages_are_drawn_in_the_order_of_their_visitors() -> None:
    drawn: list[int] = []
    ends = [threading.Event() for _ in range(AT_ONCE)]

    def draw(visitor: int) -> None:
        with turn():
            drawn.append(visitor)
            if visitor < AT_ONCE:
                ends[visitor].wait()

    threads = [threading.Thread(target=draw, args=(visitor,)) for visitor in range(8)]
    for number, thread in enumerate(threads, 1):
        thread.start()
        while len(line) < number:
            time.sleep(0.001)
    ends[0].set()  # the other turn stays taken
    for thread in threads[AT_ONCE:]:
        thread.join()
    assert drawn == list(range(8))
    ends[1].set()
    threads[1].join()
    assert not line


def test_a_page_that_has_a_turn_waits_for_no_other() -> None:
    with turn(), turn(), turn():
        pass


def test_a_sender_that_is_awake_is_not_woken(monkeypatch: pytest.MonkeyPatch) -> None:
    woken: list[object] = []
    monkeypatch.setattr(Runtime, "_enqueued_some_message", woken.append)
    streamlit_patches.wake_sender_once()
    mark = threading.Event()
    runtime: Any = SimpleNamespace(_get_async_objs=lambda: SimpleNamespace(need_send_data=mark))
    for _ in range(3):
        Runtime._enqueued_some_message(runtime)
        mark.set()
    assert woken == [runtime]

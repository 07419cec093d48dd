"""Many visitors at once: parts that redraw themselves leave time to others, and pages are drawn in turn."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.runtime import Runtime

from dprl import streamlit_patches
from pages.shared import streamlit_internals
from pages.shared.layout import frame
from pages.shared.layout.frame import AT_ONCE, line, turn
from pages.shared.visitor.state import Session


class Rerun(BaseException):
    """The whole page is run again."""


class Server:
    """A page with one part, on a server where drawing it takes so many seconds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = self.takes = 0.0
        self.pace: float | None = None
        self.part: Callable[[], None] = lambda: None
        self.session = Session()

        def fragment(part: Callable[[], None], run_every: float | None) -> Callable[[], None]:
            self.part, self.pace = part, run_every
            return part

        def rerun() -> None:
            raise Rerun

        monkeypatch.setattr(frame, "session", lambda: self.session)
        monkeypatch.setattr(frame.st, "fragment", fragment)
        monkeypatch.setattr(frame.st, "rerun", rerun)
        monkeypatch.setattr(frame.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(frame.time, "thread_time", lambda: self.now)
        monkeypatch.setattr(frame, "crowd", frame.Crowd())

    def draw(self, live: bool) -> None:
        self.now += self.takes

    def watched(self, seconds: float) -> tuple[int, int]:
        """How often the part, and the page, were drawn again in this time."""
        until, parts, pages = self.now + seconds, 0, 0
        frame.redrawn(self.draw, 0.4)
        while self.now < until:
            assert self.pace is not None
            self.now += self.pace
            try:
                self.part()
            except Rerun:
                pages += 1
                frame.redrawn(self.draw, 0.4)
            parts += 1
        return parts, pages


def test_what_takes_long_is_drawn_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(monkeypatch)
    for takes, seconds, most, least in (
        (0.02, 40.0, (98, 0), (94, 0)),
        (0.5, 60.0, (39, 3), (1, 1)),  # of a large comparison; 67 at the pace of before
        (0.02, 60.0, (150, 5), (71, 1)),
    ):
        server.takes = takes
        parts, pages = server.watched(seconds)
        assert least[0] <= parts <= most[0]
        assert least[1] <= pages <= most[1]


def test_many_visitors_share_the_time_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(monkeypatch)
    server.takes = 0.03
    sessions = [Session() for _ in range(40)]

    def whole_page() -> float | None:
        frame.redrawn(server.draw, 0.4)
        return server.pace

    for _ in range(5):  # until their cost is known
        for server.session in sessions:
            whole_page()
            server.part()
            with suppress(Rerun):
                server.part()
    assert whole_page() == pytest.approx(40 * 0.03 / frame.SHARE, rel=0.15)
    server.now += 60.0  # their runs have ended, or they have gone without a word
    assert whole_page() == 0.4


def test_a_browser_that_lags_behind_gets_no_parts_of_the_last_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else Streamlit answers it with that page again."""
    storage, here = MemoryFragmentStorage(), Session()
    run = SimpleNamespace(fragment_storage=storage)
    monkeypatch.setattr(streamlit_internals, "current_run", lambda: run)
    monkeypatch.setattr(frame, "session", lambda: here)
    monkeypatch.setattr(frame, "store", lambda: SimpleNamespace(notice="", going=len))
    for name in ("unseen", "dark", "wide"):
        monkeypatch.setattr(frame, name, lambda *_: None)
    there: list[bool] = []
    for name in ("runs", "runs", "explore"):
        page: Any = SimpleNamespace(url_path=name, run=lambda: there.append(storage.contains("part")))
        assert frame.show_page(page)
        storage.register("part", lambda: None)
    assert there == [False, True, False]


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

"""Parts that redraw themselves leave time to others."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pages.shared.layout import frame
from pages.shared.visitor.state import Session


class Rerun(BaseException):
    """The whole page is run again."""


class Server:
    """A page with one part, on a server where drawing it takes so many seconds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = self.takes = 0.0
        self.pace: float | None = None
        self.part: Callable[[], None] = lambda: None
        session = Session()

        def fragment(part: Callable[[], None], run_every: float | None) -> Callable[[], None]:
            self.part, self.pace = part, run_every
            return part

        def rerun() -> None:
            raise Rerun

        monkeypatch.setattr(frame, "session", lambda: session)
        monkeypatch.setattr(frame.st, "fragment", fragment)
        monkeypatch.setattr(frame.st, "rerun", rerun)
        monkeypatch.setattr(frame.time, "monotonic", lambda: self.now)

    def draw(self, live: bool) -> None:
        """Takes its time."""
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


def test_where_drawing_takes_long_it_is_done_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(monkeypatch)
    server.takes = 0.02
    assert server.watched(40.0) == (96, 0)
    server.takes = 0.5  # many have come
    parts, pages = server.watched(60.0)
    assert parts < 30  # 67 at the pace of before
    assert 0 < pages < 4
    server.takes = 0.02  # and are gone
    parts, pages = server.watched(60.0)
    assert parts > 90
    assert 0 < pages < 6


def test_a_first_drawing_that_takes_long_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(monkeypatch)
    server.takes = 2.0
    frame.redrawn(server.draw, 0.4)
    server.takes = 0.02
    server.part()
    assert server.pace == 0.4

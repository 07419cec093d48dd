"""Pages of several visitors take turns."""

from __future__ import annotations

import threading
import time

import pytest

from pages.shared.layout import frame

LIMIT = 20.0


def begun(page: object) -> threading.Thread:
    assert callable(page)
    thread = threading.Thread(target=page, daemon=True)
    thread.start()
    return thread


def test_so_many_pages_are_drawn_at_once_with_their_parts() -> None:
    lock, now, most, drawn = threading.Lock(), 0, 0, 0

    @frame.guarded
    def part() -> None:
        nonlocal drawn
        with lock:
            drawn += 1

    @frame.guarded
    def page() -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        part()  # needs no second turn
        time.sleep(0.002)
        with lock:
            now -= 1

    for thread in [begun(page) for _ in range(20)]:
        thread.join(LIMIT)
    assert (now, most, drawn) == (0, frame.AT_ONCE, 20)


def test_an_error_ends_a_turn() -> None:
    for _ in range(frame.AT_ONCE + 1):
        with pytest.raises(KeyError), frame.turn():
            raise KeyError
    with frame.turn():
        pass

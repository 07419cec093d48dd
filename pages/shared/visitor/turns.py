"""Pages of several visitors take turns, so that many who press at once are answered one after the other.

Python draws one page at a time, whatever the number of threads. Forty that are begun together take forty times as long,
each of them, and every message on its way out waits for them all.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

AT_ONCE = 2  # one of which may wait for a file


class Turns:
    """A limit of threads at once, in the order in which they came."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._free = at_once  # below zero: so many too many
        self._line: deque[threading.Lock] = deque()  # each is opened when its turn has come
        self._lock = threading.Lock()
        self._own = threading.local()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Wait for a turn, unless this thread has one."""
        if getattr(self._own, "turn", False):
            yield
            return
        self._take()
        try:
            yield
        finally:
            self._give()

    @contextmanager
    def left(self) -> Iterator[None]:
        """Leave this thread's turn, if it has one, to others, and go on at once in the end, even if that is one
        too many: others may wait for the locks of this thread, such as that of a file being read for all."""
        if not getattr(self._own, "turn", False):
            yield
            return
        self._give()
        try:
            yield
        finally:
            with self._lock:
                self._free -= 1
            self._own.turn = True

    def _take(self) -> None:
        with self._lock:
            mine = None
            if self._free > 0:
                self._free -= 1
            else:
                mine = threading.Lock()
                mine.acquire()
                self._line.append(mine)
        if mine is not None:
            mine.acquire()
        self._own.turn = True

    def _give(self) -> None:
        self._own.turn = False
        with self._lock:
            if self._line and self._free >= 0:
                self._line.popleft().release()
            else:
                self._free += 1


turns = Turns()

"""Pages of several visitors take turns, so that many visitors who press at once are served one after the other.

Python draws one page at a time, no matter how many threads there are. If forty pages begin together, each takes forty
times as long, and every outgoing message waits for all of them.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

AT_ONCE = 2  # threads, one of which may wait for a file


class Turns:
    """A limit on the threads that run at once; others wait in the order in which they came."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._free = at_once  # negative if too many run
        self._line: deque[threading.Lock] = deque()  # each is released when its turn has come
        self._lock = threading.Lock()
        self._own = threading.local()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Wait for a turn, unless this thread has one."""
        if getattr(self._own, "turn", False):
            yield
            return
        mine = threading.Lock()
        with self._lock:
            if self._free > 0:
                self._free -= 1
            else:
                mine.acquire()
                self._line.append(mine)
        with mine:  # at once, or when the turn has come
            self._own.turn = True
            try:
                yield
            finally:
                self._give()

    @contextmanager
    def left(self) -> Iterator[None]:
        """Give this thread's turn, if it has one, to others during the block. It then resumes at once, even if that is
        one thread too many, because others may wait for its locks, such as the lock of a file read for all."""
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

    def _give(self) -> None:
        self._own.turn = False
        with self._lock:
            if self._line and self._free >= 0:
                self._line.popleft().release()
            else:
                self._free += 1


turns = Turns()

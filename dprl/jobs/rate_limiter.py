"""How many wrong codes of rooms may be tried, rooms opened, and links made short in a while, as memory has it."""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque

from dprl.jobs.file import StoreError
from dprl.jobs.leases import Lease

MINUTES = 10
WRONG = {"tab": 10, "address": 100, "all": 300}  # codes; a class is behind one address, and makes mistakes
OPENED = {"tab": 5, "address": 20, "all": 50}  # rooms
SHORTENED = {"tab": 20, "address": 100, "all": 300}  # links; a class is behind one address


class TooOften(StoreError):
    """Something was tried too often; the message says how long to wait."""


class RateLimiter:
    """Counts what was tried in the last MINUTES, by tab, by network address where that is known, and in all."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tried: defaultdict[tuple[str, str, str], deque[float]] = defaultdict(deque)

    def check(self, who: Lease) -> None:
        """Raises TooOften where too many wrong codes were tried: then a right one is refused as well, for else a
        refusal would say that it was wrong."""
        self._check("code", WRONG, who, f"Too many wrong codes were tried here: wait {MINUTES} minutes.")

    def wrong(self, who: Lease) -> None:
        """A wrong code was tried."""
        self._note("code", who)

    def open(self, who: Lease) -> None:
        """A room is opened. Raises TooOften."""
        self._check("room", OPENED, who, f"Too many rooms were opened from here: wait {MINUTES} minutes.")
        self._note("room", who)

    def shorten(self, who: Lease) -> None:
        """A link is made short. Raises TooOften."""
        self._check(
            "link", SHORTENED, who, f"Too many short links were made from here: wait {MINUTES} minutes."
        )
        self._note("link", who)

    def _check(self, what: str, limits: dict[str, int], who: Lease, sentence: str) -> None:
        since = time.monotonic() - 60 * MINUTES
        with self._lock:
            for name in [name for name, times in self._tried.items() if times[-1] < since]:
                del self._tried[name]
            for by, whose in _counted_names(who):
                times = self._tried.get((what, by, whose), ())
                if sum(at >= since for at in times) >= limits[by]:
                    raise TooOften(sentence)

    def _note(self, what: str, who: Lease) -> None:
        with self._lock:
            for by, whose in _counted_names(who):
                times = self._tried[what, by, whose]
                times.append(time.monotonic())
                if len(times) > max(WRONG["all"], SHORTENED["all"]):
                    times.popleft()


def _counted_names(who: Lease) -> list[tuple[str, str]]:
    """Under which names something counts."""
    address = [("address", who.address)] if who.address else []
    return [("tab", who.tab), *address, ("all", "")]

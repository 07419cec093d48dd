"""The limits of waiting work, and of attempts, by tab, by network address and in all."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import ClassVar

from dprl.runs.database import StoreError, setting
from dprl.words import duration, plural

MINUTES = 10
# In so many minutes. A class is behind one address, and makes mistakes.
OFTEN = {
    "code": ({"tab": 10, "address": 100, "all": 300}, "Too many wrong codes were tried here"),
    "room": ({"tab": 5, "address": 20, "all": 50}, "Too many rooms were opened from here"),
    "link": ({"tab": 20, "address": 100, "all": 300}, "Too many short links were made from here"),
}
CAPS = {
    "tab": ("one tab", 400, 3600),
    "address": ("one network address", 2000, 4 * 3600),
    "all": ("all visitors together", 10_000, 24 * 3600),
}


class TooMuch(StoreError):
    """More was asked for than may wait at once; the message gives what would fit."""


class TooOften(StoreError):
    """Something was tried too often; the message gives how long to wait."""


@dataclass(frozen=True)
class Lease:
    """A tab that asks, and its origin (a digest of its network address, "" if that is not known)."""

    tab: str
    address: str = ""
    all: ClassVar[str] = "all"


class Cap:
    """The limit of work that waits for a tab, an address or all: seeds, and seconds of one core. Raises StoreError."""

    def __init__(self, by: str) -> None:
        self.of, seeds, seconds = CAPS[by]
        self.seeds = setting(f"DPRL_{by.upper()}_SEEDS", seeds, 1, 10**7)
        self.seconds = setting(f"DPRL_{by.upper()}_SECONDS", seconds, 1, 10**9)

    def check(self, seeds: int, seconds: float, waiting: int, work: float) -> None:
        """Raise TooMuch unless the new request (seeds, seconds) fits on top of the waiting ones (waiting, work)."""
        by_number = self.seeds - waiting
        by_time = math.floor((self.seconds - work) * seeds / max(seconds, 1e-9))
        fits = max(0, min(by_number, by_time))
        if fits >= seeds:
            return
        if by_number <= by_time:
            most, some = plural(self.seeds, "seed"), f"{waiting} do"
        else:
            most = f"{_time(self.seconds)} of computing"
            some = f"{_time(work)} do" if work else "none does"
        fit = plural(fits, "seed") if fits else "nothing"
        raise TooMuch(
            f"Not started: at most {most} may wait for {self.of}, and {some}. "
            f"Of {plural(seeds, 'seed')} asked for, {fit} would fit now."
        )


def _time(seconds: float) -> str:
    return duration(seconds).removeprefix("about ")


class RateLimiter:
    """Counts what was tried in the last MINUTES, by tab, by network address if that is known, and in all."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tried: dict[tuple[str, str, str], deque[float]] = {}  # the latest times, as many as are allowed

    def check(self, what: str, who: Lease) -> None:
        """Raise TooOften if `what` was tried too often. After too many wrong codes a right one is refused as well:
        otherwise a refusal would show that a code is wrong."""
        since, (limits, sentence) = time.monotonic() - 60 * MINUTES, OFTEN[what]
        with self._lock:
            self._tried = {name: at for name, at in self._tried.items() if at[-1] >= since}
            for by, most in limits.items():
                tried = self._tried.get((what, by, getattr(who, by)))
                if tried and len(tried) == most and tried[0] >= since:
                    raise TooOften(f"{sentence}: wait {MINUTES} minutes.")

    def note(self, what: str, who: Lease) -> None:
        """Count that it was tried."""
        with self._lock:
            for by, most in OFTEN[what][0].items():
                if whose := getattr(who, by):
                    tried = self._tried.setdefault((what, by, whose), deque(maxlen=most))
                    tried.append(time.monotonic())

"""Limits on waiting work and on repeated attempts, for each browser tab, for each network address, and in total."""

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
# Attempts allowed in this many minutes. A whole class may share one address and make mistakes.
OFTEN = {
    "code": ({"tab": 10, "address": 100, "all": 300}, "Too many wrong codes were entered from here"),
    "room": ({"tab": 5, "address": 20, "all": 50}, "Too many rooms were opened from here"),
    "link": ({"tab": 20, "address": 100, "all": 300}, "Too many short links were made from here"),
}
CAPS = {
    "tab": ("one tab", 400, 3600),
    "address": ("one network address", 2000, 4 * 3600),
    "all": ("all visitors together", 10_000, 24 * 3600),
}


class Refused(StoreError):
    """Raised when a request is not allowed; the message is one sentence for the visitor who made it."""


@dataclass(frozen=True)
class Lease:
    """The browser tab and the network address (as a digest, "" if unknown) from which a request comes."""

    tab: str
    address: str = ""
    all: ClassVar[str] = "all"


class Cap:
    """A limit on the work waiting for one tab, one network address or everyone, in seeds and in seconds on one core."""

    def __init__(self, by: str) -> None:
        self.of, seeds, seconds = CAPS[by]
        self.seeds = setting(f"DPRL_{by.upper()}_SEEDS", seeds, 1, 10**7)
        self.seconds = setting(f"DPRL_{by.upper()}_SECONDS", seconds, 1, 10**9)

    def check(self, seeds: int, seconds: float, waiting: int, work: float) -> None:
        """Raise Refused unless a request (`seeds`, `seconds`) fits, given the waiting seeds and seconds of work."""
        by_number = self.seeds - waiting
        by_time = math.floor((self.seconds - work) * seeds / max(seconds, 1e-9))
        fits = max(0, min(by_number, by_time))
        if fits >= seeds:
            return
        if by_number <= by_time:
            most, some = plural(self.seeds, "seed"), f"{waiting} already do"
        else:
            most = f"{duration(self.seconds).removeprefix('about ')} of computing"
            some = f"{duration(work).removeprefix('about ')} already do" if work else "none does"
        fit = plural(fits, "seed") if fits else "nothing"
        raise Refused(
            f"Not started: at most {most} may wait for {self.of}, and {some}. "
            f"Of {plural(seeds, 'seed')} requested, {fit} would fit now."
        )


class RateLimiter:
    """A counter of the attempts in the last MINUTES, per tab, per network address if it is known, and in total."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tried: dict[tuple[str, str, str], deque[float]] = {}  # the latest times, as many as are allowed

    def check(self, what: str, who: Lease, count: bool = True) -> None:
        """Count an attempt of this kind, or raise Refused if there were too many. After too many wrong codes, a correct
        one is refused, too; otherwise, a refusal would reveal that a code is wrong."""
        since, (limits, sentence) = time.monotonic() - 60 * MINUTES, OFTEN[what]
        names = {(what, by, whose): most for by, most in limits.items() if (whose := getattr(who, by))}
        with self._lock:
            self._tried = {name: at for name, at in self._tried.items() if at[-1] >= since}
            for name, most in names.items():
                tried = self._tried.get(name)
                if tried and len(tried) == most and tried[0] >= since:
                    raise Refused(f"{sentence}: wait {MINUTES} minutes.")
            for name, most in names.items() if count else ():
                self._tried.setdefault(name, deque(maxlen=most)).append(time.monotonic())

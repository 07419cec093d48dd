"""How much may wait, and how often something may be tried, by tab, by network address and in all."""

from __future__ import annotations

import math
import threading
import time
from collections import defaultdict, deque
from dataclasses import dataclass

from dprl.runs.database import StoreError, setting
from dprl.words import duration, plural

MINUTES = 10
# In so many minutes. A class is behind one address, and makes mistakes.
OFTEN = {
    "code": ({"tab": 10, "address": 100, "all": 300}, "Too many wrong codes were tried here"),
    "room": ({"tab": 5, "address": 20, "all": 50}, "Too many rooms were opened from here"),
    "link": ({"tab": 20, "address": 100, "all": 300}, "Too many short links were made from here"),
}


class TooMuch(StoreError):
    """More was asked for than may wait at once; the message gives what would fit."""


class TooOften(StoreError):
    """Something was tried too often; the message gives how long to wait."""


@dataclass(frozen=True)
class Lease:
    """Who asks: a tab, and where it is (a digest of its network address, "" if that is not known)."""

    tab: str
    address: str = ""


@dataclass(frozen=True)
class Cap:
    """How much may wait at once. of: whose work it bounds, in words; seeds, and seconds of one core."""

    of: str
    seeds: int
    seconds: int

    def check(self, seeds: int, seconds: float, waiting: int, work: float) -> None:
        """Raise TooMuch unless what is asked for now (seeds, seconds) fits next to what waits (waiting, work)."""
        by_number = self.seeds - waiting
        by_time = math.floor((self.seconds - work) * seeds / max(seconds, 1e-9))
        fits = max(0, min(by_number, by_time))
        if fits >= seeds:
            return
        if by_number <= by_time:
            most, some = plural(self.seeds, "seed"), str(waiting)
        else:
            most, some = f"{_time(self.seconds)} of computing", _time(work) if work else ""
        why = f"at most {most} may wait for {self.of}, and {f'{some} do' if some else 'none does'}"
        fit = f"{plural(fits, 'seed')} would fit" if fits else "nothing would fit"
        raise TooMuch(f"Not started: {why}. Of {plural(seeds, 'seed')} asked for, {fit} now.")


def _time(seconds: float) -> str:
    return duration(seconds).removeprefix("about ")


def caps() -> dict[str, Cap]:
    """Return the caps by what they count, each of two settings. Raises StoreError."""
    found = {}
    for by, of, seeds, seconds in (
        ("tab", "one tab", 400, 3600),
        ("address", "one network address", 2000, 4 * 3600),
        ("all", "all visitors together", 10_000, 24 * 3600),
    ):
        name = f"DPRL_{by.upper()}"
        most = setting(f"{name}_SEEDS", seeds, 1, 10**7), setting(f"{name}_SECONDS", seconds, 1, 10**9)
        found[by] = Cap(of, *most)
    return found


class RateLimiter:
    """Counts what was tried in the last MINUTES, by tab, by network address if that is known, and in all."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tried: defaultdict[tuple[str, str, str], deque[float]] = defaultdict(deque)

    def check(self, what: str, who: Lease) -> None:
        """Raise TooOften if `what` was tried too often. After too many wrong codes a right one is refused as well:
        otherwise a refusal would show that a code is wrong."""
        since = time.monotonic() - 60 * MINUTES
        limits, sentence = OFTEN[what]
        with self._lock:
            for name in [name for name, times in self._tried.items() if times[-1] < since]:
                del self._tried[name]
            for by, whose in _counted_names(who):
                if sum(at >= since for at in self._tried.get((what, by, whose), ())) >= limits[by]:
                    raise TooOften(f"{sentence}: wait {MINUTES} minutes.")

    def note(self, what: str, who: Lease) -> None:
        """Count that it was tried."""
        with self._lock:
            for by, whose in _counted_names(who):
                times = self._tried[what, by, whose]
                times.append(time.monotonic())
                if len(times) > OFTEN[what][0]["all"]:
                    times.popleft()


def _counted_names(who: Lease) -> list[tuple[str, str]]:
    """Under which names something counts."""
    address = [("address", who.address)] if who.address else []
    return [("tab", who.tab), *address, ("all", "")]

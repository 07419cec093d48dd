"""Work that lasts as long as the browser tab that asked for it, and how much of it may wait.

A lease is a request with a tab. The dashboard says every few seconds which tabs are there; when one has gone for
DPRL_GRACE_SECONDS, or the dashboard with all of them, nobody waits any more for what it leased. A page that is loaded
anew leases what its address names before that. A request has at most one lease, and what others ask or cancel leaves
it alone.

Work stops when nobody waits for it: after `Requests.cancel`, or `Leases.withdraw` when a tab was closed. Both end in
`seed_jobs.stop_unwanted`.
"""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Collection
from dataclasses import dataclass

from dprl.jobs.component import StoreComponent, mending, setting
from dprl.jobs.file import StoreError, StoreFile
from dprl.jobs.seed_jobs import stop_unwanted
from dprl.words import duration, plural

_WEEK = 7 * 24 * 3600


class TooMuch(StoreError):
    """More was asked for than may wait at once; the message says what would fit."""


@dataclass(frozen=True)
class Lease:
    """Who asks: a tab, and where it is (a digest of its network address, "" where that is not known)."""

    tab: str
    address: str = ""


@dataclass(frozen=True)
class Cap:
    """How much may wait at once.

    Attributes:
        of: whose work it bounds, in words.
        where: selects the leases that count, given :tab and :address.
        seeds, seconds: at most so many seeds, and so many seconds of one core.
    """

    of: str
    where: str
    seeds: int
    seconds: int

    def check(self, seeds: int, seconds: float, waiting: int, work: float) -> None:
        """Raises TooMuch unless all that waits, so many seeds for so many seconds, fits.

        seeds, seconds: the part of it that is asked for now.
        """
        by_number = self.seeds - (waiting - seeds)
        by_time = math.floor((self.seconds - (work - seconds)) * seeds / max(seconds, 1e-9))
        fits = max(0, min(by_number, by_time))
        if fits >= seeds:
            return
        most, long = plural(self.seeds, "seed"), _time(self.seconds)
        if by_number <= by_time:
            why = f"Not started: at most {most} may wait for {self.of}, and {waiting - seeds} do."
        elif work > seconds:
            wait = _time(work - seconds)
            why = f"Not started: at most {long} of computing may wait for {self.of}, and {wait} do."
        else:
            why = f"Not started: at most {long} of computing may wait for {self.of}, and none does."
        asked, fit = plural(seeds, "seed"), plural(fits, "seed")
        if fits:
            raise TooMuch(f"{why} Of {asked} asked for, {fit} would fit now.")
        raise TooMuch(f"{why} Of {asked} asked for, nothing would fit now.")


def _time(seconds: float) -> str:
    return duration(seconds).removeprefix("about ")


def _caps() -> tuple[Cap, ...]:
    """Each is one setting. Raises StoreError."""

    def cap(name: str, of: str, where: str, seeds: int, seconds: int) -> Cap:
        return Cap(
            of,
            where,
            setting(f"DPRL_{name}_SEEDS", seeds, 1, 10**7),
            setting(f"DPRL_{name}_SECONDS", seconds, 1, 10**9),
        )

    return (
        cap("TAB", "one tab", "tab = :tab", 400, 3600),
        cap("ADDRESS", "one network address", "address = :address AND :address != ''", 2000, 4 * 3600),
        cap("ALL", "all visitors together", "true", 10_000, 24 * 3600),
    )


class Leases(StoreComponent):
    """Which tabs are there, and what they may lease.

    Attributes:
        public: everything that is asked for in the dashboard is leased, not only what comes through a link.
        link_seconds: of one core, estimated, that a link may start by itself.
    """

    def __init__(self, file: StoreFile) -> None:
        super().__init__(file)
        self._caps = _caps()
        self.grace = setting("DPRL_GRACE_SECONDS", 45, 1, _WEEK)
        self.public = bool(setting("DPRL_PUBLIC", 0, 0, 1))
        self.link_seconds = setting("DPRL_LINK_SECONDS", 20 if self.public else 60, 0, _WEEK)

    @mending
    def seen(self, here: Collection[str], left: Collection[str] = ()) -> set[str]:
        """These tabs are there just now, and these have just gone; returns all that have leases."""
        now = time.time()
        with self._file.writing() as db:
            db.executemany("UPDATE tab SET here = 1, seen_at = ? WHERE name = ?", [(now, t) for t in here])
            db.executemany("UPDATE tab SET here = 0, seen_at = ? WHERE name = ?", [(now, t) for t in left])
            return {row[0] for row in db.execute("SELECT name FROM tab")}

    @mending
    def withdraw(self) -> int:
        """Nobody waits any more for what was leased by tabs that have gone; how many of these there were."""
        limit = (time.time() - self.grace,)
        with self._file.connection() as db:
            if not db.execute("SELECT 1 FROM tab WHERE seen_at < ?", limit).fetchone():
                return 0
        with self._file.writing() as db:
            gone = [row[0] for row in db.execute("SELECT name FROM tab WHERE seen_at < ?", limit)]
            for tab in gone:
                leased = db.execute("SELECT run, visitor FROM lease WHERE tab = ?", (tab,)).fetchall()
                db.executemany("UPDATE request SET waiting = 0 WHERE run = ? AND visitor = ?", leased)
                for run, _ in leased:
                    stop_unwanted(db, run)
                db.execute("DELETE FROM lease WHERE tab = ?", (tab,))
                db.execute("DELETE FROM tab WHERE name = ?", (tab,))
        return len(gone)

    def end(self, db: sqlite3.Connection, run: int, visitor: str) -> None:
        """The visitor's request has no lease any more: it lasts until it is done, or is over."""
        db.execute("DELETE FROM lease WHERE run = ? AND visitor = ?", (run, visitor))

    def begin(self, db: sqlite3.Connection, run: int, visitor: str, lease: Lease) -> None:
        """The visitor's request lasts as long as the tab."""
        db.execute(
            "INSERT INTO tab VALUES (?, ?, 1, ?) ON CONFLICT (name) DO UPDATE SET here = 1, seen_at = excluded.seen_at",
            (lease.tab, lease.address, time.time()),
        )
        db.execute("INSERT OR REPLACE INTO lease VALUES (?, ?, ?)", (run, visitor, lease.tab))

    def admit(self, db: sqlite3.Connection, run: int, lease: Lease) -> None:
        """Raises TooMuch unless this run fits among what is leased."""
        asked = db.execute("SELECT seeds, seconds FROM backlog WHERE run = ?", (run,)).fetchone()
        for cap in self._caps if asked else ():
            waiting, work = db.execute(
                "SELECT sum(seeds), sum(seconds) FROM backlog WHERE run IN "
                f"(SELECT run FROM lease JOIN tab ON tab.name = lease.tab WHERE {cap.where})",
                {"tab": lease.tab, "address": lease.address},
            ).fetchone()
            if waiting is not None:
                cap.check(asked["seeds"], asked["seconds"], waiting, work)

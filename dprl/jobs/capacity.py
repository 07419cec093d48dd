"""Room for what is new: beyond DPRL_STORE_MB something goes.

First the traces that are longest unused, then the runs that were begun longest ago with their curves, then the answers
that were asked for longest ago.
"""

from __future__ import annotations

import sqlite3

from dprl.jobs.component import setting

_MADE_ROOM = "Its details had to make room for newer results; its curve was kept."
_TRACE = """
SELECT id FROM unit
WHERE bytes > 0 AND id != :newest AND +state IN ('done', 'failed', 'cancelled') AND NOT EXISTS (
    SELECT 1 FROM run_unit mine JOIN run_unit other ON other.run = mine.run JOIN unit u ON u.id = other.unit
    WHERE mine.unit = unit.id AND u.state IN ('queued', 'running'))
ORDER BY used_at, id LIMIT 1
"""
# Begun longest ago, which is found without looking at all of them.
_RUN = """
SELECT id FROM run
WHERE NOT EXISTS (SELECT 1 FROM run_unit JOIN unit ON unit.id = run_unit.unit WHERE run_unit.run = run.id
    AND (unit.id = :newest OR worker IS NOT NULL OR state IN ('queued', 'running')))
ORDER BY id LIMIT 1
"""
_ANSWER = "SELECT key FROM question ORDER BY asked_at LIMIT 1"


class Capacity:
    """The size of the store, all that is in it, and what goes where that is too much; bytes: beyond these."""

    def __init__(self) -> None:
        self.bytes = setting("DPRL_STORE_MB", 1024, 1, 10**7) * 2**20

    def make_room(self, db: sqlite3.Connection, newest: int = -1) -> bool:
        """Drop one after the other while there is too much; never anything of a run that still goes on, nor of the
        seed `newest`. Whether anything was."""
        removed = False
        while used(db) > self.bytes:
            if row := db.execute(_TRACE, {"newest": newest}).fetchone():
                _drop_trace(db, row["id"])
            elif row := db.execute(_RUN, {"newest": newest}).fetchone():
                drop_run(db, row["id"])
            elif row := db.execute(_ANSWER).fetchone():
                db.execute("DELETE FROM question WHERE key = ?", (row["key"],))
            else:
                break
            removed = True
        return removed


def used(db: sqlite3.Connection) -> int:
    """Bytes of the file that are in use."""
    names = ("page_count", "freelist_count", "page_size")
    pages, free, size = (int(db.execute(f"PRAGMA {name}").fetchone()[0]) for name in names)
    return (pages - free) * size


def _drop_trace(db: sqlite3.Connection, unit: int) -> None:
    """Drop a trace; its curve of a few kB stays, for sweeps need no more."""
    db.execute("DELETE FROM trace WHERE unit = ?", (unit,))
    db.execute(
        "UPDATE unit SET message = CASE state WHEN 'done' THEN ? ELSE message END, bytes = 0, "
        "state = CASE state WHEN 'done' THEN 'gone' ELSE state END, progress = 0, rev = rev + 1 "
        "WHERE id = ? AND bytes > 0",
        (_MADE_ROOM, unit),
    )


def drop_run(db: sqlite3.Connection, run: int) -> None:
    """Drop a run, its requests, and those of its seeds that are in no other run and with no worker."""
    units = db.execute("SELECT unit FROM run_unit WHERE run = ?", (run,)).fetchall()
    db.execute("DELETE FROM run WHERE id = ?", (run,))
    db.executemany(
        "DELETE FROM unit WHERE id = ? AND worker IS NULL "
        "AND NOT EXISTS (SELECT 1 FROM run_unit WHERE run_unit.unit = unit.id)",
        units,
    )

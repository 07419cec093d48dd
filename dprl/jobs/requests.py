"""What visitors ask for: runs, each a spec with all its seeds."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable

from dprl.jobs.capacity import Capacity, drop_run
from dprl.jobs.component import StoreComponent, mending, run_key
from dprl.jobs.file import StoreFile
from dprl.jobs.leases import Lease, Leases
from dprl.jobs.seed_jobs import stop_unwanted
from dprl.jobs.simulation import Simulation, SpecLike

log = logging.getLogger("dprl.jobs.requests")

_AGAIN = ("cancelled", "gone")  # states from which a seed is queued by asking for it
_STATES = """
SELECT state FROM run JOIN run_unit ON run_unit.run = run.id JOIN unit ON unit.id = run_unit.unit
WHERE run.key = ?
"""


class Requests(StoreComponent):
    """Asking for runs, and no longer wanting them."""

    def __init__(
        self, file: StoreFile, simulation: Simulation | None, leases: Leases, capacity: Capacity
    ) -> None:
        super().__init__(file, simulation)
        self._leases, self._capacity = leases, capacity

    @mending
    def add(self, spec: SpecLike, visitor: str, lease: Lease | None = None) -> None:
        """`visitor` asks for this run and waits for it, with a lease as long as its tab is there.

        Seeds that are missing, cancelled or had to make room are queued; finished, running and failed ones
        stay (`retry` is for those). Nothing changes when it is asked for again. Raises SpecError where the
        run is past the limits, TooMuch where more would wait than may be leased.
        """
        self._add(spec, visitor, lease, _AGAIN)

    @mending
    def retry(self, spec: SpecLike, visitor: str, lease: Lease | None = None) -> None:
        """Like `add`, and failed seeds are tried again."""
        self._add(spec, visitor, lease, (*_AGAIN, "failed"))

    @mending
    def cost(self, specs: Iterable[SpecLike]) -> tuple[int, float]:
        """Seeds that asking for these runs would queue, and the seconds of one core that they take, estimated: what is
        done or goes on costs nothing."""
        seeds, seconds = 0, 0.0
        with self._file.reading() as db:
            for spec in specs:
                states = [row[0] for row in db.execute(_STATES, (run_key(spec),))]
                lacking = spec.seeds - sum(state not in _AGAIN for state in states)
                seeds += lacking
                seconds += lacking * max(0.0, self._simulation.seconds(spec)) if lacking else 0.0
        return seeds, seconds

    def _add(self, spec: SpecLike, visitor: str, lease: Lease | None, again: tuple[str, ...]) -> None:
        key, now = run_key(spec), time.time()
        with self._file.reading() as db:
            states = [row[0] for row in db.execute(_STATES, (key,))]
            asked = db.execute(
                "SELECT tab FROM request JOIN run ON run.id = request.run LEFT JOIN lease USING (run, visitor) "
                "WHERE key = ? AND visitor = ? AND waiting",
                (key, visitor),
            ).fetchone()
        if asked and asked["tab"] is None:
            lease = None  # asked for without one before
        if asked and asked["tab"] == (lease and lease.tab) and not set(states) & set(again):
            return
        seconds = max(0.0, self._simulation.seconds(spec))
        units = [(spec.seed_key(seed), seed) for seed in range(spec.seeds)]
        with self._file.writing() as db:
            db.execute(
                "INSERT INTO run (key, spec, seeds) VALUES (?, ?, ?) "
                "ON CONFLICT (key) DO UPDATE SET rev = rev + 1, spec = excluded.spec",
                (key, spec.to_json(), spec.seeds),
            )
            run = db.execute("SELECT id FROM run WHERE key = ?", (key,)).fetchone()[0]
            db.execute(
                "INSERT INTO request VALUES (?, ?, 1, ?) ON CONFLICT (run, visitor) "
                "DO UPDATE SET waiting = 1, asked_at = excluded.asked_at",
                (run, visitor, now),
            )
            new = db.executemany(
                "INSERT INTO unit (key, seed, state, seconds, used_at) VALUES (?, ?, 'queued', ?, ?) "
                "ON CONFLICT (key) DO UPDATE SET seed = excluded.seed WHERE seed != excluded.seed",
                [(*unit, seconds, now) for unit in units],
            ).rowcount
            db.executemany(
                "INSERT OR IGNORE INTO run_unit SELECT ?, ?, id FROM unit WHERE key = ?",
                [(run, seed, unit_key) for unit_key, seed in units],
            )
            # A worker that has not yet noticed that its seed was cancelled simply goes on.
            new += db.execute(
                "UPDATE unit SET state = CASE WHEN worker IS NULL THEN 'queued' ELSE 'running' END, "
                "progress = CASE WHEN worker IS NULL THEN 0 ELSE progress END, "
                "message = '', deaths = 0, rev = rev + 1 "
                f"WHERE id IN (SELECT unit FROM run_unit WHERE run = ?) AND state IN {again}",
                (run,),
            ).rowcount
            if lease is None:
                self._leases.end(db, run, visitor)
            else:
                self._leases.begin(db, run, visitor, lease)
                if new:
                    self._leases.admit(db, run, lease)
            self._capacity.make_room(db)
        if new:
            log.info("A run is asked for", extra={"run": key, "seeds": new})

    @mending
    def cancel(self, spec: SpecLike, visitor: str) -> None:
        """`visitor` no longer waits for this run; seeds nobody waits for stop and keep what they have."""
        with self._file.writing() as db:
            row = db.execute("SELECT id FROM run WHERE key = ?", (run_key(spec),)).fetchone()
            if row is None:
                return
            run = (row["id"],)
            db.execute("UPDATE request SET waiting = 0 WHERE run = ? AND visitor = ?", (*run, visitor))
            self._leases.end(db, *run, visitor)
            stop_unwanted(db, *run)

    @mending
    def clear(self, visitor: str) -> int:
        """Take the visitor's ended runs off their list, and out of the store unless another visitor has them
        too; how many left the list."""
        with self._file.writing() as db:
            own = [
                row[0]
                for row in db.execute(
                    "SELECT run FROM request WHERE visitor = ? AND (NOT waiting OR NOT EXISTS ("
                    "SELECT 1 FROM run_unit JOIN unit ON unit.id = unit "
                    "WHERE run_unit.run = request.run AND state IN ('queued', 'running')))",
                    (visitor,),
                )
            ]
            for run in own:
                db.execute("DELETE FROM request WHERE run = ? AND visitor = ?", (run, visitor))
                if not db.execute("SELECT 1 FROM request WHERE run = ?", (run,)).fetchone():
                    drop_run(db, run)
        self._file.give_back()
        return len(own)

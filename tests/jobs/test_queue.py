from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path

from dprl.jobs.queue import Running, Waiting, claim, forecast
from dprl.jobs.seed_jobs import _FIRST, _RUNNING, _WAITING
from dprl.jobs.store import Store
from tests.jobs.fake import FakeSpec
from tests.jobs.seed_jobs import finish


def wish(
    visitor: str, run: int, seeds: int = 1, asked: float = 1.0, served: float = 0.0, away: bool = False
) -> Waiting:
    """A run of which each seed takes ten seconds."""
    return Waiting(visitor, run, seeds, 10.0 * seeds, asked, served, away)


def visitors(*waiting: Waiting, busy: dict[str, int] | None = None) -> list[str]:
    return [w.visitor for w in sorted(waiting, key=lambda w: claim(w, Counter(busy or {})))]


def test_the_visitor_with_fewest_seeds_running_is_next() -> None:
    assert visitors(wish("ann", 1), wish("bob", 2, served=50.0), busy={"ann": 1}) == ["bob", "ann"]


def test_among_equals_the_longest_unserved_is_next() -> None:
    assert visitors(wish("ann", 1, served=60.0), wish("bob", 2, served=50.0)) == ["bob", "ann"]


def test_time_in_which_a_visitor_waited_for_nothing_gives_no_claim() -> None:
    assert visitors(wish("ann", 1, asked=90.0), wish("bob", 2, served=50.0)) == ["bob", "ann"]


def test_whose_tab_has_gone_comes_last() -> None:
    assert visitors(wish("ann", 1, away=True), wish("bob", 2, asked=90.0), busy={"bob": 3}) == ["bob", "ann"]


def test_forecast_gives_places_and_ends() -> None:
    waiting = [wish("ann", 1, served=50.0), wish("ann", 2, served=50.0), wish("bob", 3)]
    found = forecast(waiting, [Running("ann", 1, 1, 10.0)], workers=1)
    # Unit 1 ends at 10, then bob's seed or ann's second, then her second run.
    assert (found[3].place, found[3].seconds_left) == (0, 30.0)
    assert (found[1].place, found[1].seconds_left) == (1, 30.0)
    assert (found[2].place, found[2].seconds_left) == (2, 40.0)


def test_forecast_of_several_workers_and_long_seeds() -> None:
    found = forecast([wish("ann", 1, seeds=5)], [], workers=2)
    assert (found[1].place, found[1].seconds_left) == (0, 25.0)
    found = forecast([Waiting("ann", 1, 1, 600.0, 1.0), wish("bob", 2)], [], workers=2)
    assert found[1].seconds_left >= 600.0


def test_forecast_of_visitors_in_turn() -> None:
    """Ann's ten seeds and bob's two: bob's second is the fourth."""
    found = forecast([wish("ann", 1, seeds=10), wish("bob", 2, seeds=2, asked=2.0)], [], workers=1)
    assert (found[2].place, found[2].seconds_left) == (1, 40.0)
    assert found[1].seconds_left == 120.0


def test_forecast_of_those_who_are_away_comes_after_all_others() -> None:
    waiting = [wish("ann", 1, seeds=3, away=True), wish("bob", 2, seeds=2, asked=2.0)]
    found = forecast(waiting, [], workers=1)
    assert (found[2].place, found[2].seconds_left) == (0, 20.0)
    assert (found[1].place, found[1].seconds_left) == (1, 50.0)


def test_a_run_with_nothing_queued_has_no_place() -> None:
    found = forecast([], [Running("ann", 1, 1, 10.0)], workers=2)
    assert (found[1].place, found[1].seconds_left) == (None, 10.0)


def test_forecast_of_a_full_classroom() -> None:
    waiting = [wish(f"visitor {v}", 100 * v + r, 5) for v in range(40) for r in range(8)]
    found = forecast(waiting, [], workers=2)
    assert sorted(one.place or 0 for one in found.values()) == list(range(320))
    assert max(one.seconds_left for one in found.values()) == 8000.0


def test_the_queue_is_read_by_runs_not_by_seeds(store: Store, path: Path) -> None:
    """What is waiting is counted as it changes, so that 20,000 seeds cost no more than their runs."""
    specs = [FakeSpec(name, seeds=50, seconds=2.0) for name in ("a", "b", "c")]
    for spec in specs:
        store.requests.add(spec, "ann")
    with sqlite3.connect(path) as db:
        [rows] = [db.execute(_WAITING).fetchall()]
        plans = [
            row[3]
            for query, values in ((_WAITING, ()), (_RUNNING, ()), (_FIRST, (1,)))
            for row in db.execute(f"EXPLAIN QUERY PLAN {query}", values)
        ]
    db.close()
    assert [(row[0], row[2], row[3]) for row in rows] == [("ann", 50, 100.0)] * 3
    assert [plan for plan in plans if plan.startswith("SCAN")] == ["SCAN backlog"]


def test_the_backlog_is_what_is_queued(store: Store, path: Path) -> None:
    def counted() -> list[tuple[int, int]]:
        with sqlite3.connect(path) as db:
            kept = db.execute("SELECT run, seeds FROM backlog ORDER BY run").fetchall()
            there = db.execute(
                "SELECT run, count(*) FROM run_unit JOIN unit ON unit.id = unit WHERE state = 'queued' GROUP BY run"
            ).fetchall()
        db.close()
        assert kept == there
        return [tuple(row) for row in kept]

    first, second = FakeSpec("a", seeds=3), FakeSpec("a", seeds=5)  # they share seeds
    store.requests.add(first, "ann")
    store.requests.add(second, "bob")
    assert counted() == [(1, 3), (2, 5)]
    finish(store)
    assert counted() == [(1, 2), (2, 4)]
    store.requests.cancel(second, "bob")
    assert counted() == [(1, 2), (2, 2)]
    store.requests.add(second, "bob")
    store.requests.cancel(first, "ann")
    assert counted() == [(1, 2), (2, 4)]
    store.requests.cancel(second, "bob")
    store.requests.clear("bob")
    assert counted() == []

"""How runs stand in a store, from asked for to done, cancelled or failed, with one visitor and with many."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from dprl.jobs.store import Store
from tests.jobs import fake
from tests.jobs.fake import FakeSpec, FakeTrace
from tests.jobs.seed_jobs import POINTS, claim, finish

# States -----------------------------------------------------------------------------------------------------


def test_an_unknown_run(store: Store) -> None:
    spec = FakeSpec()
    status = store.status.of(spec)
    assert (status.state, status.seeds, status.seeds_done) == ("unknown", 2, 0)
    assert store.results.live(spec) == []
    assert store.results.traces(spec) == []
    assert store.status.version(spec) == ""
    assert store.status.runs("ann") == []
    assert store.jobs.claim("w") is None
    store.requests.cancel(spec, "ann")
    assert store.status.of(spec).state == "unknown"


def test_from_request_to_done(store: Store) -> None:
    spec = FakeSpec(seeds=2, seconds=10.0)
    store.requests.add(spec, "ann")
    status = store.status.of(spec)
    assert (status.state, status.place, status.progress) == ("queued", 0, 0.0)
    assert status.seconds_left == pytest.approx(10.0)  # two workers

    unit = claim(store)
    assert (unit.seed, unit.key, unit.spec, unit.attempt) == (0, spec.seed_key(0), spec, 1)
    assert store.results.report(unit, 0.5, *POINTS)
    status = store.status.of(spec)
    assert (status.state, status.place, status.progress) == ("running", None, 0.25)
    [(seed, episodes, regret)] = store.results.live(spec)
    assert seed == 0
    np.testing.assert_array_equal(episodes, POINTS[0])
    np.testing.assert_array_equal(regret, POINTS[1])
    assert episodes.dtype == np.int64

    store.results.finish(unit, FakeTrace(0, True).to_bytes())
    assert store.status.of(spec).seeds_done == 1
    assert [trace.seed for trace in store.results.traces(spec)] == [0]
    finish(store)
    status = store.status.of(spec)
    assert (status.state, status.seeds_done, status.progress, status.seconds_left) == ("done", 2, 1.0, None)
    assert [trace.seed for trace in store.results.traces(spec)] == [0, 1]
    assert [trace.seed for trace in store.results.traces(spec, seeds=[1])] == [1]
    assert len(store.results.live(spec)) == 2


def test_the_version_changes_with_every_change(store: Store) -> None:
    spec = FakeSpec(seeds=1)
    seen = [store.status.version(spec)]

    def changed() -> None:
        assert store.status.version(spec) != seen[-1]
        seen.append(store.status.version(spec))
        assert store.status.version(spec) == store.status.of(spec).version == seen[-1]

    store.requests.add(spec, "ann")
    changed()
    unit = claim(store)
    changed()
    store.results.report(unit, 0.5, *POINTS)
    changed()
    store.requests.cancel(spec, "ann")
    changed()
    store.results.keep(unit, FakeTrace(0, False).to_bytes())
    changed()
    store.requests.add(spec, "ann")
    changed()
    finish(store)
    changed()
    store.requests.clear("ann")
    changed()


def test_asking_again_changes_nothing(store: Store) -> None:
    spec = FakeSpec()
    store.requests.add(spec, "ann")
    before = store.status.version(spec)
    store.requests.add(spec, "ann")
    assert store.status.version(spec) == before


def test_a_run_that_cannot_be_estimated_is_not_queued(path: Path) -> None:
    def refuse(spec: FakeSpec) -> float:
        fake.act("refuse")
        return 0.0

    simulation = fake.simulation()
    store = Store(path, type(simulation)(**{**vars(simulation), "seconds": refuse}))
    with pytest.raises(ValueError, match="too many"):
        store.requests.add(FakeSpec(), "ann")
    assert store.status.of(FakeSpec()).state == "unknown"


def test_specs_that_share_seeds_share_the_work(store: Store) -> None:
    few, many = FakeSpec(seeds=1), FakeSpec(seeds=3)
    store.requests.add(few, "ann")
    finish(store)
    store.requests.add(many, "ann")
    status = store.status.of(many)
    assert (status.state, status.seeds_done) == ("running", 1)
    assert [claim(store).seed, claim(store).seed] == [1, 2]


def test_the_same_spec_by_two_visitors_is_one_run(store: Store) -> None:
    spec = FakeSpec(seeds=1)
    store.requests.add(spec, "ann")
    store.requests.add(spec, "bob")
    finish(store)
    assert store.jobs.claim("w") is None
    assert store.status.runs("ann")[0].state == store.status.runs("bob")[0].state == "done"


def test_a_seed_that_raises_fails_and_the_others_go_on(store: Store) -> None:
    spec = FakeSpec(seeds=2)
    store.requests.add(spec, "ann")
    store.jobs.fail(claim(store), "It broke.")
    assert store.status.of(spec).state == "running"
    finish(store)
    status = store.status.of(spec)
    assert (status.state, status.message, status.seeds_done) == ("failed", "It broke.", 1)
    store.requests.add(spec, "ann")
    assert store.status.of(spec).state == "failed"
    store.requests.retry(spec, "ann")
    assert store.status.of(spec).message == ""
    assert finish(store).seed == 0
    assert store.status.of(spec).state == "done"


def test_a_seed_whose_worker_died_is_run_again_once(store: Store) -> None:
    spec = FakeSpec(seeds=1)
    store.requests.add(spec, "ann")
    claim(store, "w1")
    store.jobs.died("w1", -9)
    status = store.status.of(spec)
    assert (status.state, status.message) == ("queued", "A worker process died; seed 0 is run again.")
    unit = claim(store, "w2")
    assert unit.attempt == 2
    store.jobs.died("w2", -9)
    status = store.status.of(spec)
    assert status.state == "failed"
    assert (
        status.message
        == "Seed 0 failed: its worker process died twice (killed by SIGKILL), perhaps for want of memory."
    )
    store.requests.retry(spec, "ann")
    assert claim(store, "w3").attempt == 1


def test_a_run_that_succeeds_the_second_time_has_no_message(store: Store) -> None:
    spec = FakeSpec(seeds=1)
    store.requests.add(spec, "ann")
    claim(store, "w1")
    store.jobs.died("w1", 1)
    finish(store)
    assert (store.status.of(spec).state, store.status.of(spec).message) == ("done", "")


def test_a_graceful_stop_is_not_a_death(store: Store) -> None:
    spec = FakeSpec(seeds=1)
    store.requests.add(spec, "ann")
    for _ in range(3):
        unit = claim(store, "w")
        assert unit.attempt == 1
        store.results.report(unit, 0.5, *POINTS)
        store.jobs.release("w")
        status = store.status.of(spec)
        assert (status.state, status.progress, status.message) == ("queued", 0.0, "")


def test_a_new_pool_takes_over_what_was_running(store: Store) -> None:
    store.requests.add(FakeSpec(seeds=1), "ann")
    late = claim(store, "w1")
    store.jobs.recover()
    unit = claim(store, "w2")
    assert unit.attempt == 1
    # The old worker, should it still breathe, changes nothing.
    assert not store.results.report(late, 0.9, *POINTS)
    store.results.finish(late, b"late")
    store.jobs.fail(late, "late")
    assert store.status.of(FakeSpec(seeds=1)).state == "running"
    assert store.results.report(unit, 0.1, *POINTS)


def test_a_run_of_an_older_simulation_is_not_computed(store: Store) -> None:
    old, new = FakeSpec(source="yesterday"), FakeSpec()
    store.requests.add(old, "ann")
    assert store.jobs.claim("w") is None
    status = store.status.of(old)
    assert status.state == "failed"
    assert status.message == "The simulation has changed since this run was asked for; ask for it again."
    assert store.status.runs("ann") == []
    store.requests.add(new, "ann")
    assert [row.spec for row in store.status.runs("ann")] == [new]


# Cancelling -------------------------------------------------------------------------------------------------


def test_cancel_stops_and_keeps_what_there_is(store: Store) -> None:
    spec = FakeSpec(seeds=2)
    store.requests.add(spec, "ann")
    unit = claim(store)
    store.results.report(unit, 0.5, *POINTS)
    store.requests.cancel(spec, "ann")
    status = store.status.of(spec)
    assert (status.state, status.progress) == ("cancelled", 0.25)
    assert not store.results.report(unit, 0.6, *POINTS)
    store.results.keep(unit, FakeTrace(0, False).to_bytes())
    assert store.jobs.claim("w") is None
    assert [(trace.seed, trace.complete) for trace in store.results.traces(spec)] == [(0, False)]
    assert [seed for seed, _, _ in store.results.live(spec)] == [0]

    store.requests.add(spec, "ann")
    assert store.status.of(spec).state == "queued"
    assert [finish(store).seed, finish(store).seed] == [0, 1]
    assert [trace.complete for trace in store.results.traces(spec)] == [True, True]


def test_cancel_by_one_of_two_visitors(store: Store) -> None:
    spec = FakeSpec(seeds=1)
    store.requests.add(spec, "ann")
    store.requests.add(spec, "bob")
    unit = claim(store)
    store.requests.cancel(spec, "ann")
    assert store.results.report(unit, 0.5, *POINTS)
    assert store.status.of(spec).state == "running"
    assert store.status.of(spec, "ann").state == store.status.runs("ann")[0].state == "cancelled"
    assert store.status.of(spec, "bob").state == "running"
    store.requests.cancel(spec, "bob")
    assert not store.results.report(unit, 0.6, *POINTS)


def test_cancel_leaves_seeds_that_another_run_needs(store: Store) -> None:
    few, many = FakeSpec(seeds=1), FakeSpec(seeds=3)
    store.requests.add(many, "ann")
    store.requests.add(few, "bob")
    store.requests.cancel(many, "ann")
    assert store.status.of(many).state == "cancelled"
    assert store.status.of(few).state == "queued"
    assert finish(store).seed == 0
    assert store.jobs.claim("w") is None


def test_asked_for_again_before_the_worker_noticed_goes_on(store: Store) -> None:
    spec = FakeSpec(seeds=1)
    store.requests.add(spec, "ann")
    unit = claim(store)
    store.requests.cancel(spec, "ann")
    store.requests.add(spec, "ann")
    assert store.results.report(unit, 0.5, *POINTS)
    assert store.status.of(spec).state == "running"


def test_asked_for_again_while_the_worker_stops_is_queued(store: Store) -> None:
    spec = FakeSpec(seeds=1)
    store.requests.add(spec, "ann")
    unit = claim(store)
    store.requests.cancel(spec, "ann")
    assert not store.results.report(unit, 0.5, *POINTS)
    store.requests.add(spec, "ann")
    store.results.keep(unit, FakeTrace(0, False).to_bytes())
    assert store.status.of(spec).state == "queued"


def test_a_seed_that_ended_as_it_was_cancelled_is_done(store: Store) -> None:
    spec = FakeSpec(seeds=1)
    store.requests.add(spec, "ann")
    unit = claim(store)
    store.requests.cancel(spec, "ann")
    assert not store.results.report(unit, 1.0, *POINTS)
    store.results.finish(unit, FakeTrace(0, True).to_bytes())
    assert store.status.of(spec).state == "done"
    assert len(store.results.live(spec)[0][1]) == len(POINTS[0])


def test_a_worker_that_died_at_a_cancelled_seed(store: Store) -> None:
    spec = FakeSpec(seeds=1)
    store.requests.add(spec, "ann")
    claim(store)
    store.requests.cancel(spec, "ann")
    store.jobs.died("w", -9)
    assert store.status.of(spec).state == "cancelled"
    store.requests.add(spec, "ann")
    assert claim(store).attempt == 1


# Several visitors -------------------------------------------------------------------------------------------


def test_the_next_seed_goes_to_the_visitor_least_served(store: Store) -> None:
    store.requests.add(FakeSpec("ann 1", seeds=3), "ann")
    store.requests.add(FakeSpec("ann 2", seeds=2), "ann")
    store.requests.add(FakeSpec("bob", seeds=2), "bob")
    names = []
    for _ in range(7):
        unit = claim(store)
        names.append(f"{unit.spec.name}/{unit.seed}")
        store.results.finish(unit, b"{}")
    assert names == ["ann 1/0", "bob/0", "ann 1/1", "bob/1", "ann 1/2", "ann 2/0", "ann 2/1"]


def test_place_and_time_left(store: Store) -> None:
    first, second, third = (FakeSpec(name, seeds=2, seconds=10.0) for name in ("1", "2", "3"))
    for spec, visitor in ((first, "ann"), (second, "ann"), (third, "bob")):
        store.requests.add(spec, visitor)
    assert [store.status.of(spec).place for spec in (first, second, third)] == [0, 2, 1]
    left = [store.status.of(spec).seconds_left for spec in (first, third, second)]
    assert left == pytest.approx([20.0, 20.0, 30.0])


def test_a_visitors_runs_latest_first(store: Store) -> None:
    first, second = FakeSpec("1", seeds=1), FakeSpec("2", seeds=1)
    store.requests.add(first, "ann")
    store.requests.add(second, "ann")
    store.requests.add(FakeSpec("3"), "bob")
    finish(store)
    rows = store.status.runs("ann")
    assert [(row.spec, row.state) for row in rows] == [(second, "queued"), (first, "done")]
    assert rows[1].bytes > 0
    assert rows[0].asked_at >= rows[1].asked_at


def test_clear_takes_own_ended_runs_only(store: Store) -> None:
    done, shared, waiting = FakeSpec("1", seeds=1), FakeSpec("2", seeds=1), FakeSpec("3", seeds=1)
    store.requests.add(done, "ann")
    finish(store)
    store.requests.add(shared, "ann")
    store.requests.add(shared, "bob")
    finish(store)
    store.requests.add(waiting, "ann")
    assert store.requests.clear("ann") == 2
    assert [row.spec for row in store.status.runs("ann")] == [waiting]
    assert [row.spec for row in store.status.runs("bob")] == [shared]
    assert store.status.of(done).state == "unknown"
    assert store.results.traces(done) == []
    assert store.status.of(shared).state == "done"
    assert store.requests.clear("nobody") == 0


def test_activity(store: Store) -> None:
    store.jobs.enlist("w1", 1, warm=False)
    store.jobs.enlist("w2", 1, warm=True)
    store.jobs.enlist("gone", 2**22 + 1, warm=True)  # past the largest process id
    store.requests.add(FakeSpec("1", seeds=3), "ann")
    claim(store)
    activity = store.status.activity()
    assert (activity.workers, activity.warm) == (2, 1)
    assert (activity.seeds_running, activity.seeds_queued, activity.runs_waiting) == (1, 2, 1)


# Many at once -----------------------------------------------------------------------------------------------


def test_each_seed_is_claimed_once(path: Path, store: Store) -> None:
    for i in range(10):
        store.requests.add(FakeSpec(str(i), seeds=10), f"visitor {i % 3}")
    claimed: list[str] = []

    def work(name: str) -> None:
        mine = Store(path, fake.simulation())
        while (unit := mine.jobs.claim(name)) is not None:
            mine.results.report(unit, 0.5, *POINTS)
            mine.results.finish(unit, FakeTrace(unit.seed, True).to_bytes())
            claimed.append(unit.key)

    threads = [threading.Thread(target=work, args=(f"w{i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(claimed) == len(set(claimed)) == 100


def test_forty_sessions_each_see_their_own_run(path: Path, store: Store) -> None:
    specs = [FakeSpec(str(i), seeds=5) for i in range(40)]
    for i, spec in enumerate(specs):
        store.requests.add(spec, f"visitor {i}")
    store.results.report(claim(store), 0.5, *POINTS)
    store.status.of(specs[0])
    states = [store.status.of(spec, f"visitor {i}").state for i, spec in enumerate(specs)]
    assert sorted(states) == ["queued"] * 39 + ["running"]
    assert len({store.status.version(spec) for spec in specs}) >= 2

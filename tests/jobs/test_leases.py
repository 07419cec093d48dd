"""Work that lasts as long as a tab, how much of it may wait, and who goes first."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from dprl.jobs import worker as workers
from dprl.jobs.results import Results
from dprl.jobs.seed_jobs import SeedJob, SeedJobs
from dprl.jobs.store import Lease, Store, StoreError, TooMuch
from dprl.jobs.worker import compute_seed, work
from tests.jobs import fake
from tests.jobs.fake import FakeSpec
from tests.jobs.seed_jobs import POINTS, claim, sql

ANN, BOB = Lease("ann", "here"), Lease("bob", "there")
SPEC = FakeSpec(seeds=3, seconds=10.0)


def past_grace(path: Path) -> None:
    """As if 46 s had passed since tabs that are gone were seen."""
    sql(path, "UPDATE tab SET seen_at = seen_at - 46 WHERE NOT here")


def test_what_a_tab_asked_for_ends_when_it_has_gone(store: Store, path: Path) -> None:
    store.requests.add(SPEC, "ann", ANN)
    store.requests.add(FakeSpec("sweep", seeds=4), "ann:sweep", ANN)
    unit = claim(store)
    assert store.leases.seen({"ann"}) == {"ann"}
    past_grace(path)
    assert store.leases.withdraw() == 0
    store.leases.seen((), {"ann"})
    assert store.leases.withdraw() == 0  # it may be loaded anew
    past_grace(path)
    assert store.leases.withdraw() == 1
    assert store.status.activity().seeds_queued == 0
    assert not store.results.report(unit, 0.5, *POINTS)
    assert store.status.of(SPEC, "ann").state == "cancelled"
    assert store.leases.seen({"ann"}) == set()


def test_a_dashboard_that_was_killed_takes_its_tabs_along(store: Store, path: Path) -> None:
    store.requests.add(SPEC, "ann", ANN)
    sql(path, "UPDATE tab SET seen_at = seen_at - 46")
    assert store.leases.withdraw() == 1
    assert store.status.activity().seeds_queued == 0


def test_a_page_loaded_anew_takes_over_what_its_address_names(store: Store, path: Path) -> None:
    store.requests.add(SPEC, "ann", ANN)
    unit = claim(store)
    store.leases.seen((), {"ann"})
    assert store.requests.cost([SPEC]) == (0, 0.0)
    store.requests.add(SPEC, "ann again", Lease("ann again", "here"))
    past_grace(path)
    store.leases.withdraw()
    assert store.results.report(unit, 0.5, *POINTS)
    assert store.status.of(SPEC, "ann again").state == "running"


def test_what_was_asked_for_without_a_lease_stays(store: Store, path: Path) -> None:
    store.requests.add(SPEC, "ann")
    store.requests.add(SPEC, "ann", ANN)  # and a link does not take that back
    other = FakeSpec("other")
    store.requests.add(other, "ann", ANN)
    store.requests.add(other, "ann")  # nor does it last when Run is pressed
    store.leases.seen((), {"ann"})
    past_grace(path)
    store.leases.withdraw()
    assert store.status.activity().seeds_queued == 5


@pytest.mark.parametrize("ask", ["add", "retry"])
def test_another_who_asks_without_a_lease_and_cancels_leaves_the_lease_of_the_first(
    store: Store, path: Path, ask: str
) -> None:
    store.requests.add(SPEC, "ann", ANN)
    unit = claim(store)
    getattr(store.requests, ask)(SPEC, "bob")
    store.leases.seen((), {"ann"})
    past_grace(path)
    assert store.leases.withdraw() == 1
    assert store.status.of(SPEC, "ann").state == "cancelled"
    assert store.results.report(unit, 0.5, *POINTS)  # bob still waits
    store.requests.cancel(SPEC, "bob")
    assert not store.results.report(unit, 0.6, *POINTS)
    assert store.status.activity().seeds_queued == 0


def test_a_tab_that_goes_after_another_has_cancelled_ends_its_run(store: Store, path: Path) -> None:
    store.requests.add(SPEC, "ann", ANN)
    unit = claim(store)
    store.requests.add(SPEC, "bob")
    store.requests.cancel(SPEC, "bob")
    store.requests.add(SPEC, "ann", ANN)  # the page asks again, and still has its lease
    assert store.results.report(unit, 0.5, *POINTS)
    store.leases.seen((), {"ann"})
    past_grace(path)
    store.leases.withdraw()
    assert not store.results.report(unit, 0.6, *POINTS)
    assert store.status.activity().seeds_queued == 0


def test_what_was_cancelled_does_not_count_against_its_tab(
    monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    monkeypatch.setenv("DPRL_TAB_SEEDS", "3")
    store = Store(path, fake.simulation())
    store.requests.add(SPEC, "ann", ANN)
    store.requests.add(SPEC, "bob", BOB)
    store.requests.cancel(SPEC, "ann")  # bob still waits for it
    store.requests.add(FakeSpec("b", seeds=3), "ann", ANN)
    assert store.status.activity().seeds_queued == 6


def test_what_it_costs_to_ask(store: Store) -> None:
    assert store.requests.cost([SPEC, FakeSpec("b", seeds=2, seconds=1.0)]) == (5, 32.0)
    store.requests.add(SPEC, "ann")
    assert store.requests.cost([SPEC, FakeSpec("b", seeds=2, seconds=1.0)]) == (2, 2.0)
    store.requests.cancel(SPEC, "ann")
    assert store.requests.cost([SPEC]) == (3, 30.0)


CAPS = {
    "DPRL_TAB_SEEDS": ("4", "at most 4 seeds may wait for one tab, and 3 do. Of 3 seeds asked for, 1 seed would fit"),
    "DPRL_TAB_SECONDS": (
        "50",
        "at most 50 s of computing may wait for one tab, and 30 s do. Of 3 seeds asked for, 2 seeds would fit",
    ),
    "DPRL_ADDRESS_SEEDS": ("3", "at most 3 seeds may wait for one network address, and 3 do. Of 3 seeds"),
    "DPRL_ADDRESS_SECONDS": ("30", "at most 30 s of computing may wait for one network address, and 30 s do."),
    "DPRL_ALL_SEEDS": ("5", "at most 5 seeds may wait for all visitors together, and 3 do."),
    "DPRL_ALL_SECONDS": ("45", "at most 45 s of computing may wait for all visitors together, and 30 s do."),
}  # fmt: skip


@pytest.mark.parametrize("name", CAPS)
def test_each_cap_is_one_setting_and_says_what_would_fit(
    path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, CAPS[name][0])
    store = Store(path, fake.simulation())
    store.requests.add(SPEC, "ann", ANN)
    more = FakeSpec("more", seeds=3, seconds=10.0)
    asks = {"TAB": ANN, "ADDRESS": Lease("ann 2", "here"), "ALL": BOB}[name.split("_")[1]]
    with pytest.raises(TooMuch) as refusal:
        store.requests.add(more, "x", asks)
    assert CAPS[name][1] in str(refusal.value)
    assert store.status.activity().seeds_queued == 3
    assert store.status.of(more).state == "unknown"
    store.requests.add(SPEC, "x", asks)  # what goes on anyway costs nothing
    store.requests.add(more, "x")  # nobody is bounded who runs it on their own machine
    assert store.status.activity().seeds_queued == 6


def test_addresses_that_are_not_known_are_not_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPRL_ADDRESS_SEEDS", "3")
    store = Store(path, fake.simulation())
    store.requests.add(SPEC, "ann", Lease("ann"))
    store.requests.add(FakeSpec("more", seeds=3), "bob", Lease("bob"))
    assert store.status.activity().seeds_queued == 6


@pytest.mark.parametrize(
    "name", ["DPRL_TAB_SEEDS", "DPRL_ALL_SECONDS", "DPRL_GRACE_SECONDS", "DPRL_PUBLIC", "DPRL_LINK_SECONDS"]
)
def test_a_setting_that_is_none_is_said(path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "many")
    with pytest.raises(StoreError, match=f"{name} is 'many', and must be a whole number from"):
        Store(path, fake.simulation())


def test_a_newcomer_is_next_behind_200_tabs_that_have_gone(store: Store) -> None:
    names = {f"ghost {i}" for i in range(200)}
    for name in sorted(names):
        store.requests.add(FakeSpec(name, seeds=5), name, Lease(name))
    store.leases.seen((), names)
    store.requests.add(FakeSpec("new", seeds=2), "new", Lease("new"))
    assert [claim(store, f"w{i}").spec.name for i in range(2)] == ["new", "new"]
    assert store.status.of(FakeSpec("ghost 1", seeds=5)).place == 1


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every slice is a turn."""
    monkeypatch.setattr(workers, "_TURN", -1.0)
    monkeypatch.setattr(workers, "_SLICE", 0.01)
    monkeypatch.setattr(workers, "_FIRST_SLICE", 0.01)


def ends(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Is filled with the names of the seeds that end, in their order."""
    found: list[str] = []
    finish = Results.finish

    def noted(self: Results, job: SeedJob, trace: bytes) -> None:
        found.append(job.spec.name)
        finish(self, job, trace)

    monkeypatch.setattr(Results, "finish", noted)
    return found


def test_a_long_seed_gives_way_and_goes_on_from_there(
    store: Store, impatient: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found, diary = ends(store, monkeypatch), tmp_path / "diary"
    long = FakeSpec("long", seeds=2, seconds=0.3, diary=str(diary))
    store.requests.add(long, "ann")
    unit = claim(store)
    for name in ("b", "c"):
        store.requests.add(FakeSpec(name, seeds=1, seconds=0.02), name)
    compute_seed(store, fake.simulation(), unit, threading.Event())
    assert found == ["b", "c", "long"]
    assert diary.read_text().split() == ["long/0"]  # begun once, and ann's second seed did not jump in
    assert store.status.of(long).seeds_done == 1


def test_no_more_than_four_are_kept_and_one_that_nobody_here_waits_for_makes_room(
    store: Store, impatient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = ends(store, monkeypatch)
    for i in range(4):
        store.requests.add(FakeSpec(f"ghost {i}", seeds=1, seconds=0.5), f"ghost {i}", Lease(f"ghost {i}"))
    running: list[int] = []
    asked = SeedJobs.switch_to

    def noted(self: SeedJobs, job: SeedJob) -> None:
        asked(self, job)
        running.append(store.status.activity().seeds_running)
        if running == [2, 3, 4]:
            store.leases.seen((), {f"ghost {i}" for i in range(4)})
            store.requests.add(FakeSpec("new", seeds=1, seconds=0.02), "new", Lease("new"))

    monkeypatch.setattr(SeedJobs, "switch_to", noted)
    stop = threading.Event()
    compute_seed(store, fake.simulation(), claim(store), stop)
    assert found[0] == "new"
    assert max(running) == 4
    assert len(found) == 4
    assert store.status.activity().seeds_queued == 1  # the one that made room


def test_a_preempted_seed_does_not_fail_for_the_death_of_another(store: Store) -> None:
    preempted, fatal = FakeSpec("preempted", seeds=1), FakeSpec("fatal", seeds=1)
    for attempt in (1, 2):
        for spec in (preempted, fatal):
            store.requests.add(spec, spec.name)
        first = claim(store, f"w{attempt}")
        second = claim(store, f"w{attempt}")
        store.jobs.switch_to(first if first.spec == fatal else second)
        store.jobs.died(f"w{attempt}", -9)
    assert store.status.of(fatal).state == "failed"
    assert store.status.of(preempted).state == "queued"


def test_a_death_counts_for_the_seed_that_was_computed_and_for_no_preempted_one(store: Store) -> None:
    preempted, fatal = FakeSpec("preempted", seeds=1), FakeSpec("fatal", seeds=1)
    store.requests.add(preempted, "ann")
    claim(store, "w1")
    store.requests.add(fatal, "bob")
    store.jobs.switch_to(claim(store, "w1"))
    store.jobs.died("w1", -9)
    again = {job.spec: job for job in (claim(store, "w2"), claim(store, "w2"))}
    assert {spec.name: job.attempt for spec, job in again.items()} == {"preempted": 1, "fatal": 2}
    store.jobs.switch_to(again[preempted])
    store.jobs.died("w2", -9)  # the first death at this one, and none of the other
    assert (store.status.of(preempted).state, store.status.of(fatal).state) == ("queued", "queued")
    again = {job.spec: job for job in (claim(store, "w3"), claim(store, "w3"))}
    store.jobs.switch_to(again[fatal])
    store.jobs.died("w3", -9)
    assert (store.status.of(preempted).state, store.status.of(fatal).state) == ("queued", "failed")


def test_a_worker_told_to_stop_gives_all_back(
    store: Store, impatient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = threading.Event()
    for name in ("a", "b"):
        store.requests.add(FakeSpec(name, seeds=1, seconds=60.0), name)
    asked = SeedJobs.switch_to

    def noted(self: SeedJobs, job: SeedJob) -> None:
        asked(self, job)
        stop.set()

    monkeypatch.setattr(SeedJobs, "switch_to", noted)
    work(store, fake.simulation(), "w", stop)
    assert (store.status.activity().seeds_running, store.status.activity().seeds_queued) == (0, 2)

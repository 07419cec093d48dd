"""A sweep asked for, computed and cancelled as one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import dprl
from dprl.research import Sweep
from dprl.research.background import RunFailed, collect
from dprl.runs.store import Store
from dprl.runs.turn import Order, Report, play
from dprl.runs.workers import Lost
from tests.runs import slots
from tests.runs.slots import Hand

BASE = dprl.RunSpec(environment_params={"S": 3, "H": 3}, episodes=500, seeds=2)
SWEEP = Sweep(BASE, {"epsilon": [1.0, 10.0], "privacy": ["none", "local"]})


@pytest.fixture
def real(path: Path) -> Iterator[Store]:
    store = Store(path)
    yield store
    store.close()


@pytest.fixture
def worker(real: Store) -> Callable[[int], None]:
    """worker(most): a thread that plays so many seeds."""

    def begin(most: int) -> None:
        left = most

        def do(order: Order) -> Report:
            nonlocal left
            left -= 1
            if left < 0:
                raise Lost
            report = play(order, turn=1e9)
            real.results.put(order.key, report.curve, report.trace)
            real.results.write()
            return report

        real.engine.add(Hand(do))

    return begin


def test_stopping_withdraws_and_keeps_what_is_finished(real: Store, worker: Callable[[int], None]) -> None:
    worker(2)

    def interrupt(share: float) -> None:
        if share >= 1 / 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        collect(real, SWEEP.specs, "ann", Store.whole_curves, interrupt)
    assert real.activity().seeds_queued == 0
    assert sum(real.whole_curves(spec) is not None for spec in SWEEP.specs) == 1
    worker(100)
    assert len(collect(real, SWEEP.specs, "ann", Store.whole_curves)) == 3


def test_a_failure_is_one_sentence_and_ends_the_rest(real: Store) -> None:
    def break_one(share: float) -> None:
        slots.work(real, slots.failing("Seed 0 failed: no memory."), most=1)

    with pytest.raises(RunFailed, match="no memory"):
        collect(real, SWEEP.specs, "ann", Store.whole_curves, break_one)
    assert real.activity().seeds_queued == 0


def test_ends_outlive_the_traces(
    real: Store, monkeypatch: pytest.MonkeyPatch, worker: Callable[[int], None]
) -> None:
    """Where traces had to make room, curves stay, and a sweep needs no more."""
    monkeypatch.setattr(real.results, "capacity", 2**20)
    base = BASE.replace(environment_params={"S": 6, "H": 10}, privacy="local", seeds=1)
    specs = [base.replace(root_seed=i) for i in range(4)]  # each trace is of about half a megabyte
    worker(100)
    for spec in specs:
        collect(real, [spec], "ann", Store.whole_curves)
    assert "unknown" in [real.status(spec).state for spec in specs]
    assert all(real.whole_curves(spec) is not None for spec in specs)


def test_what_makes_room_before_it_is_read_is_computed_again_and_in_the_end_refused(
    real: Store, monkeypatch: pytest.MonkeyPatch, worker: Callable[[int], None]
) -> None:
    """A run whose traces do not fit the store together was waited for without end."""
    monkeypatch.setattr(real.results, "capacity", 2**20)
    large = BASE.replace(environment_params={"S": 6, "H": 10}, privacy="local", seeds=4)
    worker(100)
    with pytest.raises(RunFailed, match="deleted for space before they could be read; raise DPRL_STORE_MB"):
        collect(real, [large], "ann", Store.whole_trace)
    assert real.activity().seeds_queued == 0
    small = BASE.replace(seeds=1)
    assert collect(real, [small], "ann", Store.whole_trace)[small].spec == small


def test_a_run_that_another_process_of_the_same_name_withdraws_is_asked_for_again(
    real: Store, worker: Callable[[int], None]
) -> None:
    seen: list[float] = []

    def withdraw(share: float) -> None:
        seen.append(share)
        if len(seen) == 1:
            real.cancel(BASE, "ann")
            worker(100)

    assert collect(real, [BASE], "ann", Store.whole_curves, withdraw)[BASE].whole(BASE.seeds)

"""The loop asks the schedule for the next release: one that looks at what was released runs by adding one entry."""

from __future__ import annotations

import numpy as np
import pytest

from dprl import RunSpec
from dprl.engine import compiled, kernel
from dprl.mdp.planning import Policy
from dprl.mdp.structure import Table, every_state
from dprl.mdp.tabular import Array
from dprl.simulation import SeedRun, schedules
from dprl.simulation.schedules import SCHEDULES, SIGNATURE, Schedule
from dprl.simulation.schedules.schedule import Ints
from tests.simulation.test_engine import finished, same_bits

MOST = 40


@kernel
def next_release(
    users: int,
    left: int,
    K: int,
    settings: Array,
    released: Array,
    errors: Array,
    possible: Table,
    policy: Policy,
) -> int:
    """As many users again as the released counts say the policy's least visited (h, s) has seen."""
    least = float(users)
    for h in range(released.shape[0]):
        for s in range(released.shape[1]):
            least = min(least, released[h, s, policy[h, s], released.shape[1]])
    return min(K, users + 1 + int(max(least, 0.0)))


LOOKING = Schedule(
    key="looking",
    allowed="looking",
    canonical=lambda argument, per_release: "",
    settings=lambda argument, K: np.zeros(1),
    next_release=next_release,
    releases=lambda argument, K, size: MOST,
    times=lambda argument, K: np.append(
        np.arange(1, MOST), K
    ),  # as far as they are known: how many, and the last
)


def spec_of(privacy: str, monkeypatch: pytest.MonkeyPatch) -> RunSpec:
    monkeypatch.setitem(SCHEDULES, "looking", LOOKING)
    return RunSpec(
        environment="random", environment_params={"S": 2, "A": 2, "H": 2}, privacy=privacy, epsilon=100.0,
        episodes=10_000, schedule="looking", seeds=1,
    )  # fmt: skip


@pytest.mark.parametrize("privacy", ["none", "central"])
def test_the_next_release_follows_from_the_last_and_there_are_never_more_than_most(
    privacy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = spec_of(privacy, monkeypatch)
    every: Ints = np.arange(1, spec.episodes + 1)
    monkeypatch.setattr(
        schedules, "targets", lambda K, *counts: every
    )  # each release has a point and its details
    runs = [SeedRun(spec, seed, plain=True) for seed in (0, 1)]
    traces = [finished(run) for run in runs]
    for run, trace in zip(runs, traces, strict=True):
        assert trace.episodes[-1] == spec.episodes
        assert int(run.state.position[0]) == len(trace.episodes) <= MOST
        for i in range(len(trace.episodes) - 1):
            before, after = int(trace.episodes[i]), int(trace.episodes[i + 1])
            left = MOST - i - 1
            released, policy = trace.released[i], trace.policy[i].astype(np.int64)
            asked = next_release(
                before,
                left,
                spec.episodes,
                np.zeros(1),
                released,
                np.zeros(released.shape[:3]),
                run.model.possible,
                policy,
            )
            assert after == (asked if left > 1 else spec.episodes)
    assert not np.array_equal(traces[0].episodes, traces[1].episodes)  # it did look


def test_compiled_and_plain_python_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = spec_of("central", monkeypatch)
    same_bits(finished(SeedRun(spec, 3)), finished(SeedRun(spec, 3, plain=True)))


@pytest.mark.parametrize("text", ["episodic", "geometric:0.001", "geometric:0.02", "geometric:1"])
@pytest.mark.parametrize("K", [1, 2, 777, 10**15])
def test_a_fixed_schedule_steps_through_its_list(text: str, K: int) -> None:
    if text == "episodic" and K > 10**6:
        return
    schedule, argument = schedules.parse(text)
    step, settings = compiled(schedule.next_release, SIGNATURE), schedule.settings(argument, K)
    nothing, policy = np.zeros((1, 1, 1, 3)), np.zeros((1, 1), dtype=np.int64)
    users, found = 0, []
    while users < K:
        users = int(step(users, 9, K, settings, nothing, np.zeros((1, 1, 1)), every_state(1), policy))
        found.append(users)
    np.testing.assert_array_equal(found, schedules.times(text, K))

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dprl import RunSpec, estimate
from dprl.engine import compiled
from dprl.mdp.structure import every_state
from dprl.simulation import schedules
from dprl.simulation.schedules import SIGNATURE
from tests.problems import refused


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.floats(0.001, 1.0), st.integers(1, 10**15))
def test_geometric_is_as_defined(eta: float, K: int) -> None:
    """t_{i+1} = t_i + max(1, floor(eta t_i)), cut at K."""
    text = schedules.check(f"geometric:{eta!r}")
    eta = float(text.partition(":")[2])
    times = schedules.times(text, K)
    assert times.dtype == np.int64
    assert times[0] == 1
    assert times[-1] == K
    steps = np.maximum(1, np.floor(eta * times[:-1].astype(float))).astype(np.int64)
    np.testing.assert_array_equal(times[1:], np.minimum(times[:-1] + steps, K))
    # the estimate of their number, which limits rest on
    about = estimate(RunSpec(schedule=text, episodes=K)).releases
    assert 0.8 * about - 2 <= len(times) <= 1.3 * about + 5


@pytest.mark.parametrize(
    ("given_text", "canonical"),
    [
        ("episodic", "episodic"),
        ("geometric", "geometric:0.02"),
        ("geometric:", "geometric:0.02"),
        ("geometric:0.020", "geometric:0.02"),
        ("geometric:1", "geometric:1"),
    ],
)
def test_canonical_text(given_text: str, canonical: str) -> None:
    assert schedules.check(given_text) == canonical


@pytest.mark.parametrize(
    "text",
    ["", "own", "owns", "Episodic", "episodic:3", "geometric:0", "geometric:-1", "geometric:2",
     "geometric:nan", "geometric:0.02:1", "geometric:x", "geometric:0.0005", "geometric:\n0", "a" * 1000],
)  # fmt: skip
def test_other_text_is_refused(text: str) -> None:
    with refused("schedule: "):
        schedules.check(text)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.sampled_from(["episodic", "geometric:0.02", "geometric:0.5"]),
    st.integers(1, 3000),
    st.integers(1, 100),
)
def test_checkpoints_are_the_first_releases_at_or_after_targets(text: str, K: int, count: int) -> None:
    times = schedules.times(text, K)
    chosen = schedules.indices_at(times, count, count)
    assert (np.diff(chosen) > 0).all()
    assert chosen[-1] == len(times) - 1
    assert len(chosen) <= 2 * count + 1
    for target in (*np.linspace(K / count, K, count), *np.geomspace(1, K, count)):
        assert int(np.argmax(times >= round(target))) in chosen


@pytest.mark.parametrize("K", [1, 20, 49, 50, 10**6])
def test_curves_begin_with_a_user(K: int) -> None:
    """Of fewer than 50 users the first of 100 equal parts is rounded to none."""
    found = schedules.targets(K, 100, 100)
    assert (found[0], found[-1]) == (1, K)
    assert (np.diff(found) > 0).all()


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
    times = schedules.times(text, K)
    np.testing.assert_array_equal(found, times)
    if text == "episodic":
        np.testing.assert_array_equal(times, np.arange(1, K + 1))

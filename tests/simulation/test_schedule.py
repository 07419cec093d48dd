"""Schedules: times fixed before a run, and count-aware blocks: their lengths, noise, privacy and bonuses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dprl import RunSpec, estimate
from dprl.engine import compiled
from dprl.mdp import Size
from dprl.mdp.structure import every_state
from dprl.mdp.tabular import Array
from dprl.privacy import accounting
from dprl.privacy.attack import unit_noise
from dprl.privacy.mechanisms import SIGNATURE, open_stream, optimal
from dprl.privacy.mechanisms.binomial import AS_IN_PAPER, VARIANCE, binomial_sum, bits_of, variances
from dprl.privacy.privatizers import Noise
from dprl.simulation import schedules
from dprl.simulation.loops.module_run import ModuleRun
from dprl.simulation.prepare import noise_of_schedule
from dprl.simulation.schedules import adaptive
from tests.privacy.draws import least_epsilon
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
    step, settings = compiled(schedule.next_release, schedules.SIGNATURE), schedule.settings(argument, K)
    nothing, policy = np.zeros((1, 1, 1, 3)), np.zeros((1, 1), dtype=np.int64)
    users, found = 0, []
    while users < K:
        users = int(step(users, 9, K, settings, nothing, np.zeros((1, 1, 1)), every_state(1), policy))
        found.append(users)
    times = schedules.times(text, K)
    np.testing.assert_array_equal(found, times)
    if text == "episodic":
        np.testing.assert_array_equal(times, np.arange(1, K + 1))


SMALL = {"environment_params": {"S": 3, "H": 4}, "bonus": "anytime", "schedule": "adaptive", "seeds": 1}


def test_a_block_adds_no_more_than_is_there_or_hidden() -> None:
    """H = 2, two states, one action: by hand."""
    released = np.zeros((2, 2, 1, 4))
    released[0, 0, 0] = [30, 10, 40, 0]  # state 0 in 40 of 50, from there to 0 in 3 of 4
    released[0, 1, 0] = [0, 10, 10, 0]
    released[1, 0, 0] = [12, 0, 12, 0]  # reached by 0.8 * 0.75 = 0.6 of the users
    released[1, 1, 0] = [200, 0, 200, 0]
    policy, eta = np.zeros((2, 2), dtype=np.int64), np.array([1.0])

    def block(users: int, left: int, K: int, error: float = 0.0) -> int:
        errors = np.full((2, 2, 1), error)
        return adaptive.next_release(users, left, K, eta, released, errors, every_state(2), policy) - users

    assert block(1000, 99, 10**6) == 20  # 12 / 0.6, less than 10 / 0.2 and 40 / 0.8
    assert block(15, 99, 10**6) == 15  # eta t
    assert block(1000, 99, 10**6, error=24.0) == 40  # a count may be brought to what noise hides: 24 / 0.6
    assert block(1000, 99, 1010) == 10  # never beyond K
    assert block(1000, 9, 1000 * 2**9) == 1000  # nine releases left for 2^9: doubling overrides
    assert block(1000, 10, 1000 * 2**9) == 20  # and not before
    released[:] = 0
    assert block(0, 99, 10**6) == 1
    assert block(1000, 99, 10**6) == 2  # nothing known: 1 for each of two states


def test_releases_are_saved_for_ties_when_they_run_short() -> None:
    """eta = 0.1, K = 10^12, t = 10^9: 73 releases would do at eta's pace, 18 at the pace that is allowed by then."""
    policy, eta = np.zeros((1, 1), dtype=np.int64), np.array([0.1])
    K, users = 10**12, 10**9
    pace = {left: 1000 ** (1 / left) for left in (72, 30, 18)}

    def growth(left: int, count: float) -> float:
        released = np.array([[[[count, count, 0]]]])
        more = np.zeros((1, 1, 1)), every_state(1), policy
        return adaptive.next_release(users, left, K, eta, released, *more) / users - 1

    assert growth(73, 1e12) == pytest.approx(0.1)
    assert growth(72, 1e12) == pytest.approx(pace[72] ** 2 - 1)  # what is well known may be hurried
    assert growth(30, 1e12) == pytest.approx(pace[30] ** 2 - 1)
    assert growth(19, 1e12) == pytest.approx(1.0)
    assert growth(72, 5.0) == growth(19, 5.0) == pytest.approx(5e-9)  # near a tie a block stays short
    assert growth(18, 5.0) == pytest.approx(pace[18] - 1)  # until the rest would be too steep


def test_how_it_is_written_and_limited() -> None:
    assert schedules.check("adaptive") == "adaptive:0.1"
    assert schedules.check("adaptive:0.2:400") == "adaptive:0.2:400"
    assert schedules.check("adaptive:0.2:400", per_release=False) == "adaptive:0.2"
    for wrong in ("adaptive:0", "adaptive:0.1:1", "adaptive:0.1:x", "adaptive:0.1:5:5"):
        with pytest.raises(ValueError, match=r"^schedule: "):
            schedules.check(wrong)
    size, growing = Size(6, 2, 20), len(schedules.times("geometric:0.1", 10**12))
    limit = schedules.limit("adaptive:0.1", 10**12, size, True)
    assert limit is not None
    assert 1 <= limit / (growing + 120) < 1.06
    assert schedules.limit("adaptive:0.1:300", 10**12, size, True) == 300
    assert schedules.limit("adaptive:0.1", 50, size, True) == 50
    assert schedules.limit("geometric:0.1", 10**12, size, True) is None
    assert RunSpec(schedule="adaptive:0.1:300").baseline().schedule == "adaptive:0.1"


@pytest.mark.usefixtures("nothing_proved")
@pytest.mark.parametrize("privacy", ["none", "central", "shuffle", "local"])
def test_it_plays_everybody_and_records_at_public_times(privacy: str) -> None:
    """Points at the targets for every seed; at most M releases, which are all told apart."""
    spec = RunSpec(privacy=privacy, episodes=3000, **SMALL)  # type: ignore[arg-type]
    runs = [ModuleRun(spec, seed) for seed in (0, 1)]
    for run in runs:
        run.advance(1e9)
        np.testing.assert_array_equal(run.record.users, schedules.targets(3000, 100, 100))
        assert run.state.position[0] <= run.setup.releases
        assert run.state.counts[0, :, :, -2].sum() == 3000
    assert not np.array_equal(runs[0].state.counts, runs[1].state.counts)


@pytest.mark.parametrize("users", [1, 7, 999, 10**4, 10**12])
def test_bits_of_a_batch_whose_size_is_decided_late(users: int) -> None:
    trials, q = bits_of(users, VARIANCE, 2142.5)
    assert trials % users == 0
    assert trials * q * (1 - q) == pytest.approx(2142.5, rel=1e-9)
    fair, half = bits_of(users, AS_IN_PAPER, 5000.0)
    assert (fair, half) == ((users * math.ceil(5000 / users), 0.5) if users < 5000 else (users, 2500 / users))
    stream = open_stream(users, 1, np.array([[VARIANCE, 2142.5, 6.0]]))
    assert variances(stream) == [2142.5]
    noise = np.zeros(20_000)
    draw = compiled(binomial_sum, SIGNATURE)
    draw(0, stream.leaves, stream.batches, np.zeros((0, 0)), np.random.Generator(np.random.SFC64(1)), noise)
    assert noise.var() == pytest.approx(2142.5, rel=5 * math.sqrt(2 / 20_000))


@pytest.mark.parametrize(
    ("privacy", "calibration"), [("local", "calibrated"), ("shuffle", "calibrated"), ("central", "paper")]
)
def test_bounds_hold_at_whatever_times_are_chosen(privacy: str, calibration: str) -> None:
    """Larger than those of the same noise at times that are fixed before, and tabulated to the end."""
    spec = RunSpec(privacy=privacy, calibration=calibration, episodes=10**6, **SMALL)  # type: ignore[arg-type]
    chosen = noise_of_schedule(spec, 10**6)
    fixed = noise_of_schedule(spec.replace(schedule="geometric:0.1"), 10**6)
    assert chosen.bound[-1] > fixed.bound[-1] * 0.99
    assert chosen.ends[-1] == (10**6 if chosen.by_users else chosen.stream.releases)
    assert (np.diff(chosen.radius()) >= 0).all()
    assert (chosen.radius() > 0.5 * chosen.std).all()


# An attack on runs whose blocks react to the user who is attacked. Two data sets differ in one user. Lengths of blocks
# follow from released counts, as in schedule `adaptive` (with E = 0, so that they react as much as they can). The test
# is the likelihood ratio of all that is released, times included, than which none is better. It must not show a larger
# epsilon than the card proves. With a rule that looks at raw counts it does.
K, VICTIM, M, DELTA = 60, 4, 8, 0.05
CELLS = 16

SPEC = RunSpec(environment="random", environment_params={"S": 2, "A": 2, "H": 1}, privacy="central", episodes=K,
               schedule=f"adaptive:1:{M}", bonus="anytime", epsilon=1.0, delta=DELTA)  # fmt: skip


def data_sets(victim: int) -> tuple[Array, Array]:
    """[K + 1, CELLS] running sums of K users, H = 1, S = 2, A = 2, who in state 0 take half the
    time the action that blocks are counted by; the victim takes it in the one and not in the other."""
    rng = np.random.default_rng(0)
    state = rng.integers(0, 2, K)
    action = np.maximum(state, rng.integers(0, 2, K))
    sums = []
    for taken in (1, 0):
        users = np.zeros((K, 2, 2, 4))
        for k in range(K):
            s, a = (0, taken) if k == victim else (state[k], action[k])
            users[k, s, a, [s, 2, 3]] = 1.0
        sums.append(np.concatenate([np.zeros((1, CELLS)), np.cumsum(users.reshape(K, CELLS), axis=0)]))
    return sums[0], sums[1]


def draws_of(noise: Noise) -> Array:
    """[M, M] what takes unit noise of the releases apart into independent N(0, 1) draws; lower triangular, so that it
    does it of the first few releases, too."""
    return optimal.innovations(noise.stream, np.eye(M))


def log_ratios(repetitions: int, peeks: bool, seed: int, victim: int = VICTIM) -> Array:
    """[2, repetitions] ln P[x | first] / P[x | second] of everything that is released, times included, in runs on the
    first and on the second data set, with the noise of SPEC.

    peeks: the rule looks at raw counts instead. victim: by place, from 0; the first is the least covered by some noise.
    """
    noise = noise_of_schedule(SPEC, K)
    assert noise.mechanism is not None
    next_release = compiled(adaptive.next_release, schedules.SIGNATURE)
    sets, scales = data_sets(victim), np.tile(noise.scales, 4)
    policy, eta = np.ones((1, 2), dtype=np.int64), np.array([1.0])
    apart = draws_of(noise)
    result = np.zeros((2, repetitions))

    def time_after(i: int, t: int, seen: Array) -> int:
        if i == M - 1:
            return K
        shown = np.ascontiguousarray(seen.reshape(1, 2, 2, 4))
        return int(next_release(t, M - i, K, eta, shown, np.zeros((1, 2, 2)), every_state(2), policy))

    for at, truth in enumerate(sets):
        rng = np.random.default_rng(seed + at)
        z = unit_noise(noise.mechanism, noise.stream, repetitions * CELLS, rng).reshape(M, repetitions, CELLS)
        for r in range(repetitions):
            released, t, told_apart = np.zeros((M, CELLS)), 0, 0.0
            other = np.zeros((2, M, CELLS))
            count = 0
            while t < K:
                before = [x[t] for x in sets] if peeks else [released[max(count - 1, 0)]] * 2
                times = [time_after(count, t, x if count else np.zeros(CELLS)) for x in before]
                if times[0] != times[1]:
                    told_apart = math.inf if at == 0 else -math.inf
                t = times[at]
                released[count] = truth[t] + scales * z[count, r]
                for which, x in enumerate(sets):
                    other[which, count] = x[t]
                count += 1
            off = apart[:count, :count] @ ((released - other)[:, :count] / scales)
            squares = (off**2).sum((1, 2))
            result[at, r] = told_apart or (squares[1] - squares[0]) / 2
    return result


def proved() -> tuple[float, float]:
    """The epsilon proved of SPEC at DELTA, and how many of its standard deviations the score of the best attacker on
    the same noise moves where release times are fixed."""
    noise = noise_of_schedule(SPEC, K)
    epsilon = noise.guarantee().proved_epsilon
    assert epsilon is not None
    return epsilon, max(map(accounting.separation_of, noise.losses()))


def measured(ratios: Array, threshold: float) -> float:
    """The least epsilon at DELTA, at 99.99%, of the event {ratio > threshold} or of its mirror image."""
    return max(least_epsilon((one, other), threshold, DELTA) for one, other in (ratios, -ratios[::-1]))


@pytest.mark.thorough
def test_an_attack_on_an_adaptive_run_shows_no_more_than_is_proved() -> None:
    """And on a schedule that looked at raw counts it would.

    E[(1 - e^(epsilon - ratio))+] of runs on the first data set is delta at this epsilon: far narrower than the interval
    of an event's frequency.
    """
    ratios, (epsilon, _) = log_ratios(8000, peeks=False, seed=1), proved()
    assert epsilon == pytest.approx(1.0, rel=1e-4)
    assert max(measured(ratios, threshold) for threshold in (0.5, epsilon, 1.5)) <= epsilon
    for side in (ratios[0], -ratios[1]):
        told = np.maximum(
            0.0, -np.expm1(epsilon - side)
        )  # it is an attack: all of epsilon is there to be seen
        assert told.mean() == pytest.approx(DELTA, abs=4 * told.std() / math.sqrt(len(told)))
    assert measured(log_ratios(8000, peeks=True, seed=3), epsilon) > epsilon


def test_the_attacked_noise_is_that_of_a_run() -> None:
    """It is the mechanism of a run, taken apart into independent draws by its covariance, at the scale of the proof:
    who comes first, and is in all releases, is told by exactly what is accounted for."""
    ratios, separation = log_ratios(4000, peeks=False, seed=5, victim=0), proved()[1]
    both = np.concatenate([ratios[0], -ratios[1]])
    assert both.mean() == pytest.approx(separation**2 / 2, abs=4 * separation / math.sqrt(len(both)))
    noise = noise_of_schedule(SPEC, K)
    assert noise.mechanism is not None
    assert noise.mechanism.key == SPEC.mechanism == ModuleRun(SPEC, 0).spec.mechanism
    drawn = draws_of(noise) @ unit_noise(noise.mechanism, noise.stream, 20_000, np.random.default_rng(1))
    np.testing.assert_allclose(np.cov(drawn), np.eye(len(drawn)), atol=5 * math.sqrt(2 / 20_000))

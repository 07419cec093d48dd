"""Counts and sums of data sets: what one trajectory moves, their noise, and programs that project them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from dprl.engine import compiled
from dprl.environments.linear_synthetic import features
from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.statistics import BLANK_ONE, DATASET, REPLACE_ONE, TRANSITIONS
from dprl.statistics.consistency import consistent, nearest_counts
from dprl.statistics.dataset import SIGNATURE, project
from dprl.statistics.regression import Gram, Moment, bounded_gram, bounded_moment, gram_change, moment_change
from tests.compare import FIVE
from tests.problems import few

H, S, A = 3, 4, 2
SIZE = Size(S, A, H)


def trajectory(rng: np.random.Generator) -> Array:
    """[H, S, A, S] transitions of one trajectory."""
    m, s = np.zeros((H, S, A, S)), rng.integers(S)
    for h in range(H):
        a, x = rng.integers(A), rng.integers(S)
        m[h, s, a, x] = 1
        s = x
    return m


def sums(m: Array) -> Array:
    """What is released, before noise: n and m."""
    return np.concatenate([m, m.sum(-1, keepdims=True)], -1)


def record_of(m: Array) -> Array:
    """[H, S, A, S + 2], with rewards that nobody is to see."""
    return np.concatenate([sums(m), np.full((H, S, A, 1), 7.0)], -1)


@pytest.mark.parametrize(
    ("statistic", "told", "counters"),
    [(DATASET, sums, 2), (TRANSITIONS, lambda m: TRANSITIONS.sums(record_of(m)), 1)],
    ids=["visits and transitions", "transitions alone"],
)
def test_one_trajectory_moves_what_is_declared_and_no_more(
    statistic: Any, told: Callable[[Array], Array], counters: int
) -> None:
    rng = np.random.default_rng(0)
    replaced, blanked = (statistic.sensitivity(SIZE, adjacency) for adjacency in (REPLACE_ONE, BLANK_ONE))
    assert (replaced.l1, replaced.l2_squared) == (2 * counters * H, 2 * counters * H)
    worst = 0.0
    for _ in range(300):
        one, other = told(trajectory(rng)), told(trajectory(rng))
        moved = float(np.abs(one - other).sum())
        worst = max(worst, moved)
        assert moved <= replaced.l1
        assert float(((one - other) ** 2).sum()) <= replaced.l2_squared
        assert float(one.sum()) == blanked.l1 == counters * H
    assert blanked.one_way
    assert worst == replaced.l1
    assert statistic.draws(SIZE) == told(trajectory(rng)).size


def test_transitions_are_released_as_they_are_with_their_noise() -> None:
    rng = np.random.default_rng(1)
    m, noise = rng.integers(0, 50, (H, S, A, S)).astype(float), rng.normal(scale=40, size=H * S * A * S)
    record = record_of(m)
    before = record.copy()
    released = TRANSITIONS.answer(record, noise, 3.0)
    np.testing.assert_array_equal(released[..., :S], m + noise.reshape(m.shape))
    np.testing.assert_allclose(released[..., S], released[..., :S].sum(-1))
    assert (released[..., S] < 0).any()
    assert not released[..., -1].any()
    np.testing.assert_array_equal(record, before)


@pytest.mark.parametrize("slack", [0.3, 5.0, 40.0])
def test_noisy_counts_are_projected_as_the_paper_says(slack: float) -> None:
    """QW23-offline eq. 2-4: a positive part, then the linear program, here by HiGHS."""
    rng = np.random.default_rng(int(10 * slack))
    m = rng.integers(0, 30, (H, S, A, S)).astype(float)
    noise = rng.normal(scale=15, size=DATASET.draws(SIZE))
    record = record_of(m)
    released = DATASET.answer(record, noise, 2 * slack)
    assert not released[..., -1].any()
    np.testing.assert_array_equal(record, record_of(m))
    assert not np.shares_memory(record, released)
    noisy = np.maximum(sums(m) + noise.reshape(H, S, A, S + 1), 0.0)
    for index in np.ndindex(H, S, A):
        x, n = released[index][:S], released[index][S]
        m_hat, n_hat = noisy[index][:S], noisy[index][S]
        assert (x >= 0).all()
        assert n == pytest.approx(x.sum())
        assert abs(n - n_hat) <= slack + 1e-9
        # variables x and t: x - t <= m', -x - t <= -m', |sum x - n'| <= slack
        eye, ones = np.eye(S), np.ones((S, 1))
        sides = np.array([[*np.ones(S), 0], [*-np.ones(S), 0]])
        found = linprog(
            [0] * S + [1],
            np.vstack([np.hstack([eye, -ones]), np.hstack([-eye, -ones]), sides]),
            np.concatenate([m_hat, -m_hat, [n_hat + slack, slack - n_hat]]),
        )
        assert np.abs(x - m_hat).max() == pytest.approx(found.fun, abs=1e-8)


def test_compiled_and_plain_projections_have_the_same_bits() -> None:
    noisy = np.random.default_rng(2).normal(20, 15, (H, S, A, S + 2))
    first, second = np.empty_like(noisy), np.empty_like(noisy)
    project(noisy.copy(), 8.0, first)
    compiled(project, SIGNATURE)(noisy.copy(), 8.0, second)
    np.testing.assert_array_equal(first, second)


PHI = features()
STATES, ACTIONS, d = PHI.shape
LINEAR = Size(STATES, ACTIONS, 2)


def record(s: int, a: int, x: int, reward: float) -> Array:
    """[H, S, A, S + 2] of one trajectory, the same at both steps."""
    found = np.zeros((2, STATES, ACTIONS, STATES + 2))
    found[:, s, a, [x, STATES]] = 1
    found[:, s, a, STATES + 1] = reward
    return found


def test_sums_are_those_over_trajectories() -> None:
    rng = np.random.default_rng(0)
    weights: Array = rng.uniform(0.1, 1, (STATES, ACTIONS))
    values: Array = rng.uniform(0, 5, size=(STATES,))
    gram, moment = np.zeros((d, d)), np.zeros(d)
    data = np.zeros((2, STATES, ACTIONS, STATES + 2))
    for _ in range(40):
        s, a, x, r = (
            int(rng.integers(STATES)),
            int(rng.integers(ACTIONS)),
            int(rng.integers(STATES)),
            float(rng.random()),
        )
        data += record(s, a, x, r)
        gram += weights[s, a] * np.outer(PHI[s, a], PHI[s, a])
        moment += weights[s, a] * PHI[s, a] * (r + values[x])
    nothing = np.zeros((d, d)), np.zeros(d)
    np.testing.assert_allclose(Gram("g", 0, 1, PHI, weights).answer(data, nothing[0], 0.0), gram, atol=1e-12)
    query = Moment("m", 0, 1, PHI, weights, values, True)
    np.testing.assert_allclose(query.answer(data, nothing[1], 0.0), moment, atol=1e-12)
    rewards = Moment("m", 0, 1, PHI, weights, 0 * values, True).answer(data, nothing[1], 0.0)
    without = Moment("m", 0, 1, PHI, weights, values, False).answer(data, nothing[1], 0.0)
    np.testing.assert_allclose(rewards + without, moment, atol=1e-12)


def test_what_one_trajectory_moves_at_most() -> None:
    """All pairs of states and actions, and weights and targets at the ends of their ranges and between."""
    rng, top = np.random.default_rng(1), 3.0
    flat = PHI.reshape(-1, d)
    frobenius = vector = 0.0
    for i in range(len(flat)):
        for j in range(i):
            for u, v in ((1.0, 1.0), (1.0, 0.0), (0.0, 1.0), *rng.random((1, 2))):
                outer = u * np.outer(flat[i], flat[i]) - v * np.outer(flat[j], flat[j])
                frobenius = max(frobenius, float((outer**2).sum()))
                vector = max(vector, float(((u * top * flat[i] - v * top * flat[j]) ** 2).sum()))
    assert gram_change(PHI)[0].l2_squared == pytest.approx(frobenius / 2)
    assert moment_change(PHI, top)[0].l2_squared == pytest.approx(vector)
    assert frobenius == pytest.approx(57 / 49)  # 1.163
    assert vector == pytest.approx(9 / 7 * top**2)  # 1.286
    assert (gram_change(PHI)[1].l2_squared, moment_change(PHI, top)[1].l2_squared) == pytest.approx(
        (0.5, top**2)
    )


def test_any_features_of_norm_one_move_no_more_than_in_the_paper_and_replace_one_twice_that() -> None:
    """Reached by orthogonal features for a matrix, by opposite ones for a vector; the paper has 1 for the former."""
    e = np.eye(2)
    assert bounded_gram()[0].l2_squared == pytest.approx(
        ((np.outer(e[0], e[0]) - np.outer(e[1], e[1])) ** 2).sum() / 2
    )
    assert bounded_moment(3.0)[0].l2_squared == pytest.approx(((3 * e[0] + 3 * e[0]) ** 2).sum())
    assert bounded_gram()[0].l2_squared == pytest.approx(2 * bounded_gram()[1].l2_squared)
    rng = np.random.default_rng(2)
    phi = rng.normal(size=(2, 50, 4))
    phi /= np.linalg.norm(phi, axis=-1).max()
    assert gram_change(phi)[0].l2_squared <= bounded_gram()[0].l2_squared
    assert moment_change(phi, 2.0)[0].l2_squared <= bounded_moment(2.0)[0].l2_squared


def test_the_noise_of_a_matrix_moves_the_attack_as_declared() -> None:
    """Of symmetric noise the log-likelihood ratio of a change M has mu^2 = |M|_F^2/(2 v), v off the diagonal."""
    rng, times = np.random.default_rng(3), 20_000
    query, empty = (
        Gram("g", 0, 0, PHI, np.ones((STATES, ACTIONS))),
        np.zeros((2, STATES, ACTIONS, STATES + 2)),
    )
    noise = np.array([query.answer(empty, rng.normal(size=query.draws(LINEAR)), 0.0) for _ in range(times)])
    np.testing.assert_array_equal(noise, noise.swapaxes(1, 2))
    for i, j, variance in ((0, 1, 1.0), (4, 7, 1.0), (3, 3, 2.0)):
        assert abs((noise[:, i, j] ** 2).mean() - variance) < FIVE * variance * math.sqrt(2 / times)
    M = np.outer(PHI[0, 99], PHI[0, 99]) - np.outer(PHI[1, 0], PHI[1, 0])
    # the best direction, M over the variances of the independent entries, is M/2 over all entries
    score = (noise * M / 2).sum((1, 2))
    mu_squared = float((M**2).sum() / 2)
    assert abs((score**2).mean() - mu_squared) < FIVE * mu_squared * math.sqrt(2 / times)


class Case(NamedTuple):
    """Minimise max |x - m^| subject to x >= 0 and |sum x - n^| <= slack; nothing feasible, n^ + slack < 0: x = 0."""

    m: Array
    n: float
    slack: float

    @property
    def scale(self) -> float:
        return max(1e-300, float(np.abs(self.m).max()), abs(self.n), self.slack)

    @property
    def feasible(self) -> bool:
        return self.n + self.slack >= 0


def nearest(case: Case) -> Array:
    """x, and a check that the sum returned is that of x and nothing else was written."""
    S = len(case.m)
    noisy, out = np.zeros((1, 2, 1, S + 2)), np.full((1, 2, 1, S + 2), np.nan)
    noisy[0, 1, 0] = [*case.m, case.n, 0.0]
    before = noisy.copy()
    total = nearest_counts(noisy, 0, 1, 0, case.slack, 0.0, out)
    x = out[0, 1, 0, :S]
    assert total == pytest.approx(x.sum(), rel=1e-12, abs=1e-12 * case.scale)
    assert np.isnan(out[0, 0]).all()
    assert np.isnan(out[0, 1, 0, S:]).all()
    np.testing.assert_array_equal(noisy, before)
    return np.array(x)


def least_distance(case: Case) -> float:
    """t*: the smallest t for which some x with |x - m^| <= t is feasible, by bisection.

    The sums such x >= 0 can have are the interval from sum max(m^ - t, 0) to sum (m^ + t), if no m^ + t is negative.
    """
    low, high = 0.0, 4 * case.scale
    for _ in range(90):
        t = (low + high) / 2
        least, most = np.maximum(case.m - t, 0).sum(), (case.m + t).sum()
        fits = (case.m + t).min() >= 0 and least <= case.n + case.slack and most >= case.n - case.slack
        low, high = (low, t) if fits else (t, high)
    return high


def canonical(case: Case, t: float) -> Array:
    """From max(m^, 0) in a straight line toward the extreme of the box within t, until the sum meets the bound."""
    start = np.maximum(case.m, 0)
    lo, hi = case.n - case.slack, case.n + case.slack
    bound, end = (hi, np.maximum(case.m - t, 0)) if start.sum() > hi else (lo, case.m + t)
    if lo <= start.sum() <= hi or start.sum() == end.sum():
        return start
    share = min(1.0, (bound - start.sum()) / (end.sum() - start.sum()))
    return np.asarray(start + share * (end - start))


numbers = st.floats(-1e9, 1e9, allow_subnormal=False) | st.floats(-3, 3, allow_subnormal=False) | st.just(0.0)
slacks = st.floats(0, 1e9, allow_subnormal=False) | st.floats(0, 3, allow_subnormal=False) | st.just(0.0)


@settings(max_examples=few(600))
@given(st.lists(numbers, min_size=1, max_size=10), numbers, slacks)
@example([0.0], 0.0, 0.0)
@example([30.0, 0.0, 12.0], 42.0, 0.0)
@example([-1e6, 2.0, 1e-3], -3.0, 2.0)
@example([1.0, 1.0, 1.0], 0.0, 0.0)
@example([-1.0, -2.0], -1.0, 1.0)
@example([1e9, 1.0, -1e9], 1.0, 0.0)
@example([1e9, 1e-9], 0.0, 0.0)
def test_least_distance_by_the_canonical_minimiser(m: list[float], n: float, slack: float) -> None:
    case = Case(np.array(m), n, slack)
    x, tiny = nearest(case), 1e-12 * len(m) * case.scale  # rounding
    assert (x >= 0).all()
    if not case.feasible:
        assert (x <= tiny).all()
        return
    assert abs(x.sum() - n) <= slack + tiny
    tiny *= 10
    t = least_distance(case)
    assert np.abs(x - case.m).max() <= t + tiny
    np.testing.assert_allclose(x, canonical(case, t), rtol=0, atol=tiny)
    # starts from max(m^, 0) and moves no further than the sum requires
    start = np.maximum(case.m, 0).sum()
    assert x.sum() == pytest.approx(np.clip(start, n - slack, max(n + slack, 0)), rel=0, abs=tiny)
    if abs(start - n) <= slack:
        np.testing.assert_array_equal(x, np.maximum(case.m, 0))
    # counts that were larger stay larger
    assert (np.diff(x[np.argsort(case.m, kind="stable")]) >= -tiny).all()


def test_released_counts_are_consistent_and_never_too_small_on_the_good_event() -> None:
    """With |m^ - m|, |n^ - n| <= E/4: n <= n~ <= n + E (QW23-online section 5.1) and |m~ - m| <= E."""
    rng, (H, S, A) = np.random.default_rng(4), (3, 4, 2)
    for _ in range(50):
        E = float(rng.choice([0.5, 20.0, 400.0]))
        true = np.zeros((H, S, A, S + 2))
        true[..., :S] = rng.multinomial(50, rng.dirichlet(np.ones(S), size=(H, S, A)))
        true[..., S] = true[..., :S].sum(-1)
        true[..., S + 1] = rng.random((H, S, A)) * true[..., S]
        noisy = true + E / 4 * rng.uniform(-1, 1, size=true.shape)
        released = np.full_like(noisy, np.nan)
        consistent(noisy, np.full(noisy.shape[:3], E), np.ones(len(noisy)), released)
        n, n_released = true[..., S], released[..., S]
        assert (released[..., :S] >= E / (2 * S)).all()
        np.testing.assert_allclose(released[..., :S].sum(-1), n_released, rtol=1e-12)
        assert (n_released >= n - 1e-9).all()
        assert (n_released <= n + E + 1e-9).all()
        # the minimiser is within E/4 of m^ (the true m is feasible), m^ within E/4 of m, and the shift is E/(2S)
        assert (np.abs(released[..., :S] - true[..., :S]) <= E / 2 + E / (2 * S) + 1e-9).all()
        np.testing.assert_array_equal(released[..., S + 1], noisy[..., S + 1])

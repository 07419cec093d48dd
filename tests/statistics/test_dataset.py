"""Counts of a data set: their projection is the paper's program, and a trajectory moves what is declared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from dprl.engine import compiled
from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.statistics import BLANK_ONE, DATASET, REPLACE_ONE, TRANSITIONS
from dprl.statistics.dataset import SIGNATURE, project

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
    """So many counters of each step."""
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

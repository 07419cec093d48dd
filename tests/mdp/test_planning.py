"""Exact planning against closed forms and against trying everything."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dprl.environments import ENVIRONMENTS
from dprl.mdp import TabularMDP, planning
from tests.problems import random_mdp

sizes = st.sampled_from([(1, 1, 3), (1, 3, 2), (2, 2, 2), (2, 2, 3), (2, 3, 2), (3, 2, 2), (4, 2, 1)])
seeds = st.integers(0, 2**32 - 1)


def by_paths(mdp: TabularMDP, policy: NDArray[np.int64], h: int, s: int) -> float:
    """The value of a policy from (h, s), by following every path."""
    if h == mdp.H:
        return 0.0
    a = int(policy[h, s])
    later = sum(p * by_paths(mdp, policy, h + 1, x) for x, p in enumerate(mdp.P[h, s, a]) if p > 0)
    return float(mdp.R[h, s, a] + later)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(seeds, sizes, st.booleans())
def test_optimum_is_the_best_of_all_policies(seed: int, size: tuple[int, int, int], sparse: bool) -> None:
    S, A, H = size
    mdp = random_mdp(seed, S, A, H, sparse=sparse)
    best = np.full(S, -np.inf)
    for actions in product(range(A), repeat=H * S):
        policy = np.array(actions, dtype=np.int64).reshape(H, S)
        best = np.maximum(best, planning.policy_values(mdp, policy)[0])
    found = planning.optimum(mdp)
    np.testing.assert_allclose(found.V[0], best, rtol=0, atol=1e-12)
    np.testing.assert_allclose(planning.policy_values(mdp, found.policy)[0], best, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(found.V[:-1], found.Q.max(-1))


@settings(max_examples=30, deadline=None, derandomize=True)
@given(seeds, sizes)
def test_values_of_a_policy_are_those_along_its_paths(seed: int, size: tuple[int, int, int]) -> None:
    S, A, H = size
    mdp = random_mdp(seed, S, A, H, sparse=True)
    policy = np.random.default_rng(seed).integers(A, size=(H, S))
    V, expected = np.full((H + 1, S), np.nan), [by_paths(mdp, policy, 0, s) for s in range(S)]
    np.testing.assert_allclose(planning.policy_values(mdp, policy)[0], expected, rtol=0, atol=1e-12)
    planning.evaluate(mdp.P, mdp.possible, mdp.R, policy, V)
    np.testing.assert_allclose(V, planning.policy_values(mdp, policy), rtol=0, atol=1e-12)
    visits = planning.occupancy(mdp, policy)
    np.testing.assert_allclose(visits.sum(-1), 1.0, rtol=0, atol=1e-12)
    collected = sum(visits[h, s] * mdp.R[h, s, policy[h, s]] for h in range(H) for s in range(S))
    assert planning.start_value(mdp, V) == pytest.approx(collected, abs=1e-12)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(seeds, sizes)
def test_a_stochastic_policys_value_is_what_it_collects(seed: int, size: tuple[int, int, int]) -> None:
    """Its value by the kernel, by rewards where its occupancy is, and by every deterministic policy it may be."""
    S, A, H = size
    mdp = random_mdp(seed, S, A, H)
    chances = np.random.default_rng(seed).dirichlet(np.ones(A), size=(H, S))
    chances[0, 0] = np.eye(A)[0]
    V = np.full((H + 1, S), np.nan)
    with np.errstate(divide="ignore"):
        planning.evaluate(mdp.P, mdp.possible, mdp.R, np.log(chances), V)
    np.testing.assert_allclose(planning.policy_values(mdp, chances), V, rtol=0, atol=1e-12)
    visits = planning.occupancy(mdp, chances)
    collected = (visits[..., None] * chances * mdp.R).sum()
    assert planning.start_value(mdp, V) == pytest.approx(collected, abs=1e-12)
    if A ** (S * H) > 100:
        return
    mean = np.zeros((H + 1, S))
    for actions in product(range(A), repeat=H * S):
        policy = np.array(actions, dtype=np.int64).reshape(H, S)
        chance = np.take_along_axis(chances, policy[..., None], -1).prod()
        mean += chance * planning.policy_values(mdp, policy)
    np.testing.assert_allclose(V, mean, rtol=0, atol=1e-12)


def test_the_lowest_of_equally_good_actions_is_optimal() -> None:
    H, S, A = 2, 2, 3
    R = np.zeros((H, S, A))
    R[:, :, 1:] = 0.25
    P = np.full((H, S, A, S), 0.5)
    mdp = TabularMDP("ties", P, R, np.array([1.0, 0.0]), ("0", "1"), ("0", "1", "2"))
    np.testing.assert_array_equal(planning.optimum(mdp).policy, np.ones((H, S)))


def test_riverswim_values() -> None:
    mdp = ENVIRONMENTS["riverswim"].make(S=6, H=20)
    assert planning.optimum(mdp).V[0, 0] == pytest.approx(3.39726, abs=1e-5)
    assert planning.start_value(mdp, planning.optimum(mdp).V) == planning.optimum(mdp).V[0, 0]
    left = np.zeros((20, 6), dtype=np.int64)
    assert planning.policy_values(mdp, left)[0, 0] == pytest.approx(0.1, abs=1e-12)

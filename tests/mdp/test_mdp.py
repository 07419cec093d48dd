"""Models: what is none is refused, and planning is exact, against closed forms and against trying everything."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dprl.environments import ENVIRONMENTS
from dprl.mdp import TabularMDP, planning
from tests.problems import random_mdp, refused

H, S, A = 2, 3, 2


def parts(**changes: Any) -> dict[str, Any]:
    return {
        "name": "test",
        "P": np.full((H, S, A, S), 1 / S),
        "R": np.full((H, S, A), 0.5),
        "d1": np.full(S, 1 / S),
        "state_labels": ("0", "1", "2"),
        "action_labels": ("0", "1"),
    } | changes


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("P", np.ones((H, S, A))),
        ("P", np.ones((H, S, A, S + 1)) / (S + 1)),
        ("P", np.zeros((0, S, A, S))),
        ("P", np.full((H, S, A, S), 0.5)),
        ("P", np.full((H, S, A, S), np.nan)),
        ("P", np.full((H, S, A, S), [1.5, -0.5, 0.0])),
        ("P", np.full((H, S, A, S), (1 + 2e-5) / S)),
        ("R", np.zeros((H, S))),
        ("R", np.full((H, S, A), 1.01)),
        ("R", np.full((H, S, A), -0.01)),
        ("R", np.full((H, S, A), np.inf)),
        ("d1", np.ones(S)),
        ("d1", np.ones(S + 1) / (S + 1)),
        ("d1", np.full(S, np.nan)),
        ("state_labels", ("0", "1")),
        ("action_labels", ("0", "1", "2")),
    ],
)
def test_what_is_not_an_mdp_is_refused_in_one_sentence(name: str, value: Any) -> None:
    with refused("labels: " if name.endswith("labels") else f"{name}: "):
        TabularMDP(**parts(**{name: value}))


def test_what_rounding_puts_above_1_is_1() -> None:
    """As a sum of probabilities in a model of one's own; what is given stays as it is."""
    P = np.zeros((H, S, A, S))
    P[..., 0] = 1 + 2**-52
    mdp = TabularMDP(**parts(P=P, d1=P[0, 0, 0]))
    assert mdp.P.max() == mdp.d1.max() == 1
    assert P.max() > 1


def test_rounded_rows_are_made_to_sum_to_1_and_others_keep_their_bits() -> None:
    P = np.full((H, S, A, S), 1 / S)
    P[1, 2, 1] = 0.333333
    mdp = TabularMDP(**parts(P=P))
    np.testing.assert_allclose(mdp.P[1, 2, 1].sum(), 1.0, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(mdp.P[0], P[0])


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

"""Each planner against its papers' formulas, written out once more in NumPy, slowly and plainly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import log, sqrt
from typing import Any

import numpy as np
import pytest

from dprl.algorithms import ALGORITHMS, Algorithm, Problem
from dprl.fields import check_params
from dprl.mdp.tabular import Array

H, S, A, K, BETA = 4, 3, 2, 10**7, 0.1
SIZES = (H, S, A)
T = K * H

# (n, m, r, V next, visits of the next step's states or None at the last step, E, params) -> bonus and reward
Bonus = Callable[[float, Array, float, Array, Array | None, float, dict[str, Any]], tuple[float, float]]


def variance(P: Array, V: Array) -> float:
    return float(P @ (V - P @ V) ** 2)


def dp_ucbvi_paper(
    n: float, m: Array, r: float, V: Array, n_next: Array | None, E: float, params: dict[str, Any]
) -> tuple[float, float]:
    iota = log(30 * H * S * A * T / BETA)
    P = m / n
    b = 2 * sqrt(variance(P, V) * iota / n) + sqrt(2 * iota / n) + 20 * H * S * E * iota / n
    if n_next is not None:
        inner = np.full(S, float(H**2))
        seen = n_next > 0
        inner[seen] = (
            1000**2 * H**3 * S * A * iota**2 / n_next[seen]
            + 1000**2 * H**4 * S**4 * A**2 * E**2 * iota**4 / n_next[seen] ** 2
            + 1000**2 * H**6 * S**4 * A**2 * iota**4 / n_next[seen] ** 2
        )
        b += 4 * sqrt(iota) * sqrt(float(P @ np.minimum(inner, H**2)) / n)
    return b, min(max(r / n, 0.0), 1.0)


def dp_ucbvi_practical(
    n: float, m: Array, r: float, V: Array, n_next: Array | None, E: float, params: dict[str, Any]
) -> tuple[float, float]:
    b = (
        params["statistical"] * (sqrt(variance(m / n, V) / n) + sqrt(1 / n))
        + params["privacy"] * H * S * E / n
    )
    return b, min(max(r / n, 0.0), 1.0)


def ucbvi_paper(
    n: float, m: Array, r: float, V: Array, n_next: Array | None, E: float, params: dict[str, Any]
) -> tuple[float, float]:
    L = log(5 * S * A * T / BETA)
    P = m / n
    b = sqrt(8 * L * variance(P, V) / n) + 14 * H * L / (3 * n) + sqrt(L / (2 * n))
    if n_next is not None:
        inner = np.full(S, float(H**2))
        seen = n_next >= 1
        inner[seen] = np.minimum(100**2 * H**3 * S**2 * A * L**2 / n_next[seen], H**2)
        b += sqrt(8 / n * float(P @ inner))
    return b, r / n


def ucbvi_practical(
    n: float, m: Array, r: float, V: Array, n_next: Array | None, E: float, params: dict[str, Any]
) -> tuple[float, float]:
    return params["statistical"] * (sqrt(variance(m / n, V) / n) + sqrt(1 / n)), r / n


def hoeffding_paper(
    n: float, m: Array, r: float, V: Array, n_next: Array | None, E: float, params: dict[str, Any]
) -> tuple[float, float]:
    L = log(5 * S * A * T / BETA)
    return 7 * H * L / sqrt(n) + sqrt(L / (2 * n)), r / n


def hoeffding_practical(
    n: float, m: Array, r: float, V: Array, n_next: Array | None, E: float, params: dict[str, Any]
) -> tuple[float, float]:
    return params["statistical"] * H / sqrt(n), r / n


BONUSES: dict[tuple[str, str], Bonus] = {
    ("dp-ucbvi", "paper"): dp_ucbvi_paper,
    ("dp-ucbvi", "practical"): dp_ucbvi_practical,
    ("ucbvi", "paper"): ucbvi_paper,
    ("ucbvi", "practical"): ucbvi_practical,
    ("ucbvi-hoeffding", "paper"): hoeffding_paper,
    ("ucbvi-hoeffding", "practical"): hoeffding_practical,
}


def replan(
    bonus: Bonus, released: Array, E: float, before: Array, params: dict[str, Any]
) -> tuple[Array, Array]:
    """Q [H, S, A] and V [H + 1, S] by optimistic backward induction."""
    Q, V = before.copy(), np.zeros((H + 1, S))
    for h in reversed(range(H)):
        cap = H - h if params["cap"] == "H-h" else H
        # QW23-online's last term is 0 at the last step; it counts n~_{h+1}(s') = sum over a of n~
        n_next = released[h + 1, :, :, S].sum(-1) if h < H - 1 else None
        for s in range(S):
            for a in range(A):
                n, m, r = released[h, s, a, S], released[h, s, a, :S], released[h, s, a, S + 1]
                if n <= 0 or (E == 0 and n < 1):
                    Q[h, s, a] = cap
                    continue
                b, reward = bonus(n, m, r, V[h + 1], n_next, E, params)
                Q[h, s, a] = min(Q[h, s, a], cap, reward + m / n @ V[h + 1] + b)
            V[h, s] = Q[h, s].max()
    return Q, V


def releases(algorithm: Algorithm, seed: int) -> Iterator[tuple[Array, float]]:
    """Released counts and E of a growing stream, also with unvisited cells; noisy if the algorithm takes such."""
    rng = np.random.default_rng(seed)
    p, reward, p_a = (
        rng.dirichlet(np.ones(S), size=(H, S, A)),
        rng.random((H, S, A)),
        rng.dirichlet(np.ones(A)),
    )
    for size in (0, 1, 10, 1000, 10**6, 10**9, 10**12):
        n = rng.binomial(size, 0.3 * p_a, size=(H, S, A))
        released = np.zeros((H, S, A, S + 2))
        released[..., :S] = rng.multinomial(n, p)
        released[..., S] = n
        released[..., S + 1] = rng.binomial(n, reward)
        E = 0.0
        if algorithm.privacies != ("none",) and rng.random() < 0.7:
            E = float(rng.choice([0.1, 30.0, 1e4]))
            released[..., :S] += E * rng.random((H, S, A, S))
            released[..., S] = released[..., :S].sum(-1)
            released[..., S + 1] += E * rng.uniform(-1, 1, size=(H, S, A))
        yield released, E


def test_every_algorithm_has_its_formulas_here() -> None:
    wanted = {(key, bonus) for key, algorithm in ALGORITHMS.items() for bonus in algorithm.bonuses}
    assert BONUSES.keys() >= wanted, "write the new algorithm's bonus out in BONUSES"


@pytest.mark.parametrize("cap", ["H", "H-h"])
@pytest.mark.parametrize(("key", "bonus"), BONUSES)
def test_plan_is_what_the_page_says(key: str, bonus: str, cap: str) -> None:
    algorithm = ALGORITHMS[key]
    params = check_params("algorithm_params", key, algorithm.fields, {"cap": cap})
    constants = algorithm.constants(Problem(H, S, A, K, BETA, bonus, params))
    informative = 0
    for seed in range(10):
        Q, V, policy = np.full(SIZES, float(H)), np.zeros((H + 1, S)), np.zeros((H, S), dtype=np.int64)
        for released, E in releases(algorithm, seed):
            expected_Q, expected_V = replan(BONUSES[key, bonus], released, E, Q, params)
            given = released.copy()
            algorithm.plan(released, E, constants, Q, V, policy)
            np.testing.assert_allclose(Q, expected_Q, rtol=1e-9)
            np.testing.assert_allclose(V, expected_V, rtol=1e-9)
            np.testing.assert_array_equal(policy, Q.argmax(-1))  # the lowest of equals, as NumPy's
            np.testing.assert_array_equal(released, given)
            informative += int((Q < H - np.arange(H)[:, None, None]).any())
    assert informative >= 10  # not all of it at the cap


@pytest.mark.parametrize("key", ALGORITHMS)
def test_q_never_rises_while_counts_are_positive(key: str) -> None:
    """Q~^k = min(Q~^{k-1}, ...)."""
    algorithm = ALGORITHMS[key]
    params = check_params("algorithm_params", key, algorithm.fields, {})
    constants = algorithm.constants(Problem(H, S, A, K, BETA, "practical", params))
    Q, V, policy = np.full(SIZES, float(H)), np.zeros((H + 1, S)), np.zeros((H, S), dtype=np.int64)
    rng = np.random.default_rng(1)
    for _ in range(20):
        before = Q.copy()
        released = np.zeros((H, S, A, S + 2))
        released[..., :S] = rng.integers(1, 1000, size=(H, S, A, S))
        released[..., S] = released[..., :S].sum(-1)
        released[..., S + 1] = rng.random((H, S, A)) * released[..., S]
        algorithm.plan(released, 0.0, constants, Q, V, policy)
        assert (before >= Q).all()

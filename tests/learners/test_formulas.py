"""Each planner against its papers' formulas, written out once more in NumPy, slowly and plainly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dprl import ENVIRONMENTS, RunSpec
from dprl.fields import check_params
from dprl.learners import ALGORITHMS, Problem
from dprl.learners.tabular.planner import TabularLearner
from dprl.mdp import planning
from dprl.mdp.structure import every_state
from dprl.mdp.tabular import Array
from dprl.simulation.loops import LOOPS
from dprl.statistics import CONSISTENT
from tests.problems import finished

ROOT = Path(__file__).parents[2]
H, S, A, K, BETA = 4, 3, 2, 10**7, 0.1
SIZES = (H, S, A)
T = K * H

Both = tuple[float, float]  # bonus and reward
# of n, m, r, V next, visits of the next step's states or None at the last step, and E
Bonus = Callable[[float, Array, float, Array, Array | None, float], Both]


def variance(P: Array, V: Array) -> float:
    return float(P @ (V - P @ V) ** 2)


def dp_ucbvi_paper(n: float, m: Array, r: float, V: Array, n_next: Array | None, E: float) -> Both:
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


def ucbvi_paper(n: float, m: Array, r: float, V: Array, n_next: Array | None, E: float) -> Both:
    L = log(5 * S * A * T / BETA)
    P = m / n
    b = sqrt(8 * L * variance(P, V) / n) + 14 * H * L / (3 * n) + sqrt(L / (2 * n))
    if n_next is not None:
        inner = np.full(S, float(H**2))
        seen = n_next >= 1
        inner[seen] = np.minimum(100**2 * H**3 * S**2 * A * L**2 / n_next[seen], H**2)
        b += sqrt(8 / n * float(P @ inner))
    return b, r / n


def hoeffding_paper(n: float, m: Array, r: float, V: Array, n_next: Array | None, E: float) -> Both:
    L = log(5 * S * A * T / BETA)
    return 7 * H * L / sqrt(n) + sqrt(L / (2 * n)), r / n


def pucb_paper(n: float, m: Array, r: float, V: Array, n_next: Array | None, E: float) -> Both:
    """V20 Algorithm 3: (H + 1) phi + (1 + S H)(3E/n + 2E^2/n^2), phi = sqrt(2 ln(K/beta') / max(n - E, 1))."""
    phi = sqrt(2 * log(K / (BETA / 4)) / max(n - E, 1))
    return (H + 1) * phi + (1 + S * H) * (3 * E / n + 2 * E**2 / n**2), r / n


def private_paper(n: float, m: Array, r: float, V: Array, n_next: Array | None, E: float) -> Both:
    """Chowdhury and Zhou: everything is divided by max(n + E1, 1), E1 = E2 = E/4."""
    E1, L = E / 4, sqrt(2 * log(4 * S * A * T / BETA))
    den = max(n + E1, 1)
    b = (L / sqrt(den) + 3 * E1 / den) + (H * L / sqrt(den) + H * (S * E1 + 2 * E1) / den)
    return float(b + (r + m @ V) / den - m @ V / n), 0.0  # replan adds m @ V / n


BONUSES: dict[tuple[str, str], Bonus] = {
    ("pucb", "paper"): pucb_paper,
    ("ubev", "paper"): pucb_paper,
    ("private-ucb-vi", "paper"): private_paper,
    ("dp-ucbvi", "paper"): dp_ucbvi_paper,
    ("ucbvi", "paper"): ucbvi_paper,
    ("ucbvi-hoeffding", "paper"): hoeffding_paper,
}


# Q of the last release bounds Q of this one (QW23-online); V20 and Chowdhury, Zhou begin anew
MONOTONE = {"dp-ucbvi", "ucbvi", "ucbvi-hoeffding"}


def replan(
    key: str, bonus: Bonus, released: Array, E: float, before: Array, high: str
) -> tuple[Array, Array]:
    """Q [H, S, A] and V [H + 1, S] by optimistic backward induction. high: the ceiling of Q."""
    Q, V = before.copy(), np.zeros((H + 1, S))
    for h in reversed(range(H)):
        cap = H if high == "H" else H - h
        # QW23-online's last term is 0 at the last step; it counts n~_{h+1}(s') = sum over a of n~
        n_next = released[h + 1, :, :, S].sum(-1) if h < H - 1 else None
        for s in range(S):
            for a in range(A):
                n, m, r = released[h, s, a, S], released[h, s, a, :S], released[h, s, a, S + 1]
                unknown = n < max(2 * E, 1) if key in ("pucb", "ubev") else n <= 0 or (E == 0 and n < 1)
                if unknown:
                    Q[h, s, a] = cap
                    continue
                b, reward = bonus(n, m, r, V[h + 1], n_next, E)
                value = reward + m / n @ V[h + 1] + b
                if key in MONOTONE:
                    Q[h, s, a] = min(Q[h, s, a], cap, value)
                else:
                    Q[h, s, a] = max(min(cap, value), 0.0)  # noise can make it negative
            V[h, s] = Q[h, s].max()
    return Q, V


def releases(algorithm: TabularLearner, seed: int) -> Iterator[tuple[Array, float]]:
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
            if algorithm.statistic == CONSISTENT:
                released[..., :S] += E * rng.random((H, S, A, S))
                released[..., S] = released[..., :S].sum(-1)
            else:  # raw: n and m do not agree, and may be negative
                released[..., : S + 1] += E / 4 * rng.uniform(-1, 1, size=(H, S, A, S + 1))
            released[..., S + 1] += E * rng.uniform(-1, 1, size=(H, S, A))
        yield released, E


# A stochastic policy has formulas and tests of its own: test_policy_optimisation.py.
LEARNERS = {
    key: algorithm
    for key, algorithm in ALGORITHMS.items()
    if isinstance(algorithm, TabularLearner) and not algorithm.stochastic
}


def problem(key: str, bonus: str, given: dict[str, Any] | None = None) -> Problem:
    """At epsilon 1, with noise as our accountant solves for it."""
    params = check_params("algorithm_params", key, ALGORITHMS[key].fields, given or {})
    return Problem(H, S, A, K, BETA, 1.0, "calibrated", bonus, params)


# the anytime bonus, which is the same for all, has its own in test_anytime.py; that of ldp-obi, which differs from
# step to step, in test_ldp_obi.py
HERE = [key for key in LEARNERS if key != "ldp-obi"]


@pytest.mark.parametrize("cap", ["H", "H-h"])
@pytest.mark.parametrize(
    ("key", "bonus"), [(key, bonus) for key in HERE for bonus in LEARNERS[key].bonuses if bonus != "anytime"]
)
def test_plan_is_what_the_page_says(key: str, bonus: str, cap: str) -> None:
    algorithm = LEARNERS[key]
    constants = algorithm.constants(problem(key, bonus, {"cap": cap}))
    informative = 0
    for seed in range(10):
        Q, V, policy = np.full(SIZES, float(H)), np.zeros((H + 1, S)), np.zeros((H, S), dtype=np.int64)
        for released, E in releases(algorithm, seed):
            expected_Q, expected_V = replan(key, BONUSES[key, bonus], released, E, Q, cap)
            given = released.copy()
            algorithm.plan(
                released, np.full(SIZES, E), every_state(released.shape[1]), constants, Q, V, policy
            )
            np.testing.assert_allclose(Q, expected_Q, rtol=1e-9)
            np.testing.assert_allclose(V, expected_V, rtol=1e-9)
            np.testing.assert_array_equal(policy, Q.argmax(-1))  # the lowest of equals, as NumPy's
            np.testing.assert_array_equal(released, given)
            informative += int((Q < H - np.arange(H)[:, None, None]).any())
    assert informative >= 10  # not all of it at the cap


# PUCB's own E, and when a tuple counts as seen


def planned(constants: Array, released: Array, E: float) -> Array:
    Q, V, policy = np.zeros(SIZES), np.zeros((H + 1, S)), np.zeros((H, S), dtype=np.int64)
    LEARNERS["pucb"].plan(
        released, np.full(SIZES, E), every_state(released.shape[1]), constants, Q, V, policy
    )
    return Q


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 10.0])
def test_pucb_has_the_papers_e_with_paper_noise_only(epsilon: float) -> None:
    """E = (3/epsilon) H ln((2SAH + S^2 AH)/beta') ln(K)^{5/2}, beta' = beta/4 (V20 Algorithm 2)."""
    paper = 3 / epsilon * H * log((2 * S * A * H + S**2 * A * H) / (BETA / 4)) * log(K) ** 2.5
    given = problem("pucb", "paper")
    as_in_paper = LEARNERS["pucb"].constants(replace(given, epsilon=epsilon, calibration="paper"))
    assert as_in_paper[3] == pytest.approx(paper)
    for other in (
        replace(given, epsilon=epsilon),  # calibrated noise: the E that comes with the counts
        replace(given, epsilon=None, calibration=None),
    ):
        assert LEARNERS["pucb"].constants(other)[3] == 0.0
    # and it is the one that is used, whatever comes with the counts
    released = np.zeros((H, S, A, S + 2))
    released[..., 0] = released[..., S] = 20 * paper  # always to state 0, and never with a reward
    expected = planned(LEARNERS["pucb"].constants(replace(given, epsilon=epsilon)), released, paper)
    for E in (0.0, 1.0, 1e12):
        np.testing.assert_array_equal(planned(as_in_paper, released, E), expected)


def test_with_the_papers_constants_action_0_is_played_everywhere_for_long() -> None:
    """docs/report/online.md says so, and what that loses and what random play would."""
    spec = RunSpec(
        environment_params={"S": 6, "H": 20}, algorithm="dp-ucbvi", bonus="paper", episodes=10**12, seeds=1
    )
    trace = finished(LOOPS["replan"](spec, 0)).trace()
    early, late = 10**7, 10**11
    assert (trace.policy[trace.detail_episodes <= early] == 0).all()
    assert trace.gap[trace.episodes <= late].min() > trace.v_star / 2
    mdp = ENVIRONMENTS["riverswim"].make(**spec.environment_params)
    V = np.zeros(mdp.S)
    for h in reversed(range(mdp.H)):
        V = (mdp.R[h] + mdp.P[h] @ V).mean(-1)
    best = planning.optimum(mdp).V[0]
    text = " ".join((ROOT / "docs/report/online.md").read_text("utf-8").split())
    shares = (trace.gap[0] / (mdp.d1 @ best), 1 - mdp.d1 @ V / (mdp.d1 @ best))
    assert "Playing action 0 loses {:.0%} of V*, while random play loses {:.0%}.".format(*shares) in text

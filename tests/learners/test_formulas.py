"""Each planner against its papers' formulas, written out once more in NumPy, slowly and plainly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import log, sqrt
from typing import Any

import numpy as np
import pytest

from dprl import ENVIRONMENTS, RunSpec, SeedTrace
from dprl.fields import check_params
from dprl.learners import ALGORITHMS, Problem
from dprl.learners.tabular.planner import TabularLearner
from dprl.mdp import planning
from dprl.mdp.structure import every_state
from dprl.mdp.tabular import Array
from dprl.simulation.loops import LOOPS
from dprl.statistics import CONSISTENT
from tests.problems import ROOT, finished

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


# the anytime bonus, which is the same for all, has its own in test_anytime.py; that of ldp-obi differs from step
# to step: see below
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
            algorithm.plan(released, np.full(SIZES, E), every_state(S), constants, Q, V, policy)
            np.testing.assert_allclose(Q, expected_Q, rtol=1e-9)
            np.testing.assert_allclose(V, expected_V, rtol=1e-9)
            np.testing.assert_array_equal(policy, Q.argmax(-1))  # the lowest of equals, as NumPy's
            np.testing.assert_array_equal(released, given)
            informative += int((Q < H - np.arange(H)[:, None, None]).any())
    assert informative >= 10  # not all of it at the cap


# PUCB's own E, and when a tuple counts as seen


def pucb(constants: Array, released: Array, E: float) -> Array:
    Q, V, policy = np.zeros(SIZES), np.zeros((H + 1, S)), np.zeros((H, S), dtype=np.int64)
    LEARNERS["pucb"].plan(released, np.full(SIZES, E), every_state(S), constants, Q, V, policy)
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
    expected = pucb(LEARNERS["pucb"].constants(replace(given, epsilon=epsilon)), released, paper)
    for E in (0.0, 1.0, 1e12):
        np.testing.assert_array_equal(pucb(as_in_paper, released, E), expected)


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


# LDP-OBI: against an independent computation, and what its bonus holds for.

OBI = LEARNERS["ldp-obi"]


def planned(released: Array, E: float, alpha: float) -> tuple[Array, Array]:
    """Q and V, all pairs of a step at once: after Garcelon et al. 2021."""
    m, n, r = released[..., :S], released[..., S], released[..., S + 1]
    c1, c2, c4 = E, E / 4, E / 4
    c3 = np.minimum(S * c4, np.abs(m.sum(-1) - n) + c2)
    N, M = n + alpha * c2, m.sum(-1) + alpha * c3
    enough = (N >= 1) & (M >= 1)
    N, M = np.where(enough, N, 1), np.where(enough, M, 1)
    delta = 3 * BETA / (4 * np.pi**2 * S * A * H * float(K) ** 3)
    of_r = np.sqrt(2 * np.log(1 / delta) / N) + ((alpha + 1) * c2 + c1) / N
    of_p = np.sqrt(14 * S * np.log(1 / delta) / M) + (S * c4 + (alpha + 1) * c3) / M
    Q, V = np.zeros((H, S, A)), np.zeros((H + 1, S))
    for h in reversed(range(H)):
        value = r[h] / N[h] + m[h] @ V[h + 1] / M[h] + of_r[h] + (H - h) * of_p[h]
        Q[h] = np.where(enough[h], np.clip(value, 0, H - h), H - h)
        V[h] = Q[h].max(-1)
    return Q, V


def counted(rng: np.random.Generator, A: int = A, decades: int = 9) -> Array:
    """[H, S, A, S + 2] counts of very many users."""
    counts = np.zeros((H, S, A, S + 2))
    most = 10 ** rng.uniform(0, decades, size=(H, S, A, 1))
    counts[..., :S] = rng.gamma(0.5, most, (H, S, A, S)).round()
    counts[..., S] = counts[..., :S].sum(-1)
    counts[..., S + 1] = counts[..., S] * rng.random((H, S, A))
    return counts


@pytest.mark.parametrize("E", [0.0, 40.0, 4e4])
@pytest.mark.parametrize("alpha", [1.0, 2.0, 10.0])
def test_plans_are_those_of_an_independent_computation(E: float, alpha: float) -> None:
    rng = np.random.default_rng(0)
    Q, V, policy = np.zeros((H, S, A)), np.zeros((H + 1, S)), np.zeros((H, S), dtype=np.int64)
    constants = OBI.constants(problem(OBI.key, "paper", {"alpha": alpha}))
    for _ in range(20):
        released = counted(rng)
        released += E / 4 * rng.normal(size=released.shape)
        OBI.plan(released, np.full(Q.shape, E), every_state(S), constants, Q, V, policy)
        ours_Q, ours_V = planned(released, E, alpha)
        np.testing.assert_allclose(Q, ours_Q, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(V, ours_V, rtol=1e-10, atol=1e-10)
        np.testing.assert_array_equal(policy, ours_Q.argmax(-1))
    assert (Q < H - np.arange(H)[:, None, None] - 1e-3).any()  # something was learned


def test_estimates_are_above_the_truth_wherever_noise_is_within_its_bounds() -> None:
    """Q >= r + P V for the V that was planned with, whatever the noise, as long as |.| <= E/4 and, of rewards, E."""
    rng = np.random.default_rng(1)
    Q, V, policy = np.zeros((H, S, A)), np.zeros((H + 1, S)), np.zeros((H, S), dtype=np.int64)
    tight = 0.0
    for alpha in (1.0, 2.0):
        just = np.array([alpha, 0.0, 0.0])  # counts below are just as they are expected to be
        for E in (0.0, 400.0, 4e6):
            counts = counted(rng)
            n = np.maximum(counts[..., S : S + 1], 1)
            P, R = counts[..., :S] / n, counts[..., S + 1] / n[..., 0]
            for sign in (rng.uniform(-1, 1, counts.shape), rng.choice([-1.0, 1.0], counts.shape)):
                released = counts + sign * E / 4
                released[..., S + 1] += sign[..., S + 1] * E * 3 / 4
                OBI.plan(released, np.full(Q.shape, E), every_state(S), just, Q, V, policy)
                follows = R + np.einsum("hsax,hx->hsa", P, V[1:])
                seen = counts[..., S] > 0
                assert (Q >= follows - 1e-9)[seen].all()
                tight = max(tight, float((follows / Q)[seen & (E > 0)].max(initial=0.0)))
    assert tight > 0.9  # and not because the bonus is beyond anything


def test_a_declared_structure_counts_only_what_is_possible() -> None:
    wide, tight = (OBI.constants(replace(problem(OBI.key, "paper"), branching=B)) for B in (None, 2))
    assert tight[2] == pytest.approx(wide[2] * np.sqrt(2 / S))
    released = np.full((1, S, 1, 4), np.nan)
    released[..., :2], released[..., 2], released[..., 3] = 5e5, 1e6, 0.0
    released[0, 2, 0, :2] = 1e6, np.nan  # one next state is possible: the other has no counter
    table = np.array([[[[0, 1]], [[0, 1]], [[0, -1]]]])
    Q, V, policy = np.zeros((1, S, 1)), np.zeros((2, S)), np.zeros((1, S), dtype=np.int64)
    OBI.plan(released, np.full(Q.shape, 400.0), table, np.array([2.0, 0.0, 0.0]), Q, V, policy)
    assert Q[0, 0, 0] - Q[0, 2, 0] == pytest.approx(100 / (1e6 + 200))


def ran(key: str = "ldp-obi", **fields: Any) -> SeedTrace:
    given = {"environment": "random", "environment_params": {"S": 3, "A": 3, "H": 4}} | fields
    trace: SeedTrace = finished(LOOPS["replan"](RunSpec(**given, algorithm=key, seeds=1), 0)).trace()
    return trace


LOCAL: dict[str, Any] = {"key": "ldp-obi", "privacy": "local", "bonus": "paper", "episodes": 10**12}


@pytest.mark.parametrize(
    "given",
    [
        *(LOCAL | {"mechanism": mechanism} for mechanism in ("gaussian", "laplace", "unary")),
        *(
            {"key": "private-ucb-po", "privacy": privacy, "episodes": 10**6}
            for privacy in ("none", "central")
        ),
    ],
)
def test_estimates_are_above_what_follows_from_the_next_steps(given: dict[str, Any]) -> None:
    """Q >= r + PV for the V that was planned with, at every release that is kept."""
    trace = ran(**given)
    mdp = ENVIRONMENTS["random"].make(S=3, A=3, H=4)
    V = np.concatenate([trace.V[:, 1:], np.zeros((len(trace.V), 1, 3))], axis=1)
    assert (trace.Q >= mdp.R + np.einsum("hsax,dhx->dhsa", mdp.P, V) - 1e-12).all()
    assert (trace.Q < trace.Q[0]).any()  # something was learned
    assert given["key"] != "ldp-obi" or trace.gap[-1] < trace.gap[0] / 2


def test_with_the_anytime_bonus_it_is_private_ucb_vi() -> None:
    """One learner, as docs/report/online.md says; with their own constants they are two."""
    same, other = (
        [ran(key, privacy="local", bonus=bonus, episodes=10**9) for key in ("ldp-obi", "private-ucb-vi")]
        for bonus in ("anytime", "paper")
    )
    np.testing.assert_array_equal(same[0].Q, same[1].Q)
    np.testing.assert_array_equal(same[0].regret, same[1].regret)
    assert (other[0].Q[-1] != other[1].Q[-1]).any()

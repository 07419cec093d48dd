"""LDP-OBI: against an independent computation, in blocks against one user at a time, and what its bonus holds for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dprl import ENVIRONMENTS, RunSpec, SeedTrace
from dprl.learners import Problem
from dprl.learners.tabular.ldp_obi import constants, plan
from dprl.mdp.structure import every_state
from dprl.mdp.tabular import Array
from dprl.simulation.loops.replan import SeedRun
from tests.problems import finished

H, S, A, K, BETA = 4, 3, 2, 10**6, 0.1


def problem(alpha: float = 2.0, branching: int | None = None) -> Problem:
    return Problem(H, S, A, K, BETA, 1.0, "calibrated", "paper", {"alpha": alpha}, branching)


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


def counted(rng: np.random.Generator) -> Array:
    """[H, S, A, S + 2] counts of very many users."""
    counts = np.zeros((H, S, A, S + 2))
    counts[..., :S] = rng.gamma(0.5, 10 ** rng.uniform(0, 9, size=(H, S, A, 1)), (H, S, A, S)).round()
    counts[..., S] = counts[..., :S].sum(-1)
    counts[..., S + 1] = counts[..., S] * rng.random((H, S, A))
    return counts


@pytest.mark.parametrize("E", [0.0, 40.0, 4e4])
@pytest.mark.parametrize("alpha", [1.0, 2.0, 10.0])
def test_plans_are_those_of_an_independent_computation(E: float, alpha: float) -> None:
    rng = np.random.default_rng(0)
    Q, V, policy = np.zeros((H, S, A)), np.zeros((H + 1, S)), np.zeros((H, S), dtype=np.int64)
    for _ in range(20):
        released = counted(rng)
        released += E / 4 * rng.normal(size=released.shape)
        plan(released, np.full(Q.shape, E), every_state(S), constants(problem(alpha)), Q, V, policy)
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
                plan(released, np.full(Q.shape, E), every_state(S), just, Q, V, policy)
                follows = R + np.einsum("hsax,hx->hsa", P, V[1:])
                seen = counts[..., S] > 0
                assert (Q >= follows - 1e-9)[seen].all()
                tight = max(tight, float((follows / Q)[seen & (E > 0)].max(initial=0.0)))
    assert tight > 0.9  # and not because the bonus is beyond anything


def test_a_declared_structure_counts_only_what_is_possible() -> None:
    wide, tight = (constants(problem(branching=B)) for B in (None, 2))
    assert tight[2] == pytest.approx(wide[2] * np.sqrt(2 / S))
    released = np.full((1, S, 1, 4), np.nan)
    released[..., :2], released[..., 2], released[..., 3] = 5e5, 1e6, 0.0
    released[0, 2, 0, :2] = 1e6, np.nan  # one next state is possible: the other has no counter
    table = np.array([[[[0, 1]], [[0, 1]], [[0, -1]]]])
    Q, V, policy = np.zeros((1, S, 1)), np.zeros((2, S)), np.zeros((1, S), dtype=np.int64)
    plan(released, np.full(Q.shape, 400.0), table, np.array([2.0, 0.0, 0.0]), Q, V, policy)
    assert Q[0, 0, 0] - Q[0, 2, 0] == pytest.approx(100 / (1e6 + 200))


def ran(key: str = "ldp-obi", **fields: Any) -> SeedTrace:
    given = {"environment": "random", "environment_params": {"S": 3, "A": 3, "H": 4}} | fields
    trace: SeedTrace = finished(SeedRun(RunSpec(**given, algorithm=key, seeds=1), 0)).trace()
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

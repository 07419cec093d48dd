"""Learners that regress their own values: against a dense computation from the formulas, block by block."""

from __future__ import annotations

from collections.abc import Mapping
from math import log, sqrt
from typing import Any

import numpy as np
import pytest

from dprl import ALGORITHMS, RunSpec
from dprl.environments import ENVIRONMENTS
from dprl.learners.linear.confidence import Confidence, widths
from dprl.mdp.tabular import Array
from dprl.simulation.loops import RegressionRun
from dprl.statistics.value_regression import gather
from tests.problems import finished

SMALL = {"d": 3, "S": 3, "H": 4}
LEARNERS = [key for key, learner in ALGORITHMS.items() if learner.loop == "regress"]


def spec(**given: Any) -> RunSpec:
    usual: dict[str, Any] = {
        "environment": "linear-mixture", "environment_params": SMALL, "algorithm": "ucrl-vtr", "episodes": 10**6,
        "seeds": 1,
    }  # fmt: skip
    return RunSpec(**usual | given)


def phi(features: Array, V: Array) -> Array:
    """[S, A, d]."""
    return np.asarray(np.einsum("saxi,x->sai", features, V))


def as_in_paper(run: RegressionRun) -> tuple[Array, Array]:
    """Q and V of L21 Algorithm 1 with the constants of Corollaries 5 and 6, from what was released."""
    mdp, mixture = run.mdp, run.setup
    H, S, K, d, p = mdp.H, mdp.S, run.spec.episodes, mixture.features.shape[-1], run.spec.beta or 0.1
    upsilon = float(run.setup.error[0]) * (4 * sqrt(d) + 2 * log(6 * K * H / p))
    beta = 3 * (sqrt(d) + 1) * sqrt(H**2 + upsilon)
    beta += sqrt(2 * H**2 * log(3 * H * (1 + K * H) ** (d / 2) / p))
    Q, V = np.zeros((H, S, mdp.A)), np.zeros((H + 1, S))
    for h in reversed(range(H)):
        Q[h] = mdp.R[h]
        if h < H - 1:
            G = run.state.noisy[h, 0, :, :d] + (H**2 + 2 * upsilon) * np.eye(d)
            w = np.linalg.solve(G, run.state.noisy[h, 0, :, d])
            X = phi(mixture.features, V[h + 1])
            Q[h] += X @ w + beta * np.sqrt(np.einsum("sai,ij,saj->sa", X, np.linalg.inv(G), X))
        Q[h] = np.clip(Q[h], 0, H)
        V[h] = Q[h].max(-1)
    return Q, V


@pytest.mark.parametrize(
    ("privacy", "calibration", "K"),
    [("none", None, 10**8), ("central", "paper", 10**10), ("local", "paper", 10**13)],
)
def test_plans_as_in_the_paper_agree_with_a_dense_computation(
    privacy: str, calibration: str | None, K: int
) -> None:
    run = finished(
        RegressionRun(
            spec(privacy=privacy, calibration=calibration, bonus="paper", episodes=K, epsilon=1000.0), 0
        )
    )
    Q, V = as_in_paper(run)
    assert 0.01 < (Q < run.mdp.H).mean()
    np.testing.assert_allclose(run.state.plan.Q, Q, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(run.state.plan.V, V, rtol=1e-10, atol=1e-10)


def anytime(run: RegressionRun) -> Array:
    """Q from docs/report/linear.md: the better of two bounds, for ridge = lambda + shift and ridge = lambda."""
    from scipy.stats import chi2

    mdp, setup, p = run.mdp, run.setup, run.spec.beta or 0.1
    H, d, users = mdp.H, setup.features.shape[-1], run.users
    C, lamda, noise, m, v = sqrt(d), 0.25, 0.0, 0.0, 0.0
    shift = 0.0
    if run.noise.mechanism is not None:
        a, b = 1 / 4, 1 / 2
        scale = float(run.noise.std[run.state.position[2]])
        q = (p / 3) / ((H - 1) * (d + 3) // 2 * run.noise.stream.releases)
        x = sqrt(chi2.isf(q, d))
        share = C / sqrt(2) / (1 + C / sqrt(2))  # of the budget, for matrices
        m, v = a / sqrt(share), b / sqrt(1 - share)
        shift = scale * m * min(2 * sqrt(d) + 2 * sqrt(log(2 / q)), sqrt(2 * chi2.isf(q, d * (d + 1) / 2)))
        noise = scale * x * sqrt(v**2 + 2 * (m * C) ** 2)
    Q, V = np.zeros((H, mdp.S, mdp.A)), np.zeros((H + 1, mdp.S))
    for h in reversed(range(H)):
        Q[h] = mdp.R[h]
        if h < H - 1:
            middle, unit = (V[h + 1].min() + V[h + 1].max()) / 2, np.ptp(V[h + 1]) or 1.0
            X = phi(setup.features, (V[h + 1] - middle) / unit)
            G, u = run.state.noisy[h, 0, :, :d], run.state.noisy[h, 0, :, d]
            full = G + (lamda + shift) * np.eye(d)
            grown = min(np.linalg.slogdet(full / lamda)[1], d * log(1 + users / (4 * d * lamda)))
            beta = 0.5 * sqrt(grown + 2 * log(3 * (H - 1) / p))
            reached = np.where(setup.features.sum(-1) > 0, V[h + 1], -np.inf)
            best = reached.max(-1)
            for ridge in (lamda + shift, lamda):
                M = G + ridge * np.eye(d)
                if np.linalg.eigvalsh(M).min() <= 0:
                    continue
                Y = X @ np.linalg.inv(M)
                length = (Y**2).sum(-1)
                spread = np.sqrt((X * Y).sum(-1) + (lamda + shift - ridge) * length)
                upper = Y @ u + beta * spread + (noise + ridge * C) * np.sqrt(length)
                best = np.minimum(best, middle + unit * upper)
            Q[h] += np.maximum(best, np.where(np.isinf(reached), np.inf, reached).min(-1))
        V[h] = Q[h].max(-1)
    return Q


@pytest.mark.parametrize("privacy", ["none", "central"])
def test_anytime_plans_agree_with_a_dense_computation(privacy: str) -> None:
    run = finished(RegressionRun(spec(privacy=privacy, episodes=10**7), 1))
    Q = anytime(run)
    cap = run.mdp.H - np.arange(run.mdp.H)
    assert (Q < cap[:, None, None] - 0.01).any()
    np.testing.assert_allclose(run.state.plan.Q, Q, rtol=1e-10, atol=1e-10)


def bonuses(run: RegressionRun, beliefs: Mapping[str, Array], h: int) -> tuple[Array, Array]:
    """[S, A] <X, w~> and the bonus at a step, in units of values, from what the last release says."""
    plan, setup, d = run.state.plan, run.setup, run.setup.features.shape[-1]
    y = (plan.V[h + 1] - plan.middle[h][..., None]) / plan.unit[h][..., None]
    X = np.einsum("saxi,sax->sai", setup.features, y)
    last = {name: beliefs[name][-1, h] for name in Confidence._fields}
    Y = X @ np.linalg.inv(run.state.noisy[h, 0, :, :d] + last["ridge"] * np.eye(d))
    square = (Y**2).sum(-1)
    bonus = last["beta"] * np.sqrt((X * Y).sum(-1) + last["slack"] * square) + last["pull"] * np.sqrt(square)
    return X @ last["weights"], bonus


@pytest.mark.parametrize(
    ("algorithm", "privacy", "bonus", "K"),
    [
        ("ucrl-vtr", "none", "anytime", 10**7),
        ("ucrl-vtr", "none", "paper", 10**8),
        ("ucrl-vtr", "central", "paper", 10**10),
        ("ucrl-vtr", "local", "paper", 10**13),
        ("ucrl-vtr-plus", "none", "paper", 10**10),
        ("ucrl-vtr-plus", "central", "paper", 10**13),
    ],
)
def test_a_plan_says_where_it_believes_the_weights_to_be(
    algorithm: str, privacy: str, bonus: str, K: int
) -> None:
    given: dict[str, Any] = {"calibration": "paper" if bonus == "paper" and privacy != "none" else None}
    given |= {"algorithm": algorithm, "privacy": privacy, "bonus": bonus, "episodes": K, "epsilon": 1000.0}
    run = finished(RegressionRun(spec(**given), 0))
    plan, compared = run.state.plan, 0
    for h in range(run.mdp.H - 1):
        middle, unit = plan.middle[h], plan.unit[h]
        center, extra = bonuses(run, run.trace().beliefs, h)
        upper = run.mdp.R[h] + middle + unit * (center + extra)
        inside = (plan.Q[h] > 1e-6) & (plan.Q[h] < run.mdp.H - h - 1e-6) & (plan.Q[h] < upper + 1e-6)
        reached = np.where(run.setup.features.sum(-1) > 0, plan.V[h + 1], -np.inf).max(-1)
        inside &= plan.Q[h] < run.mdp.R[h] + reached - 1e-9
        np.testing.assert_allclose(plan.Q[h][inside], upper[inside], rtol=1e-9)
        compared += int(inside.sum())
    assert compared > 3


@pytest.mark.parametrize("algorithm", LEARNERS)
@pytest.mark.parametrize(("privacy", "K"), [("none", 10**6), ("central", 10**8), ("local", 10**13)])
def test_the_true_weights_are_where_a_plan_believes_them_to_be(privacy: str, K: int, algorithm: str) -> None:
    """Of the wider of two regions as of the narrower: noise widens it, and what is known narrows it."""
    run = finished(RegressionRun(spec(algorithm=algorithm, privacy=privacy, episodes=K), 2))
    beliefs = run.trace().beliefs
    w = ENVIRONMENTS["linear-mixture"].mixture(**run.spec.environment_params).weights(run.mdp.P)  # type: ignore[misc]
    np.testing.assert_allclose(beliefs["truth"][-1], w[:-1], atol=1e-12)
    found = []
    for prefix, matrices in (("", run.trace().noisy), ("noiseless ", run.trace().series["sums"])):
        one = Confidence(*(beliefs[prefix + name] for name in Confidence._fields))
        M = matrices[:, :, 0, :, :-1] + one.ridge[..., None, None] * np.eye(3)
        wide = widths(one, np.asarray(np.linalg.inv(M), float))
        assert (np.abs(beliefs["truth"] - one.weights) <= wide).all()
        found.append(wide)
    noisy, quiet = found
    assert (noisy[-1] < noisy[0]).all()
    assert (quiet[-1] < noisy[-1]).all() if privacy != "none" else (quiet == noisy).all()


def test_sums_are_those_of_the_users_one_by_one() -> None:
    rng = np.random.default_rng(0)
    S, A, H, d = 3, 2, 3, 2
    features = rng.random((S, A, S, d))
    V, middle, unit = rng.random((H + 1, S)), rng.random((H, S, A)), 0.5 + rng.random((H, S, A))
    worth = rng.random((H, S, A))
    block, sums = np.zeros((H, S, A, S + 2)), np.zeros((H - 1, 2, d, d + 1))
    expected = np.zeros_like(sums)
    for _ in range(40):
        for h in range(H):
            s, a, x = (int(rng.integers(n)) for n in (S, A, S))
            block[h, s, a, x] += 1
            block[h, s, a, S] += 1
            if h < H - 1:
                y = (V[h + 1] - middle[h, s, a]) / unit[h, s, a]
                for f, (target, share) in enumerate(((y, worth[h, s, a]), (y**2, 1.0))):
                    X = sum(features[s, a, t] * target[t] for t in range(S))
                    expected[h, f, :, :d] += share * np.outer(X, X)
                    expected[h, f, :, d] += share * X * target[x]
    gather(block, features, V, middle, unit, worth, sums)
    np.testing.assert_allclose(sums, expected, rtol=1e-10, atol=1e-12)
    assert not block.any()

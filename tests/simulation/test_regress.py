"""Learners that regress their own values: against a dense computation from the formulas, block by block."""

from __future__ import annotations

from collections.abc import Mapping
from math import log, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from dprl import ALGORITHMS
from dprl.environments import ENVIRONMENTS
from dprl.learners.linear.confidence import Confidence, widths
from dprl.learners.linear.ucrl_vtr_plus import proxy
from dprl.mdp.tabular import Array
from dprl.simulation.loops import RegressionRun
from dprl.statistics.value_regression import gather
from tests.problems import finished
from tests.simulation.test_loops import spec

LEARNERS = [key for key, learner in ALGORITHMS.items() if learner.loop == "regress"]


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


def anytime(run: RegressionRun) -> Array:
    """Q from docs/report/linear.md: the better of two bounds, for ridge = lambda + shift and ridge = lambda."""
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
    given |= {"privacy": privacy, "bonus": bonus, "episodes": K, "epsilon": 1000.0}
    run = finished(RegressionRun(spec(algorithm, **given), 0))
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
    run = finished(RegressionRun(spec(algorithm, privacy=privacy, episodes=K), 2))
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


# --- UCRL-VTR+


def as_in_paper_weighted(run: RegressionRun) -> tuple[Array, Array]:
    """Q and 1/s2 of L21 Algorithm 3 with the constants of Corollaries 10 and 11, for the user who comes next."""
    mdp, F, spec_ = run.mdp, run.setup.features, run.spec
    H, S, A, K, d, p = mdp.H, mdp.S, mdp.A, spec_.episodes, F.shape[-1], spec_.beta or 0.1
    k, C, noise = run.users + 1, sqrt(d), float(run.setup.error[0])
    part = 4 * sqrt(d) + 2 * log(24 * K * H / p)
    first, second = noise * part, noise * H**4 / d * part
    chance = log(24 * k**2 * H / p)
    both = 3 * (C + 1) * sqrt(1 + first)
    check = both + 8 * d * sqrt(log(1 + K) * chance) + 4 * sqrt(d) * chance
    hat = both + 8 * sqrt(d * log(1 + K) * chance) + 4 * sqrt(d) * chance
    tilde = 3 * (C + 1) * sqrt(1 + second)
    tilde += 8 * sqrt(d * H**4 * log(1 + K * H**4 / d) * chance) + 4 * H**2 * chance
    Q, V, worth = np.zeros((H, S, A)), np.zeros((H + 1, S)), np.zeros((H, S, A))

    def seen(h: int, f: int, upsilon: float, V: Array) -> tuple[Array, Array]:
        M = run.state.noisy[h, f, :, :d] + (1 + 2 * upsilon) * np.eye(d)
        X = phi(F, V)
        mean = X @ np.linalg.solve(M, run.state.noisy[h, f, :, d])
        return mean, np.sqrt(np.einsum("sai,ij,saj->sa", X, np.linalg.inv(M), X))

    for h in reversed(range(H)):
        Q[h] = mdp.R[h]
        if h < H - 1:
            mean, length = seen(h, 0, first, V[h + 1])
            square, wide = seen(h, 1, second, V[h + 1] ** 2)
            Q[h] += mean + hat * length
            variance = np.clip(square, 0, H**2) - np.clip(mean, 0, H) ** 2
            off = np.minimum(H**2, 2 * H * check * length) + np.minimum(H**2, tilde * wide)
            worth[h] = 1 / np.maximum(H**2 / d, variance + off)
        Q[h] = np.clip(Q[h], 0, H)
        V[h] = Q[h].max(-1)
    return Q, worth


@pytest.mark.parametrize("algorithm", LEARNERS)
@pytest.mark.parametrize("privacy", ["none", "central", "local"])
def test_plans_as_in_the_paper_agree_with_a_dense_computation(privacy: str, algorithm: str) -> None:
    plus, calibration = algorithm == "ucrl-vtr-plus", "paper" if privacy != "none" else None
    d, epsilon, powers = (6, 1e4, (11, 13, 15)) if plus else (3, 1000.0, (8, 10, 13))
    K = 10 ** powers[("none", "central", "local").index(privacy)]
    given: dict[str, Any] = {
        "environment_params": {"d": d, "S": 3, "H": 4},
        "episodes": K,
        "epsilon": epsilon,
    }
    asked = spec(algorithm, privacy=privacy, calibration=calibration, bonus="paper", **given)
    run = finished(RegressionRun(asked, 0))
    plan, H = run.state.plan, run.mdp.H
    Q, other = (as_in_paper_weighted if plus else as_in_paper)(run)
    assert 0.01 < (Q < H).mean()
    np.testing.assert_allclose(plan.Q, Q, rtol=1e-10, atol=1e-10)
    if not plus:
        np.testing.assert_allclose(plan.V, other, rtol=1e-10, atol=1e-10)
        return
    np.testing.assert_allclose(plan.worth[:-1], other[:-1], rtol=1e-9)
    assert other.max() <= d / H**2 * (1 + 1e-12)
    if privacy == "none":
        assert other[:-1].max() > 2 * other[:-1].min()


def kearns_saul(p: Array) -> Array:
    return np.where(np.abs(p - 0.5) < 1e-4, 0.25, (1 - 2 * p) / (2 * np.log((1 - p) / p)))


def anytime_weighted(run: RegressionRun) -> tuple[Array, Array]:
    """Q and 1/v from docs/report/linear.md."""
    mdp, F, p, users = run.mdp, run.setup.features, run.spec.beta or 0.1, run.users
    H, S, A, d = mdp.H, mdp.S, mdp.A, F.shape[-1]
    C, least = sqrt(d), min(0.25, 1 / d)
    moves = (0.25 / least, 0.5 / least), (1 / 16, sqrt(2) / 16)
    scale, x, q = 0.0, 0.0, 0.5
    if run.noise.mechanism is not None:
        scale = float(run.noise.std[run.state.position[2]])
        q = (p / 3) / ((H - 1) * (d + 3) * run.noise.stream.releases)
        x = sqrt(chi2.isf(q, d))

    def bounds(phi_y: Array, h: int, f: int) -> tuple[Array, Array]:
        a, b = moves[f]
        share = (a * C / sqrt(2)) / (a * C / sqrt(2) + b / 2)  # of the family's budget, for its matrix
        budget = (0.95, 0.05)[f]
        ratio = a / sqrt(2 * d)  # m^2 : v^2 = ratio : b
        length = a * a / ratio + b
        m, v = (sqrt(y * length / budget) for y in (ratio, b))
        assert (a / m) ** 2 + (b / v) ** 2 == pytest.approx(budget)
        assert 0 < share < 1
        shift = scale * m * min(2 * sqrt(d) + 2 * sqrt(log(2 / q)), sqrt(2 * chi2.isf(q, d * (d + 1) / 2)))
        pull = scale * x * sqrt(v**2 + 2 * (m * C) ** 2)
        lamda, most, far = (1.0, 1 / (4 * least), 1.0) if f == 0 else (1 / 64, 1 / 16, 1 / 64)
        G, u = run.state.noisy[h, f, :, :d], run.state.noisy[h, f, :, d]
        grown = np.linalg.slogdet((G + (lamda + shift) * np.eye(d)) / lamda)[1]
        grown = min(grown, d * log(1 + users * most / (d * lamda)))
        beta = sqrt(far * (grown + 2 * log(3 * (H - 1) / p)))
        low, high = np.full((S, A), -np.inf), np.full((S, A), np.inf)
        one = F.sum(2)
        for ridge in (lamda + shift, lamda):
            M = G + ridge * np.eye(d)
            if np.linalg.eigvalsh(M).min() <= 0:
                continue
            inverse = np.linalg.inv(M)
            c = np.einsum("sai,ij,saj->sa", phi_y, inverse, one)
            c /= np.einsum("sai,ij,saj->sa", one, inverse, one)
            X = phi_y - c[..., None] * one
            Y = X @ inverse
            length_ = (Y**2).sum(-1)
            wide = beta * np.sqrt((X * Y).sum(-1) + (lamda + shift - ridge) * length_)
            wide += (pull + ridge * C) * np.sqrt(length_)
            low, high = np.maximum(low, c + Y @ u - wide), np.minimum(high, c + Y @ u + wide)
        return low, high

    Q, V, worth = np.zeros((H, S, A)), np.zeros((H + 1, S)), np.zeros((H, S, A))
    for h in reversed(range(H)):
        Q[h] = mdp.R[h]
        if h < H - 1:
            possible = F.sum(-1) > 0
            ends = [np.where(possible, V[h + 1], off).T for off in (np.inf, -np.inf)]
            bottom, top = ends[0].min(0).T, ends[1].max(0).T
            middle, unit = (bottom + top) / 2, np.where(top > bottom, top - bottom, 1.0)
            y = (V[h + 1] - middle[..., None]) / unit[..., None]
            low, high = bounds(np.einsum("saxi,sax->sai", F, y), h, 0)
            _, square = bounds(np.einsum("saxi,sax->sai", F, y**2), h, 1)
            Q[h] += np.clip(middle + unit * high, bottom, top)
            off = np.maximum(np.maximum(low, -high), 0)
            variance = np.maximum(np.minimum(square, 0.25) - off**2, 1e-300)
            v = np.full((S, A), 0.0)
            for b in (np.minimum(0.5 - low, 1), np.minimum(0.5 + high, 1)):
                v = np.maximum(v, (b + variance / b) ** 2 * kearns_saul(variance / (b * b + variance)))
            worth[h] = 1 / np.clip(v, least, 0.25)
        V[h] = Q[h].max(-1)
    return Q, worth


@pytest.mark.parametrize("algorithm", LEARNERS)
@pytest.mark.parametrize("d", [3, 6])
@pytest.mark.parametrize("privacy", ["none", "central"])
def test_anytime_plans_agree_with_a_dense_computation(privacy: str, d: int, algorithm: str) -> None:
    asked = spec(algorithm, privacy=privacy, episodes=10**7, environment_params={"d": d, "S": 3, "H": 4})
    run = finished(RegressionRun(asked, 1))
    Q, worth = anytime_weighted(run) if algorithm == "ucrl-vtr-plus" else (anytime(run), None)
    cap = run.mdp.H - np.arange(run.mdp.H)
    assert (Q < cap[:, None, None] - 0.01).any()
    np.testing.assert_allclose(run.state.plan.Q, Q, rtol=1e-10, atol=1e-10)
    if worth is not None:
        np.testing.assert_allclose(run.state.plan.worth[:-1], worth[:-1], rtol=1e-8)
        assert (worth[:-1].max() > 4.2) == (d > 4)


def test_what_is_said_to_be_sub_gaussian_is() -> None:
    """Of any y in [-1/2, 1/2]: the exponential of u (y - E y) has mean at most exp(v u^2 / 2). And squares matter."""
    rng = np.random.default_rng(0)
    u = np.concatenate([-np.geomspace(1e-2, 300, 200), np.geomspace(1e-2, 300, 200)])
    tight = 0.0
    for _ in range(300):
        n = int(rng.integers(2, 5))
        y = rng.uniform(-0.5, 0.5, n) if n > 2 else np.array([-0.5, 0.5])
        law = rng.dirichlet(np.full(n, 0.5))
        mean, square = float(law @ y), float(law @ y**2)
        if square - mean**2 < 1e-6:
            continue
        v = proxy(mean, mean, square)
        terms = u[:, None] * (y - mean) + np.log(np.maximum(law, 1e-300))
        logarithm = np.logaddexp.reduce(terms, axis=1)
        assert (logarithm <= v * u**2 / 2 + 1e-9).all()
        tight = max(tight, float((2 * logarithm / u**2).max() / v))
        assert proxy(mean - 0.1, mean + 0.1, square + 0.1) >= v
    assert tight > 0.99
    assert proxy(0.0, 0.0, 0.01) < 0.05 < 0.25 == proxy(0.0, 0.0, 0.25) == proxy(-np.inf, np.inf, np.inf)


def test_a_transition_known_for_sure_is_worth_the_most() -> None:
    params = {"d": 8, "S": 3, "H": 4, "share": 1.0}
    run = finished(RegressionRun(spec("ucrl-vtr-plus", privacy="none", environment_params=params), 0))
    plan = run.state.plan
    assert plan.worth[0, 0].max() > 7
    assert (plan.worth >= 1).all()
    assert (plan.worth[:-1] <= 8 * (1 + 1e-12)).all()
    assert run.trace().gap[-1] == 0

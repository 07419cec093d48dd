"""Learners that ask for regressions of their own values: against a dense computation from the formulas."""

from __future__ import annotations

from math import ceil, log, sqrt
from typing import Any

import numpy as np
import pytest

from dprl.environments import ENVIRONMENTS
from dprl.environments.linear_mdp import linear_model
from dprl.learners.linear.confidence import Confidence
from dprl.learners.linear.value_iteration import longest_weights
from dprl.mdp.tabular import Array
from dprl.simulation.loops import BatchRun
from tests.problems import finished, refused
from tests.simulation.test_loops import spec


def sums_of(run: BatchRun, h: int, target: Array) -> tuple[Array, Array]:
    """sum of phi phi^T and of phi target, target: [S', 2] what a next state adds, and what a reward of 1 does."""
    counts, phi = run.state.counts[h], run.setup.features
    m, n, r = counts[..., :-2], counts[..., -2], counts[..., -1]
    G = np.einsum("sa,sai,saj->ij", n, phi, phi)
    total = m @ target[:-1] + target[-1] * r
    return G, np.einsum("sa,sai->i", total, phi)


def planned(run: BatchRun) -> tuple[Array, Array, Array]:
    """Q, V and the sums without noise, from the users' counts, the noise that there was, and formulas alone."""
    mdp, phi, K, p = run.mdp, run.setup.features, run.spec.episodes, run.spec.beta or 0.1
    H, S, d = mdp.H, mdp.S, phi.shape[-1]
    noise = run.state.noisy - run.state.sums
    shift, pull = (float(x[-1]) for x in (run.setup.shift, run.setup.pull))
    Q, V, sums = np.zeros((H, S, mdp.A)), np.zeros((H + 1, S)), np.zeros_like(noise)
    for h in reversed(range(H)):
        as_in_paper = run.spec.bonus == "paper"
        low, high = V[h + 1].min(), V[h + 1].max()
        unit = 1.0 if as_in_paper else 1 + high - low
        middle = 0.0 if as_in_paper else low + unit / 2
        G, u = sums_of(run, h, np.append((V[h + 1] - middle) / unit, 1 / unit))
        sums[h, 0, :, :d], sums[h, 0, :, d] = G, u
        G, u = G + noise[h, 0, :, :d], u + noise[h, 0, :, d]
        if as_in_paper:
            upsilon = shift * (4 * sqrt(d) + 2 * log(6 * K * H / p))
            c = d * upsilon
            C = pull * (sqrt(d) + 2 * sqrt(log(6 * K * H * d / p)))
            U = max(1.0, 2 * H * sqrt(d * K / (d + c)) + C / (d + c))
            beta = 24 * H * sqrt(d * (d + c)) * log(24**2 * 18 * K**2 * d * U * H / p)
            M = G + (d + c + upsilon) * np.eye(d)
            spread = np.sqrt(np.einsum("sai,ij,saj->sa", phi, np.linalg.inv(M), phi))
            Q[h] = np.clip(phi @ np.linalg.solve(M, u) + beta * spread, 0, H)
        else:
            flat = phi.reshape(-1, d)
            C = 0.5 / sqrt(np.linalg.eigvalsh(flat.T @ flat / len(flat))[0])
            full = G + (0.25 + shift) * np.eye(d)
            grown = min(np.linalg.slogdet(full / 0.25)[1], d * log(1 + run.users / (d * 0.25)))
            beta = 0.5 * sqrt(grown + 2 * log(3 * H * 2 ** (S - 1) / p))
            best = np.full(Q[h].shape, 1 + high)
            for ridge in (0.25 + shift, 0.25):
                M = G + ridge * np.eye(d)
                if np.linalg.eigvalsh(M).min() <= 0:
                    continue
                Y = phi @ np.linalg.inv(M)
                length = (Y**2).sum(-1)
                spread = np.sqrt((phi * Y).sum(-1) + (0.25 + shift - ridge) * length)
                upper = Y @ u + beta * spread + (pull + (shift + ridge) * C) * np.sqrt(length)
                best = np.minimum(best, middle + unit * upper)
            Q[h] = np.maximum(best, low)
        V[h] = Q[h].max(-1)
    return Q, V, sums


@pytest.mark.parametrize(
    "given",
    [
        {"privacy": "none"},
        {"privacy": "none", "bonus": "paper", "episodes": 10**10},
        {"privacy": "central", "epsilon": 10.0, "episodes": 10**8},
        {"privacy": "central", "mechanism": "laplace-tree", "delta": 0.0, "epsilon": 50.0, "episodes": 10**8},
        pytest.param({"privacy": "central", "bonus": "paper", "epsilon": 10_000.0, "episodes": 10**11},
                     marks=pytest.mark.thorough),
    ],
)  # fmt: skip
def test_plans_agree_with_a_dense_computation(given: dict[str, Any]) -> None:
    """To 1e-10 of what the sums are: with the noise that was drawn, whatever else follows from the users' counts."""
    run = finished(BatchRun(spec("lsvi-ucb", **given), 0))
    Q, V, sums = planned(run)
    cap = run.mdp.H - np.arange(run.mdp.H)[:, None, None] if run.spec.bonus != "paper" else run.mdp.H
    assert 0.01 < (cap - 0.001 > Q).mean()
    np.testing.assert_allclose(run.state.sums, sums, rtol=1e-10, atol=1e-10 * run.users)
    np.testing.assert_allclose(run.state.plan.Q, Q, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(run.state.plan.V, V, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("mechanism", "delta"), [("gaussian-tree", 1e-6), ("laplace-tree", 0.0)])
def test_there_are_as_many_equal_batches_as_in_the_paper(mechanism: str, delta: float) -> None:
    K, epsilon = 10**7, 2.0
    run = BatchRun(spec("lsvi-ucb", mechanism=mechanism, delta=delta, epsilon=epsilon, episodes=K), 0)
    H, d = 4, 5
    B = ceil((K * epsilon) ** 0.4 / (d**0.6 * H**0.2))
    if delta == 0:
        B = ceil((K * epsilon) ** (1 / 3) / (d ** (2 / 3) * H ** (1 / 3)))
    assert run.setup.batch == ceil(K / B)
    assert run.noise.stream.releases == ceil(K / ceil(K / B)) == run.setup.releases
    assert finished(run).state.position[0] == run.setup.releases


def test_blocks_let_no_determinant_grow_by_more_than_they_say() -> None:
    """Where the model is known well, ln det of each matrix grows by at most ln 2, and sampling, at each release."""
    run = BatchRun(spec("lsvi-ucb", privacy="none", episodes=10**7), 0, plain=True)
    ln_det: list[Array] = []
    release = run._kernels.step

    def watched(h: int, *arguments: Any) -> None:
        release(h, *arguments)
        if h == 0 and run.state.counts[0, :, :, -2].sum() > 10**4:
            ln_det.append(-np.linalg.slogdet(run.state.plan.inverse[:, 0])[1])

    run._kernels = run._kernels._replace(step=watched)
    finished(run)
    grown = np.diff(ln_det, axis=0)
    assert len(grown) > 50
    assert grown.max() < log(2) * 1.05
    assert grown.max() > 0.3


@pytest.mark.parametrize("bonus", ["anytime", "paper"])
@pytest.mark.parametrize("privacy", ["none", "central"])
def test_beliefs_are_what_the_plan_relied_on_and_hold(bonus: str, privacy: str) -> None:
    """The estimate and bonus of a plan that nothing has cut off; the truth is within, and not too long."""
    run = finished(BatchRun(spec("lsvi-ucb", privacy=privacy, bonus=bonus, episodes=10**7, epsilon=50.0), 0))
    trace, plan, phi = run.trace(), run.state.plan, run.setup.features
    beliefs = trace.beliefs
    D, H, d = len(trace.detail_episodes), run.mdp.H, phi.shape[-1]
    assert beliefs["truth"].shape == (D, H, d)
    assert (np.linalg.norm(beliefs["truth"], axis=-1) <= beliefs["bound"][:, None] * (1 + 1e-9)).all()
    for prefix, sums in (("", trace.noisy), ("noiseless ", trace.series["sums"])):
        one = {name: beliefs[prefix + name] for name in Confidence._fields}
        assert np.isfinite(one["weights"]).all()
        M = sums[..., 0, :, :d] + one["ridge"][..., None, None] * np.eye(d)
        Y = np.einsum("sai,khij->khsaj", phi, np.linalg.inv(M))
        inner, length = np.einsum("khsaj,saj->khsa", Y, phi), np.linalg.norm(Y, axis=-1)
        beta, slack, pull = (one[name][..., None, None] for name in ("beta", "slack", "pull"))
        width = beta * np.sqrt(inner + slack * length**2) + pull * length
        off = np.einsum("khi,sai->khsa", one["weights"] - beliefs["truth"], phi)
        assert (np.abs(off) <= width * (1 + 1e-9) + 1e-9).all()
        if not prefix:
            best = np.einsum("hi,sai->hsa", one["weights"][-1], phi) + width[-1]
            best = plan.middle[:, None, None] + plan.unit[:, None, None] * best
            low = plan.V[1:].min(-1)[:, None, None] if bonus == "anytime" else 0.0
            top = 1 + plan.V[1:].max(-1)[:, None, None] if bonus == "anytime" else float(H)
            assert (plan.Q <= np.clip(best, low, top) + 1e-9).all()  # the better of two for each pair
            if bonus == "paper" or privacy == "none":
                np.testing.assert_allclose(plan.Q, np.clip(best, low, top), rtol=1e-9, atol=1e-9)


def test_weights_are_no_longer_than_the_features_allow() -> None:
    """Of means in [-1/2, 1/2] everywhere; nearly attained where a feature is of one coordinate alone."""
    rng = np.random.default_rng(0)
    for key in ("linear-mdp", "linear-synthetic"):
        made = ENVIRONMENTS[key].features
        assert made is not None
        phi = made().reshape(-1, 10)
        most, span = longest_weights(made()), np.linalg.svd(phi)[2][: np.linalg.matrix_rank(phi)]
        for _ in range(200):
            w = rng.standard_normal(len(span)) @ span
            assert np.linalg.norm(w / (2 * np.abs(phi @ w).max())) <= most
    assert longest_weights(np.eye(4)[None]) == pytest.approx(1.0)  # w = (1/2, .., 1/2)


def test_assumptions_are_checked_when_a_linear_mdp_is_made() -> None:
    phi, mu, theta = np.eye(2)[None], np.full((1, 2, 1), 1.0), np.full((1, 2), 0.5)
    P, R = linear_model(phi, mu, theta)
    assert (P == 1).all()
    assert (R == 0.5).all()
    for given, name in (
        ((2 * phi, mu / 2, theta / 2), "features"),
        ((phi, 2 * mu, theta), "measures"),
        ((phi, np.array([[[1.2], [0.8]]]), theta), "measures"),
        ((phi, -mu, theta), "measures"),
        ((phi, mu, 9 * theta), "rewards"),
        ((phi, mu, np.array([[1.1, 0.0]])), "rewards"),
    ):
        with refused(f"{name}: "):
            linear_model(*given)


def test_the_lock_is_a_mixture_of_what_its_features_say() -> None:
    world, given = ENVIRONMENTS["linear-mdp"], {"stages": 2, "drugs": 3, "symptoms": 2, "H": 5, "blur": 0.3}
    mdp = world.make(**given, seed=1)
    assert world.features is not None
    phi = world.features(**given, seed=1)
    np.testing.assert_allclose(phi.sum(-1), 1.0)
    for h in range(mdp.H):
        flat = mdp.P[h].reshape(-1, mdp.S)
        mu = np.linalg.lstsq(phi.reshape(-1, 7), flat, rcond=None)[0]
        np.testing.assert_allclose(phi.reshape(-1, 7) @ mu, flat, atol=1e-12)
    assert not np.array_equal(world.make(**given, seed=2).P, mdp.P)

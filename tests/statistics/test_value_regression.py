"""How far one user moves the regression sums, what noise proves for it, and whether the bounds on noise hold."""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np
import pytest

from dprl import RunSpec
from dprl.environments.linear_mixture import mixture
from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.metrics.attack import separation
from dprl.privacy.accounting import epsilon_of, gaussian_mu, separation_of
from dprl.privacy.attack import game, unit_noise
from dprl.privacy.guarantee import Guarantee
from dprl.privacy.privatizers import Noise
from dprl.simulation.loops import RegressionRun
from dprl.statistics import BLANK_ONE, REPLACE_ONE
from dprl.statistics.value_regression import ValueRegression, add_symmetric
from dprl.statistics.weighted_regression import WeightedRegression
from tests.problems import finished

SIZE = Size(3, 2, 4, 2)
KINDS = [
    kind(centred=c, even=e)
    for kind in (ValueRegression, WeightedRegression)
    for c in (False, True)
    for e in (False, True)
]


def cells_of(X: Array, u: Array) -> Array:
    """Of matrices and vectors, [..., d, d] and [..., d]: an upper triangle, and the vector."""
    upper = np.triu_indices(X.shape[-1])
    return np.concatenate([X[..., upper[0], upper[1]], u], -1)


def users(
    rng: np.random.Generator, values: Array, features: Array, ends: Array, statistic: ValueRegression
) -> Array:
    """[n, cells] the sums of users who do anything, for values y: [n, H - 1, S]. ends: [n] the worst features."""
    n, steps, S = values.shape
    sums = []
    for h in range(steps):
        s, a, x = (rng.integers(most, size=n) for most in (*features.shape[:2], S))
        y = values[:, h]
        for target in (y, y**2)[: statistic.families]:
            worth = np.ones((n, 1))
            if target is y:
                worth = statistic.weight(SIZE) * np.where(ends, 1.0, rng.random(n))[:, None]
            one = np.einsum("nxi,nx->ni", features[s, a], target)
            sign = np.where(target.min(1) < 0, rng.choice([-1, 1], n), 1)
            direction = np.eye(features.shape[-1])[rng.integers(features.shape[-1], size=n)]
            farthest = direction * (sign * np.abs(target).max(1))[:, None]
            one = np.where(ends[:, None], farthest, one)
            vector = one * target[np.arange(n), x][:, None]
            sums.append(worth * cells_of(one[:, :, None] * one[:, None, :], vector))
    return np.concatenate(sums, -1)


@pytest.mark.parametrize("adjacency", [REPLACE_ONE, BLANK_ONE])
@pytest.mark.parametrize("statistic", KINDS)
def test_no_user_moves_the_draws_by_more_than_is_said_and_some_by_that(
    statistic: ValueRegression, adjacency: str
) -> None:
    rng = np.random.default_rng(1)
    features = mixture(d=2, S=3).features
    most = sqrt(statistic.sensitivity(SIZE, adjacency).l2_squared)
    low, high = (-0.5, 0.5) if statistic.centred else (0.0, float(SIZE.H))
    shape = (4000, SIZE.H - 1, 3)
    ends = np.arange(shape[0]) % 2 == 0
    values = np.where(ends[:, None, None], rng.choice([low, high], shape), rng.uniform(low, high, shape))
    # what sums move the unit draws by
    first, second = (
        users(rng, values, features, ends, statistic) / statistic.scales(SIZE, 1.0) for _ in range(2)
    )
    moved = np.linalg.norm(first - second * (adjacency == REPLACE_ONE), axis=1)
    assert moved.max() <= most * (1 + 1e-12)
    # one matrix cannot be as far away as can be while its vector is: both are bounded by themselves
    assert moved.max() > 0.8 * most


def spec(**given: Any) -> RunSpec:
    usual: dict[str, Any] = {
        "environment": "linear-mixture", "environment_params": {"d": 2, "S": 3, "H": 4}, "algorithm": "ucrl-vtr",
        "episodes": 10**6, "seeds": 1,
    }  # fmt: skip
    return RunSpec(**usual | given)


@pytest.mark.parametrize(
    ("privacy", "mechanism"),
    [("central", "gaussian-toeplitz"), ("central", "gaussian-tree"), ("local", "gaussian")],
)
@pytest.mark.parametrize("algorithm", ["ucrl-vtr", "ucrl-vtr-plus"])
def test_the_best_attack_finds_what_is_proved_and_more_under_half_the_noise(
    privacy: str, mechanism: str, algorithm: str
) -> None:
    """The attacker of privacy/attack.py, on two users who are as far apart as two of this environment are."""
    asked = spec(algorithm=algorithm, privacy=privacy, mechanism=mechanism, episodes=1000)
    noise = RegressionRun.noise_of_run(asked.replace(schedule="geometric:0.5"))
    statistic, sides = noise.statistic, []
    assert isinstance(statistic, ValueRegression)
    features = mixture(d=2, S=3).features
    y = np.array([-0.5, 0.0, 0.5])
    for s, a, v in ((0, 0, -0.5), (2, 1, 0.5)):
        sums = []
        for power, worth in ((1, statistic.weight(SIZE)), (2, 1.0))[: statistic.families]:
            X = features[s, a].T @ y**power
            sums.append(worth * cells_of(np.outer(X, X), X * v**power))
        sides.append(np.tile(np.concatenate(sums), SIZE.H - 1))
    first, second = sides
    told = float(np.linalg.norm((first - second) / statistic.scales(SIZE, 1.0)))
    proved = max(separation_of(losses) for losses in noise.losses())
    assert proved == pytest.approx(gaussian_mu(1.0, 1e-6), rel=1e-5)
    assert max(epsilon_of(losses, 1e-6) for losses in noise.losses()) <= 1.0
    true = proved * told / sqrt(statistic.sensitivity(SIZE, REPLACE_ONE).l2_squared)
    for half in (False, True):
        scores = game(noise, first, second, half=half).play(np.random.default_rng(2), 20_000)
        measured = separation(*scores).value
        assert measured == pytest.approx(true * (2 if half else 1), abs=5 * sqrt(2 / 20_000))
        assert half or measured <= proved + 5 * sqrt(2 / 20_000)


@pytest.mark.thorough
@pytest.mark.parametrize(("algorithm", "bounds"), [("ucrl-vtr", [2]), ("ucrl-vtr-plus", [4, 11])])
@pytest.mark.parametrize("d", [2, 6])
def test_noise_stays_within_what_the_planner_is_told(d: int, algorithm: str, bounds: list[int]) -> None:
    """|noise of G| and |noise of u - G w| for the longest w; the bounds are for all steps and releases together.

    bounds: where in the constants those of each regression are.
    """
    asked = spec(
        algorithm=algorithm, privacy="central", environment_params={"d": d, "S": 3, "H": 4}, beta=0.5,
        schedule="geometric:0.5",
    )  # fmt: skip
    run = RegressionRun(asked, 0)
    noise, size = run.noise, Size(3, d, 4, d)
    rng, trials, broken = np.random.default_rng(3), 200, 0
    w = rng.standard_normal(d)
    w *= sqrt(d) / np.linalg.norm(w)
    cells = noise.statistic.cells(size)
    assert noise.mechanism is not None
    z = unit_noise(noise.mechanism, noise.stream, trials * cells, rng).reshape(-1, trials, cells)
    for trial in range(trials):
        for i, error in enumerate(run.setup.error):
            sums = np.zeros((3, len(bounds), d, d + 1))
            add_symmetric(np.zeros_like(sums), z[i, trial], noise.scales, sums)
            off = 0.0
            for f, at in enumerate(bounds):
                G, u = sums[:, f, :, :d], sums[:, f, :, d]
                np.testing.assert_array_equal(G, G.transpose(0, 2, 1))
                shift, pull = run.setup.constants[at : at + 2] * error
                off = max(
                    off,
                    np.linalg.norm(G, 2, axis=(1, 2)).max() / shift,
                    np.linalg.norm(u - G @ w, axis=1).max() / pull,
                )
            broken += off > 1
    assert broken <= trials * 0.5 / 3


@pytest.mark.parametrize("privacy", ["central", "local"])
def test_the_largest_draw_is_told_as_a_share_of_its_bound(privacy: str) -> None:
    run = finished(RegressionRun(spec(privacy=privacy, epsilon=50.0, schedule="geometric:0.1"), 0))
    assert 0.3 < run.trace().coverage_ratio[-1] < 1.0


def below_its_claim(noise: Noise, epsilon: float, delta: float) -> Guarantee:
    """The card of noise as in a paper that proves less than the paper claims."""
    card = noise.guarantee()
    assert (card.claimed_epsilon, card.claimed_delta) == (epsilon, delta)
    assert card.proved_epsilon is not None
    assert card.proved_epsilon < epsilon
    return card


def test_paper_noise() -> None:
    """sigma_B of Corollaries 5 and 6, and what it proves."""
    H, K, epsilon, delta = 4, 10**6, 0.5, 1e-6
    K0 = 21  # ceil(log2 10^6 + 1)
    G = sqrt(2 * H * K0 * log(8 * H / delta) * log(4 / delta) * log(16 * H * K0 / delta))
    sigma = 32 * H**2 / epsilon * G
    given: dict[str, Any] = {"calibration": "paper", "epsilon": epsilon, "delta": delta, "bonus": "paper"}
    run = RegressionRun(spec(privacy="central", **given), 0)
    upper = run.setup.scales.reshape(3, 5)
    np.testing.assert_allclose(upper, sigma * np.array([[sqrt(2), 1, sqrt(2), 1, 1]] * 3), rtol=1e-12)
    np.testing.assert_allclose(run.setup.error, sigma * sqrt(K0), rtol=1e-12)
    assumptions = " ".join(below_its_claim(run.noise, epsilon, delta).assumptions)
    assert "(Z + Zᵀ)/√2" in assumptions
    assert "below 1" not in assumptions
    sigma = 4 * H**3 / 2.0 * sqrt(2 * log(4 * H / delta))
    run = RegressionRun(spec(privacy="local", **given | {"epsilon": 2.0}), 0)
    assert run.setup.scales[1] == pytest.approx(sigma)
    np.testing.assert_allclose(run.setup.error, sigma * sqrt(K), rtol=1e-12)
    assert any("at 2, only the accountant" in text for text in run.noise.guarantee().assumptions)


@pytest.mark.parametrize("bonus", ["paper", "anytime"])
def test_paper_noise_of_two_regressions(bonus: str) -> None:
    """sigma_B1 and sigma_B2 of Corollaries 10 and 11, what they prove, and the errata on the card."""
    d, H, K, K0, epsilon, delta = 2, 4, 10**6, 21, 0.5, 1e-6
    G = sqrt(2 * H * K0 * log(16 * H / delta) * log(8 / delta) * log(32 * H * K0 / delta))
    given: dict[str, Any] = {
        "algorithm": "ucrl-vtr-plus", "calibration": "paper", "epsilon": epsilon, "delta": delta, "bonus": bonus,
    }  # fmt: skip
    wide = np.array([sqrt(2), 1, sqrt(2), 1, 1])
    squares = 1 if bonus == "paper" else H**-4  # centred ones are in units of their range
    local = sqrt(2 * log(8 * H / delta))
    for privacy, first, second in (
        ("central", 64 * d * G / epsilon, 64 * H**4 * G / epsilon),
        ("local", 8 * d * H / epsilon * local, 8 * H**5 / epsilon * local),
    ):
        run = RegressionRun(spec(privacy=privacy, **given), 0)
        scales = run.setup.scales.reshape(3, 2, 5)
        np.testing.assert_allclose(scales, [[first * wide, second * squares * wide]] * 3, rtol=1e-12)
        if bonus == "paper":
            told = first * sqrt(K0 if privacy == "central" else K)
            np.testing.assert_allclose(run.setup.error, told, rtol=1e-12)
        assert any("φ of Ṽ" in text for text in below_its_claim(run.noise, epsilon, delta).assumptions)

"""How far one user moves regression sums, matrices and vectors, what noise proves for it, and whether bounds hold."""

from __future__ import annotations

from dataclasses import replace
from math import log, sqrt
from typing import Any

import numpy as np
import pytest

from dprl import RunSpec
from dprl.environments.linear_mixture import mixture
from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.metrics.attack import separation
from dprl.privacy import MECHANISMS
from dprl.privacy.accounting import delta_of, epsilon_of, gaussian_mu, separation_of
from dprl.privacy.attack import Game, game, unit_noise
from dprl.privacy.guarantee import Guarantee
from dprl.privacy.losses import Laplace
from dprl.privacy.mechanisms import make_stream
from dprl.privacy.privatizers import Noise
from dprl.simulation.loops import BatchRun, RegressionRun
from dprl.statistics import BLANK_ONE, REPLACE_ONE
from dprl.statistics.feature_gram import FeatureGram, hide_matrices, hide_vector
from dprl.statistics.value_regression import ValueRegression, add_symmetric
from dprl.statistics.weighted_regression import WeightedRegression
from tests.problems import finished, first
from tests.simulation.test_loops import spec

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
def test_no_user_moves_the_sums_by_more_than_is_said_and_some_by_that(
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


def small(algorithm: str = "ucrl-vtr", **given: Any) -> RunSpec:
    return spec(algorithm, **{"environment_params": {"d": 2, "S": 3, "H": 4}} | given)


@pytest.mark.parametrize(
    ("privacy", "mechanism"),
    [("central", "gaussian-toeplitz"), ("central", "gaussian-tree"), ("local", "gaussian")],
)
@pytest.mark.parametrize("algorithm", ["ucrl-vtr", "ucrl-vtr-plus"])
def test_the_best_attack_finds_what_is_proved_and_more_under_half_the_noise(
    privacy: str, mechanism: str, algorithm: str
) -> None:
    """The attacker of privacy/attack.py, on two users who are as far apart as two of this environment are."""
    asked = small(algorithm=algorithm, privacy=privacy, mechanism=mechanism, episodes=1000)
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


def beyond(G: Array, u: Array, shift: float, pull: float) -> float:
    """The largest of symmetric matrices and of vectors, as a share of their bounds."""
    np.testing.assert_array_equal(G, G.transpose(0, 2, 1))
    matrix, vector = np.linalg.norm(G, 2, axis=(1, 2)).max(), np.linalg.norm(u, axis=1).max()
    return float(max(matrix / shift, vector / pull))


@pytest.mark.thorough
@pytest.mark.parametrize(("algorithm", "bounds"), [("ucrl-vtr", [2]), ("ucrl-vtr-plus", [4, 11])])
@pytest.mark.parametrize("d", [2, 6])
def test_noise_of_sums_stays_within_what_the_planner_is_told(
    d: int, algorithm: str, bounds: list[int]
) -> None:
    """|noise of G| and |noise of u - G w| for the longest w; the bounds are for all steps and releases together.

    bounds: where in the constants those of each regression are.
    """
    asked = small(
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
                shift, pull = run.setup.constants[at : at + 2] * error
                off = max(off, beyond(G, u - G @ w, shift, pull))
            broken += off > 1
    assert broken <= trials * 0.5 / 3


@pytest.mark.parametrize("privacy", ["central", "local"])
def test_the_largest_draw_is_told_as_a_share_of_its_bound(privacy: str) -> None:
    run = finished(RegressionRun(small(privacy=privacy, epsilon=50.0, schedule="geometric:0.1"), 0))
    assert 0.3 < run.trace().coverage_ratio[-1] < 1.0


def below_its_claim(noise: Noise, epsilon: float, delta: float) -> Guarantee:
    """The card of noise as in a paper that proves less than the paper claims."""
    card = noise.guarantee()
    assert (card.claimed_epsilon, card.claimed_delta) == (epsilon, delta)
    assert card.proved_epsilon is not None
    assert card.proved_epsilon < epsilon
    return card


def test_paper_noise_of_one_regression() -> None:
    """sigma_B of Corollaries 5 and 6, and what it proves."""
    H, K, epsilon, delta = 4, 10**6, 0.5, 1e-6
    K0 = 21  # ceil(log2 10^6 + 1)
    G = sqrt(2 * H * K0 * log(8 * H / delta) * log(4 / delta) * log(16 * H * K0 / delta))
    sigma = 32 * H**2 / epsilon * G
    given: dict[str, Any] = {"calibration": "paper", "epsilon": epsilon, "delta": delta, "bonus": "paper"}
    run = RegressionRun(small(privacy="central", **given), 0)
    upper = run.setup.scales.reshape(3, 5)
    np.testing.assert_allclose(upper, sigma * np.array([[sqrt(2), 1, sqrt(2), 1, 1]] * 3), rtol=1e-12)
    np.testing.assert_allclose(run.setup.error, sigma * sqrt(K0), rtol=1e-12)
    assumptions = " ".join(below_its_claim(run.noise, epsilon, delta).assumptions)
    assert "(Z + Zᵀ)/√2" in assumptions
    assert "below 1" not in assumptions
    sigma = 4 * H**3 / 2.0 * sqrt(2 * log(4 * H / delta))
    run = RegressionRun(small(privacy="local", **given | {"epsilon": 2.0}), 0)
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
    for privacy, own, squared in (
        ("central", 64 * d * G / epsilon, 64 * H**4 * G / epsilon),
        ("local", 8 * d * H / epsilon * local, 8 * H**5 / epsilon * local),
    ):
        run = RegressionRun(small(privacy=privacy, **given), 0)
        scales = run.setup.scales.reshape(3, 2, 5)
        np.testing.assert_allclose(scales, [[own * wide, squared * squares * wide]] * 3, rtol=1e-12)
        if bonus == "paper":
            told = own * sqrt(K0 if privacy == "central" else K)
            np.testing.assert_allclose(run.setup.error, told, rtol=1e-12)
        assert any("φ of Ṽ" in text for text in below_its_claim(run.noise, epsilon, delta).assumptions)


GRAM_SIZE = Size(3, 2, 4, 3)
GRAMS = [
    FeatureGram(centred=c, even=e, norm=norm, releases=9, spread=s)
    for c in (False, True)
    for e in (False, True)
    for norm, s in (("l2", 1.7), ("l1", sqrt(3)), ("l1", 1.0))
]


def user(rng: np.random.Generator, statistic: FeatureGram, ends: bool) -> tuple[Array, Array, Array]:
    """phi: [H, d], and the least and the most of y that one may have. ends: the worst that features can be."""
    H, d = GRAM_SIZE.H, GRAM_SIZE.d
    phi = rng.standard_normal((H, d)) if not ends else np.eye(d)[rng.integers(d, size=H)]
    if ends and statistic.spread > 1.5:
        phi = rng.choice([-1.0, 1.0], (H, d))
    phi /= np.maximum(np.linalg.norm(phi, axis=1), np.abs(phi).sum(1) / statistic.spread)[:, None]
    low, high = (-0.5, 0.5) if statistic.centred else (0.0, H + 1.0)
    return phi, rng.choice([low, high], H), rng.uniform(low, high, H)


@pytest.mark.parametrize("adjacency", first([REPLACE_ONE, BLANK_ONE]))
@pytest.mark.parametrize("statistic", GRAMS)
def test_no_user_moves_the_draws_by_more_than_is_said_and_some_by_that(
    statistic: FeatureGram, adjacency: str
) -> None:
    """Matrices and vectors each by themselves."""
    rng = np.random.default_rng(1)
    change = statistic.sensitivity(GRAM_SIZE, adjacency)
    upper = np.triu_indices(GRAM_SIZE.d)
    scales = statistic.scales(GRAM_SIZE, 1.0)
    cut = GRAM_SIZE.H * len(upper[0])
    order = 2 if statistic.norm == "l2" else 1
    most = [sqrt(c.l2_squared) if order == 2 else c.l1 for c in (change, change.once)]
    found = [0.0, 0.0]
    for i in range(1600):
        sums = []
        for _ in range(2):
            phi, y, inner = user(rng, statistic, ends=i % 2 == 0)
            if i % 4 == 1:
                y = inner
            matrices = np.concatenate([np.outer(one, one)[upper] for one in phi])
            sums.append((matrices, (phi * y[:, None]).ravel()))
        second = [x * (adjacency == REPLACE_ONE) for x in sums[1]]
        if i % 4 == 2:  # the same feature with values at the two ends, for a vector as far away as can be
            second[1] = -sums[0][1] if adjacency == REPLACE_ONE else second[1]
        if i % 4 == 2 and not statistic.centred and adjacency == REPLACE_ONE:
            second[1] = np.zeros_like(second[1])
        for k, part in enumerate((scales[:cut], scales[cut:])):
            moved = float(np.linalg.norm((sums[0][k] - second[k]) / part, order))
            assert moved <= most[k] * (1 + 1e-12)
            found[k] = max(found[k], moved)
    # of dense features the diagonals are equal, which the bound in l1 does not use
    assert found[0] > (0.7 if statistic.norm == "l2" or statistic.spread == 1 else 0.5) * most[0]
    assert found[1] > (0.7 if statistic.centred or adjacency == BLANK_ONE else 0.45) * most[1]


def batched(**given: Any) -> RunSpec:
    world = {"environment_params": {"stages": 1, "drugs": 2, "symptoms": 1, "H": 3}, "episodes": 10**4}
    return spec("lsvi-ucb", **world | {"privacy": "central"} | given)


@pytest.mark.parametrize(
    "mechanism", ["gaussian-toeplitz", "gaussian-tree", "gaussian-optimal", "laplace-tree"]
)
def test_the_best_attack_finds_no_more_than_is_proved_and_more_under_half_the_noise(mechanism: str) -> None:
    """On a user who is in the matrices once, and in every vector, with values at the two ends."""
    pure = mechanism == "laplace-tree"
    run = BatchRun(batched(mechanism=mechanism, delta=0.0 if pure else 1e-6, epsilon=1.0), 0)
    noise, H, d = run.noise, 3, 3
    B, cut = noise.stream.releases, H * d * (d + 1) // 2
    assert B >= 8
    upper = np.triu_indices(d)
    phi = np.eye(d)[:2]
    cells = [np.tile(np.outer(x, x)[upper], H) for x in phi]
    vectors = [np.tile(x * y, H * B) for x, y in zip(phi, (0.5, -0.5), strict=True)]
    one = MECHANISMS["laplace" if pure else "gaussian"]
    scales = np.tile(noise.scales[cut:], B)
    matrices = replace(noise, scales=noise.scales[:cut])
    proved = max(separation_of(losses) for losses in noise.losses())
    assert 0.9999 < max(epsilon_of(losses, 0.0 if pure else 1e-6) for losses in noise.losses()) <= 1.0
    if not pure:
        assert proved == pytest.approx(gaussian_mu(1.0, 1e-6), rel=1e-4)
    measured = []
    for half in (False, True):
        rng, n = np.random.default_rng(2), 20_000
        factor = 0.5 if half else 1.0
        added, taken = (v / scales / factor for v in vectors)
        own = Game(one, make_stream(np.array([1])), added, taken)
        scores = np.add(game(matrices, *cells, half=half).play(rng, n), own.play(rng, n))
        measured.append(separation(*scores).value)
    assert measured[0] <= proved + 5 * sqrt(2 / 20_000)
    assert measured[0] > 0.5 * proved
    assert measured[1] > 1.2 * proved


def test_what_is_asked_anew_is_counted_once_a_release() -> None:
    """Losses of M vectors with noise of their own, and of one matrix in a stream of M."""
    noise = BatchRun.noise_of_run(batched(mechanism="gaussian-tree"))
    statistic, B = noise.statistic, noise.stream.releases
    assert isinstance(statistic, FeatureGram)
    a, b = np.divide(statistic.moves(REPLACE_ONE, 3), statistic.units(Size(2, 2, 3, 3))) * sqrt(3)
    levels = int(B).bit_length()
    scale = float(noise.std[0] / MECHANISMS["gaussian-tree"].std(noise.stream)[0])
    (losses,) = noise.losses()
    assert separation_of(losses) == pytest.approx(sqrt(levels * a * a + B * b * b) / scale, rel=1e-12)


@pytest.mark.parametrize("share", [0.1, 0.5])
@pytest.mark.parametrize("total", [0.3, 1.0, 5.0])
def test_a_shift_of_one_number_tells_more_than_the_same_of_several(share: float, total: float) -> None:
    """So that a user's L1 change may be accounted for as if all of it were in one number (docs/report/linear.md)."""
    whole = (Laplace(1, total),)
    parts = (Laplace(1, share * total), Laplace(1, (1 - share) * total))
    for epsilon in np.linspace(0.0, total * 0.98, 8):
        assert delta_of(parts, float(epsilon)) <= delta_of(whole, float(epsilon)) * 1.001 + 1e-9


@pytest.mark.parametrize("mechanism", ["gaussian-optimal", "laplace-tree"])
def test_noise_stays_within_what_the_planner_is_told(mechanism: str) -> None:
    """|noise of a matrix| and |noise of a vector|, for all steps and releases together."""
    asked = batched(beta=0.5, mechanism=mechanism, delta=0.0 if mechanism == "laplace-tree" else 1e-6)
    run = BatchRun(asked, 0)
    noise, H, d = run.noise, 3, 3
    rng, trials, broken, largest = np.random.default_rng(3), 200, 0, 0.0
    assert noise.mechanism is not None
    B, cells = noise.stream.releases, H * d * (d + 1) // 2
    z = unit_noise(noise.mechanism, noise.stream, trials * cells, rng).reshape(-1, trials, cells)
    fresh = (rng.laplace if mechanism == "laplace-tree" else rng.normal)(size=(trials, B, H, d))
    for trial in range(trials):
        off = 0.0
        for i in range(B):
            noisy = np.zeros((H, 1, d, d + 1))
            hide_matrices(np.zeros_like(noisy), z[i, trial], noise.scales, noisy)
            for h in range(H):
                hide_vector(np.zeros_like(noisy), h, fresh[trial, i, h], noise.scales, noisy)
            G, u = noisy[:, 0, :, :d], noisy[:, 0, :, d]
            off = max(off, beyond(G, u, run.setup.shift[i], run.setup.pull[i]))
        broken += off > 1
        largest = max(largest, off)
    assert broken <= trials * 0.5 / 3
    assert largest > 0.5


def test_paper_noise() -> None:
    """sigma_Lambda and sigma_u of L21 Appendix E.1, and what they prove."""
    H, K, epsilon, delta = 3, 10**4, 0.5, 1e-6
    B = 13  # ceil(5000^(2/5) / (3^(3/5) 3^(1/5)))
    B0 = 5
    L = log(32 * H * B0 * B / delta) ** 2
    sigma, sigma_u = 128 / epsilon * sqrt(B * H * B0) * L, 128 / epsilon * H * sqrt(H * B) * L
    given: dict[str, Any] = {
        "calibration": "paper", "mechanism": "gaussian-tree", "epsilon": epsilon, "delta": delta, "episodes": K,
    }  # fmt: skip
    run = BatchRun(batched(bonus="paper", **given), 0)
    assert run.noise.stream.releases == B
    expected = [*[sigma * sqrt(2), sigma, sigma, sigma * sqrt(2), sigma, sigma * sqrt(2)] * 3, *[sigma_u] * 9]
    np.testing.assert_allclose(run.setup.scales, expected, rtol=1e-12)
    np.testing.assert_allclose(run.setup.shift, sigma * B0, rtol=1e-12)
    np.testing.assert_allclose(run.setup.pull, sigma_u, rtol=1e-12)
    card = below_its_claim(run.noise, epsilon, delta)
    assert (card.proved_epsilon or 1) < epsilon / 100
    assert "(Z + Zᵀ)/√2" in " ".join(card.assumptions)
    assert "below 1" not in " ".join(card.assumptions)
    run = BatchRun(batched(bonus="anytime", **given | {"epsilon": 2.0}), 0)
    assert any("at 2, only the accountant" in text for text in run.noise.guarantee().assumptions)

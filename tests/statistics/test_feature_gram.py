"""How far one user moves matrices and vectors asked anew, what noise proves for it, and whether bounds hold."""

from __future__ import annotations

from dataclasses import replace
from math import log, sqrt
from typing import Any

import numpy as np
import pytest

from dprl import RunSpec
from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.metrics.attack import separation
from dprl.privacy import MECHANISMS
from dprl.privacy.accounting import delta_of, epsilon_of, gaussian_mu, separation_of
from dprl.privacy.attack import Game, game, unit_noise
from dprl.privacy.losses import Laplace
from dprl.privacy.mechanisms import make_stream
from dprl.simulation.loops import BatchRun
from dprl.statistics import BLANK_ONE, REPLACE_ONE
from dprl.statistics.feature_gram import FeatureGram, hide_matrices, hide_vector
from tests.problems import first
from tests.statistics.test_value_regression import below_its_claim

SIZE = Size(3, 2, 4, 3)
KINDS = [
    FeatureGram(centred=c, even=e, norm=norm, releases=9, spread=s)
    for c in (False, True)
    for e in (False, True)
    for norm, s in (("l2", 1.7), ("l1", sqrt(3)), ("l1", 1.0))
]


def user(rng: np.random.Generator, statistic: FeatureGram, ends: bool) -> tuple[Array, Array, Array]:
    """phi: [H, d], and the least and the most of y that one may have. ends: the worst that features can be."""
    H, d = SIZE.H, SIZE.d
    phi = rng.standard_normal((H, d)) if not ends else np.eye(d)[rng.integers(d, size=H)]
    if ends and statistic.spread > 1.5:
        phi = rng.choice([-1.0, 1.0], (H, d))
    phi /= np.maximum(np.linalg.norm(phi, axis=1), np.abs(phi).sum(1) / statistic.spread)[:, None]
    low, high = (-0.5, 0.5) if statistic.centred else (0.0, H + 1.0)
    return phi, rng.choice([low, high], H), rng.uniform(low, high, H)


@pytest.mark.parametrize("adjacency", first([REPLACE_ONE, BLANK_ONE]))
@pytest.mark.parametrize("statistic", KINDS)
def test_no_user_moves_the_draws_by_more_than_is_said_and_some_by_that(
    statistic: FeatureGram, adjacency: str
) -> None:
    """Matrices and vectors each by themselves."""
    rng = np.random.default_rng(1)
    change = statistic.sensitivity(SIZE, adjacency)
    upper = np.triu_indices(SIZE.d)
    scales = statistic.scales(SIZE, 1.0)
    cut = SIZE.H * len(upper[0])
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


def spec(**given: Any) -> RunSpec:
    usual: dict[str, Any] = {
        "environment": "linear-mdp", "environment_params": {"stages": 1, "drugs": 2, "symptoms": 1, "H": 3},
        "algorithm": "lsvi-ucb", "privacy": "central", "episodes": 10**4, "seeds": 1,
    }  # fmt: skip
    return RunSpec(**usual | given)


@pytest.mark.parametrize(
    "mechanism", ["gaussian-toeplitz", "gaussian-tree", "gaussian-optimal", "laplace-tree"]
)
def test_the_best_attack_finds_no_more_than_is_proved_and_more_under_half_the_noise(mechanism: str) -> None:
    """On a user who is in the matrices once, and in every vector, with values at the two ends."""
    pure = mechanism == "laplace-tree"
    run = BatchRun(spec(mechanism=mechanism, delta=0.0 if pure else 1e-6, epsilon=1.0), 0)
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
    noise = BatchRun.noise_of_run(spec(mechanism="gaussian-tree"))
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
    asked = spec(beta=0.5, mechanism=mechanism, delta=0.0 if mechanism == "laplace-tree" else 1e-6)
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
            np.testing.assert_array_equal(G, G.transpose(0, 2, 1))
            off = max(
                off,
                np.linalg.norm(G, 2, axis=(1, 2)).max() / run.setup.shift[i],
                np.linalg.norm(u, axis=1).max() / run.setup.pull[i],
            )
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
    run = BatchRun(spec(bonus="paper", **given), 0)
    assert run.noise.stream.releases == B
    expected = [*[sigma * sqrt(2), sigma, sigma, sigma * sqrt(2), sigma, sigma * sqrt(2)] * 3, *[sigma_u] * 9]
    np.testing.assert_allclose(run.setup.scales, expected, rtol=1e-12)
    np.testing.assert_allclose(run.setup.shift, sigma * B0, rtol=1e-12)
    np.testing.assert_allclose(run.setup.pull, sigma_u, rtol=1e-12)
    card = below_its_claim(run.noise, epsilon, delta)
    assert (card.proved_epsilon or 1) < epsilon / 100
    assert "(Z + Zᵀ)/√2" in " ".join(card.assumptions)
    assert "below 1" not in " ".join(card.assumptions)
    run = BatchRun(spec(bonus="anytime", **given | {"epsilon": 2.0}), 0)
    assert any("at 2, only the accountant" in text for text in run.noise.guarantee().assumptions)

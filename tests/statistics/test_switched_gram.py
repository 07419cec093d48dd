"""How far one user moves weighted matrices and the vectors of plans, and what noise proves for it."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest

from dprl import RunSpec
from dprl.mdp import Size
from dprl.privacy import MECHANISMS
from dprl.privacy.accounting import epsilon_of, gaussian_mu, separation_of
from dprl.privacy.attack import unit_noise
from dprl.simulation.loops import SwitchRun
from dprl.statistics import BLANK_ONE, REPLACE_ONE
from dprl.statistics.feature_gram import hide_matrices
from dprl.statistics.switched_gram import SwitchedGram, answered, count, hide_vectors

SIZE = Size(3, 2, 4, 3)
KINDS = [SwitchedGram(), SwitchedGram(families=4, weight=4.0, releases=9, looks=90)]


@pytest.mark.parametrize("adjacency", [REPLACE_ONE, BLANK_ONE])
@pytest.mark.parametrize("statistic", KINDS)
def test_no_user_moves_the_draws_by_more_than_is_said_and_some_by_that(
    statistic: SwitchedGram, adjacency: str
) -> None:
    """Of one plan, matrices and vectors each by themselves; weights follow from earlier releases, so that each user's
    may be any."""
    rng = np.random.default_rng(1)
    change = statistic.sensitivity(SIZE, adjacency)
    upper, scales = np.triu_indices(SIZE.d), statistic.scales(SIZE, 1.0)
    cut, F = SIZE.H * len(upper[0]), statistic.families
    assert len(scales) == statistic.cells(SIZE) == cut + SIZE.H * F * SIZE.d
    assert statistic.formula == ("H*d*(d+3)/2" if F == 1 else "H*d*(d+9)/2")
    most, found = [sqrt(c.l2_squared) for c in (change, change.once)], [0.0, 0.0]
    for i in range(1500):
        sums = []
        for _ in range(2):
            phi = (
                rng.standard_normal((SIZE.H, SIZE.d))
                if i % 3
                else np.eye(SIZE.d)[rng.integers(3, size=SIZE.H)]
            )
            phi /= np.linalg.norm(phi, axis=1)[:, None]
            worth = (
                rng.choice([1.0, statistic.weight], SIZE.H) if i % 2 else np.full(SIZE.H, statistic.weight)
            )
            y = rng.choice([-0.5, 0.5], (SIZE.H, F)) if i % 2 else rng.uniform(-0.5, 0.5, (SIZE.H, F))
            matrices = np.concatenate(
                [w * np.outer(one, one)[upper] for w, one in zip(worth, phi, strict=True)]
            )
            sums.append((matrices, np.einsum("h,hf,hi->hfi", worth, y, phi).ravel()))
            if i % 4 == 1:
                sums[0] = (matrices, (worth[:, None, None] * 0.5 * np.repeat(phi[:, None], F, 1)).ravel())
        second = [x * (adjacency == REPLACE_ONE) for x in sums[1]]
        if i % 4 == 1 and adjacency == REPLACE_ONE:
            second[1] = -sums[0][1]  # the same feature with values at the other end
        for k, part in enumerate((scales[:cut], scales[cut:])):
            moved = float(np.linalg.norm((sums[0][k] - second[k]) / part))
            assert moved <= most[k] * (1 + 1e-12)
            found[k] = max(found[k], moved)
    assert found[0] > 0.8 * most[0]
    assert found[1] > 0.9 * most[1]


def test_answers_are_what_users_count_with_the_weight_of_their_time() -> None:
    """User by user: weight, feature and y, of each in a block of their own."""
    rng = np.random.default_rng(0)
    S, A, H, d, F = 3, 2, 2, 4, 2
    features, asked = rng.random((S, A, d)), rng.random((H, F, S + 2))
    weighted, total, sums = np.zeros((H, S, A, S + 2)), np.zeros((H, S, A, S + 2)), np.zeros((H, F, d, d + 1))
    expected, block = np.zeros((H, F, d)), np.zeros((H, S, A, S + 2))
    for _ in range(20):
        worth = rng.uniform(1, 4, (H, S, A))
        for h in range(H):
            s, a, x, r = rng.integers(S), rng.integers(A), rng.integers(S), rng.random()
            block[h, s, a, x] += 1
            block[h, s, a, S] += 1
            block[h, s, a, S + 1] += r
            y = asked[h, :, x] + asked[h, :, S] + asked[h, :, S + 1] * r
            expected[h] += worth[h, s, a] * y[:, None] * features[s, a]
        count(block, worth, weighted, total)
        assert not block.any()
    assert total[..., S].sum() == 20 * H
    for h in range(H):
        answered(weighted, h, asked, features, sums)
    np.testing.assert_allclose(sums[..., d], expected, rtol=1e-10)


def spec(**given: Any) -> RunSpec:
    usual: dict[str, Any] = {
        "environment": "linear-mdp", "environment_params": {"stages": 1, "drugs": 2, "symptoms": 1, "H": 3},
        "algorithm": "lsvi-ucb-plus-plus", "privacy": "central", "episodes": 10**4, "seeds": 1,
    }  # fmt: skip
    return RunSpec(**usual | given)


@pytest.mark.parametrize("algorithm", ["lsvi-ucb-rare", "lsvi-ucb-plus-plus"])
def test_losses_are_of_matrices_in_the_looks_and_vectors_in_the_plans(algorithm: str) -> None:
    """Squares add up: of H matrices in a tree over the looks, and of H vectors of each family in each plan."""
    noise = SwitchRun.noise_of_run(spec(mechanism="gaussian-tree", algorithm=algorithm))
    statistic, M = noise.statistic, noise.stream.releases
    assert isinstance(statistic, SwitchedGram)
    assert (statistic.releases, M) == (40, 400)
    F, W = (1, 1.0) if algorithm == "lsvi-ucb-rare" else (4, 4.0)
    matrix, vector = statistic.units(Size(2, 2, 3, 3))
    scale = float(noise.std[0] / MECHANISMS["gaussian-tree"].std(noise.stream)[0])
    squared = 3 * (W / matrix) ** 2 * int(M).bit_length() + 3 * F * 40 * (W / vector) ** 2
    (losses,) = noise.losses()
    assert separation_of(losses) == pytest.approx(sqrt(squared) / scale, rel=1e-12)
    assert separation_of(losses) == pytest.approx(gaussian_mu(1.0, 1e-6), rel=1e-4)
    assert epsilon_of(losses, 1e-6) <= 1.0
    card = noise.guarantee()
    assert (card.claimed_epsilon, card.proved_delta) == (1.0, 1e-6)
    assert card.proved_epsilon == pytest.approx(1.0, abs=1e-4)
    assert "summed anew at each policy update" in card.where
    assert (
        f"{'a vector' if F == 1 else '4 vectors'} at each step of each of at most 40 policy updates"
        in card.noise_formula
    )
    assert "what is asked anew by" in card.noise_formula


@pytest.mark.parametrize("algorithm", ["lsvi-ucb-rare", "lsvi-ucb-plus-plus"])
def test_noise_stays_within_what_the_planner_is_told(algorithm: str) -> None:
    """|noise of a matrix| and |noise of a vector|, for all steps, families, looks and plans together."""
    run = SwitchRun(spec(beta=0.5, algorithm=algorithm, episodes=100), 0)
    noise, H, d, F = run.noise, 3, 3, run.state.noisy.shape[1]
    rng, trials, broken, largest = np.random.default_rng(3), 150, 0, 0.0
    assert noise.mechanism is not None
    M, N, cells = run.setup.looks, run.setup.plans, H * d * (d + 1) // 2
    z = unit_noise(noise.mechanism, noise.stream, trials * cells, rng).reshape(-1, trials, cells)
    fresh = rng.normal(size=(trials, N, H, F * d))
    for trial in range(trials):
        off = 0.0
        for i in range(M):
            G = np.zeros((H, 1, d, d + 1))
            hide_matrices(np.zeros_like(G), z[i, trial], noise.scales, G)
            off = max(off, np.linalg.norm(G[:, 0, :, :d], 2, axis=(1, 2)).max() / run.setup.shift[i])
        for i in range(N):
            noisy = np.zeros((H, F, d, d + 1))
            for h in range(H):
                hide_vectors(np.zeros_like(noisy), h, fresh[trial, i, h], noise.scales, noisy)
            off = max(off, np.linalg.norm(noisy[..., d], axis=2).max() / run.setup.pull[0])
        broken += off > 1
        largest = max(largest, off)
    assert broken <= trials * 0.5 / 3
    assert largest > 0.5

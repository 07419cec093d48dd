"""Sums of a linear model: what one trajectory moves, and their noise, whose symmetry the accountant counts on."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dprl.environments.linear_synthetic import features
from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.statistics.regression import Gram, Moment, bounded_gram, bounded_moment, gram_change, moment_change
from tests.compare import FIVE

PHI = features()
S, A, d = PHI.shape
SIZE = Size(S, A, 2)


def record(s: int, a: int, x: int, reward: float) -> Array:
    """[H, S, A, S + 2] of one trajectory, the same at both steps."""
    found = np.zeros((2, S, A, S + 2))
    found[:, s, a, [x, S]] = 1
    found[:, s, a, S + 1] = reward
    return found


def test_sums_are_those_over_trajectories() -> None:
    rng = np.random.default_rng(0)
    weights: Array = rng.uniform(0.1, 1, (S, A))
    values: Array = rng.uniform(0, 5, size=(S,))
    gram, moment = np.zeros((d, d)), np.zeros(d)
    data = np.zeros((2, S, A, S + 2))
    for _ in range(40):
        s, a, x, r = int(rng.integers(S)), int(rng.integers(A)), int(rng.integers(S)), float(rng.random())
        data += record(s, a, x, r)
        gram += weights[s, a] * np.outer(PHI[s, a], PHI[s, a])
        moment += weights[s, a] * PHI[s, a] * (r + values[x])
    nothing = np.zeros((d, d)), np.zeros(d)
    np.testing.assert_allclose(Gram("g", 0, 1, PHI, weights).answer(data, nothing[0], 0.0), gram, atol=1e-12)
    query = Moment("m", 0, 1, PHI, weights, values, True)
    np.testing.assert_allclose(query.answer(data, nothing[1], 0.0), moment, atol=1e-12)
    rewards = Moment("m", 0, 1, PHI, weights, 0 * values, True).answer(data, nothing[1], 0.0)
    without = Moment("m", 0, 1, PHI, weights, values, False).answer(data, nothing[1], 0.0)
    np.testing.assert_allclose(rewards + without, moment, atol=1e-12)


def test_what_one_trajectory_moves_at_most() -> None:
    """All pairs of states and actions, and weights and targets at the ends of their ranges and between."""
    rng, top = np.random.default_rng(1), 3.0
    flat = PHI.reshape(-1, d)
    frobenius = vector = 0.0
    for i in range(len(flat)):
        for j in range(i):
            for u, v in ((1.0, 1.0), (1.0, 0.0), (0.0, 1.0), *rng.random((1, 2))):
                outer = u * np.outer(flat[i], flat[i]) - v * np.outer(flat[j], flat[j])
                frobenius = max(frobenius, float((outer**2).sum()))
                vector = max(vector, float(((u * top * flat[i] - v * top * flat[j]) ** 2).sum()))
    assert gram_change(PHI)[0].l2_squared == pytest.approx(frobenius / 2)
    assert moment_change(PHI, top)[0].l2_squared == pytest.approx(vector)
    assert frobenius == pytest.approx(57 / 49)  # 1.163
    assert vector == pytest.approx(9 / 7 * top**2)  # 1.286
    assert (gram_change(PHI)[1].l2_squared, moment_change(PHI, top)[1].l2_squared) == pytest.approx(
        (0.5, top**2)
    )


def test_any_features_of_norm_one_move_no_more_than_in_the_paper_and_replace_one_twice_that() -> None:
    """Reached by orthogonal features for a matrix, by opposite ones for a vector; the paper has 1 for the former."""
    e = np.eye(2)
    assert bounded_gram()[0].l2_squared == pytest.approx(
        ((np.outer(e[0], e[0]) - np.outer(e[1], e[1])) ** 2).sum() / 2
    )
    assert bounded_moment(3.0)[0].l2_squared == pytest.approx(((3 * e[0] + 3 * e[0]) ** 2).sum())
    assert bounded_gram()[0].l2_squared == pytest.approx(2 * bounded_gram()[1].l2_squared)
    rng = np.random.default_rng(2)
    phi = rng.normal(size=(2, 50, 4))
    phi /= np.linalg.norm(phi, axis=-1).max()
    assert gram_change(phi)[0].l2_squared <= bounded_gram()[0].l2_squared
    assert moment_change(phi, 2.0)[0].l2_squared <= bounded_moment(2.0)[0].l2_squared


def test_the_noise_of_a_matrix_moves_the_attack_as_declared() -> None:
    """Of symmetric noise the log-likelihood ratio of a change M has mu^2 = |M|_F^2/(2 v), v off the diagonal."""
    rng, times = np.random.default_rng(3), 20_000
    query, empty = Gram("g", 0, 0, PHI, np.ones((S, A))), np.zeros((2, S, A, S + 2))
    noise = np.array([query.answer(empty, rng.normal(size=query.draws(SIZE)), 0.0) for _ in range(times)])
    np.testing.assert_array_equal(noise, noise.swapaxes(1, 2))
    for i, j, variance in ((0, 1, 1.0), (4, 7, 1.0), (3, 3, 2.0)):
        assert abs((noise[:, i, j] ** 2).mean() - variance) < FIVE * variance * math.sqrt(2 / times)
    M = np.outer(PHI[0, 99], PHI[0, 99]) - np.outer(PHI[1, 0], PHI[1, 0])
    # the best direction, M over the variances of the independent entries, is M/2 over all entries
    score = (noise * M / 2).sum((1, 2))
    mu_squared = float((M**2).sum() / 2)
    assert abs((score**2).mean() - mu_squared) < FIVE * mu_squared * math.sqrt(2 / times)

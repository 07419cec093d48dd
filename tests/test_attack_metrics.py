"""What is read off the scores of attacks, against what is known of normal ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from dprl.metrics.attack import (
    Measured,
    best_guess,
    epsilon_of_separation,
    guessed_right,
    histogram,
    posterior,
    roc,
    separation,
    surely,
)

MU = 0.5
N = 3000


def scores(seed: int, mu: float = MU, n: int = N) -> tuple[np.ndarray, np.ndarray]:
    """Log-likelihood ratios of N(mu, 1) against N(0, 1)."""
    x = np.random.default_rng(seed).normal(size=(2, n))
    return mu * (x[0] + mu) - mu**2 / 2, mu * x[1] - mu**2 / 2


def test_the_interval_of_a_separation_covers_as_often_as_it_says() -> None:
    found = [separation(*scores(seed)) for seed in range(400)]
    covered = sum(f.low <= MU <= f.high for f in found)
    assert stats.binomtest(covered, 400, 0.95).pvalue > 1e-4
    assert np.mean([f.value for f in found]) == pytest.approx(MU, abs=0.005)


def test_a_separation_of_too_few_or_equal_scores() -> None:
    assert np.isnan(separation(np.ones(1), np.ones(5)).value)
    assert separation(np.zeros(5), np.zeros(5)) == (0, 0, 0)


def test_an_epsilon_follows_a_power_of_the_separation_between_and_beyond() -> None:
    table = np.array([0.1, 0.2, 0.4]), np.array([1.0, 2.0, 4.0])
    found = epsilon_of_separation(Measured(0.3, 0.05, 0.8), *table)
    assert found == pytest.approx((3.0, 0.5, 8.0))
    assert epsilon_of_separation(Measured(0.1, -0.1, 0.2), *table) == pytest.approx((1, 0, 2))
    assert np.isnan(epsilon_of_separation(Measured(np.nan, np.nan, np.nan), *table).value)


def test_what_is_sure_of_any_noise_is_rarely_above_the_truth() -> None:
    """Randomised response of epsilon = 1: no test does better than that, at delta = 0."""
    keep = math.e / (1 + math.e)
    rng = np.random.default_rng(1)
    above, found = 0, []
    for _ in range(200):
        first = np.where(rng.random(N) < keep, 1.0, -1.0)
        second = np.where(rng.random(N) < keep, -1.0, 1.0)
        found.append(surely(first, second, 0.0))
        above += found[-1] > 1
    assert stats.binomtest(above, 200, 0.05, alternative="greater").pvalue > 1e-4
    assert np.mean(found) > 0.7  # and not empty words
    assert surely(np.zeros(5), np.zeros(5), 0.0) == 0
    assert surely(np.zeros(500), np.zeros(500), 0.0) == 0


def test_the_executions_that_choose_a_threshold_do_not_count_for_it() -> None:
    first, second = np.zeros(400), np.zeros(400)
    first[::2], second[::2] = 1.0, -1.0
    assert surely(first, second, 0.0) == 0


def test_shares_of_right_and_wrong() -> None:
    first, second = scores(2)
    curve = roc(first, second)
    assert (curve.false[0], curve.false[-1], curve.true[-1]) == (0, 1, 1)
    assert np.all(np.diff(curve.false) >= 0)
    assert np.all(np.diff(curve.true) >= 0)
    best = stats.norm.sf(stats.norm.isf(curve.false) - MU)
    assert np.max(np.abs(curve.true - best)) < 0.06
    right = guessed_right(first, second)
    assert right.low < stats.norm.cdf(MU / 2) < right.high
    _, one, other = histogram(first, second)
    assert one.sum() == other.sum() == N


def test_beliefs() -> None:
    assert posterior(0.5, 1.0) == pytest.approx(math.e / (1 + math.e))
    assert posterior(0.1, 0.0) == pytest.approx(0.1)
    false = np.linspace(0, 1, 1001)
    missed = stats.norm.cdf(stats.norm.isf(false) - MU)
    assert best_guess(0.5, false, missed) == pytest.approx(stats.norm.cdf(MU / 2), abs=1e-4)
    assert best_guess(0.99, false, missed) == pytest.approx(0.99, abs=1e-3)

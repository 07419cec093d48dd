"""Gaussian noise: sums, trees and the Toeplitz factorisation against their definitions, by moments and by KS.

Laplace noise is looked at beside it where the structure is the same.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from dprl.fields import SpecError
from dprl.mdp.tabular import Array
from dprl.privacy import MECHANISMS
from dprl.privacy.mechanisms import make_stream
from dprl.privacy.mechanisms.gaussian import MAX_RELEASES, coefficients
from dprl.privacy.mechanisms.tree import levels
from dprl.simulation import schedules
from tests.compare import FIVE, LEVEL, ks_samples, standard_errors
from tests.privacy.draws import unit_noise

CELLS = 40_000
TREE, SUM, TOEPLITZ = (MECHANISMS[k] for k in ("gaussian-tree", "gaussian", "gaussian-toeplitz"))
JUMPS = [1, 2, 3, 7, 8, 12, 13, 24, 28, 31, 32, 33, 100, 127, 128, 1000, 1023, 1024, 123_456]
UNIT = list(range(1, 20))


def shared(s: int, t: int) -> int:
    """Nodes that the binary expansions of two prefixes have in common: their leading bits, while they agree."""

    def nodes(prefix: int) -> set[tuple[int, int]]:
        start, found = 0, set()
        for j in reversed(range(prefix.bit_length())):
            if prefix >> j & 1:
                found.add((start, j))
                start += 1 << j
        return found

    return len(nodes(s) & nodes(t))


def square_root(releases: int) -> Array:
    """[M, M] C from its closed form, c_j = (2j choose j) / 4^j."""
    c = [math.comb(2 * j, j) / 4**j for j in range(releases)]
    return np.array([[c[i - j] if i >= j else 0.0 for j in range(releases)] for i in range(releases)])


def covariances_are(noise: Array, expected: Array) -> None:
    """Elementwise within five standard errors; noise: [M, cells]. Means too."""
    for i in range(len(noise)):
        assert standard_errors(noise[i], 0.0) < FIVE
        for j in range(i + 1):
            assert standard_errors(noise[i] * noise[j], expected[i, j]) < FIVE, (i, j)


def test_root_of_the_prefix_sums() -> None:
    for releases in (1, 2, 13, 300):
        C = square_root(releases)
        np.testing.assert_allclose(C @ C, np.tril(np.ones((releases, releases))), atol=1e-12)
        np.testing.assert_allclose(coefficients(releases), C[:, 0], rtol=1e-12)
    c = coefficients(MAX_RELEASES)
    np.testing.assert_allclose(np.convolve(c, c)[:MAX_RELEASES], 1.0, rtol=1e-11)


@pytest.mark.parametrize("releases", [1, 2, 12])
def test_toeplitz_covariance(releases: int) -> None:
    noise = unit_noise(TOEPLITZ, make_stream(np.arange(1, releases + 1)), CELLS, seed=1)
    C = square_root(releases)
    covariances_are(noise, C @ C.T)


def test_toeplitz_draws_belong_to_columns_of_c() -> None:
    """C^-1 brings back independent N(0, 1) draws: in every release, across cells and across the parts drawn apart."""
    releases, cells = 40, 1500
    noise = unit_noise(TOEPLITZ, make_stream(np.arange(1, releases + 1)), cells, seed=2)
    z: Array = np.asarray(np.linalg.solve(square_root(releases), noise), dtype=float)
    assert stats.kstest(z.ravel(), "norm").pvalue > LEVEL / 2
    for lag in (1, 511, 512, 513, 1024):
        assert standard_errors((z[:, lag:] * z[:, :-lag]).ravel(), 0.0) < FIVE
    for lag in (1, 2, 7):
        assert standard_errors((z[lag:] * z[:-lag]).ravel(), 0.0) < FIVE
    assert standard_errors(z.ravel() ** 2, 1.0) < FIVE


def test_toeplitz_variance_over_many_releases() -> None:
    times = schedules.times("geometric:0.01", 50_000)
    stream = make_stream(np.arange(1, len(times) + 1))
    noise, std = unit_noise(TOEPLITZ, stream, 4000, seed=3), TOEPLITZ.std(stream)
    assert std[0] == 1.0
    assert std[-1] ** 2 == pytest.approx(sum((math.comb(2 * j, j) / 4**j) ** 2 for j in range(500)), rel=0.05)
    for i in range(0, len(times), 40):
        assert standard_errors(noise[i] ** 2, float(std[i] ** 2)) < FIVE
        assert stats.kstest(noise[i] / std[i], "norm").pvalue > LEVEL / 20


def test_toeplitz_has_the_least_noise() -> None:
    """At equal sensitivity, worst release: noise std times the norm of what a user touches."""
    stream = make_stream(np.arange(1, 783))

    def product(key: str, touched: float) -> float:
        return float(MECHANISMS[key].std(stream).max()) * math.sqrt(touched)

    toeplitz = product("gaussian-toeplitz", float(TOEPLITZ.std(stream)[-1]) ** 2)
    # the norm of C is 1 + ln(M) / pi to within a constant (Fichtenberger et al. 2023)
    assert toeplitz <= 1 + math.log(782) / math.pi + 0.6
    assert 2.5 * toeplitz < product("gaussian-tree", levels(782))


@pytest.mark.parametrize(("key", "variance"), [("gaussian-tree", 1.0), ("laplace-tree", 2.0)])
@pytest.mark.parametrize("times", [UNIT, JUMPS], ids=["unit", "jumps"])
def test_tree_reuses_nodes(times: list[int], key: str, variance: float) -> None:
    """The covariance of two releases counts the nodes they share; on the diagonal, bits."""
    noise = unit_noise(MECHANISMS[key], make_stream(np.array(times)), CELLS, seed=4)
    covariances_are(noise, variance * np.array([[shared(s, t) for t in times] for s in times]))


@pytest.mark.parametrize("times", [UNIT, JUMPS], ids=["unit", "jumps"])
def test_tree_is_normal(times: list[int]) -> None:
    noise = unit_noise(TREE, make_stream(np.array(times)), CELLS, seed=5)
    for row, t in zip(noise, times, strict=True):
        assert stats.kstest(row / math.sqrt(t.bit_count()), "norm").pvalue > LEVEL / len(times)


def test_tree_over_a_long_stream() -> None:
    times = schedules.times("geometric:0.3", 10**15)[::4]
    noise = unit_noise(TREE, make_stream(times), CELLS // 4, seed=6)
    for row, t in zip(noise, times, strict=True):
        assert standard_errors(row**2, int(t).bit_count()) < FIVE
    assert (TREE.std(make_stream(times)) ** 2 >= [int(t).bit_count() for t in times]).all()


def test_sums_add_up() -> None:
    """Every item keeps its draw: the covariance of two releases is the smaller of the two."""
    times = [1, 2, 5, 6, 40, 41, 1000]
    noise = unit_noise(SUM, make_stream(np.array(times)), CELLS, seed=7)
    covariances_are(noise, np.minimum.outer(times, times).astype(float))


@pytest.mark.parametrize("key", ["gaussian", "laplace"])
def test_a_block_is_its_users_one_by_one(key: str) -> None:
    blocks, mechanism = [1, 3, 20, 84, 100], MECHANISMS[key]
    one_by_one = unit_noise(mechanism, make_stream(np.arange(1, 101)), 20_000, seed=8)[
        [b - 1 for b in blocks]
    ]
    together = unit_noise(mechanism, make_stream(np.array(blocks)), 20_000, seed=9)
    for i in range(len(blocks)):
        assert ks_samples(one_by_one[i], together[i]) > LEVEL / 10
        if i:
            step = one_by_one[i] - one_by_one[i - 1]
            assert ks_samples(step, together[i] - together[i - 1]) > LEVEL / 10


@pytest.mark.parametrize("users", [10**6, 10**15])
def test_very_many_users(users: int) -> None:
    noise = unit_noise(SUM, make_stream(np.array([users])), CELLS, seed=10)[0] / math.sqrt(users)
    assert stats.kstest(noise, "norm").pvalue > LEVEL


@pytest.mark.parametrize("key", ["gaussian", "gaussian-tree", "gaussian-toeplitz"])
@pytest.mark.parametrize("failure", [1e-3, 1e-6, 1e-12])
def test_tails_are_normal(key: str, failure: float) -> None:
    stream = make_stream(np.array(UNIT))
    tail, std = MECHANISMS[key].tail(stream, failure), MECHANISMS[key].std(stream)
    np.testing.assert_allclose(2 * stats.norm.sf(tail / std), failure, rtol=1e-6)


def test_stated_std_is_that_of_the_draws() -> None:
    for mechanism in (SUM, TREE, TOEPLITZ):
        noise = unit_noise(mechanism, make_stream(np.array([1, 2, 3, 4, 5, 6, 7])), CELLS, seed=11)
        std = mechanism.std(make_stream(np.array([1, 2, 3, 4, 5, 6, 7])))
        measured = (noise**2).mean(1)
        # the variance of a square of N(0, v) is 2 v^2
        error = np.sqrt(2 / CELLS) * std**2
        assert (measured <= std**2 + FIVE * error).all()
        assert measured.max() == pytest.approx((std**2).max(), abs=FIVE * error.max())


def test_too_many_releases_are_refused() -> None:
    with pytest.raises(SpecError, match="at most 4,000"):
        TOEPLITZ.rows(0, MAX_RELEASES + 1)
    assert TOEPLITZ.rows(0, MAX_RELEASES) == MAX_RELEASES

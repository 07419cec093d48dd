"""The optimal and the BLT factorisation: what they multiply to, their norms, and how near they are to the bound."""

from __future__ import annotations

import math
from itertools import zip_longest

import numpy as np
import pytest
from scipy.linalg import solve_triangular, toeplitz

from dprl.mdp.tabular import Array
from dprl.privacy import MECHANISMS, Mechanism
from dprl.privacy.losses import Gaussian
from dprl.privacy.mechanisms import blt, stream_of_releases
from dprl.privacy.mechanisms.gaussian import MAX_RELEASES, coefficients
from dprl.privacy.mechanisms.optimal import bound, excess, factors
from tests.privacy.draws import replaced

OPTIMAL = MECHANISMS["gaussian-optimal"]


def matrices(releases: int) -> tuple[Array, Array]:
    """[M, M] B, from what a single draw adds to each release, and C = B^-1 A."""
    made, B = factors(releases), np.zeros((releases, releases))
    for k in range(releases):
        buffers = made.gain[k].copy()
        B[k, k] = buffers.sum()
        for i in range(k + 1, releases):
            buffers *= made.keep[i]
            B[i, k] = buffers.sum()
    return B, solve_triangular(B, np.tril(np.ones(B.shape)), lower=True)


def seen_through(mechanism: Mechanism, releases: int) -> float:
    """Norm of the draws' shift by one item of size one, as accounted for at noise of scale one."""
    losses = mechanism.losses(replaced(1, 1.0), 1.0, stream_of_releases(releases))
    ((loss,),) = losses
    assert isinstance(loss, Gaussian)
    return loss.shift / math.sqrt(replaced(1, 1.0).l2_squared)


def error(mechanism: Mechanism, releases: int) -> float:
    """Standard deviation at the worst release when one item is seen through noise of standard deviation 1."""
    return float(mechanism.std(stream_of_releases(releases)).max()) * seen_through(mechanism, releases)


@pytest.mark.parametrize("releases", [1, 2, 3, 12, 150, 401])
def test_the_norms_are_those_of_lower_triangular_factors_of_the_prefix_sums(releases: int) -> None:
    B, C = matrices(releases)
    assert np.array_equal(C, np.tril(C))
    np.testing.assert_allclose(B @ C, np.tril(np.ones(B.shape)), rtol=0, atol=1e-11)
    np.testing.assert_allclose(
        OPTIMAL.std(stream_of_releases(releases)), np.linalg.norm(B, axis=1), rtol=1e-11
    )
    # what protects an item, wherever it enters
    assert seen_through(OPTIMAL, releases) == pytest.approx(np.linalg.norm(C, axis=0).max(), rel=1e-11)


@pytest.mark.parametrize("releases", [1, 2, 5, 50, 333])
def test_the_bound_is_a_sum_of_singular_values(releases: int) -> None:
    """For any weights it is one; anybody can compute it from the weights alone."""
    p = factors(releases).p
    assert p.min() > 0
    assert p.sum() == pytest.approx(1.0, rel=1e-12)
    weighed = np.sqrt(p)[:, None] * np.tril(np.ones((releases, releases))) * np.sqrt(p[::-1])
    singular = np.linalg.svd(weighed, compute_uv=False)
    assert bound(releases) == pytest.approx(singular.sum(), rel=1e-9)


@pytest.mark.parametrize("releases", [1, 2, 3, 7, 50, 51, 97, 333, 782, 1234, 2000, MAX_RELEASES])
def test_within_a_five_hundredth_of_what_no_factorisation_stays_below(releases: int) -> None:
    assert error(OPTIMAL, releases) == pytest.approx(excess(releases) * bound(releases), rel=1e-12)
    assert 1.0 - 1e-9 < excess(releases) < 1.002


@pytest.mark.parametrize(("releases", "times"), [(50, 1.1336), (333, 1.1149), (782, 1.1068), (2000, 1.0986)])
def test_how_much_less_noise_than_toeplitz(releases: int, times: float) -> None:
    toeplitz = error(MECHANISMS["gaussian-toeplitz"], releases)
    assert toeplitz / error(OPTIMAL, releases) == pytest.approx(times, abs=1e-4)
    assert toeplitz > bound(releases)


BLT = MECHANISMS["gaussian-blt"]


def first_columns(releases: int) -> tuple[Array, Array]:
    """[M, M] B and C, lower-triangular Toeplitz, from the power series of b(x) = 1 / ((1 - x) c(x)) and c(x)."""

    def series(tops: list[float], bottoms: list[float]) -> Array:
        column = np.zeros(releases)
        column[0] = 1.0
        for top, bottom in zip_longest(tops, bottoms, fillvalue=0.0):  # in turns, or digits are lost
            column[1:] = column[1:] - top * column[:-1]
            for t in range(1, releases):
                column[t] += bottom * column[t - 1]
        return np.tril(toeplitz(column))

    b, c = blt.factors(releases)
    zeros, poles = [1 - rate for rate in b.rate], [1 - rate for rate in c.rate]
    return series(poles, zeros), series(zeros[1:], poles)


def trace_norm(releases: int) -> float:
    """What no factorisation of the prefix sums stays below: the trace norm of A over M."""
    k = np.arange(1, releases + 1)
    return float((1 / (2 * np.sin((2 * k - 1) * np.pi / (4 * releases + 2)))).sum() / releases)


@pytest.mark.parametrize("releases", [1, 2, 3, 12, 150])
def test_the_two_factors_make_prefix_sums(releases: int) -> None:
    B, C = first_columns(releases)
    np.testing.assert_allclose(B @ C, np.tril(np.ones((releases, releases))), atol=1e-12)
    for series, matrix in zip(blt.factors(releases), (B, C), strict=True):
        assert min(series.weight) > 0
        assert series.squared(releases) == pytest.approx((matrix[:, 0] ** 2).sum(), rel=1e-12)
    np.testing.assert_allclose(BLT.std(stream_of_releases(releases)), np.linalg.norm(B, axis=1), rtol=1e-12)
    # what one item is seen through: no column of C is longer than the first
    assert np.linalg.norm(C, axis=0).max() == pytest.approx(
        math.sqrt(blt.factors(releases)[1].squared(releases))
    )


@pytest.mark.parametrize("releases", [50, 782, 4000, 50_000, 1_000_000])
def test_hardly_more_noise_than_the_square_root(releases: int) -> None:
    """And at 50,000 releases within 1.1 of what no factorisation stays below."""
    assert 1.0 < error(BLT, releases) / (coefficients(releases) ** 2).sum() < 1.001
    assert error(BLT, releases) / trace_norm(releases) < (1.18 if releases < 50_000 else 1.1)


def test_memory_hardly_grows() -> None:
    assert [BLT.rows(0, releases) for releases in (1, 4001, 10**6, 10**12)] == [9, 24, 33, 54]

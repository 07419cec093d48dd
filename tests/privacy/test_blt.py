"""The buffered linear Toeplitz factorisation against its generating functions, and its noise against the definition."""

from __future__ import annotations

import math
from itertools import zip_longest

import numpy as np
import pytest
from scipy.linalg import toeplitz

from dprl.mdp.tabular import Array
from dprl.privacy import MECHANISMS
from dprl.privacy.mechanisms import stream_of_releases
from dprl.privacy.mechanisms.blt import factors
from dprl.privacy.mechanisms.gaussian import coefficients
from tests.privacy.test_optimal import error

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

    b, c = factors(releases)
    zeros, poles = [1 - rate for rate in b.rate], [1 - rate for rate in c.rate]
    return series(poles, zeros), series(zeros[1:], poles)


def bound(releases: int) -> float:
    """What no factorisation of the prefix sums stays below: the trace norm of A over M."""
    k = np.arange(1, releases + 1)
    return float((1 / (2 * np.sin((2 * k - 1) * np.pi / (4 * releases + 2)))).sum() / releases)


@pytest.mark.parametrize("releases", [1, 2, 3, 12, 150])
def test_the_two_factors_make_prefix_sums(releases: int) -> None:
    B, C = first_columns(releases)
    np.testing.assert_allclose(B @ C, np.tril(np.ones((releases, releases))), atol=1e-12)
    for series, matrix in zip(factors(releases), (B, C), strict=True):
        assert min(series.weight) > 0
        assert series.squared(releases) == pytest.approx((matrix[:, 0] ** 2).sum(), rel=1e-12)
    np.testing.assert_allclose(BLT.std(stream_of_releases(releases)), np.linalg.norm(B, axis=1), rtol=1e-12)
    # what one item is seen through: no column of C is longer than the first
    assert np.linalg.norm(C, axis=0).max() == pytest.approx(math.sqrt(factors(releases)[1].squared(releases)))


@pytest.mark.parametrize("releases", [50, 782, 4000, 50_000, 1_000_000])
def test_hardly_more_noise_than_the_square_root(releases: int) -> None:
    """And at 50,000 releases within 1.1 of what no factorisation stays below."""
    assert 1.0 < error(BLT, releases) / (coefficients(releases) ** 2).sum() < 1.001
    assert error(BLT, releases) / bound(releases) < (1.18 if releases < 50_000 else 1.1)


def test_memory_hardly_grows() -> None:
    assert [BLT.rows(0, releases) for releases in (1, 4001, 10**6, 10**12)] == [9, 24, 33, 54]

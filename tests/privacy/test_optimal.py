"""The optimal factorisation: what it multiplies to, its norms, and how near it is to what none stays below."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import solve_triangular

from dprl.mdp.tabular import Array
from dprl.privacy import MECHANISMS, Mechanism
from dprl.privacy.losses import Gaussian
from dprl.privacy.mechanisms import stream_of_releases
from dprl.privacy.mechanisms.gaussian import MAX_RELEASES
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

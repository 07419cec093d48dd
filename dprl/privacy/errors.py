"""Bounds E_{eps,beta} on the noise in all counters at all releases (Qiao, Wang 2023 (online), Assumption 3.1).

Bounds for Gaussian noise are exact. For other noise we use Chernoff's bound P(|Y| > x) <= 2 inf_theta exp(-theta x)
M(theta), with M the moment-generating function. A union bound covers all counters and releases.

Logarithms and exponentials in the tails come from SciPy and Python, because NumPy's differ between CPUs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from dprl.mdp.tabular import Array

EXACT = Context(prec=50)  # decimals round alike on every CPU, unlike exponentials of the C library


def laplace_tail(terms: NDArray[np.int64], failure: float) -> Array:
    """Return Chernoff bounds on the absolute value of a sum of `terms` Laplace(1) draws, valid w.p. >= 1 - failure.

    A bound is x = min over u in (0, 1) of (c - j ln(1 - u^2)) / u with c = ln(2 / failure), j = terms. The best u
    solves 2y - ln(1 + y) = c / j with y = u^2 / (1 - u^2). The left side is convex and increasing, so Newton's method
    descends to the root if it starts at c / j, which is too large.
    """
    from scipy.special import log1p

    j = np.asarray(terms, dtype=float)
    c = math.log(2.0 / failure)
    y = c / j
    for _ in range(50):
        step = (2 * y - log1p(y) - c / j) / (2 - 1 / (1 + y))
        y = y - step
        if np.all(np.abs(step) <= 1e-13 * y):
            break
    return np.asarray((c + j * log1p(y)) / np.sqrt(y / (1 + y)))


def gaussian_tail(std: Array, failure: float) -> Array:
    """Return the exact bounds x, shaped like `std`, with P(|N(0, std^2)| > x) = failure."""
    from scipy.special import ndtri

    return np.asarray(-float(ndtri(failure / 2)) * std)


def binomial_tail(batches: Array, failure: float) -> Array:
    """Return Chernoff bounds [M] on the centred sum of all Binomial noise so far, each valid w.p. >= 1 - failure.

    batches: the number of bits of each batch and the probability that a bit is 1 [M, 2]. Every theta gives a bound; for
    each tail, we use the best one on a fine grid around the Gaussian optimum sqrt(2c)/std.
    """
    from scipy.special import expm1, log1p

    kinds, kind = np.unique(batches, axis=0, return_inverse=True)
    trials, probability = kinds.T
    variance = np.cumsum((trials * probability * (1 - probability))[kind])
    c = math.log(2.0 / failure)
    low, high = math.sqrt(2 * c / variance[-1]) / 8, math.sqrt(2 * c / variance[0]) * 2
    grid = np.array([[low * (high / low) ** (i / 399)] for i in range(400)])
    best = np.empty((2, len(batches)))
    for side, sign in enumerate((1.0, -1.0)):
        tail = np.full(len(batches), np.inf)
        # [.., 1], in pieces that fit into memory
        for theta in np.array_split(grid, min(400, 1 + len(batches) // 100)):
            # ln E exp(theta (B - mean)), written so that nothing cancels when theta and probability are small
            moment = trials * (log1p(probability * expm1(sign * theta)) - sign * theta * probability)
            tail = np.minimum(tail, ((c + np.cumsum(moment[:, kind], axis=1)) / theta).min(axis=0))
        best[side] = tail
    return np.asarray(best.max(axis=0))


def chi_tail(std: Array, cells: int, failure: float) -> Array:
    """Return the exact lengths x, shaped like `std`, with P(|N(0, std^2 I)| > x) = failure, in `cells` dimensions."""
    from scipy.special import chdtri

    return np.asarray(math.sqrt(float(chdtri(cells, failure))) * std)


def length_tail(log_moments: Callable[[Array], Array], spread: Array, cells: int, failure: float) -> Array:
    """Return bounds [M] on the lengths of random vectors z_i with `cells` coordinates, each valid w.p. >= 1 - failure.

    Args:
        log_moments(y): returns upper bounds [M] on ln E exp(y_i u.z_i) for every unit vector u; y: [M].
        spread: approximate standard deviations of u.z_i [M].

    For u uniform on the sphere, E exp(y u.z) = phi(y |z|) with phi(t) = Gamma(d/2) (2/t)^(d/2 - 1) I_{d/2-1}(t), which
    increases with |z|. By Markov's inequality, P(|z| > x) <= exp(log_moments(y)) / phi(y x) for every y. We use the
    best y on a grid. NumPy's logarithms only choose among grid points, which are identical on every CPU.
    """
    t, log_phi = _phi(cells)
    log_failure = float(EXACT.ln(Decimal(failure)))
    best = np.full(len(spread), np.inf)
    guess = (math.sqrt(cells) + math.sqrt(-2 * log_failure)) / spread
    for y in geometric(Decimal("0.02"), Decimal("2"), 150)[:, None] * guess:
        needed = log_moments(y) - log_failure
        found = np.searchsorted(log_phi, needed)
        best = np.where(found < len(t), np.minimum(best, t[np.minimum(found, len(t) - 1)] / y), best)
    return best


@lru_cache(maxsize=16)
def _phi(cells: int) -> tuple[Array, Array]:
    """Return a grid t [40,000] and ln E exp(t x) for one coordinate x of a random unit vector in `cells` dimensions."""
    from scipy.special import gammaln, ive

    order = cells / 2 - 1
    t = geometric(Decimal("1e-3"), Decimal("1e7"), 40_000)
    return t, gammaln(cells / 2) + order * np.log(2 / t) + np.log(ive(order, t)) + t


@cache
def geometric(low: Decimal, high: Decimal, points: int) -> Array:
    """Return a geometric sequence of `points` numbers from low to high, identical to the bit on every CPU."""
    start, whole = EXACT.ln(low), EXACT.ln(high)
    span = EXACT.divide(EXACT.subtract(whole, start), points - 1)
    # the product of a coarse and a fine grid needs few exponentials
    fine = math.isqrt(points - 1) + 1
    near = np.array([float(EXACT.exp(EXACT.multiply(span, i))) for i in range(fine)])
    places = (EXACT.add(start, EXACT.multiply(span, i)) for i in range(0, points, fine))
    far = np.array([float(EXACT.exp(place)) for place in places])
    return np.outer(far, near).ravel()[:points]


def laplace_length(terms: NDArray[np.int64], cells: int, failure: float) -> Array:
    """Return bounds [M] on the lengths of vectors whose coordinates are sums of terms[i] iid Laplace(1) draws.

    Over unit vectors u, the moment-generating function of u.z is largest if u is a coordinate vector.
    """
    j = np.asarray(terms, dtype=float)

    def log_moments(y: Array) -> Array:
        return np.where(y < 0.999, -j * np.log1p(-(np.minimum(y, 0.999) ** 2)), np.inf)

    return length_tail(log_moments, np.sqrt(2 * j), cells, failure)


def bits_length(variance: Array, cells: int, failure: float) -> Array:
    """Return bounds [M] on the lengths of vectors whose coordinates are sums of centred bits with total variance[i].

    E exp(y (bit - q)) <= exp(q (1 - q) (e^|y| - 1 - |y|)) (Bennett), and (e^y - 1 - y)/y^2 increases, so the worst unit
    vector u is again a coordinate vector. The number of later bits and their q may be decided during the run if their
    variance is fixed.
    """
    v = np.asarray(variance, dtype=float)

    def log_moments(y: Array) -> Array:
        return np.asarray(v * (np.expm1(y) - y))

    return length_tail(log_moments, np.sqrt(v), cells, failure)


def bounded_length(
    users: NDArray[np.int64], variance: float, size: float, cells: int, failure: float
) -> Array:
    """Return lengths [M] that no sum of the first k <= users[i] errors exceeds, except with probability `failure`.

    Given all earlier errors, a user's error has mean 0, at most this variance in any direction, and at most this size.
    So E exp(y u.error) <= exp(variance (e^b - 1 - b) y^2/b^2), b = y size (Bennett). The quantity that bounds P(|z| >
    x) is then a supermartingale over the users, so the bound holds for all k at once (Doob).
    """
    n = np.asarray(users, dtype=float)

    def log_moments(y: Array) -> Array:
        b = np.minimum(y * size, 700.0)
        return np.where(y * size < 700.0, n * (variance / size**2) * (np.expm1(b) - b), np.inf)

    found = length_tail(log_moments, np.sqrt(n * variance), cells, failure)
    return np.where(np.isfinite(found), found, n * size)  # no user's error exceeds `size`


def per_event(beta: float, cells: int, releases: int) -> float:
    """Return the failure probability allowed per counter and release so that all bounds hold w.p. >= 1 - beta/3."""
    return beta / 3 / (cells * releases)

"""Gaussian noise correlated over releases, at most 0.2% larger than the best factorisation's. Unit noise is N(0, 1).

Among the factorisations A = B C of the matrix of prefix sums into lower-triangular B and C, the best has the smallest
product of B's longest row and C's longest column. For any weights p of rows and q of columns that sum to 1, with P =
diag(p) and Q = diag(q), this product is at least the sum of the singular values of sqrt(P) A sqrt(Q) (proof in
docs/report/privacy.md). Both are equal at the best weights, for which q is p reversed. The noise then has covariance

    B B^T = P^(-1/2) T^(-1/2) P^(-1/2),  T = P^(-1/2) A^-T Q^-1 A^-1 P^(-1/2), which is tridiagonal.

1. T^(-1/2) is nearly a sum of a few weight_j (T + shift_j)^-1 (Hale, Higham, Trefethen 2008). Each gives the noise of a
    *chain*: a walk with steps of variance q_k, given an observation of precision shift_j p_i at each release i.
2. Each p_i is multiplied by a power of its release's relative noise until all releases have the same noise.
3. A Kalman filter writes the sum of the chains with one draw per release, which enters a buffer for each chain:

    buffer_ij = keep_ij buffer_(i-1)j + gain_ij z_i,  noise_i = sum_j buffer_ij.

For any `keep` and `gain`, this is B z with a lower-triangular B. We compute both the noise and the privacy losses from
these two, so errors in steps 1 to 3 may add noise but never weaken privacy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np

from dprl.engine import kernel, ready
from dprl.mdp.tabular import Array
from dprl.privacy.mechanisms.gaussian import factorised, prepared, room
from dprl.privacy.mechanisms.mechanism import Stream

# With these, the product is at most 1.002 times the lower bound for all factorisations, up to MAX_RELEASES releases.
CHAINS, ROUNDS = 8, 60

SOLVE = "void(float64[::1], float64[::1], float64[::1])"
MERGE = "void(float64[::1], float64[::1], float64[::1], float64[:,::1], float64[:,::1])"
NORMS = "void(float64[:,::1], float64[:,::1], float64[::1], float64[::1])"


@kernel
def chain(p: Array, shift: float, keep: Array) -> None:
    """For a random walk with noisy observations, compute what share of its position each step keeps.

    p: the weights [M]. keep: receives the shares [M]; the step to release i then has variance q_i keep_i.
    """
    known = 0.0  # precision of the position at release i from the observations at i and later
    for i in range(len(p) - 1, -1, -1):
        known += shift * p[i]
        keep[i] = 1 / (1 + known * p[len(p) - 1 - i])
        known *= keep[i]


@kernel
def solve(shift: Array, weight: Array, p: Array) -> None:
    """Adjust the weights p [M] until all releases have equally large noise. shift and weight describe the chains."""
    keep, rows = np.empty(len(p)), np.empty(len(p))
    for _ in range(ROUNDS):
        rows[:] = 0.0
        for j in range(len(shift)):
            chain(p, shift[j], keep)
            variance = 0.0
            for i in range(len(p)):
                variance = keep[i] * (keep[i] * variance + p[len(p) - 1 - i])
                rows[i] += weight[j] * variance
        average = 0.0
        for i in range(len(p)):
            average += p[i] * rows[i]
        total = 0.0
        for i in range(len(p)):
            p[i] *= rows[i] / average * math.sqrt(rows[i] / average)
            total += p[i]
        for i in range(len(p)):
            p[i] /= total


@kernel
def merge(p: Array, shift: Array, weight: Array, keep: Array, gain: Array) -> None:
    """Combine several chains so that each release needs one draw. Write the weights [M, chains] to keep and gain."""
    releases, chains = keep.shape
    one, unknown = np.empty(releases), np.zeros((chains, chains))
    for j in range(chains):
        chain(p, shift[j], one)
        for i in range(releases):
            keep[i, j] = one[i]
    for i in range(releases):
        # covariance of the chains' positions given the noise of releases 0, ..., i - 1, and then of release i
        for j in range(chains):
            for k in range(chains):
                unknown[j, k] *= keep[i, j] * keep[i, k]
            unknown[j, j] += weight[j] * p[releases - 1 - i] * keep[i, j]
        variance = 0.0
        for j in range(chains):
            gain[i, j] = 0.0
            for k in range(chains):
                gain[i, j] += unknown[j, k]
            variance += gain[i, j]
        for j in range(chains):
            gain[i, j] /= math.sqrt(variance)
        for j in range(chains):
            for k in range(chains):
                unknown[j, k] -= gain[i, j] * gain[i, k]


@kernel
def norms(keep: Array, gain: Array, rows: Array, columns: Array) -> None:
    """Write the squared norms of B's rows to rows [M], and those of C's columns to columns [M]. Column k of C is B^-1
    times (0, ..., 0, 1, ..., 1), the sums for an item of size one that enters at release k."""
    releases, chains = keep.shape
    spread, buffers = np.zeros((chains, chains)), np.empty(chains)
    for i in range(releases):
        rows[i] = 0.0
        for j in range(chains):
            for k in range(chains):
                spread[j, k] = keep[i, j] * keep[i, k] * spread[j, k] + gain[i, j] * gain[i, k]
                rows[i] += spread[j, k]
    for k in range(releases):
        buffers[:] = 0.0
        columns[k] = 0.0
        for i in range(k, releases):
            missing, sum_of_gains = 1.0, 0.0
            for j in range(chains):
                buffers[j] *= keep[i, j]
                missing -= buffers[j]
                sum_of_gains += gain[i, j]
            draw = missing / sum_of_gains
            columns[k] += draw * draw
            for j in range(chains):
                buffers[j] += gain[i, j] * draw


@dataclass(frozen=True)
class Factors:
    """The factorisation A = B C of the prefix-sum matrix A."""

    p: Array  # the weights of the rows [M]; reversed, they are the weights of the columns
    # keep, gain: the weights in the formula for B z above [M, chains]
    keep: Array
    gain: Array
    row: Array  # the norms of the rows of B, which are the standard deviations of the noise of each release [M]
    column: float  # the squared norm of the longest column of C


def poles(lowest: float, highest: float, count: int) -> tuple[Array, Array]:
    """Return shifts and weights for which sum_j weight_j / (x + shift_j) is nearly x^(-1/2) on [lowest, highest].

    Hale, Higham, Trefethen 2008, method 3: on an interval it is the best approximation of this form, up to a factor.
    """
    from scipy.special import ellipj, ellipk

    quarter = ellipk(1 - lowest / highest)
    sn, cn, dn, _ = ellipj((np.arange(count) + 0.5) / count * quarter, 1 - lowest / highest)
    return lowest * (sn / cn) ** 2, 2 * math.sqrt(lowest) * quarter / (math.pi * count) * dn / cn**2


# Kernels that are called before a loop, with their types.
CALLED: tuple[tuple[Callable[..., None], str], ...] = ((solve, SOLVE), (merge, MERGE), (norms, NORMS))


@cache
def _kernels() -> tuple[Any, ...]:
    return tuple(ready(*kernel) for kernel in CALLED)


@lru_cache(maxsize=64)
def factors(releases: int) -> Factors:
    """Return a nearly optimal factorisation for this number of releases."""
    solved, merged, normed = _kernels()
    # with equal weights, T's eigenvalues are 4 M^2 sin^2((2k - 1) pi / (4M + 2)), k = 1, ..., M; others are similar
    shift, weight = poles((math.pi / 2) ** 2, 4.0 * releases**2, CHAINS)
    p = np.full(releases, 1 / releases)
    keep, gain = np.empty((releases, CHAINS)), np.empty((releases, CHAINS))
    rows, columns = np.empty(releases), np.empty(releases)
    solved(shift, weight, p)
    merged(p, shift, weight, keep, gain)
    normed(keep, gain, rows, columns)
    row = np.sqrt(rows)
    for array in (p, keep, gain, row):
        array.flags.writeable = False
    return Factors(p, keep, gain, row, float(columns.max()))


def bound(releases: int) -> float:
    """Return a lower bound on the noise of any factorisation: the sum of the singular values of sqrt(P) A sqrt(Q)."""
    from scipy.linalg import eigvalsh_tridiagonal

    p = factors(releases).p
    step = 1 / p[::-1]  # Q^-1; A^-T Q^-1 A^-1 takes differences of neighbours
    beside = -step[1:] / np.sqrt(p[1:] * p[:-1])
    spectrum = eigvalsh_tridiagonal((step + np.append(step[1:], 0.0)) / p, beside)
    return float((1 / np.sqrt(spectrum)).sum())


def excess(releases: int) -> float:
    """Return an upper bound (at least 1) on how much larger this factorisation's noise is than the best one's."""
    return float(factors(releases).row.max()) * math.sqrt(factors(releases).column) / bound(releases)


def correlate(rng: np.random.Generator, stream: Stream, memory: Array) -> None:
    """Fill memory [M, cells] with B z for independent N(0, 1) draws z. Row i is the noise of release i."""
    made = factors(stream.releases)
    buffers = np.zeros((CHAINS, memory.shape[1]))
    rng.standard_normal(out=memory)
    for noise, keep, gain in zip(memory, made.keep, made.gain, strict=True):
        buffers *= keep[:, None]
        buffers += gain[:, None] * noise
        noise[:] = buffers.sum(axis=0)


def innovations(stream: Stream, sums: Array) -> Array:
    """Return B^-1 times `sums` [M, n], which makes the noise of the releases independent again."""
    made = factors(stream.releases)
    buffers, draws = np.zeros((CHAINS, sums.shape[1])), np.empty(sums.shape)
    for i, (keep, gain) in enumerate(zip(made.keep, made.gain, strict=True)):
        buffers *= keep[:, None]
        draws[i] = (sums[i] - buffers.sum(axis=0)) / gain.sum()
        buffers += gain[:, None] * draws[i]
    return draws


GAUSSIAN_OPTIMAL = factorised(
    key="gaussian-optimal",
    title="Gaussian, optimal factorisation",
    summary="Gaussian noise correlated over the releases by a factorisation with at most 0.2% more noise "
    "than the best one.",
    source="Hale, Higham, Trefethen 2008; Denisov et al. 2022",
    add_noise=prepared,
    rows=room("gaussian-optimal"),
    std=lambda stream: factors(stream.releases).row,
    touched=lambda stream: factors(stream.releases).column,
    apart=innovations,
    prepare=correlate,
)

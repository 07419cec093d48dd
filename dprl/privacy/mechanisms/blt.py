"""Gaussian noise correlated by a buffered linear Toeplitz factorisation (BLT). Unit noise is N(0, 1).

The matrix of prefix sums is A = B C with lower-triangular Toeplitz matrices B and C, whose first columns have the
generating functions (Dvijotham, McMahan, Pillutla, Steinke, Thakurta 2024)

    c(x) = prod_j (1 - zero_j x) / (1 - pole_j x),  b(x) = 1 / ((1 - x) c(x)),

so each column is a sum of a few geometric series, and row i of B z follows from a few buffers. The best Toeplitz
factorisation (gaussian-toeplitz) has B = C and c(x) = (1 - x)^(-1/2), which the c(x) above approaches if poles and
zeros alternate on a geometric scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dprl.engine import kernel
from dprl.mdp.tabular import Array
from dprl.privacy.mechanisms.gaussian import factorised
from dprl.privacy.mechanisms.mechanism import Leaves, Stream, increments

# 1 - pole_1 < 1 - zero_1 < 1 - pole_2 < ... run from SLOWEST / M to FASTEST in factors of at most exp(STEP). The noise
# is then at most 1.002 times that of the best Toeplitz factorisation for M >= 10, and 1.005 times for smaller M.
SLOWEST, FASTEST, STEP = 0.1, 2 / 3, 0.9


@kernel
def gaussian_blt(
    i: int, leaves: Leaves, batches: Array, memory: Array, rng: np.random.Generator, noise: Array
) -> None:
    """Add one N(0, 1) draw to every buffer after the buffer has decayed; the noise is the weighted sum of the buffers.

    memory: the buffers, the share that each of them keeps, and their weights (from `prepare`), [3 buffers, cells].
    """
    buffers = memory.shape[0] // 3
    for c in range(noise.shape[0]):
        noise[c] = rng.standard_normal()
    for j in range(buffers):
        kept = memory[buffers + j, 0]
        for c in range(noise.shape[0]):
            memory[j, c] = kept * memory[j, c] + noise[c]
    for c in range(noise.shape[0]):
        noise[c] = 0.0
    for j in range(buffers):
        weight = memory[2 * buffers + j, 0]
        for c in range(noise.shape[0]):
            noise[c] += weight * memory[j, c]


@dataclass(frozen=True)
class ExponentialSum:
    """The sequence b_t = sum_j weight_j (1 - rate_j)^(t - first) for t >= first, with b_t = 1 before."""

    # rate, weight: one number for each buffer; rates are in [0, 1)
    rate: tuple[float, ...]
    weight: tuple[float, ...]
    first: int = 0

    def squared(self, terms: int) -> float:
        """Return the sum of b_t^2 over t < terms, computed from geometric sums without cancellation."""
        total = float(self.first)
        for x, v in zip(self.rate, self.weight, strict=True):
            for y, w in zip(self.rate, self.weight, strict=True):
                gone = x + y - x * y  # 1 - (1 - x)(1 - y)
                count = terms - self.first
                total += v * w * (-math.expm1(count * math.log1p(-gone)) / gone if gone > 0 else count)
        return total


@lru_cache(maxsize=512)
def factors(releases: int) -> tuple[ExponentialSum, ExponentialSum]:
    """Return the first columns b of B and c of C, by partial fractions in which nothing cancels."""
    span = math.log(FASTEST * releases / SLOWEST)
    pairs = math.ceil((1 + span / STEP) / 2)
    rates = [SLOWEST / releases * math.exp(span * k / (2 * pairs - 1)) for k in range(2 * pairs)]
    poles, zeros = rates[0::2], rates[1::2]

    def residue(at: float, tops: list[float], bottoms: list[float]) -> float:
        return math.prod(x - at for x in tops) / math.prod(x - at for x in bottoms if x != at)

    b = ExponentialSum((0.0, *zeros), tuple(residue(at, poles, [0.0, *zeros]) for at in (0.0, *zeros)))
    c = ExponentialSum(tuple(poles), tuple(residue(at, zeros, poles) for at in poles), first=1)
    return b, c


@lru_cache(maxsize=8)
def norms(releases: int) -> Array:
    """Return the norms of B's rows, which are the standard deviations of the noise in each release, [M]."""
    b, _ = factors(releases)
    column = np.zeros(releases)
    for rate, weight in zip(b.rate, b.weight, strict=True):
        powers = np.full(releases, 1 - rate)
        powers[0] = weight
        column += np.cumprod(powers)
    result = np.sqrt(np.cumsum(column**2))
    result.flags.writeable = False
    return result


def prepare(rng: np.random.Generator, stream: Stream, memory: Array) -> None:
    b, _ = factors(stream.releases)
    buffers = len(b.rate)
    memory[:buffers] = 0.0
    memory[buffers : 2 * buffers] = 1 - np.array(b.rate)[:, None]
    memory[2 * buffers :] = np.array(b.weight)[:, None]


def innovations(stream: Stream, sums: Array) -> Array:
    """Return B^-1 times `sums` [M, n], which makes the noise of the releases independent again."""
    from scipy.signal import lfilter

    _, c = factors(stream.releases)
    items = increments(stream, sums)
    result = items.copy()
    for rate, weight in zip(c.rate, c.weight, strict=True):
        result += weight * lfilter([0.0, 1.0], [1.0, rate - 1.0], items, axis=0)
    return result


GAUSSIAN_BLT = factorised(
    key="gaussian-blt",
    title="Gaussian, buffered Toeplitz",
    summary="Gaussian noise correlated over any number of releases and computed from a few buffers for each counter, "
    "with at most 1.005 times the noise of the Toeplitz factorisation.",
    source="Dvijotham, McMahan, Pillutla, Steinke, Thakurta 2024; Denisov et al. 2022",
    add_noise=gaussian_blt,
    rows=lambda items, releases: 3 * len(factors(releases)[0].rate),
    std=lambda stream: norms(stream.releases),
    # column k of C has the first M - k terms of the first column, which is therefore the longest
    touched=lambda stream: factors(stream.releases)[1].squared(stream.releases),
    apart=innovations,
    prepare=prepare,
)

"""Random draws from binomial and multinomial distributions, exact for any number of trials."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dprl.engine import kernel
from dprl.mdp.tabular import Array

Ints = NDArray[np.int64]


@kernel
def binomial(rng: np.random.Generator, n: int, p: float) -> int:
    """Draw from Binomial(n, p). If p or 1 - p is below 1e-8, NumPy loses digits, so we draw from Poisson(np)."""
    if n == 0 or p <= 0.0:
        return 0
    if p >= 1.0:
        return n
    if p < 1e-8:
        return min(n, rng.poisson(n * p))
    if p > 1.0 - 1e-8:
        return n - min(n, rng.poisson(n * (1.0 - p)))
    return rng.binomial(n, p)


def binomials(rng: np.random.Generator, n: Ints, p: Array, q: Array) -> Ints:
    """Draw from Binomial(n, p) elementwise, or from Poisson if p or q is below 1e-8. q is 1 - p in full precision."""
    rare = np.minimum(p, q) < 1e-8
    drawn = rng.binomial(np.where(rare, 0, n), np.where(rare, 0.5, p))
    if rare.any():
        fewer = np.minimum(n, rng.poisson(np.where(rare, n * np.minimum(p, q), 0.0)))
        drawn = np.where(rare, np.where(p < q, fewer, n - fewer), drawn)
    return drawn.astype(np.int64)


def multinomial(rng: np.random.Generator, n: Ints | int, p: Array) -> Ints:
    """Distribute n items [...] at random over cells with probabilities p [..., X], by halving the cells repeatedly.
    This is exact up to 2^53 items. Rows of p sum to 1; if n is 0, they only have to be nonnegative."""
    X = p.shape[-1]
    depth = (X - 1).bit_length()
    masses = [np.concatenate([p, np.zeros((*p.shape[:-1], 2**depth - X))], -1)]
    while masses[-1].shape[-1] > 1:
        masses.append(masses[-1][..., 0::2] + masses[-1][..., 1::2])
    counts = np.asarray(n, dtype=np.int64)[..., None]
    for mass in masses[-2::-1]:
        left, right = mass[..., 0::2], mass[..., 1::2]
        whole = np.where(left + right > 0, left + right, 1.0)
        taken = binomials(rng, counts, left / whole, np.where(left + right > 0, right / whole, 1.0))
        counts = np.stack([taken, counts - taken], -1).reshape(*counts.shape[:-1], -1)
    return counts[..., :X]

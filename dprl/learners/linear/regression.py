"""Ridge regression from released sums, in explicit loops that give identical bits in compiled and plain Python code."""

from __future__ import annotations

from math import log

import numpy as np

from dprl.engine import kernel
from dprl.mdp.tabular import Array

ROUNDING = 1e-13  # a ridge below this share of the largest diagonal entry is lost in rounding


@kernel
def at_least(ridge: float, released: Array, h: int, f: int) -> float:
    """Return the ridge, raised to at least ROUNDING times the largest diagonal entry, so that it survives rounding."""
    d = released.shape[2]
    most = 0.0
    for i in range(d):
        most = max(most, abs(released[h, f, i, i]))
    return float(max(ridge, ROUNDING * most))


@kernel
def solve(released: Array, h: int, f: int, ridge: float, inverse: Array, weights: Array) -> float:
    """Solve M w = u for M = G + ridge I, with G and u from released[h, f]. Write M^-1 to inverse[h, f] and w to
    weights[h, f], and return ln det M. If M is not positive definite, write zeros and return NaN."""
    d = released.shape[2]
    L = np.zeros((d, d))
    for i in range(d):
        weights[h, f, i] = 0.0
        for j in range(d):
            inverse[h, f, i, j] = 0.0
    determinant = 0.0
    for i in range(d):
        for j in range(i + 1):
            total = released[h, f, i, j]
            if i == j:
                total += ridge
            for k in range(j):
                total -= L[i, k] * L[j, k]
            if i == j:
                if not total > 0.0:
                    return np.nan
                L[i, i] = np.sqrt(total)
                determinant += log(total)
            else:
                L[i, j] = total / L[j, j]
    column = np.zeros(d)
    # the last column is u itself, because substitution loses fewer digits than multiplying u by the inverse
    for c in range(d + 1):
        for i in range(d):
            total = 1.0 if i == c else 0.0
            if c == d:
                total = released[h, f, i, d]
            for k in range(i):
                total -= L[i, k] * column[k]
            column[i] = total / L[i, i]
        for i in range(d - 1, -1, -1):
            total = column[i]
            for k in range(i + 1, d):
                total -= L[k, i] * column[k]
            column[i] = total / L[i, i]
        for i in range(d):
            if c < d:
                inverse[h, f, i, c] = column[i]
            else:
                weights[h, f, i] = column[i]
    return determinant


@kernel
def look_up(phi: Array, h: int, f: int, inverse: Array, weights: Array, found: Array) -> None:
    """Compute <phi, w>, the norm sqrt(phi.inverse phi) and the length |inverse phi|, and write them to found [3]."""
    d = phi.shape[0]
    mean = 0.0
    square = 0.0
    length = 0.0
    for i in range(d):
        turned = 0.0
        for j in range(d):
            turned += inverse[h, f, i, j] * phi[j]
        mean += phi[i] * weights[h, f, i]
        square += phi[i] * turned
        length += turned * turned
    found[0] = mean
    found[1] = np.sqrt(max(square, 0.0))
    found[2] = np.sqrt(length)


@kernel
def project(phi: Array, one: Array, h: int, f: int, inverse: Array) -> float:
    """Return the number c for which c times the vector `one` is nearest to phi in the norm of the inverse."""
    d = phi.shape[0]
    along = 0.0
    length = 0.0
    for i in range(d):
        turned = 0.0
        for j in range(d):
            turned += inverse[h, f, i, j] * one[j]
        along += phi[i] * turned
        length += one[i] * turned
    return float(along / length) if length > 0.0 else 0.0

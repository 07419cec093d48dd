"""Functions shared by the offline learners for linear models."""

from __future__ import annotations

import numpy as np

from dprl.fields import Field
from dprl.mdp.tabular import Array

# docs/report/offline.md has our measurements
UNPROVED = (
    "the paper leaves its constants open, and the penalty does not allow for privacy noise in the values"
)
UNPROVED_WITHOUT_NOISE = "the paper leaves its constants open"
LAMBDA = Field("lambda", "float", 1.0, "ridge, lambda", low=0.0, high=1e6, low_open=True)


def raised(matrix: Array, least: float) -> tuple[Array, int]:
    """Raise a matrix's eigenvalues to at least `least`. Return the matrix, and 1 if any eigenvalue was smaller, else 0.

    The exact matrix, the sum of w phi phi^T plus lambda I, has no eigenvalue below lambda. Neither does a noisy one
    plus E/2 I, unless its noise exceeds E/2. Differences due to rounding are ignored.
    """
    eigenvalues, vectors = np.linalg.eigh(matrix)
    rounding = 8 * len(matrix) * np.finfo(float).eps * abs(eigenvalues[-1])
    if eigenvalues[0] >= least - rounding:
        return matrix, 0
    return (vectors * np.maximum(eigenvalues, least)) @ vectors.T, 1


def feature_norms(features: Array, matrix: Array) -> Array:
    """Return sqrt(phi^T matrix^-1 phi) for every (s, a), [S, A], where features [S, A, d] contains phi."""
    S, A, d = features.shape
    flat = features.reshape(-1, d)
    squares = (flat * np.linalg.solve(matrix, flat.T).T).sum(-1)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)).reshape(S, A))

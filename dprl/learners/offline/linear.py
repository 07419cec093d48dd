"""Pieces that offline learners of linear models share."""

from __future__ import annotations

import numpy as np

from dprl.fields import Field
from dprl.mdp.tabular import Array

# docs/report/offline.md has what was measured
UNPROVED = (
    "the paper leaves its constants open, and the penalty does not allow for privacy noise in the values"
)
UNPROVED_WITHOUT_NOISE = "the paper leaves its constants open"
LAMBDA = Field("lambda", "float", 1.0, "ridge, lambda", low=0.0, high=1e6, low_open=True)


def raised(matrix: Array, least: float) -> tuple[Array, int]:
    """Raise the eigenvalues of a released matrix to at least `least`, and return whether (0 or 1) it had smaller ones.

    sum w phi phi^T + lambda I has none below lambda. With the shift by E/2 a noisy one has none either, except for
    noise beyond E/2; then eigenvalues below lambda are raised to it. That uses only released values. An eigenvalue
    below by no more than rounding counts as lambda.
    """
    eigenvalues, vectors = np.linalg.eigh(matrix)
    rounding = 8 * len(matrix) * np.finfo(float).eps * abs(eigenvalues[-1])
    if eigenvalues[0] >= least - rounding:
        return matrix, 0
    return (vectors * np.maximum(eigenvalues, least)) @ vectors.T, 1


def feature_norms(features: Array, matrix: Array) -> Array:
    """Return [S, A] sqrt(phi^T matrix^-1 phi), for features: [S, A, d]."""
    S, A, d = features.shape
    flat = features.reshape(-1, d)
    squares = (flat * np.linalg.solve(matrix, flat.T).T).sum(-1)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)).reshape(S, A))

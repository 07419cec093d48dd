"""The confidence sets of a learner of a linear model after a release, for drawing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dprl.learners.linear.regression import ROUNDING
from dprl.mdp.tabular import Array


class Confidence(NamedTuple):
    """The confidence region at every regressed step h, with M = G + ridge I and Y = M^-1 x.

        |<x, w_h - weights_h>| <= beta sqrt(x.Y + slack |Y|^2) + pull |Y|   for every x.

    G is the matrix of family 0 that the learner was handed. All are arrays [.., steps], weights [.., steps, d], and NaN
    where M is not positive definite: then nothing is believed.

    Attributes:
        weights: the estimate M^-1 u.
        ridge: what is added to G.
        beta, slack, pull: of the bound; pull |Y| is what ridge and noise do to the estimate.
        shift: how far noise moves an eigenvalue of G at most, as the learner takes it.
    """

    weights: Array
    ridge: Array
    beta: Array
    slack: Array
    pull: Array
    shift: Array


class Solved(NamedTuple):
    """A regression as it is solved with some ridge; leading dimensions as in `Confidence`.

    Attributes:
        weights: [.., d], (G + ridge I)^-1 u.
        logarithms: ln det (G + ridge I).
        inverse: [.., d, d].
        fine: whether the matrix is positive definite; if not, the others are NaN.
        ridge: at least what rounding needs.
    """

    weights: Array
    logarithms: Array
    inverse: Array
    fine: Array
    ridge: Array


def solved(released: Array, ridge: Array) -> Solved:
    """Solve as `regression.solve` does for a plan, here for many releases at once: [.., d, d + 1], ridge: [..]."""
    G, u = released[..., :-1], released[..., -1]
    diagonal = np.abs(np.diagonal(G, axis1=-2, axis2=-1)).max(-1)
    ridge = np.maximum(ridge, ROUNDING * diagonal)
    values, vectors = np.linalg.eigh(G)
    values = values + ridge[..., None]
    fine = values.min(-1) > 0
    values = np.where(fine[..., None], values, np.nan)
    inverse = np.einsum("...ij,...j,...kj->...ik", vectors, 1 / values, vectors)
    weights = np.einsum("...ij,...j->...i", inverse, u)
    return Solved(weights, np.log(values).sum(-1), inverse, fine, ridge)


def widths(one: Confidence, inverse: Array) -> Array:
    """Return [.., d] how far each weight may be from its estimate."""
    squared = np.einsum("...ij,...ij->...i", inverse, inverse)
    own = np.diagonal(inverse, axis1=-2, axis2=-1) + one.slack[..., None] * squared
    return np.asarray(one.beta[..., None] * np.sqrt(own) + one.pull[..., None] * np.sqrt(squared))


def narrower(first: tuple[Confidence, Array], second: tuple[Confidence, Array]) -> Confidence:
    """Return the better of two valid sets at every step, each with its inverse [.., d, d]."""
    a, b = (np.nan_to_num(widths(*one).sum(-1), nan=np.inf) for one in (first, second))
    takes = a <= b
    return Confidence(
        *(
            np.where(takes[..., None] if x.ndim > takes.ndim else takes, x, y)
            for x, y in zip(first[0], second[0], strict=True)
        )
    )

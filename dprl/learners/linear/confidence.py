"""Confidence sets for the weights of linear models, for use in charts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dprl.learners.linear.regression import ROUNDING
from dprl.mdp.tabular import Array


class Confidence(NamedTuple):
    """The confidence sets for the weights w_h of a linear model.

    With M = G + ridge I and Y = M^-1 x, the set at each step h with a regression is given by

        |<x, w_h - weights_h>| <= beta sqrt(x.Y + slack |Y|^2) + pull |Y|   for every x.

    G is the released matrix of family 0. Attributes have the shape [.., steps], except weights [.., steps, d]. They are
    NaN if M is not positive definite, because then there is no confidence set.
    """

    weights: Array  # the estimate M^-1 u
    ridge: Array  # the multiple of I added to G
    # beta, slack, pull: the factors in the bound; pull |Y| covers the effects of ridge and noise on the estimate
    beta: Array
    slack: Array
    pull: Array
    shift: Array  # the learner's bound on how much noise changes an eigenvalue of G


class Solved(NamedTuple):
    """The solutions to many ridge regressions, in arrays with any leading dimensions [..]."""

    weights: Array  # [.., d], (G + ridge I)^-1 u
    logarithms: Array  # [..], ln det (G + ridge I)
    inverse: Array  # [.., d, d], (G + ridge I)^-1
    fine: Array  # [..], false if the matrix is not positive definite; then the three above are NaN
    ridge: Array  # [..], the given ridge, or a larger one if rounding requires it


def solved(released: Array, ridge: Array) -> Solved:
    """Solve many ridge regressions at once, with G and u in released [.., d, d + 1] and the ridges in ridge [..]."""
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
    """Return how far each weight [.., d] in a set can be from its estimate, given the inverse of G + ridge I."""
    squared = np.einsum("...ij,...ij->...i", inverse, inverse)
    own = np.diagonal(inverse, axis1=-2, axis2=-1) + one.slack[..., None] * squared
    return np.asarray(one.beta[..., None] * np.sqrt(own) + one.pull[..., None] * np.sqrt(squared))


def narrower(first: tuple[Confidence, Array], second: tuple[Confidence, Array]) -> Confidence:
    """Choose the narrower of two confidence sets at every step. Each is given with its inverse matrices [.., d, d]."""
    a, b = (np.nan_to_num(widths(*one).sum(-1), nan=np.inf) for one in (first, second))
    takes = a <= b
    return Confidence(
        *(
            np.where(takes[..., None] if x.ndim > takes.ndim else takes, x, y)
            for x, y in zip(first[0], second[0], strict=True)
        )
    )

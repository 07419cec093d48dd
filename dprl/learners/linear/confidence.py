"""Confidence sets for the weights of linear models, for use in charts."""

from __future__ import annotations

from math import log
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
    """Solve many ridge regressions at once. released [.., d, d + 1] has their G and u, and ridge [..] their ridges."""
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
    """Return how far each weight [.., d] in a set can be from its estimate. `inverse` is the inverse of G + ridge I."""
    squared = np.einsum("...ij,...ij->...i", inverse, inverse)
    own = np.diagonal(inverse, axis1=-2, axis2=-1) + one.slack[..., None] * squared
    return np.asarray(one.beta[..., None] * np.sqrt(own) + one.pull[..., None] * np.sqrt(squared))


def ellipsoid(released: Array, ridge: Array, beta: Array, shift: Array) -> Confidence:
    """Return the ellipsoids |w - weights| <= beta at D releases, in the norm of G + ridge I. ridge, beta and shift are
    [D, 1]."""
    found = solved(released[:, :, 0], np.broadcast_to(ridge, released.shape[:2]))
    nothing = np.where(found.fine, 0.0, np.nan)
    return Confidence(found.weights, found.ridge, beta + nothing, nothing, nothing, shift + nothing)


def either(
    released: Array,
    shift: Array,
    pull: Array,
    trace: Array,
    lamda: float,
    bound: float,
    proxy: float,
    spent: float,
    moved: Array | float = 0.0,
) -> Confidence:
    """Return, at every step, the narrower of two confidence sets, with ridges lambda + shift and lambda.

    shift and pull bound the noise in G and in u - G w (in u alone, if moved is shift), and trace bounds the trace of G
    without noise, [D] each. bound is C_w, proxy the targets' variance proxy, and spent 2 ln(1/failure probability).
    """
    d = released.shape[-2]
    shift = np.broadcast_to(shift[:, None], released.shape[:2])
    most = d * np.log1p(trace / (d * lamda))[:, None]
    shifted, bare = (solved(released[:, :, 0], ridge) for ridge in (lamda + shift, lamda + 0.0 * shift))
    grown = np.fmin(most, np.maximum(shifted.logarithms - d * log(lamda), 0.0))
    beta = np.sqrt(proxy * (grown + spent))
    sets = []
    for found in (shifted, bare):
        nothing = np.where(found.fine, 0.0, np.nan)
        slack = np.maximum(lamda + shift - found.ridge, 0.0) + nothing
        pulled = pull[:, None] + (moved + found.ridge) * bound + nothing
        sets.append(Confidence(found.weights, found.ridge, beta + nothing, slack, pulled, shift))
    totals = [widths(*pair).sum(-1) for pair in zip(sets, (shifted.inverse, bare.inverse), strict=True)]
    first, second = np.nan_to_num(totals, nan=np.inf)
    takes = first <= second
    return Confidence(
        *(
            np.where(takes[..., None] if x.ndim > takes.ndim else takes, x, y)
            for x, y in zip(*sets, strict=True)
        )
    )

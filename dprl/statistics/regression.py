"""Matrices and vectors for regressions on a linear model: noisy sums over the trajectories of a data set.

The features phi [S, A, d] are public and have norm at most 1. One trajectory adds one term to each sum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dprl.mdp import Size, counts
from dprl.mdp.tabular import Array
from dprl.statistics.statistic import Change


@dataclass(frozen=True, eq=False)
class Gram:
    """The query for the matrix sum of w(s, a) phi phi^T at step h, with weights w: [S, A] in (0, 1].

    Its noise is symmetric, (Z + Z^T)/sqrt 2 with independent draws Z of the family's scale (Qiao, Wang 2023, Algorithm
    2). So a change M of the matrix moves the draws by |M|_F/sqrt 2, which is the size of its `Change`.
    """

    family: str
    half: int
    h: int
    features: Array
    weights: Array

    def draws(self, size: Size) -> int:
        return int(self.features.shape[-1] ** 2)

    def answer(self, record: Array, noise: Array, error: float) -> Array:
        """Return the matrix with noise, [d, d]; `error` is not used."""
        d = self.features.shape[-1]
        Z = noise.reshape(d, d)
        weighted = counts.visits(record)[self.h] * self.weights
        gram = np.einsum("sa,sai,saj->ij", weighted, self.features, self.features)
        return np.asarray(gram + (Z + Z.T) / np.sqrt(2))


@dataclass(frozen=True, eq=False)
class Moment:
    """The query for the sum of w(s, a) phi (r + V(s')) at step h. V is [S], and r is left out unless `rewarded`."""

    family: str
    half: int
    h: int
    features: Array
    weights: Array
    values: Array
    rewarded: bool

    def draws(self, size: Size) -> int:
        return int(self.features.shape[-1])

    def answer(self, record: Array, noise: Array, error: float) -> Array:
        """Return the vector with noise, [d]; `error` is not used."""
        targets = counts.transitions(record)[self.h] @ self.values
        if self.rewarded:
            targets = targets + counts.rewards(record)[self.h]
        return np.asarray(np.einsum("sa,sai->i", targets * self.weights, self.features) + noise)


def gram_change(features: Array) -> tuple[Change, Change]:
    """Return the largest changes of a Gram matrix if a trajectory is replaced by another one and by an empty one.

    |u phi phi^T - u' phi' phi'^T|_F is convex in the weights u, u' in [0, 1], so it is largest at their ends.
    """
    flat = features.reshape(-1, features.shape[-1])
    products = flat @ flat.T
    squares = np.diag(products)
    alone = float((squares**2).max())
    replaced = float((squares[:, None] ** 2 + squares**2 - 2 * products**2).max())
    return _moved(max(alone, replaced) / 2), _moved(alone / 2)


def moment_change(features: Array, top: float) -> tuple[Change, Change]:
    """Return the largest changes of a vector (see `gram_change`) for weighted targets in [0, top]. The changes are
    convex in the targets, so they are largest at the ends."""
    flat = features.reshape(-1, features.shape[-1])
    products = flat @ flat.T
    squares = np.diag(products)
    alone = float(squares.max())
    apart = float((squares[:, None] + squares - 2 * products).max())
    return _moved(top**2 * max(alone, apart)), _moved(top**2 * alone)


def centred_change(features: Array) -> tuple[Change, Change]:
    """Return the largest changes of a vector (see `gram_change`) for targets in [-1/2, 1/2]."""
    squares = (features**2).sum(-1)
    return _moved(float(squares.max())), _moved(float(squares.max()) / 4)


def bounded_gram() -> tuple[Change, Change]:
    """Return the largest changes of a Gram matrix if |phi| <= 1: sqrt 2 for another trajectory, 1 for an empty one."""
    return _moved(1.0), _moved(0.5)


def bounded_moment(top: float) -> tuple[Change, Change]:
    """Return the largest changes of a vector if |phi| <= 1: 2 top for another trajectory, top for an empty one."""
    return _moved(4 * top**2), _moved(top**2)


def _moved(l2_squared: float) -> Change:
    """Return a one-way change of a single cell with this squared L2 norm."""
    return Change(((1, float(np.sqrt(l2_squared))),), one_way=True)

"""Least-squares sums of a learner of a linear MDP that plans rarely: matrices at every look, vectors only where it
plans.

A user counts w at (s_h, a_h), between 1 and `weight`, which follows from what was released before the user came. At
step h the matrix is the sum of w phi phi^T over all users so far, a running sum. What a plan asks for are `families`
vectors a step, sums of w phi y(r_h, s_{h+1}) with y in [-1/2, 1/2], each answered from all that has happened so far,
with noise of its own. How often there may be a plan is fixed before the run. The record is [H, families, d, d + 1]: the
matrix in each family, and in the last column its vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from dprl.kernels import kernel
from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.messages import filled, messages
from dprl.statistics.feature_gram import FeatureGram
from dprl.statistics.statistic import REPLACE_ONE, Change

MOVED = messages("cards")["moved"]


@dataclass(frozen=True)
class SwitchedGram(FeatureGram):
    """See `FeatureGram`, whose `releases` are the plans that there may be.

    Attributes:
        families: vectors that a plan asks for at each step.
        weight: the most that one user counts.
        looks: how often matrices are released, at most.
    """

    families: int = 1
    weight: float = 1.0
    looks: int = 1

    parts = "the matrices of features and the regressions of values, summed anew at each policy update"
    norms = ("l2",)  # type: ignore[assignment]
    prints = ()  # type: ignore[assignment]

    @property
    def formula(self) -> str:  # type: ignore[override]
        """Numbers released each time, in terms of the size."""
        return f"H*d*(d+{1 + 2 * self.families})/2"

    @property
    def moved(self) -> str:
        """What replacing one user moves, in words."""
        plans = f"{self.releases:,}"
        if self.families == 1:
            return filled(MOVED["vector"], plans=plans)
        return filled(MOVED["vectors"], vectors=self.families, plans=plans)

    def moves(self, adjacency: str, H: int) -> tuple[float, float]:
        """How far one user moves the draws of a matrix, and of one vector, at a step, at most.

        |w phi phi^T - w' phi' phi'^T|_F^2 = w^2 |phi|^4 + w'^2 |phi'|^4 - 2 w w' (phi.phi')^2 <= 2 weight^2, and a
        matrix's change moves its draws by 1/sqrt 2 of that; |w phi y - w' phi' y'| <= weight.
        """
        matrix, vector = super().moves(adjacency, H)
        return self.weight * matrix, self.weight * vector

    def units(self, size: Size) -> tuple[float, float]:
        """Of matrices and of vectors, in which they are released: as `FeatureGram`, for a user who is seen about 1 + ln
        looks times in matrices, and in `families` vectors of each plan."""
        a, b = self.moves(REPLACE_ONE, size.H)
        matrix = (a**2 * (1 + log(self.looks)) / (2 * sqrt(size.d))) ** (1 / 3)
        return matrix, (b**2 * self.families * self.releases) ** (1 / 3)

    def cells(self, size: Size) -> int:
        """Numbers released each time: for each step an upper triangle and as many vectors as there are families."""
        return size.H * size.d * (size.d + 1 + 2 * self.families) // 2

    def sensitivity(self, size: Size, adjacency: str) -> Change:
        """What one user moves, all steps together: of matrices once, of vectors in every plan."""
        ratios = [x / unit for x, unit in zip(self.moves(adjacency, size.H), self.units(size), strict=True)]
        vectors = (size.H * self.families, ratios[1])
        return Change(((size.H, ratios[0]),), one_way=True, anew=(vectors,), asked=self.releases)

    def scales(self, size: Size, scale: float) -> Array:
        """[cells] of the noise: all matrices, sqrt 2 times as large on a diagonal, and then all vectors."""
        rows, columns = np.triu_indices(size.d)
        matrix, vector = self.units(size)
        triangle = matrix * np.where(rows == columns, sqrt(2), 1.0)
        vectors = np.full(size.H * self.families * size.d, vector)
        return np.asarray(scale * np.concatenate([np.tile(triangle, size.H), vectors]))


@kernel
def count(block: Array, worth: Array, weighted: Array, total: Array) -> None:
    """Add a block's counts to those of all users, and what they count to the weighted ones, and empty the block.

    Args:
        block, weighted, total: [H, S, A, S + 2].
        worth: [H, S, A], what each counts.
    """
    H, S, A, width = block.shape
    for h in range(H):
        for s in range(S):
            for a in range(A):
                if block[h, s, a, S] == 0.0:
                    continue
                for x in range(width):
                    total[h, s, a, x] += block[h, s, a, x]
                    weighted[h, s, a, x] += worth[h, s, a] * block[h, s, a, x]
                    block[h, s, a, x] = 0.0


@kernel
def answered(weighted: Array, h: int, asked: Array, features: Array, sums: Array) -> None:
    """The vectors of step h that are asked for.

    Args:
        weighted: [H, S, A, S + 2], what all users so far count.
        asked: [H, families, S + 2]: y = asked[s'] + asked[S] + asked[S + 1] r.
        features: [S, A, d].
        sums: [H, families, d, d + 1] gets the vectors.
    """
    _, S, A, width = weighted.shape
    d = features.shape[2]
    for f in range(asked.shape[1]):
        for i in range(d):
            sums[h, f, i, d] = 0.0
        for s in range(S):
            for a in range(A):
                if weighted[h, s, a, S] == 0.0:
                    continue
                total = 0.0
                for x in range(width):
                    total += weighted[h, s, a, x] * asked[h, f, x]
                for i in range(d):
                    sums[h, f, i, d] += total * features[s, a, i]


@kernel
def hide_vectors(sums: Array, h: int, noise: Array, scales: Array, noisy: Array) -> float:
    """noisy = sums + noise in the vectors of step h. Returns the largest unit draw.

    Args:
        sums, noisy: [H, families, d, d + 1].
        noise: [families d], unit noise; scales: [cells], what multiplies it.
    """
    _, families, d, _ = sums.shape
    worst = 0.0
    scale = scales[scales.shape[0] - 1]
    for f in range(families):
        for i in range(d):
            noisy[h, f, i, d] = sums[h, f, i, d] + scale * noise[f * d + i]
            worst = max(worst, abs(noise[f * d + i]))
    return worst


@kernel
def matrices(looked: Array, sums: Array) -> None:
    """The matrices of a look, [H, 1, d, d + 1], become those of each family of sums: [H, families, d, d + 1]."""
    H, families, d, _ = sums.shape
    for h in range(H):
        for f in range(families):
            for i in range(d):
                for j in range(d):
                    sums[h, f, i, j] = looked[h, 0, i, j]

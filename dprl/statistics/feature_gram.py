"""Sums for least-squares regressions of values in a linear MDP (Luyo et al. 2021, Algorithm 2).

At step h, the matrix is the running sum of phi phi^T over all users so far, with phi = phi(s_h, a_h). The vector is the
sum of phi y with y = (r_h + V(s_{h+1}) - middle)/unit, for the V that the learner has just proposed. It is computed
again at each release, from all data so far and with new noise. The array [H, 1, d, d + 1] has a symmetric matrix, and a
vector in the last column.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, log, log2, sqrt
from typing import Self

import numpy as np

from dprl.engine import kernel
from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.statistics.statistic import REPLACE_ONE, Change, PaperScale, Statistic, remarks


@dataclass(frozen=True)
class FeatureGram(Statistic):
    """The matrices and vectors of least-squares regressions, as a statistic. Features have length at most 1.

    Matrix noise is symmetric, (Z + Z^T)/sqrt 2 with independent draws Z, so its scale on the diagonal is sqrt 2 times
    the scale elsewhere. Two equal numbers share one stored draw.
    """

    centred: bool = True  # whether y is centred, in [-1/2, 1/2]; otherwise it is r + V, in [0, H + 1]
    releases: int = 1  # the number of releases of the vectors
    norm: str = "l2"  # the norm of changes that the noise is calibrated to: l1 or l2
    spread: float = 1.0  # the largest L1 norm of a feature, which determines the l1 norm of changes
    even: bool = False  # whether matrices and vectors are released in optimal units, see `units`

    parts = "the matrices of features and the regressions of values, summed again at each release"
    moved = "a matrix at each step, and a vector at each step of each release"
    formula = "H*d*(d+3)/2"
    norms = ("l2", "l1")
    in_papers = ("gaussian-tree",)

    def moves(self, adjacency: str, H: int) -> tuple[float, float]:
        """Return one user's largest effects on one step's matrix and vector, as shifts of the noise draws.

        l2: |phi phi^T - phi' phi'^T|_F / sqrt 2 <= 1 and |phi y - phi' y'| <= 2 max |y|. l1, for |phi|_1 <= c: the
        draws of phi phi^T add up to at most (c^2 - 1)/2 + 1/sqrt 2 for c >= 1, and |phi y|_1 <= c max |y|.
        """
        most = 0.5 if self.centred else H + 1.0
        if self.norm == "l2":
            matrix, vector = 1 / sqrt(2), most
            return (1.0, 2 * vector) if adjacency == REPLACE_ONE else (matrix, vector)
        c = max(self.spread, 1.0)
        matrix, vector = (c * c - 1) / 2 + 1 / sqrt(2), c * most
        return (2 * matrix, 2 * vector) if adjacency == REPLACE_ONE else (matrix, vector)

    def units(self, size: Size) -> tuple[float, float]:
        """Return the units in which matrices and vectors are released.

        If `even`, the noise has the smallest effect for the same privacy loss. Noise m on matrices and v on vectors
        moves u - G w by about v + 2 |w| m, with |w| about sqrt d, and a user's data are in about 1 + ln B releases of
        matrices and B of vectors. So m and v are proportional to ((a^p (1 + ln B))/(2 sqrt d))^(1/(p+1)) and (b^p
        B)^(1/(p+1)), with p = 2 for l2 and 1 for l1. Otherwise the units are as in the paper, sigma_u = H sigma_Lambda
        / sqrt(B0) for values in [0, H + 1], divided by H + 1 for centred values.
        """
        if not self.even:
            vector = size.H / sqrt(doublings(self.releases))
            return 1.0, vector / (size.H + 1) if self.centred else vector
        a, b = self.moves(REPLACE_ONE, size.H)
        B, p = self.releases, 2 if self.norm == "l2" else 1
        matrix = (a**p * (1 + log(B)) / (2 * sqrt(size.d))) ** (1 / (p + 1))
        return matrix, (b**p * B) ** (1 / (p + 1))

    def cells(self, size: Size) -> int:
        """Return how many numbers each release has: an upper triangle and a vector for each step."""
        return size.H * size.d * (size.d + 3) // 2

    def row(self, size: Size) -> int:
        """Return d, the length of a vector. The noise in matrices is bounded in learners/linear/value_iteration.py."""
        return size.d

    def sensitivity(self, size: Size, adjacency: str) -> Change:
        """Return one user's largest effect over all steps. Matrices are affected once, but vectors in every release."""
        ratios = [x / unit for x, unit in zip(self.moves(adjacency, size.H), self.units(size), strict=True)]
        matrices, vectors = ((size.H, ratio) for ratio in ratios)
        return Change((matrices,), one_way=True, anew=(vectors,))

    def scales(self, size: Size, scale: float) -> Array:
        """Return the noise scales [cells] of matrices, then of vectors. They are sqrt 2 times as large on diagonals."""
        rows, columns = np.triu_indices(size.d)
        matrix, vector = self.units(size)
        triangle = matrix * np.where(rows == columns, sqrt(2), 1.0)
        vectors = np.full(size.H * size.d, vector)
        return np.asarray(scale * np.concatenate([np.tile(triangle, size.H), vectors]))

    def evened(self) -> Self:
        return replace(self, even=True)

    def paper_noise(self, model: str, size: Size, K: int, epsilon: float, delta: float) -> PaperScale:
        """Return the paper's noise in matrices, sigma_Lambda (Luyo et al. 2021, Appendix E.1). `units` has sigma_u."""
        H, B = size.H, self.releases
        B0 = doublings(B)
        scale = 128 / epsilon * sqrt(B * H * B0) * log(32 * H * B0 * B / delta) ** 2
        formula = (
            f"σ_Λ = (128/ε) √(BHB₀) ln²(32HB₀B/δ) in each node of a tree over B = {B:,} batches, B₀ = ⌈log₂B + 1⌉ = "
            f"{B0}, and σ_u = (128/ε) H √(HB) ln²(32HB₀B/δ) in each vector"
        )
        note = "matrix noise is (Z + Zᵀ)/√2: Algorithm 2 of Luyo et al. 2021 states (Z + Zᵀ)/2, and its proof uses √2"
        sources, notes = ("L21 Theorem 8, Appendix E.1",), remarks(epsilon, note)
        return PaperScale(scale, formula, sources, notes, float(B0), of_users=False)


def doublings(batches: int) -> int:
    """Return B0 = ceil(log2 B + 1) for B batches (Luyo et al. 2021, Appendix E.1)."""
    return ceil(log2(batches) + 1)


@kernel
def design(counts: Array, features: Array, sums: Array) -> None:
    """Write the sums of all visits' feature matrices to `sums` [H, 1, d, d + 1]. counts is [H, S, A, S + 2]."""
    H, S, A, _ = counts.shape
    d = features.shape[2]
    for h in range(H):
        for i in range(d):
            for j in range(d):
                sums[h, 0, i, j] = 0.0
        for s in range(S):
            for a in range(A):
                n = counts[h, s, a, S]
                if n == 0.0:
                    continue
                for i in range(d):
                    for j in range(d):
                        sums[h, 0, i, j] += n * features[s, a, i] * features[s, a, j]


@kernel
def regressed(
    counts: Array, h: int, features: Array, V: Array, middle: Array, unit: Array, sums: Array
) -> None:
    """Compute step h's regression vector for the values V [H + 1, S], and write it to `sums` (see `design`). `middle`
    and `unit` [H] are the centre and the range of r + V at each step."""
    _, S, A, _ = counts.shape
    d = features.shape[2]
    for i in range(d):
        sums[h, 0, i, d] = 0.0
    for s in range(S):
        for a in range(A):
            n = counts[h, s, a, S]
            if n == 0.0:
                continue
            total = counts[h, s, a, S + 1] - n * middle[h]
            for x in range(S):
                total += counts[h, s, a, x] * V[h + 1, x]
            total /= unit[h]
            for i in range(d):
                sums[h, 0, i, d] += total * features[s, a, i]


@kernel
def moved(counts: Array, features: Array, sums: Array) -> None:
    """Sum the features of the users who moved to each state, into sums [H, d, S]. Used only without privacy."""
    H, S, A, _ = counts.shape
    d = features.shape[2]
    for h in range(H):
        for i in range(d):
            for x in range(S):
                sums[h, i, x] = 0.0
        for s in range(S):
            for a in range(A):
                if counts[h, s, a, S] == 0.0:
                    continue
                for x in range(S):
                    for i in range(d):
                        sums[h, i, x] += counts[h, s, a, x] * features[s, a, i]


@kernel
def hide_matrices(sums: Array, noise: Array, scales: Array, noisy: Array) -> float:
    """Add noise to the symmetric matrices in `sums`, write them to `noisy`, and return the largest absolute unit draw.
    sums and noisy are [H, 1, d, d + 1]; noise [H d (d + 1)/2] is unit noise, and scales [cells] are its scales."""
    H, _, d, _ = sums.shape
    worst = 0.0
    c = 0
    for h in range(H):
        for i in range(d):
            for j in range(i, d):
                noisy[h, 0, i, j] = sums[h, 0, i, j] + scales[c] * noise[c]
                noisy[h, 0, j, i] = noisy[h, 0, i, j]
                worst = max(worst, abs(noise[c]))
                c += 1
    return worst


@kernel
def hide_vector(sums: Array, h: int, noise: Array, scales: Array, noisy: Array) -> float:
    """Add noise to step h's vector, write it to `noisy`, and return the largest absolute draw of the unit noise [d]."""
    H, _, d, _ = sums.shape
    worst = 0.0
    scale = scales[scales.shape[0] - (H - h) * d]
    for i in range(d):
        noisy[h, 0, i, d] = sums[h, 0, i, d] + scale * noise[i]
        worst = max(worst, abs(noise[i]))
    return worst

"""Sums for regressions of values on features, used by a learner of linear mixtures (Luyo et al. 2021, Algorithm 1).

At step h, the sums are of X X^T and X y(s_{h+1}), with y = (V_{h+1} - middle) / unit from the plan before the user came
and X = sum over s' of phi(s'|s_h, a_h) y(s'). The last step has no regression, because V = 0 after it. The array [H -
1, 1, d, d + 1] has a symmetric matrix, and a vector in the last column.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, log, log2, sqrt

import numpy as np

from dprl.engine import kernel
from dprl.mdp import Size
from dprl.mdp.mixture import expected
from dprl.mdp.tabular import Array
from dprl.statistics.statistic import REPLACE_ONE, Change, PaperScale, Statistic, remarks

SYMMETRIC = (  # a remark on the paper's noise
    "matrix noise is symmetric, (Z + Zᵀ)/√2, and Q is clipped at 0. The paper does not mention clipping. Without "
    "it, noise could make V negative, and the bound on the sensitivity would not hold"
)


@dataclass(frozen=True)
class ValueRegression(Statistic):
    """The sums for regressions of values, as a statistic. Features are nonnegative, and |phi_v| <= 1 for v in [0, 1].

    Matrix noise is symmetric, (Z + Z^T)/sqrt 2 with independent draws Z, and two equal numbers share one stored draw.
    So a change D of the matrix moves the draws by |D|_F / sqrt 2.
    """

    centred: bool = True  # whether y is centred, in [-1/2, 1/2]; otherwise it is V, in [0, H]
    even: bool = False  # whether matrices and vectors are released in optimal units, see `units`

    families = 1
    parts = "the regressions of values on features"
    moved = "a matrix and a vector at each step but the last"
    formula = "(H-1)*d*(d+3)/2"
    norms = ("l2",)
    in_papers = ("gaussian-tree", "gaussian")

    def weight(self, size: Size) -> float:
        """Return the largest weight of one user's data in a regression."""
        return 1.0

    def moves(self, size: Size, adjacency: str) -> tuple[float, ...]:
        """Return one user's largest effects on each family's matrix and vector at a step, as shifts of the noise draws.

        With values in [0, H], X, X', V >= 0, |X X^T - X' X'^T|_F^2 = |X|^4 + |X'|^4 - 2 (X.X')^2 <= 2 H^4 and |X y - X'
        y'|^2 <= |X y|^2 + |X' y'|^2 <= 2 H^4. With values in [-1/2, 1/2], |X| <= 1/2, so the first is <= 2/16, while X
        y may change from v to -v, by 1/2. Blanking changes both to zero, by 1/sqrt 2 and 1 times one user's maximum.
        """
        most = (0.25 if self.centred else float(size.H**2)) * self.weight(size)
        if adjacency != REPLACE_ONE:
            return most / sqrt(2), most
        return most, most * (2.0 if self.centred else sqrt(2))

    def units(self, size: Size) -> Array:
        """Return the units in which matrices and vectors are released, [H - 1, 2 families].

        If `even`, the noise has the smallest effect. Noise m on G and v on u gives u - G w the variance v^2 + 2 |w|^2
        m^2. If a user moves a matrix by a and a vector by b, then for a given (a / m)^2 + (b / v)^2 the variance is
        smallest with m^2 and v^2 proportional to a / (sqrt 2 |w|) and b; we assume |w| = sqrt d. In these units a user
        moves a step by 1. Otherwise they are as in the paper, for values in [0, H]; centred values are multiplied by H.
        """
        if self.even:
            units = balanced(self.moves(size, REPLACE_ONE), size.d)
        else:
            units = [1 / size.H**2 if self.centred else 1.0] * 2
        return np.tile(units, (size.H - 1, 1))

    def cells(self, size: Size) -> int:
        return (size.H - 1) * self.families * size.d * (size.d + 3) // 2

    def row(self, size: Size) -> int:
        """Return d, the number of noise draws in a row. The length of these draws bounds the noise in G or in u - G w
        at a step. Each step and family has (d + 3)/2 rows, at least the two that both bounds need."""
        return size.d

    def sensitivity(self, size: Size, adjacency: str) -> Change:
        """Return one user's largest joint effect on the draws of noise at all steps."""
        ratios = np.array(self.moves(size, adjacency)) / self.units(size)
        return Change(((1, sqrt(float((ratios**2).sum()))),), one_way=True)

    def scales(self, size: Size, scale: float) -> Array:
        """Return the noise scale of each draw, [cells]. It is sqrt 2 times as large on a diagonal."""
        rows, columns = np.triu_indices(size.d)
        triangle = np.where(rows == columns, sqrt(2), 1.0)
        pairs = self.units(size).reshape(-1, 2)
        cells = [np.concatenate([m * triangle, np.full(size.d, v)]) for m, v in pairs]
        return np.asarray(scale * np.concatenate(cells))

    def evened(self) -> ValueRegression:
        return replace(self, even=True)

    def paper_noise(self, model: str, size: Size, K: int, epsilon: float, delta: float) -> PaperScale:
        """Return the paper's noise, sigma_B of Luyo et al. (2021), Corollaries 5 and 6."""
        H, K0 = size.H, ceil(log2(K) + 1)
        if model == "central":
            logs = log(8 * H / delta) * log(4 / delta) * log(16 * H * K0 / delta)
            scale = 32 * H * H / epsilon * sqrt(2 * H * K0 * logs)
            formula = (
                f"σ = (32H²/ε) √(2HK₀ ln(8H/δ) ln(4/δ) ln(16HK₀/δ)) in each node of a tree over the users, K₀ = "
                f"⌈log₂K + 1⌉ = {K0}"
            )
            return PaperScale(scale, formula, ("L21 Corollary 5",), remarks(epsilon, SYMMETRIC), sqrt(K0))
        scale = 4 * H**3 / epsilon * sqrt(2 * log(4 * H / delta))
        formula = "σ = (4H³/ε) √(2 ln(4H/δ)) on each number of each user"
        return PaperScale(scale, formula, ("L21 Corollary 6",), remarks(epsilon, SYMMETRIC), sqrt(K))


def balanced(moves: tuple[float, ...], d: int) -> list[float]:
    """Return the units of a matrix and a vector that minimise the effect of the noise, given one user's effects."""
    matrix, vector = moves
    ratio = matrix / sqrt(2 * d)
    length = sqrt(matrix * matrix / ratio + vector)
    return [sqrt(ratio) * length, sqrt(vector) * length]


@kernel
def gather(
    block: Array, features: Array, V: Array, middle: Array, unit: Array, worth: Array, sums: Array
) -> None:
    """Add a block of users to the regression sums [H - 1, families, d, d + 1], and clear the block.

    block: counts of users with the same V [H, S, A, S + 2]; features: [S, A, S, d]; V [H + 1, S], middle, unit [H, S,
    A]: as planned; worth: a user's weight in family 0 [H, S, A].
    """
    steps, families, d, _ = sums.shape
    H, S, A, _ = block.shape
    X = np.zeros(d)
    for h in range(steps):
        for s in range(S):
            for a in range(A):
                n = block[h, s, a, S]
                if n == 0.0:
                    continue
                for f in range(families):
                    expected(features, s, a, V, h + 1, middle[h, s, a], unit[h, s, a], f + 1, X)
                    total = 0.0
                    for x in range(S):
                        y = (V[h + 1, x] - middle[h, s, a]) / unit[h, s, a]
                        total += block[h, s, a, x] * (y * y if f == 1 else y)
                    share = worth[h, s, a] if f == 0 else 1.0
                    for i in range(d):
                        for j in range(d):
                            sums[h, f, i, j] += n * share * X[i] * X[j]
                        sums[h, f, i, d] += total * share * X[i]
    for h in range(H):
        for s in range(S):
            for a in range(A):
                for x in range(S + 2):
                    block[h, s, a, x] = 0.0


@kernel
def add_symmetric(sums: Array, noise: Array, scales: Array, noisy: Array) -> float:
    """Add noise to sums, keep matrices symmetric, write the result to `noisy`, and return the largest absolute unit
    draw. sums and noisy are [H - 1, families, d, d + 1]; noise and scales [cells] are the unit noise and its scales."""
    steps, families, d, _ = sums.shape
    worst = 0.0
    c = 0
    for h in range(steps):
        for f in range(families):
            for i in range(d):
                for j in range(i, d):
                    z = scales[c] * noise[c]
                    noisy[h, f, i, j] = sums[h, f, i, j] + z
                    noisy[h, f, j, i] = noisy[h, f, i, j]
                    worst = max(worst, abs(noise[c]))
                    c += 1
            for i in range(d):
                noisy[h, f, i, d] = sums[h, f, i, d] + scales[c] * noise[c]
                worst = max(worst, abs(noise[c]))
                c += 1
    return worst

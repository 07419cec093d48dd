"""Sums of a regression of values on features: what a learner of a linear mixture sees of its users (L21 Algorithm 1).

With y = (V_{h+1} - middle) / unit, as planned before the user came, and X = sum over s' of phi(s'|s_h, a_h) y(s'), the
sums at step h are of X X^T and X y(s_{h+1}). There is nothing to regress at the last step, where V = 0. The record is
[H - 1, 1, d, d + 1]: a symmetric matrix, and in the last column a vector.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, log, log2, sqrt

import numpy as np

from dprl.engine import kernel
from dprl.mdp import Size
from dprl.mdp.mixture import expected
from dprl.mdp.tabular import Array
from dprl.statistics.statistic import REPLACE_ONE, Change, PaperScale


@dataclass(frozen=True)
class ValueRegression:
    """Regression sums as a statistic. Features are not negative, and |phi_v| <= 1 for v in [0, 1].

    Noise is symmetric, M = (Z + Z^T)/sqrt 2 with Z of independent draws: of one scale off the diagonal and sqrt 2 times
    that on it. One draw is kept for each pair of equal numbers, so a change D of the matrix moves the draws by
    |D|_F / sqrt 2 of them.

    Attributes:
        centred: y is in [-1/2, 1/2], else it is V itself, in [0, H].
        even: whether matrices and vectors are released in units that make the best of a budget, see `units`.
    """

    centred: bool = True
    even: bool = False

    kind = "value-regression"
    then = ""
    families = 1
    parts = "the regressions of values on features"
    paper_norm = ""
    formula = "(H-1)*d*(d+3)/2"
    counted = False
    norms = ("l2",)
    in_papers = ("gaussian-tree", "gaussian")

    @property
    def moved(self) -> str:
        """Describe the effect of replacing one user."""
        return "a matrix and a vector at each step but the last"

    @property
    def evening(self) -> str:
        """Describe the scaling that lets its parts tolerate the same noise."""
        return "releasing matrices and vectors in units of their own"

    def weight(self, size: Size) -> float:
        """Return the largest weight of one user."""
        return 1.0

    def moves(self, size: Size, adjacency: str) -> tuple[float, ...]:
        """Return the most that one user moves the draws of a matrix and of a vector at a step, of each family.

        Values in [0, H]: with X, X' and V >= 0, |X X^T - X' X'^T|_F^2 = |X|^4 + |X'|^4 - 2 (X.X')^2 <= 2 H^4, and
        |X y - X' y'|^2 <= |X y|^2 + |X' y'|^2 <= 2 H^4. In [-1/2, 1/2]: |X| <= 1/2, so the first is <= 2/16, while
        X y may go from v to -v, by 1/2. Blanked, from zero: 1/sqrt 2 and 1 of the most that one user has.
        """
        most = (0.25 if self.centred else float(size.H**2)) * self.weight(size)
        if adjacency != REPLACE_ONE:
            return most / sqrt(2), most
        return most, most * (2.0 if self.centred else sqrt(2))

    def units(self, size: Size) -> Array:
        """Return [H - 1, 2 families], of matrices and of vectors, in which they are released.

        Even: the effect of noise m on G and v on u on u - G w has variance v^2 + 2 |w|^2 m^2. If a user moves a matrix
        by a and a vector by b, of all with the same (a / m)^2 + (b / v)^2 the least has m^2 and v^2 in proportion to
        a / (sqrt 2 |w|) and b; |w| is taken as sqrt d. A user then moves a step by 1.
        Otherwise as in the paper, for values in [0, H]: centred ones are multiplied by H.
        """
        if self.even:
            units = balanced(self.moves(size, REPLACE_ONE), size.d)
        else:
            units = [1 / size.H**2 if self.centred else 1.0] * 2
        return np.tile(units, (size.H - 1, 1))

    def cells(self, size: Size) -> int:
        """Return the numbers released each time: an upper triangle and a vector for each step."""
        return (size.H - 1) * self.families * size.d * (size.d + 3) // 2

    def row(self, size: Size) -> int:
        """d: what noise does to G and to u - G w at a step is bounded from the length of that many draws. There are
        (d + 3)/2 times as many rows as steps and families, two at least: enough for both."""
        return size.d

    def rows(self, size: Size) -> int:
        """Return the number of rows that the draws fill."""
        return self.cells(size) // size.d

    def sensitivity(self, size: Size, adjacency: str) -> Change:
        """Return the effect of one user, all steps together."""
        ratios = np.array(self.moves(size, adjacency)) / self.units(size)
        return Change(((1, sqrt(float((ratios**2).sum()))),), one_way=True)

    def scales(self, size: Size, scale: float) -> Array:
        """Return [cells] of the noise, sqrt 2 times as large on a diagonal."""
        rows, columns = np.triu_indices(size.d)
        triangle = np.where(rows == columns, sqrt(2), 1.0)
        pairs = self.units(size).reshape(-1, 2)
        cells = [np.concatenate([m * triangle, np.full(size.d, v)]) for m, v in pairs]
        return np.asarray(scale * np.concatenate(cells))

    def counter(self, scale: float) -> float:
        """Return the scale of a draw, in units of release."""
        return scale

    def error_bound(self, scale: float, tail: Array) -> Array:
        """Return the largest possible draw before it is multiplied."""
        return tail

    def evened(self) -> ValueRegression:
        """Return what is released, in units that make the best of a budget."""
        return replace(self, even=True)

    def paper_noise(self, model: str, size: Size, K: int, epsilon: float, delta: float) -> PaperScale:
        """Return sigma_B of L21 Corollaries 5 and 6."""
        H, K0 = size.H, ceil(log2(K) + 1)
        if model == "central":
            logs = log(8 * H / delta) * log(4 / delta) * log(16 * H * K0 / delta)
            scale = 32 * H * H / epsilon * sqrt(2 * H * K0 * logs)
            formula = (
                f"σ = (32H²/ε) √(2HK₀ ln(8H/δ) ln(4/δ) ln(16HK₀/δ)) in each node of a tree over the users, K₀ = "
                f"⌈log₂K + 1⌉ = {K0}"
            )
            return PaperScale(scale, formula, ("L21 Corollary 5",), notes_of(epsilon), sqrt(K0))
        scale = 4 * H**3 / epsilon * sqrt(2 * log(4 * H / delta))
        formula = "σ = (4H³/ε) √(2 ln(4H/δ)) on each number of each user"
        return PaperScale(scale, formula, ("L21 Corollary 6",), notes_of(epsilon), sqrt(K))


def balanced(moves: tuple[float, ...], d: int) -> list[float]:
    """Units of a matrix and a vector, whose draws a user moves so far, that make the best of a budget, see `units`."""
    matrix, vector = moves
    ratio = matrix / sqrt(2 * d)
    length = sqrt(matrix * matrix / ratio + vector)
    return [sqrt(ratio) * length, sqrt(vector) * length]


def notes_of(epsilon: float) -> tuple[str, ...]:
    """Return a card's notes on noise as in the paper, in addition to its proved guarantee."""
    notes = [
        "matrix noise is symmetric, (Z + Zᵀ)/√2, and Q is clipped at 0. L21 does not state the clipping. Without it "
        "noise could make V negative, and the sensitivity would not hold"
    ]
    if epsilon >= 1:
        notes.append(
            f"L21 proves its noise for epsilon below 1; at {epsilon:g} only the accountant's readings hold"
        )
    return tuple(notes)


@kernel
def gather(
    block: Array, features: Array, V: Array, middle: Array, unit: Array, worth: Array, sums: Array
) -> None:
    """Add what a block's users send, and empty the block.

    Args:
        block: [H, S, A, S + 2], counts of users for whom V was the same.
        features: [S, A, S, d].
        V: [H + 1, S], middle, unit: [H, S, A], as planned.
        worth: [H, S, A], how much each counts in family 0.
        sums: [H - 1, families, d, d + 1].
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
    """Write sums + noise into noisy, the same in both triangles. Returns the largest unit draw.

    Args:
        sums, noisy: [H - 1, families, d, d + 1].
        noise, scales: [cells], unit noise and what multiplies it.
    """
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

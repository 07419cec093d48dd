"""Sums for two regressions, of values and of their squares: the statistic of UCRL-VTR+ (Luyo et al. 2021, Algorithm 3).

Family 0 has the sums of value_regression.py with weights 1/v, where v bounds the variance of y(s_{h+1}) and is computed
from earlier releases. Family 1 has the sums of X2 X2^T and X2 y(s_{h+1})^2, with X2 = sum over s' of phi(s'|s_h, a_h)
y(s')^2. The array is [H - 1, 2, d, d + 1].
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log, log2, sqrt

import numpy as np

from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.messages import filled
from dprl.statistics.statistic import PAPER, REPLACE_ONE, PaperScale, remarks
from dprl.statistics.value_regression import SYMMETRIC, ValueRegression, balanced

SQUARES = 0.05  # share of the budget for squares, which only help to bound variances


@dataclass(frozen=True)
class WeightedRegression(ValueRegression):
    """The sums for two regressions, a weighted one of values and one of their squares (see `ValueRegression`).

    Centred values lie in [-1/2, 1/2] at all states possible after (s, a), with a middle and a unit for each (s, a).
    """

    families = 2
    parts = "the regressions of values and of their squares on features"
    moved = "two matrices and two vectors at each step but the last"
    formula = "(H-1)*d*(d+3)"

    def weight(self, size: Size) -> float:
        """Return the largest weight 1/v of one user's data. The smallest v is the squared range of y divided by d
        (Luyo et al. 2021, Algorithm 3), and at most 1/4 for a range of 1, because no variance is larger."""
        return max(4.0, float(size.d)) if self.centred else size.d / size.H**2

    def moves(self, size: Size, adjacency: str) -> tuple[float, ...]:
        """Return a user's largest effects on both regressions. |X2| and y^2 are at most H^2, or 1/4 if centred."""
        most = 1 / 16 if self.centred else float(size.H**4)
        squares = (most, most * sqrt(2)) if adjacency == REPLACE_ONE else (most / sqrt(2), most)
        return (*super().moves(size, adjacency), *squares)

    def units(self, size: Size) -> Array:
        """Return the units of both regressions. The regression of squares receives the share SQUARES of the budget. As
        in the paper, sigma_B2 is H^4/d times sigma_B1; centred squares are multiplied by H^2."""
        if self.even:
            moves = self.moves(size, REPLACE_ONE)
            first, second = (np.array(balanced(moves[i : i + 2], size.d)) for i in (0, 2))
            units = np.concatenate([first / sqrt(1 - SQUARES), second / sqrt(SQUARES)])
        else:
            units = np.repeat([1.0, (1.0 if self.centred else size.H**4) / size.d], 2)
        return np.tile(units, (size.H - 1, 1))

    def paper_noise(self, model: str, size: Size, K: int, epsilon: float, delta: float) -> PaperScale:
        """Return the paper's noise, sigma_B1 of Luyo et al. (2021), Corollaries 10 and 11."""
        d, H, K0 = size.d, size.H, ceil(log2(K) + 1)
        notes = (*remarks(epsilon, SYMMETRIC), PAPER["variance"])
        if model == "central":
            logs = log(16 * H / delta) * log(8 / delta) * log(32 * H * K0 / delta)
            scale = 64 * d / epsilon * sqrt(2 * H * K0 * logs)
            formula = filled(PAPER["weighted_central"], K0=K0)
            return PaperScale(scale, formula, ("L21 Corollary 10",), notes, sqrt(K0))
        scale = 8 * d * H / epsilon * sqrt(2 * log(8 * H / delta))
        return PaperScale(scale, PAPER["weighted_local"], ("L21 Corollary 11",), notes, sqrt(K))

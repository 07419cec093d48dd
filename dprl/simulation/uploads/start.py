"""Bound a policy's value from below if nobody knows where episodes begin.

The counts of the first step are released anyway. Let n people begin independently, d be their mean law of the first
state, and W be lower bounds of the values, from 0 to H. W may depend on the same people and the same noise, so each
event below speaks of all W at once.

- People: for each set B of states, Hoeffding (1963, Theorem 1) gives d^(B) - d(B) <= t except for a chance of
  exp(-2 n t^2). There are at most 2^S sets, and the largest difference is half of |d^ - d|_1. So d^W - dW <=
  (max W - min W) t with t = sqrt((S ln 2 + ln(1/alpha)) / (2 n)).
- Noise: the count of a state is a sum of S A released numbers. As n is known, sum_s n(s) W(s) = n c + sum_s n(s) (W(s)
  - c) for every c, and noise moves the last sum by at most |g|_2 |W - c|_2, where |g|_2 is bounded by a quantile.

Each of the two fails with at most half of START_SHARE beta; the learner gets the rest of beta.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from dprl.mdp import Size, counts
from dprl.mdp.tabular import Array

START_SHARE = 0.1  # of beta
GRID = 2.0**-30  # noise about people is a whole multiple of it, and within one step of continuous noise


def bound_from_start(V: Array, released: Array, size: Size, n: int, beta: float, scale: float) -> float:
    """Return a lower bound on the mean value over first states, which fails with a chance of at most START_SHARE beta.

    Args:
        V: lower bounds on the values at the first step [S].
        released: the noisy counts [H, S, A, S + 2]; each visit count is a sum of S numbers.
        size: S, A and H.
        n: the number of people who were learned from, with one episode each.
        beta: the chance with which the whole bound may fail.
        scale: the scale of the Gaussian noise in each released number.
    """
    from scipy.special import chdtri

    S, A, _, _ = size
    chance, summed = beta * START_SHARE / 2, S * A
    centre = float(V.mean())
    far = scale * sqrt(summed * float(chdtri(S, chance))) * float(np.linalg.norm(V - centre))
    off = V - centre
    far += 2 * summed * GRID * float(np.abs(off).sum())
    mean = centre + (float(counts.visits(released)[0].sum(-1) @ off) - far) / n
    spread = float(V.max() - V.min()) * sqrt((S * log(2) + log(1 / chance)) / (2 * n))
    return float(np.clip(mean - spread, V.min(), V.max()))

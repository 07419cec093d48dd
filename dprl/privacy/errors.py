"""E_{eps,beta}: a bound on the noise of every counter at every release (QW23-online Assumption 3.1).

Computed, not quoted: Chernoff with the noise's true moment-generating function,
P(|Y| > x) <= 2 inf_theta exp(-theta x) M(theta), and a union over all counters and all release times.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dprl.mdp.tabular import Array


def laplace_tail(terms: NDArray[np.int64], failure: float) -> Array:
    """Bounds x: [...] with P(|sum of `terms` iid Laplace(1)| > x) <= failure, by Chernoff.

    x = min over u in (0, 1) of (c - j ln(1 - u^2)) / u with c = ln(2 / failure), j = terms. The best u
    solves 2y - ln(1 + y) = c / j with y = u^2 / (1 - u^2); the left side is convex and rises, so Newton from
    c / j (where it is too large) falls onto the root.
    """
    j = np.asarray(terms, dtype=float)
    c = np.log(2.0 / failure)
    y = c / j
    for _ in range(50):
        step = (2 * y - np.log1p(y) - c / j) / (2 - 1 / (1 + y))
        y = y - step
        if np.all(np.abs(step) <= 1e-13 * y):
            break
    return np.asarray((c + j * np.log1p(y)) / np.sqrt(y / (1 + y)))


def per_event(beta: float, cells: int, releases: int) -> float:
    """The failure probability each counter may have at each release, for all to hold w.p. >= 1 - beta/3."""
    return beta / 3 / (cells * releases)

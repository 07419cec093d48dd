"""E_{eps,beta}: a bound on the noise of every counter at every release (QW23-online Assumption 3.1).

Computed, not quoted: exactly for Gaussian noise, else by Chernoff with the noise's true moment-generating function,
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


def gaussian_tail(std: Array, failure: float) -> Array:
    """Bounds x: [...] with P(|N(0, std^2)| > x) = failure, exactly."""
    from scipy.special import ndtri

    result: Array = -float(ndtri(failure / 2)) * std
    return result


def binomial_tail(batches: Array, failure: float) -> Array:
    """Bounds x: [M] with P(|sum over j <= i of Binomial(batches[j]) less its mean| > x_i) <= failure, by Chernoff.

    batches: [M, 2], trials and probability of each batch. Any theta gives a bound; the best of a fine grid around
    the Gaussian optimum sqrt(2c)/std is taken, for the upper tail and for the lower one.
    """
    trials, probability = batches.T
    variance = np.cumsum(trials * probability * (1 - probability))
    c = np.log(2.0 / failure)
    best = np.empty((2, len(trials)))
    for side, sign in enumerate((1.0, -1.0)):
        tail = np.full(len(trials), np.inf)
        low, high = np.sqrt(2 * c / variance[-1]) / 8, np.sqrt(2 * c / variance[0]) * 2
        for theta in np.geomspace(low, high, 400):
            # ln E exp(theta (B - mean)), written so that nothing cancels when theta and probability are small
            moment = trials * (np.log1p(probability * np.expm1(sign * theta)) - sign * theta * probability)
            tail = np.minimum(tail, (c + np.cumsum(moment)) / theta)
        best[side] = tail
    return np.asarray(best.max(axis=0))


def per_event(beta: float, cells: int, releases: int) -> float:
    """The failure probability each counter may have at each release, for all to hold w.p. >= 1 - beta/3."""
    return beta / 3 / (cells * releases)

"""Measures of an attack's success, from log-likelihood ratios `first` and `second` [n] of runs in two worlds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dprl.metrics.curves import LEVEL, Array, Integers

MOST_STEPS = 400  # points of a ROC curve


class Measured(NamedTuple):
    """A measured number with its confidence interval at LEVEL."""

    value: float
    low: float
    high: float


class Roc(NamedTuple):
    """The ROC curve: false positive rates (in the second world) and true positive rates (in the first), [P] each."""

    false: Array
    true: Array


def separation(first: Array, second: Array) -> Measured:
    """Return the difference between the two worlds' mean scores in pooled standard deviations, with the large-sample
    interval for normal scores. It is NaN for fewer than two runs in a world, and 0 if the scores do not vary."""
    from scipy.special import ndtri

    n = (len(first), len(second))
    if min(n) < 2:
        return Measured(np.nan, np.nan, np.nan)
    spread = np.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 2)
    if spread == 0:
        return Measured(0.0, 0.0, 0.0)
    d = float((first.mean() - second.mean()) / spread)
    half = float(ndtri(0.5 + LEVEL / 2) * np.sqrt(1 / n[0] + 1 / n[1] + d * d / (2 * (n[0] + n[1]))))
    return Measured(d, d - half, d + half)


def epsilon_of_separation(found: Measured, separations: Array, epsilons: Array) -> Measured:
    """Return the epsilon at which one kind of noise gives two worlds the measured separation.

    separations and epsilons [P] are known for this noise, in ascending order. Between and beyond them, epsilon is
    interpolated as a power of the separation. A separation below zero counts as zero.
    """
    x, y = np.log(separations), np.log(epsilons)

    def at(d: float) -> float:
        if not d > 0:
            return 0.0 if d <= 0 else d
        i = int(np.clip(np.searchsorted(x, np.log(d)), 1, len(x) - 1))
        slope = (y[i] - y[i - 1]) / (x[i] - x[i - 1])
        return float(np.exp(y[i - 1] + slope * (np.log(d) - x[i - 1])))

    return Measured(*(at(d) for d in found))


def surely(first: Array, second: Array, delta: float) -> float:
    """Return a lower bound on epsilon for any noise, with confidence LEVEL: ln((P - delta)/Q) for Clopper-Pearson
    bounds P and Q on the shares of scores beyond a threshold. One half of the runs chooses it for the other."""
    if min(len(first), len(second)) < 8:
        return 0.0
    best, chosen = 0.0, (first, second, np.inf)
    for a, b in ((first, second), (-second, -first)):
        for threshold in np.quantile(np.concatenate([a[::2], b[::2]]), np.linspace(0.02, 0.98, 49)):
            found = _least(a[::2], b[::2], float(threshold), delta)
            if found > best:
                best, chosen = found, (a, b, float(threshold))
    a, b, threshold = chosen
    return _least(a[1::2], b[1::2], threshold, delta)


def _least(a: Array, b: Array, threshold: float, delta: float) -> float:
    low = clopper_pearson(int((a > threshold).sum()), len(a)).low
    high = clopper_pearson(int((b > threshold).sum()), len(b)).high
    return float(np.log((low - delta) / high)) if low > delta and low - delta > high else 0.0


def clopper_pearson(count: float, of: int, tests: int = 1) -> Measured:
    """Return the share count/of with its exact interval at LEVEL, Bonferroni-corrected for `tests` intervals."""
    from scipy.special import betaincinv

    wrong = (1 - LEVEL) / (2 * tests)
    low = float(betaincinv(count, of - count + 1, wrong)) if count else 0.0
    high = float(betaincinv(count + 1, of - count, 1 - wrong)) if count < of else 1.0
    return Measured(count / of, low, high)


def histogram(first: Array, second: Array) -> tuple[Array, Integers, Integers]:
    """Return the edges of 40 bins [B + 1], and the number of runs per bin [B] in each of the two worlds."""
    both = np.concatenate([first, second])
    low, high = (float(both.min()), float(both.max())) if len(both) else (-1.0, 1.0)
    if high - low < 1e-12:
        low, high = low - 1.0, high + 1.0
    edges = np.linspace(low, high, 41)
    return edges, np.histogram(first, edges)[0], np.histogram(second, edges)[0]


def roc(first: Array, second: Array) -> Roc:
    """Return the ROC curve over all thresholds, thinned to MOST_STEPS."""
    thresholds = np.unique(np.concatenate([first, second, [-np.inf]]))[::-1]
    thinned = np.unique(np.linspace(0, len(thresholds) - 1, MOST_STEPS).round().astype(int))
    thresholds = thresholds[thinned]
    sizes = max(len(first), 1), max(len(second), 1)
    true = (len(first) - np.searchsorted(np.sort(first), thresholds, "right")) / sizes[0]
    false = (len(second) - np.searchsorted(np.sort(second), thresholds, "right")) / sizes[1]
    return Roc(np.append(false, 1.0), np.append(true, 1.0))


def guessed_right(first: Array, second: Array) -> Measured:
    """Return the share of correct maximum-likelihood guesses for equally likely worlds; a tie counts as half."""
    n = len(first) + len(second)
    if n == 0:
        return Measured(np.nan, np.nan, np.nan)
    ties = ((first == 0).sum() + (second == 0).sum()) / 2
    return clopper_pearson(float((first > 0).sum() + (second < 0).sum() + ties), n)


def best_guess(prior: float, false: Array, missed: Array) -> float:
    """Return the best test's chance of a correct guess, given the first world's prior and all error rates [P]."""
    right = prior * (1 - np.asarray(missed)) + (1 - prior) * (1 - np.asarray(false))
    return float(max(right.max(), prior, 1 - prior))


def posterior(prior: float, score: float) -> float:
    """Return the probability of the first world, given its prior and a log-likelihood ratio."""
    odds = np.log(prior) - np.log1p(-prior) + score
    return float(1 / (1 + np.exp(-odds)))

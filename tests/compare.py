"""How the tests compare distributions.

Every statistical test has a fixed seed: it passes or fails for good. LEVEL is the chance that a right program
would have failed it, had the seed been drawn at random; a test that makes several comparisons shares LEVEL
among them (Bonferroni).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

LEVEL = 1e-4
FIVE = 5.0  # standard errors; two-sided chance 6e-7 for each comparison


def ks_samples(a: ArrayLike, b: ArrayLike) -> float:
    """p-value that two samples have one distribution (Kolmogorov-Smirnov; conservative with ties)."""
    return float(stats.ks_2samp(np.asarray(a), np.asarray(b), method="asymp").pvalue)


def chi_square(observed: ArrayLike, expected: ArrayLike, least: float = 10.0) -> float:
    """p-value of frequencies: outcomes expected less than `least` times count together, or as the commonest if rare."""
    found, wanted = np.asarray(observed, dtype=float), np.asarray(expected, dtype=float)
    few = wanted < least
    groups = np.where(
        few, wanted.size if wanted[few].sum() > 0.5 else wanted.argmax(), np.arange(wanted.size)
    )
    found, wanted = (np.bincount(np.unique(groups, return_inverse=True)[1], x) for x in (found, wanted))
    return float(stats.chisquare(found, wanted * found.sum() / wanted.sum()).pvalue)


def standard_errors(sample: ArrayLike, mean: float) -> float:
    """By how many standard errors the mean of a sample differs from `mean`."""
    x = np.asarray(sample, dtype=float)
    spread = x.std(ddof=1) / np.sqrt(x.size)
    return float(abs(x.mean() - mean) / spread) if spread > 0 else (0.0 if x.mean() == mean else np.inf)


def critical(comparisons: int = 1) -> float:
    """The two-sided normal quantile at LEVEL shared among `comparisons`."""
    return float(stats.norm.isf(LEVEL / comparisons / 2))

"""How the tests compare distributions.

Every statistical test has a fixed seed: it passes or fails for good. LEVEL is the chance that a right program
would have failed it, had the seed been drawn at random; a test that makes several comparisons shares LEVEL
among them (Bonferroni).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

LEVEL = 1e-4
FIVE = 5.0  # standard errors; two-sided chance 6e-7 for each comparison


def ks_samples(a: ArrayLike, b: ArrayLike) -> float:
    """p-value that two samples have one distribution (Kolmogorov-Smirnov; conservative with ties)."""
    return float(stats.ks_2samp(np.asarray(a), np.asarray(b), method="asymp").pvalue)


def chi_square_tables(a: Iterable[bytes], b: Iterable[bytes]) -> float:
    """p-value that two samples of outcomes have one distribution; outcomes seen under 10 times are pooled."""
    first, second = Counter(a), Counter(b)
    table, rest = [], np.zeros(2)
    for outcome in first.keys() | second.keys():
        seen = np.array([first[outcome], second[outcome]], dtype=float)
        if seen.sum() < 10:
            rest += seen
        else:
            table.append(seen)
    if rest.sum() >= 10:
        table.append(rest)
    return float(stats.chi2_contingency(np.array(table).T).pvalue) if len(table) > 1 else 1.0


def standard_errors(sample: ArrayLike, mean: float) -> float:
    """By how many standard errors the mean of a sample differs from `mean`."""
    x = np.asarray(sample, dtype=float)
    spread = x.std(ddof=1) / np.sqrt(x.size)
    return float(abs(x.mean() - mean) / spread) if spread > 0 else (0.0 if x.mean() == mean else np.inf)


def critical(comparisons: int = 1) -> float:
    """The two-sided normal quantile at LEVEL shared among `comparisons`."""
    return float(stats.norm.isf(LEVEL / comparisons / 2))

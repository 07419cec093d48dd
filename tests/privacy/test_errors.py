"""The tail bound against the exact tail of a sum of Laplace draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats

from dprl.privacy.errors import laplace_tail, per_event


def exact_tail(j: int, x: float) -> float:
    """P(|Y| > x), Y a sum of j Laplace(1), that is Gamma(j) - Gamma(j), in closed form.

    P(Y > x) = E P(Gamma(j) > x + G) = sum over i < j of E[e^-(x+G) (x+G)^i / i!], expanded by the binomial theorem with
    E[G^k e^-G] = Gamma(j + k) / Gamma(j) 2^-(j+k). Every term is positive: nothing cancels.
    """
    total = 0.0
    for i in range(j):
        for k in range(i + 1):
            log_moment = math.lgamma(j + k) - math.lgamma(j) - (j + k) * math.log(2)
            log_term = -math.lgamma(k + 1) - math.lgamma(i - k + 1) + log_moment - x
            if i > k:
                log_term += (i - k) * math.log(x)
            total += math.exp(log_term)
    return 2 * total


def exact_quantile(j: int, failure: float) -> float:
    start = stats.norm.isf(failure / 2) * math.sqrt(2 * j)
    return float(
        optimize.brentq(lambda x: math.log(exact_tail(j, x) / failure), 0.05 * start, 10 * start + 60)
    )


def test_the_exact_tail_is_right() -> None:
    assert exact_tail(1, 3.0) == pytest.approx(math.exp(-3.0), rel=1e-12)
    draws = np.random.default_rng(0).laplace(size=(7, 10**6)).sum(0)
    share = float((np.abs(draws) > 6.0).mean())
    assert exact_tail(7, 6.0) == pytest.approx(share, abs=5 * math.sqrt(share / 10**6))


@pytest.mark.parametrize("failure", [1e-3, 1e-4, 1e-6, 1e-9, 1e-12, 1e-16])
@pytest.mark.parametrize("j", [1, 2, 3, 5, 10, 20, 40])
def test_bound_holds_and_is_not_loose(j: int, failure: float) -> None:
    bound = float(laplace_tail(np.array(j), failure))
    assert exact_tail(j, bound) <= failure
    assert bound <= 1.6 * exact_quantile(j, failure)


@pytest.mark.parametrize("failure", [1e-4, 1e-9, 1e-16])
@pytest.mark.parametrize("j", [10**6, 10**10, 10**15])
def test_bound_of_a_long_sum_is_that_of_a_normal(j: int, failure: float) -> None:
    quantile = stats.norm.isf(failure / 2) * math.sqrt(2 * j)
    bound = float(laplace_tail(np.array(j), failure))
    assert quantile < bound < 1.25 * quantile


def test_bound_is_the_best_chernoff_bound() -> None:
    """min over u of (ln(2/failure) - j ln(1 - u^2)) / u, by search."""
    u = np.linspace(1e-4, 1 - 1e-4, 200_000)
    for j, failure in ((1, 1e-3), (7, 1e-8), (50, 1e-5), (3000, 1e-9)):
        searched = np.min((math.log(2 / failure) - j * np.log1p(-u * u)) / u)
        assert float(laplace_tail(np.array(j), failure)) == pytest.approx(searched, rel=1e-6)


def test_bound_grows_with_terms_and_with_confidence() -> None:
    terms = np.array([1, 2, 3, 10, 10**3, 10**6, 10**15])
    bounds = laplace_tail(terms, 1e-6)
    assert bounds.shape == terms.shape
    assert (np.diff(bounds) > 0).all()
    assert (laplace_tail(terms, 1e-7) > bounds).all()


def test_union_over_all_counters_and_releases() -> None:
    assert per_event(0.3, 100, 50) * 100 * 50 == pytest.approx(0.1)

"""E_{eps,beta}: |n^ - n|, |m^ - m| <= E/4 and |r^ - r| <= E, everywhere, at all times, as often as promised.

A run is covered when all of its counters are within bounds at all of its releases: with probability 1 - beta/3 or
more. And the bound has no needless slack: the (1 - beta) quantile over runs of the largest error relative to its
bound is at least one half. Tail bounds are compared with exact tails.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

from dprl.mdp.tabular import Array
from dprl.privacy.errors import bits_length, chi_tail, laplace_length, laplace_tail, length_tail, per_event
from dprl.simulation import schedules
from tests.compare import LEVEL
from tests.privacy.draws import TRIPLES, prepared, unit_noise
from tests.problems import first

TIMES = schedules.times("geometric:0.01", 50_000)
RUNS_AT_ONCE = 250


def covered(ratio: Array, beta: float) -> bool:
    """Whether so many failures happen with probability LEVEL or more when each run fails with beta/3."""
    failed = int((ratio > 1).sum())
    return bool(stats.binomtest(failed, len(ratio), beta / 3, alternative="greater").pvalue > LEVEL)


@pytest.mark.parametrize("contribution", [1, 3])
@pytest.mark.parametrize(("privacy", "mechanism", "calibration"), first(TRIPLES, lambda triple: triple[0]))
def test_coverage_and_no_needless_slack(
    privacy: str, mechanism: str, calibration: str, contribution: int
) -> None:
    """Few counters, many runs: the largest error of each, relative to what the bound allows."""
    beta, runs, cells = 0.1, 1000, 8  # of H = 1, S = 2, A = 1
    given: dict[str, Any] = {"S": 2, "beta": beta, "contribution": contribution}
    noise = prepared(privacy, mechanism, calibration, TIMES, **given)
    assert noise.mechanism is not None
    # by how much a unit of noise in each counter counts: n and m against E/4, r against E
    weight = np.tile(noise.scales * np.array([4.0, 4.0, 4.0, 1.0]), 2)
    ratio = np.empty(0)
    for seed in range(0, runs, RUNS_AT_ONCE):
        unit = np.abs(unit_noise(noise.mechanism, noise.stream, RUNS_AT_ONCE * cells, seed))
        unit = unit.reshape(len(TIMES), RUNS_AT_ONCE, cells) * weight
        ratio = np.append(ratio, (unit.max(2) / noise.bound[:, None]).max(0))
    assert covered(ratio, beta)
    assert np.quantile(ratio, 1 - beta) >= 0.5


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


def test_union_over_all_counters_and_releases() -> None:
    assert per_event(0.3, 100, 50) * 100 * 50 == pytest.approx(0.1)


@pytest.mark.parametrize("cells", [2, 3, 8, 51])
@pytest.mark.parametrize("failure", [0.01, 1e-7, 1e-12])
def test_the_length_of_gaussian_noise_is_exact_and_its_bound_close(cells: int, failure: float) -> None:
    std = np.array([1.0, 3.0, 250.0])
    exact = chi_tail(std, cells, failure)
    assert stats.chi2.sf((exact / std) ** 2, cells) == pytest.approx(failure)
    bound = length_tail(lambda y: y * y * std**2 / 2, std, cells, failure)
    assert (exact < bound).all()
    assert (bound < 1.25 * exact).all()


@pytest.mark.parametrize("cells", [2, 8])
def test_the_length_of_laplace_noise_stays_below_its_bound(cells: int) -> None:
    """Sums of j Laplace draws in each coordinate, at a failure that can be seen."""
    for j in (1, 4):
        draws = np.random.default_rng(j).laplace(size=(j, 200_000, cells)).sum(0)
        lengths = np.sqrt((draws**2).sum(-1))
        for failure in (0.1, 0.01, 1e-3):
            (bound,) = laplace_length(np.array([j]), cells, failure)
            assert (lengths > bound).mean() <= failure
            assert bound <= 2 * np.quantile(lengths, 1 - failure)


@pytest.mark.parametrize("share", [0.5, 0.01, 1e-4])
def test_the_length_of_bits_stays_below_its_bound(share: float) -> None:
    """Batches of fair or rare bits of variance 25 in each coordinate, one after the other."""
    trials = round(25 / (share * (1 - share)))
    rng = np.random.default_rng(7)
    drawn = rng.binomial(trials, share, size=(2, 100_000, 5)) - trials * share
    sums = np.sqrt((np.cumsum(drawn, axis=0) ** 2).sum(-1))
    for failure in (0.1, 1e-3):
        bounds = bits_length(np.array([25.0, 50.0]), 5, failure)
        assert ((sums > bounds[:, None]).mean(-1) <= failure).all()
        assert (bounds <= 1.5 * np.quantile(sums, 1 - failure, axis=-1)).all()

"""E_{eps,beta}: |n^ - n|, |m^ - m| <= E/4 and |r^ - r| <= E, everywhere, at all times, as often as promised.

A run is covered when all of its counters are within bounds at all of its releases: with probability 1 - beta/3 or
more. And the bound has no needless slack: the (1 - beta) quantile over runs of the largest error relative to its
bound is at least one half.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dprl.mdp.tabular import Array
from dprl.simulation import schedules
from dprl.statistics import CONSISTENT, Statistic
from tests.compare import LEVEL
from tests.privacy.draws import TRIPLES, prepared, unit_noise
from tests.problems import first

TIMES = schedules.times("geometric:0.01", 50_000)
RUNS_AT_ONCE = 250


@cache
def ratios(
    privacy: str,
    mechanism: str,
    calibration: str,
    beta: float,
    runs: int,
    H: int,
    S: int,
    A: int,
    statistic: Statistic = CONSISTENT,
) -> Any:
    """[runs] the largest error of each, relative to what the bound allows."""
    noise = prepared(privacy, mechanism, calibration, TIMES, H=H, S=S, A=A, beta=beta, statistic=statistic)
    assert noise.mechanism is not None
    cells, result = H * S * A * (S + 2), []
    # by how much a unit of noise in each counter counts: n and m against E/4, r against E
    weight = np.tile(noise.scales * np.append(np.full(S + 1, 4.0), 1.0), H * S * A)
    part = max(1, min(runs, RUNS_AT_ONCE * 16 // cells))
    for begin in range(0, runs, part):
        unit = unit_noise(noise.mechanism, noise.stream, part * cells, seed=begin)
        unit = np.abs(unit, out=unit).reshape(len(TIMES), part, cells)
        unit *= weight
        result.append((unit.max(2) / noise.bound[:, None]).max(0))
    return np.concatenate(result)[:runs]


def covered(ratio: Array, beta: float) -> bool:
    """Whether so many failures happen with probability LEVEL or more when each run fails with beta/3."""
    failed = int((ratio > 1).sum())
    return bool(stats.binomtest(failed, len(ratio), beta / 3, alternative="greater").pvalue > LEVEL)


@pytest.mark.parametrize(("privacy", "mechanism", "calibration"), first(TRIPLES, lambda triple: triple[0]))
def test_coverage_and_no_needless_slack(privacy: str, mechanism: str, calibration: str) -> None:
    """Few counters, many runs."""
    beta, runs = 0.1, 1000
    ratio = ratios(privacy, mechanism, calibration, beta, runs, 1, 2, 1)
    assert covered(ratio, beta)
    assert np.quantile(ratio, 1 - beta) >= 0.5

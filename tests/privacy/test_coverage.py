"""E_{eps,beta}: |n^ - n|, |m^ - m| <= E/4 and |r^ - r| <= E, everywhere, at all times, as often as promised.

A run is covered when all of its counters are within bounds at all of its releases: with probability 1 - beta/3 or
more. And the bound has no needless slack: the (1 - beta) quantile over runs of the largest error relative to its
bound is at least one half.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from dprl.mdp.tabular import Array
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

"""Noise from the mechanisms' own compiled kernels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.privacy import MECHANISMS, PRIVATIZERS, Mechanism, attack
from dprl.privacy.mechanisms import Stream
from dprl.privacy.privatizers import Noise, Request
from dprl.simulation.pairs import calibrations_for
from dprl.statistics import CONSISTENT, REPLACE_ONE, Change, Statistic

# Every (privacy, mechanism, calibration), and those whose noise does not depend on what it is added to.
EVERY = [
    (p.key, m, c) for p in PRIVATIZERS.values() for m in p.mechanisms for c in calibrations_for("dp-ucbvi", m)
]
TRIPLES = [triple for triple in EVERY if MECHANISMS[triple[1]].answers is None]


def replaced(H: int, reward: float) -> Change:
    """What replacing one user moves, with r released as r * reward."""
    return replace(CONSISTENT, reward=reward).sensitivity(Size(1, 1, H), REPLACE_ONE)


def unit_noise(mechanism: Mechanism, stream: Stream, cells: int, seed: int) -> Array:
    """[M, cells] unit noise in the sums of each release."""
    return attack.unit_noise(mechanism, stream, cells, np.random.Generator(np.random.SFC64(seed)))


def request(
    privacy: str,
    mechanism: str,
    calibration: str,
    times: NDArray[np.int64] | list[int],
    *,
    H: int = 1,
    S: int = 2,
    A: int = 1,
    epsilon: float = 1.0,
    delta: float | None = None,
    beta: float = 0.1,
    statistic: Statistic = CONSISTENT,
    contribution: int = 1,
) -> Request:
    """A request whose delta, if not given, is the reference one, or 0 for Laplace noise as in the paper."""
    if delta is None:
        delta = 0.0 if calibration == "paper" and not MECHANISMS[mechanism].needs_delta else 1e-6
    ends = np.array(times, dtype=np.int64)
    asked = mechanism, calibration, epsilon, delta, beta
    return Request(statistic, Size(S, A, H), ends, *asked, contribution=contribution)


def prepared(
    privacy: str, mechanism: str, calibration: str, times: NDArray[np.int64] | list[int], **rest: Any
) -> Noise:
    """The noise a privatizer makes of such a request."""
    return PRIVATIZERS[privacy].prepare(request(privacy, mechanism, calibration, times, **rest))

"""A schedule whose blocks grow in proportion to the number of users so far: about ln(K) / eta releases."""

from __future__ import annotations

from functools import lru_cache
from math import log
from typing import Any

import numpy as np

from dprl.engine import kernel
from dprl.fields import Field
from dprl.mdp import Size
from dprl.mdp.structure import Table
from dprl.mdp.tabular import Array
from dprl.simulation.schedules.schedule import Ints, Schedule

ETA = Field("schedule", "float", 0.02, "growth of a block", low=0.001, high=1.0)


@kernel
def next_release(
    users: int,
    left: int,
    K: int,
    settings: Array,
    released: Array,
    errors: Array,
    possible: Table,
    policy: Any,
) -> int:
    """Return the number of users at the next release: t + max(1, floor(eta t)), at most K. `settings` is [eta]."""
    return min(K, users + max(1, int(settings[0] * users)))


def times(argument: str, K: int) -> Ints:
    """Return how many users have played by each release [M], as computed by `next_release`."""
    return np.array(_times(argument, K), dtype=np.int64)


def count(argument: str, K: int) -> int:
    return len(_times(argument, K))


@lru_cache(maxsize=32)  # a spec needs them several times, and so does each of its seeds
def _times(argument: str, K: int) -> tuple[int, ...]:
    eta = float(argument)
    result = []
    t = 0
    while t < K:
        t = min(K, t + max(1, int(eta * t)))
        result.append(t)
    return tuple(result)


def releases(argument: str, K: int, size: Size) -> int:
    """Estimate the number of releases for K users with a formula."""
    eta = float(argument)
    start = 1 / eta
    return int(min(K, start + max(0.0, log(max(K / start, 1.0))) / log(1 + eta)))


SCHEDULE = Schedule(
    key="geometric",
    allowed="geometric:ETA",
    canonical=lambda argument, per_release: f"{ETA.parse(argument or '0.02'):g}",
    settings=lambda argument, K: np.array([float(argument)]),
    next_release=next_release,
    releases=releases,
    times=times,
    fewer="give a larger growth of blocks",
)

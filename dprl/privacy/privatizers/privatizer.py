"""The record every privatizer file offers to the registry, and what it hands to the engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dprl.mdp.tabular import Array
from dprl.privacy.errors import per_event
from dprl.privacy.guarantee import Guarantee
from dprl.privacy.mechanisms import Leaves, Mechanism


@dataclass(frozen=True)
class Request:
    """What a privatizer is asked for: the run's sizes, release times [M] in users, and its budget."""

    H: int
    S: int
    A: int
    times: NDArray[np.int64]
    mechanism: str
    calibration: str
    epsilon: float
    delta: float
    beta: float

    @property
    def K(self) -> int:
        """Users in the whole run."""
        return int(self.times[-1])

    @property
    def cells(self) -> int:
        """Counters released each time."""
        return self.H * self.S * self.A * (self.S + 2)


@dataclass(frozen=True)
class Noise:
    """A privatizer, ready to run.

    mechanism: None for no noise; leaves: [M + 2], see mechanisms.py; scale: multiplies unit noise, in counts;
    bound: E_{eps,beta} at each release [M], std: of one counter at each release [M], both in counts and, for a
    tree, those of its worst release.
    """

    mechanism: Mechanism | None
    leaves: Leaves
    scale: float
    bound: Array
    std: Array
    guarantee: Guarantee


@dataclass(frozen=True)
class Privatizer:
    """key: its name in a spec; trust: who sees raw data, in words; mechanisms: keys, the first is the default;
    prepare: from a Request to a Noise."""

    key: str
    title: str
    summary: str
    trust: str
    source: str
    mechanisms: tuple[str, ...]
    calibrations: tuple[str, ...]
    prepare: Callable[[Request], Noise]


def scaled(mechanism: Mechanism, leaves: Leaves, scale: float, request: Request) -> tuple[Array, Array]:
    """E_{eps,beta} [M] and the standard deviation of one counter [M], both in counts.

    |n^ - n|, |m^ - m| <= E/4 and |r^ - r| <= E for all counters and releases w.p. >= 1 - beta/3. For a tree,
    whose noise at a release depends on its binary expansion, the worst release stands for all.
    """
    failure = per_event(request.beta, request.cells, len(request.times))
    terms = mechanism.terms(leaves)
    if mechanism.rows(leaves):
        terms = np.full_like(terms, terms.max())
    std = np.sqrt(mechanism.variance * terms.astype(float))
    return 4 * scale * mechanism.tail(terms, failure), scale * std

"""Noise in counts: how large it is, what drowns in it, and whether its bound has held."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dprl.metrics.seeds import Array


@dataclass(frozen=True)
class CountNoise:
    """The noise in some cells.

    Attributes:
        typical: Root mean square of the errors.
        largest: The largest error, either way.
        most: The largest true count.
        drowned: Share of the cells whose true count is below the typical error.
        negative: Share of the cells whose noisy count is below zero.
    """

    typical: float
    largest: float
    most: float
    drowned: float
    negative: float


def count_noise(true: Array, noisy: Array) -> CountNoise:
    """What the noise does to true counts of any shape. An error that is NaN (nothing is known yet) does not count."""
    error = noisy - true
    error = error[np.isfinite(error)]
    if not error.size:
        return CountNoise(0.0, 0.0, 0.0, 0.0, 0.0)
    typical = float(np.sqrt(np.mean(np.square(error))))
    return CountNoise(
        typical,
        float(np.abs(error).max()),
        float(true.max()),
        float(np.mean(true < typical)),
        float(np.mean(noisy < 0)),
    )


@dataclass(frozen=True)
class Coverage:
    """How a bound on the noise has held: in `kept` of `seeds` seeds; worst: the largest noise, as a share of it."""

    kept: int
    seeds: int
    worst: float


def noise_coverage(ratio: Array) -> Coverage | None:
    """Of the largest noise so far over its bound, ratio [seeds, C], NaN where not known; None if nothing is."""
    known = np.isfinite(ratio)
    if not known.any():
        return None
    largest = np.where(known, ratio, -np.inf).max(axis=1)
    return Coverage(int((largest <= 1).sum()), len(ratio), float(largest.max()))

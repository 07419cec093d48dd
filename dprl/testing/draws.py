"""Draws of a mechanism, and how far what they average may be from what is right."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from dprl.mdp.tabular import Array
from dprl.privacy.mechanisms import Mechanism, Stream

LEVEL = 1e-4  # chance that a right mechanism would have failed a check, had its seed been drawn at random


def noise_of_kernel(mechanism: Mechanism, stream: Stream, cells: int, seed: int) -> Array:
    """[M, cells] unit noise of each release, from the mechanism's kernel.

    Raises:
        AssertionError: as plain Python the kernel asks for a row of memory that it does not have.
    """
    rows = mechanism.rows(stream.items, stream.releases)
    memory = np.zeros((rows, cells))
    rng = np.random.Generator(np.random.SFC64(seed))
    if mechanism.prepare:
        mechanism.prepare(rng, stream, memory)
    noise, found = np.zeros(cells), np.empty((stream.releases, cells))
    for i in range(stream.releases):
        try:
            mechanism.add_noise(i, stream.leaves, stream.batches, memory, rng, noise)
        except IndexError as error:
            raise AssertionError(
                f"rows: memory has {rows}; at release {i} of {stream.releases} the kernel asks for more ({error})"
            ) from error
        found[i] = noise
    return found


def errors(values: Array, expected: float) -> float:
    """By how many standard errors the mean of values [n] is off."""
    spread = float(values.std(ddof=1)) / math.sqrt(values.size)
    off = float(values.mean()) - expected
    return abs(off) / spread if spread else (0.0 if off == 0 else math.inf)


def critical(comparisons: int) -> float:
    """Standard errors that so many right means together stay below, but for LEVEL."""
    return float(stats.norm.isf(LEVEL / (2 * comparisons)))

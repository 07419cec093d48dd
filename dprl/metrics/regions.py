"""Confidence regions for the weights of a linear model.

A region is {w: |<x, w - center>| <= beta sqrt(x.Y + slack |Y|^2) + pull |Y| for all x}, Y = (G + ridge I)^-1 x: a sum
of two ellipsoids.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dprl.metrics.seeds import Array


class Region(NamedTuple):
    """A confidence region, as defined above, with center [d] and G [d, d]. If there is none, its numbers are NaN."""

    center: Array
    G: Array
    ridge: float
    beta: float
    slack: float
    pull: float

    @property
    def known(self) -> bool:
        """Whether there is a region."""
        return bool(np.isfinite(self.center).all() and np.isfinite(self.beta))


def region(beliefs: Mapping[str, Array], matrices: Array, at: int, h: int, prefix: str = "") -> Region:
    """Return the region at step h and detail `at`. beliefs: arrays of a trace; matrices: [D, steps, .., d, d + 1]."""
    numbers = (float(beliefs[prefix + name][at, h]) for name in ("ridge", "beta", "slack", "pull"))
    return Region(beliefs[f"{prefix}weights"][at, h], matrices[at, h, 0, :, :-1], *numbers)


def _supports(one: Region) -> tuple[Array, Array]:
    """Return matrices A and B, [d, d] each, for which the region is |<x, w - center>| <= sqrt(x.A x) + sqrt(x.B x)."""
    inverse = np.linalg.inv(one.G + one.ridge * np.eye(len(one.G)))
    squared = inverse @ inverse
    return one.beta**2 * (inverse + one.slack * squared), one.pull**2 * squared


def half_widths(one: Region) -> Array:
    """Return the largest distance of each weight from the center, [d]; NaN if there is no region."""
    if not one.known:
        return np.full(len(one.center), np.nan)
    found: Any = sum(np.sqrt(np.maximum(np.diagonal(part), 0.0)) for part in _supports(one))
    return np.asarray(found)


def widths_over_steps(beliefs: Mapping[str, Array], matrices: Array, at: int) -> Array:
    """Return the largest distance of each weight from its estimate, [steps, d], in detail `at` of a trace."""
    steps = matrices.shape[1]
    return np.array([half_widths(region(beliefs, matrices, at, h)) for h in range(steps)])

"""Confidence regions for the weights of a linear model.

A region is the sum of two ellipsoids, {w: |<x, w - center>| <= beta sqrt(x.Y + slack |Y|^2) + pull |Y| for all x} with
Y = (G + ridge I)^-1 x.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dprl.metrics.curves import Array

POINTS = 180  # number of points on a boundary


class Region(NamedTuple):
    """A confidence region, as defined above, with center [d] and G [d, d], or NaN if there is no region."""

    center: Array
    G: Array
    ridge: float
    beta: float
    slack: float
    pull: float

    @property
    def known(self) -> bool:
        """Return whether there is a region."""
        return bool(np.isfinite(self.center).all() and np.isfinite(self.beta))


def region(beliefs: Mapping[str, Array], matrices: Array, at: int, h: int, prefix: str = "") -> Region:
    """Return the region at step h, from entry `at` of a trace's beliefs and matrices [D, steps, .., d, d + 1]."""
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
    return np.asarray(sum(np.sqrt(np.maximum(np.diagonal(part), 0.0)) for part in _supports(one)))


def outline(one: Region, i: int, j: int) -> Array:
    """Return the closed boundary of the region's projection onto coordinates i and j, [POINTS + 1, 2].

    The boundary point with outer normal x is the gradient of the region's support function at x. We spread the normals
    evenly after rescaling the region to be round, because a long region would otherwise have corners.
    """
    parts, plane = _supports(one), [i, j]
    values, vectors = np.linalg.eigh((parts[0] + parts[1])[np.ix_(plane, plane)])
    rounded = vectors / np.sqrt(np.maximum(values, values.max() * 1e-30)) @ vectors.T
    angle = np.linspace(0.0, 2 * np.pi, POINTS + 1)
    x = np.zeros((POINTS + 1, len(one.center)))
    x[:, plane] = np.column_stack([np.cos(angle), np.sin(angle)]) @ rounded
    points = np.tile(one.center, (POINTS + 1, 1))
    for part in parts:
        image = x @ part
        length = np.sqrt(np.maximum((x * image).sum(-1), 0.0))[:, None]
        points += np.divide(image, length, out=np.zeros_like(image), where=length > 0)
    return np.asarray(points[:, plane])

"""Two ways to do the same at several sizes: what one costs over the other, and from where on it costs more."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dprl.metrics.attack import Measured
from dprl.metrics.seeds import Array
from dprl.metrics.verdicts import t_interval


def ratio(one: Array, other: Array, tests: int = 1) -> Measured:
    """The geometric mean of one/other, [seeds] each, taken seed by seed, with its t interval; NaN where a value is not
    above zero. tests: how many intervals are to hold together, see `t_interval`."""
    return _exp(t_interval(_logs(one, other), tests))


def stays_above(ratios: Sequence[Measured], level: float = 1.0) -> int | None:
    """The first place from which on every whole interval lies above a level; None where the last one does not."""
    place = len(ratios)
    while place and ratios[place - 1].low > level:
        place -= 1
    return place if place < len(ratios) else None


def crossing(x: Array, one: Array, other: Array) -> Measured:
    """The x [P] at which one/other, rows [seeds, P], is 1 for the last time before it stays above.

    Between two x both are taken to be powers. The geometric mean over seeds with its t interval; NaN where in some
    seed it is above 1 everywhere, or at or below 1 at the last x.
    """
    logs, at = _logs(one, other), np.log(x)
    crossed = np.full(len(logs), np.nan)
    for seed, row in enumerate(logs):
        below = np.flatnonzero(~(row > 0))
        if len(below) and below[-1] + 1 < len(row):
            p = below[-1]
            crossed[seed] = at[p] + (at[p + 1] - at[p]) * row[p] / (row[p] - row[p + 1])
    return _exp(t_interval(crossed))


def _logs(one: Array, other: Array) -> Array:
    """ln(one/other), not finite where one of them is not above zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Array = np.log(one) - np.log(other)
    return found


def _exp(found: Measured) -> Measured:
    return Measured(*(float(np.exp(value)) for value in found))

"""Sweeps as data for charts: for each line, the final values of its runs, their slope, and the slope a paper proves.

Trade-offs and `SweepResult.plot` use these functions for the same chart, from the dashboard's store or from a script.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl import metrics
from dprl.figures.looks import CurveStyle, dashed, numbered
from dprl.figures.tradeoff import Frontier
from dprl.metrics.curves import Array
from dprl.research.series import bound_of, style_of, style_of_data
from dprl.simulation import OfflineSpec, RunSpec
from dprl.theory import BOUNDS, Bound

LEARNED = 0.5  # the share of the worst possible loss below which a slope is meaningful
FEWEST = 3  # fewest points of a slope
SYMBOLS = {"epsilon": "ε", "rho": "ρ", "episodes": "K", "contribution": "m"}
AXES = {
    "epsilon": "privacy budget ε",
    "rho": "privacy budget ρ",
    "episodes": "number of users K",
    "n": "number of trajectories n",
    "contribution": "most episodes of one user m",
    "H": "horizon H",
    "S": "number of states S",
}
BUDGETS = ("epsilon", "rho")
SUFFIXES = {"central": "-jdp", "local": "-ldp"}  # suffixes of an algorithm's key in the names of its bounds
# names of the axes in bounds
EXPONENTS = {"epsilon": "epsilon", "episodes": "K", "H": "H", "S": "S"}
EXPONENTS_OF_DATA = {"rho": "rho", "epsilon": "epsilon", "n": "K", "H": "H", "S": "S"}


def look_of(spec: Any) -> CurveStyle:
    """Return the style of a run's marker."""
    return style_of_data(spec) if spec.kind == OfflineSpec.kind else style_of(spec)


def looks_of(kinds: Sequence[CurveStyle], *, shaded: bool) -> list[CurveStyle]:
    """Return the style of each line, no two alike: lines of one colour have different dashes.

    shaded: whether a line has the shade of its budget; if the budget is the axis, only the markers have shades.
    """
    return numbered(dashed([kind if shaded else replace(kind, epsilon=None) for kind in kinds]))


def all_to_lose(spec: Any, v_star: float) -> float:
    """Return the largest possible loss of a run."""
    return v_star if spec.kind == OfflineSpec.kind else spec.episodes * v_star


def proved_exponent(spec: Any, x: str, *, price: bool) -> float | None:
    """Return the exponent of an axis in a paper's bound, or None if the bound has none.

    For a privacy cost, use the term with the budget; for suboptimality, the term that dominates when n is large.
    price: whether the privacy cost is drawn.
    """
    if spec.kind == RunSpec.kind:
        bound = bound_of_run(spec) if price and x in EXPONENTS else None
        if bound is None:
            return None
        exponents = {float(getattr(term, EXPONENTS[x])) for term in bound.terms if term.private}
        return exponents.pop() if len(exponents) == 1 else None
    of_data = bound_of(spec)
    if of_data is None or x not in EXPONENTS_OF_DATA:
        return None
    found = next((term for term in of_data.terms if term.private), None) if price else of_data.terms[0]
    return (0.0 if found is None else float(getattr(found, EXPONENTS_OF_DATA[x]))) or None


def bound_of_run(spec: RunSpec) -> Bound | None:
    """Return the bound of an online run's own algorithm under its privacy model, if a paper proves one."""
    key = spec.algorithm + SUFFIXES.get(spec.privacy, "")
    pure = "" if spec.delta else "-pure"
    found = (BOUNDS.get(name) for name in (key + pure, key, spec.algorithm))
    return next((bound for bound in found if bound and bound.model == spec.privacy != "none"), None)


def band_of(values: NDArray[np.float64], statistic: metrics.Statistic) -> tuple[float, float, float]:
    """Return the mean (or median), low and high of those values [seeds] that are known."""
    known = values[np.isfinite(values)]
    center, low, high = metrics.BANDS[statistic](known.reshape(-1, 1))
    return float(center[0]), float(low[0]), float(high[0])


def frontier_of(
    label: str,
    style: CurveStyle,
    specs: Sequence[Any],
    x: Sequence[Any],
    rows: Array,
    lost: Array,
    worst: Array,
    *,
    proved: float | None,
    statistic: metrics.Statistic = "mean",
    world: str = "",
) -> Frontier:
    """Return one line of a sweep.

    Args:
        label, style: its name and its look.
        specs: its P runs; x: their values of the axis, ascending [P].
        rows: the values drawn [seeds, P], NaN if unknown.
        lost: the loss of each run [P]; the slope is fitted to points whose loss is a small enough share of `worst`.
        proved: see `proved_exponent`.
        statistic: the statistic over seeds.
        world: see `Frontier`.
    """
    bands = np.array([band_of(column, statistic) for column in rows.T]).reshape(len(specs), 3)
    whole = np.asarray(np.isfinite(rows).all(axis=0), bool)
    fit = whole & (lost < LEARNED * worst)
    free = specs[0] == specs[0].baseline()
    enough = fit.sum() >= FEWEST and (proved is not None or not free)
    inside = np.array(x, float)[fit]
    return Frontier(
        label=label,
        style=style,
        epsilon=tuple(look_of(spec).epsilon for spec in specs),
        x=np.array(x),
        center=bands[:, 0],
        low=bands[:, 1],
        high=bands[:, 2],
        seeds=np.isfinite(rows).sum(axis=0),
        whole=whole,
        worst=worst,
        share=metrics.share_of_worst(bands[:, 0], worst),
        slope=metrics.power_law(inside, rows[:, fit], statistic) if enough else (np.nan,) * 3,
        fitted=(inside[0], inside[-1]) if enough else (np.nan, np.nan),
        theory=proved,
        world=world,
    )

"""Sweeps as charts take them: a curve of ends for each line, how it falls, and the slope that a paper proves.

Trade-offs and `SweepResult.plot` draw the same, wherever the ends of the runs come from.
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

LEARNED = 0.5  # of all there is to lose: where less is lost, a slope says something
FEWEST = 3  # points of a slope
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
SUFFIXES = {"central": "-jdp", "local": "-ldp"}  # after the key of an algorithm, the name of its bound
# what a bound calls an axis
EXPONENTS = {"epsilon": "epsilon", "episodes": "K", "H": "H", "S": "S"}
EXPONENTS_OF_DATA = {"rho": "rho", "epsilon": "epsilon", "n": "K", "H": "H", "S": "S"}


def look_of(spec: Any) -> CurveStyle:
    """Return the style of a run's marker."""
    return style_of_data(spec) if spec.kind == OfflineSpec.kind else style_of(spec)


def looks_of(kinds: Sequence[CurveStyle], *, shaded: bool) -> list[CurveStyle]:
    """Return the style of each line, no two alike: lines of one colour have different dashes.

    shaded: whether a line has the shade of its budget; where the budget is the axis its markers alone have shades.
    """
    return numbered(dashed([kind if shaded else replace(kind, epsilon=None) for kind in kinds]))


def all_to_lose(spec: Any, v_star: float) -> float:
    """Return all there is to lose in a run."""
    return v_star if spec.kind == OfflineSpec.kind else spec.episodes * v_star


def proved_exponent(spec: Any, x: str, *, price: bool) -> float | None:
    """Return the exponent of an axis in a paper's bound, if the bound has one.

    Of a price it is that of the term with the budget; of a gap that of the term that is left when n is large. price:
    whether that is what is drawn.
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
    """Of values [seeds], of those that are known: mean (or median), low, high."""
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
        label, style: its name, and its look.
        specs: [P] its runs; x: [P] their values of the axis, ascending.
        rows: [seeds, P] the values drawn, NaN if unknown.
        lost: [P] what each lost, by whose share of `worst` [P] points are chosen that a slope is fitted to.
        proved: see `proved_exponent`.
        statistic: of the seeds.
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

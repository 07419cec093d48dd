"""The chart of a sweep's results, with the dashboard's figure of Trade-offs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dprl.environments import ENVIRONMENTS
from dprl.fields import SpecError, shown
from dprl.figures import style, tradeoff
from dprl.figures.chart import side_by_side
from dprl.figures.looks import marked
from dprl.figures.regret import distinct
from dprl.learners import ALGORITHMS, OFFLINE
from dprl.metrics.curves import RunCurves
from dprl.plugins import Registry
from dprl.privacy import MECHANISMS
from dprl.research.frontiers import (
    AXES,
    BUDGETS,
    SYMBOLS,
    all_to_lose,
    frontier_of,
    look_of,
    looks_of,
    proved_exponent,
)
from dprl.sentences.price import about_frontier
from dprl.simulation import OfflineSpec, RunSpec, answer, answered
from dprl.simulation.sweep import Sweep
from dprl.words import human

if TYPE_CHECKING:
    from dprl.figures.looks import CurveStyle
    from dprl.figures.picture import Picture
    from dprl.figures.tradeoff import Frontier

# The measures that can be drawn for sweeps of each kind of runs, with their names in the figures.
MEASURES: dict[str, dict[str, tradeoff.Measure]] = {
    RunSpec.kind: {"privacy cost": "price", "regret": "regret", "share": "share"},
    OfflineSpec.kind: {"privacy cost": "gap price", "suboptimality": "gap"},
}
PRICE = "privacy cost"
ITSELF = "Each algorithm is compared with itself without privacy, so the lowest curve may not lose the least."
LOST = {RunSpec.kind: "share", OfflineSpec.kind: "suboptimality"}  # the default if algorithms are compared
TITLED: dict[str, tuple[Registry[Any], ...]] = {
    "algorithm": (ALGORITHMS, OFFLINE),
    "environment": (ENVIRONMENTS,),
    "mechanism": (MECHANISMS,),
}
Points = list[tuple[Any, Any]]  # values of the axis with their runs


def frontier_picture(
    sweep: Sweep[Any], curves: Mapping[Any, RunCurves], measure: str | None, *, dark: bool
) -> Picture:
    """Draw the chart, see `SweepResult.plot`. Raises SpecError."""
    algorithms = "algorithm" in dict(sweep.axes)
    if measure is None:
        measure = LOST.get(sweep.base.kind, PRICE) if algorithms else PRICE
    shown_as = measure_of(sweep.base.kind, measure)
    x = next((name for name, values in sweep.axes if not isinstance(values[0], str)), None)
    if x is None:
        raise SpecError("axes", "none of them is a number to draw along; add one, such as epsilon.")
    others = [name for name, _ in sweep.axes if name != x]
    panels: dict[str, Any] = {"": None}
    panel = ("environment" if "environment" in others else others[1]) if len(others) > 1 else ""
    if panel:
        panels = {axis_words(panel, value): value for value in dict(sweep.axes)[panel]}
    lines = {
        name: lines_of(sweep, x, priced=measure == PRICE, only=(panel, value) if panel else None)
        for name, value in panels.items()
    }
    names = list(dict.fromkeys(name for points in lines.values() for name in points))
    if len(names) > style.MOST_CURVES:
        raise SpecError("axes", f"{len(names)} lines cannot be told apart; give at most {style.MOST_CURVES}.")
    kinds = [next(look_of(p[name][0][1]) for p in lines.values() if name in p) for name in names]
    looks = dict(zip(names, looks_of(marked(kinds), shaded=x not in BUDGETS), strict=True))
    best: dict[tuple[str, str], float] = {}
    drawn = {
        title: [
            line_of(curves, name, looks[name], points, x, measure, best, by_world=others == ["environment"])
            for name, points in found.items()
        ]
        for title, found in lines.items()
    }
    title, symbol = AXES.get(x, x), SYMBOLS.get(x, x)
    itself = ITSELF if algorithms and measure == PRICE and not panel else ""

    def chart(found: list[Frontier]) -> Picture:
        return tradeoff.frontier(
            found,
            measure=shown_as,
            axis=f"{title[0].upper()}{title[1:]}",
            symbol=symbol,
            see=f"{about_frontier(found, shown_as, symbol)} {itself}".rstrip(),
            dark=dark,
        )

    if not panel:
        return chart(drawn[""])
    pictures = {name: chart(found) for name, found in drawn.items() if found}
    see = " ".join(f"{name}: {picture.see}" for name, picture in pictures.items())
    if algorithms and measure == PRICE:
        see = f"{see} {ITSELF}"
    return replace(side_by_side(pictures, panel), see=see)


def measure_of(kind: str, measure: str) -> tradeoff.Measure:
    """Return the figures' name of a measure for a kind of runs. Raises SpecError."""
    if kind not in MEASURES:
        raise SpecError("sweep", f"sweeps of {kind} runs have no chart; give {' or '.join(MEASURES)} runs.")
    if not isinstance(measure, str) or measure not in MEASURES[kind]:
        wrong, give = shown(measure), f"give one of {', '.join(MEASURES[kind])}."
        if kind == RunSpec.kind:
            raise SpecError("measure", f"{wrong} is not drawn of a sweep; {give}")
        raise SpecError("measure", f"{wrong} is not drawn of a sweep of {kind} runs; {give}")
    return MEASURES[kind][measure]


def lines_of(
    sweep: Sweep[Any], x: str, *, priced: bool, only: tuple[str, Any] | None = None
) -> dict[str, Points]:
    """Return the name of each combination of the other axes, with its runs along x.

    A run that does not change along another axis, because it is not private, is one line. priced: whether to leave out
    non-private runs, which have no privacy cost; only: an axis and the value that all runs have to have.
    """
    names = [name for name, _ in sweep.axes]
    place = names.index(x)
    left_out = {place} | ({names.index(only[0])} if only else set())
    found: dict[tuple[str, ...], Points] = {}
    for point in sweep.points:
        if only and point.values[names.index(only[0])] != only[1]:
            continue
        if point.spec is not None and not (priced and point.spec == point.spec.baseline()):
            said = [axis_words(*one) for one in zip(names, point.values, strict=True)]
            key = tuple(one for i, one in enumerate(said) if i not in left_out)
            found.setdefault(key, []).append((point.values[place], point.spec))
    same: dict[tuple[tuple[Any, Any], ...], list[tuple[str, ...]]] = {}
    for key, points in found.items():
        same.setdefault(tuple(sorted(points, key=lambda point: point[0])), []).append(key)
    titles = [line_title(keys, runs[0][1], x) for runs, keys in same.items()]
    return dict(zip(distinct(titles), map(list, same), strict=True))


def axis_words(name: str, value: Any) -> str:
    """Write a value of an axis for a name: an entry of a registry by its title."""
    if not isinstance(value, str):
        return f"{SYMBOLS.get(name, name)} = {human(value)}"
    entry = next((registry[value] for registry in TITLED.get(name, ()) if value in registry), None)
    return getattr(entry, "title", str(value))


def line_title(keys: list[tuple[str, ...]], spec: Any, x: str) -> str:
    """Name a line by the values that its combinations share, or else by its runs' label without the axis."""
    shared = [said[0] for said in zip(*keys, strict=True) if len(set(said)) == 1]
    return ", ".join(shared) or spec.label().partition(f", {x} ")[0]


def line_of(
    curves: Mapping[Any, RunCurves],
    name: str,
    look: CurveStyle,
    points: Points,
    x: str,
    measure: str,
    best: dict[tuple[str, str], float],
    *,
    by_world: bool,
) -> Frontier:
    """Return one line. best: known V* by problem; by_world: whether one panel has several environments."""
    specs = [spec for _, spec in points]
    known = [curves[spec] for spec in specs]
    lost = np.array([found.ends.mean() for found in known])
    rows = np.array([found.ends for found in known])
    if measure == PRICE:
        rows = rows - np.array([curves[spec.baseline()].ends for spec in specs])
    worst = np.array([all_to_lose(spec, v_star_once(spec, best)) for spec in specs])
    if measure == "share":
        if not (worst > 0).all():
            raise SpecError("measure", "V* is 0, so no share of it is lost; give regret.")
        rows, lost, worst = rows / worst[:, None], lost / worst, np.ones(len(worst))
    proved = proved_exponent(specs[0], x, price=measure == PRICE)
    world = name if by_world else ""
    x_values = [value for value, _ in points]
    return frontier_of(name, look, specs, x_values, rows.T, lost, worst, proved=proved, world=world)


def v_star_once(spec: Any, best: dict[tuple[str, str], float]) -> float:
    """Return V* of a run's problem, and remember it in `best`."""
    problem = spec.environment, str(dict(spec.environment_params))
    if problem not in best:
        best[problem] = float(answered(answer("v_star", spec)))
    return best[problem]

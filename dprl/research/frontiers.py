"""The chart of a sweep: the final values of runs, and for each line its slope and the slope that a paper proves.

Both the page Trade-offs and `SweepResult.plot` draw this chart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dprl.environments import ENVIRONMENTS
from dprl.fields import SpecError, shown
from dprl.figures import style, tradeoff
from dprl.figures.chart import side_by_side
from dprl.figures.looks import CurveStyle, dashed, marked, numbered
from dprl.figures.regret import distinct
from dprl.figures.tradeoff import Frontier
from dprl.learners import ALGORITHMS, OFFLINE
from dprl.messages import messages
from dprl.metrics.curves import Array, RunCurves, Statistic
from dprl.metrics.growth import center_of, power_law
from dprl.plugins import Registry
from dprl.privacy import MECHANISMS
from dprl.research.series import bound_of, place_of, style_of
from dprl.sentences.price import about_frontier
from dprl.simulation import OfflineSpec, RunSpec, answer, answered
from dprl.theory import BOUNDS, Bound
from dprl.words import human

if TYPE_CHECKING:
    from dprl.figures.picture import Picture

LEARNED = 0.5  # the share of the worst possible loss below which a slope is meaningful
FEWEST = 3  # fewest points of a slope
SYMBOLS = {"epsilon": "ε", "rho": "ρ", "episodes": "K", "contribution": "m"}
AXES = messages("charts")["axes"]
BUDGETS = ("epsilon", "rho")
SUFFIXES = {"central": "-jdp", "local": "-ldp"}  # suffixes of an algorithm's key in the names of its bounds
# names of the axes in bounds
EXPONENTS = {"epsilon": "epsilon", "rho": "rho", "episodes": "K", "n": "K", "H": "H", "S": "S"}
# The measures that can be drawn for sweeps of each kind of run, with their names in the figures.
MEASURES: dict[str, dict[str, tradeoff.Measure]] = {
    RunSpec.kind: {"privacy cost": "price", "regret": "regret", "share": "share"},
    OfflineSpec.kind: {"privacy cost": "gap price", "suboptimality": "gap"},
}
PRICE = "privacy cost"
ITSELF = "Each algorithm is compared with itself without privacy, so the lowest curve need not mean the lowest loss."
LOST = {RunSpec.kind: "share", OfflineSpec.kind: "suboptimality"}  # the default if algorithms are compared
TITLED: dict[str, tuple[Registry[Any], ...]] = {
    "algorithm": (ALGORITHMS, OFFLINE),
    "environment": (ENVIRONMENTS,),
    "mechanism": (MECHANISMS,),
}
Points = list[tuple[Any, Any]]  # values of the axis with their runs


def looks_of(kinds: Sequence[CurveStyle], *, shaded: bool) -> list[CurveStyle]:
    """Return the styles of the lines, all different. If `shaded`, the colour of a line shows its budget."""
    return numbered(dashed([kind if shaded else replace(kind, epsilon=None) for kind in kinds]))


def all_to_lose(spec: Any, v_star: float) -> float:
    """Return the largest possible loss: V* for a policy learned from data, or V* in each episode of an online run."""
    return v_star if spec.kind == OfflineSpec.kind else spec.episodes * v_star


def proved_exponent(spec: Any, x: str, *, price: bool) -> float | None:
    """Return the exponent of `x` in a paper's bound, or None if there is none. With `price`, it is from the term for
    the privacy cost. Otherwise, for suboptimality, it is from the term that dominates when n is large."""
    online = spec.kind == RunSpec.kind
    bound = bound_of_run(spec) if online else bound_of(spec)
    if bound is None or x not in EXPONENTS or (online and not price):
        return None
    terms = [term for term in bound.terms if term.private] if price else bound.terms[:1]
    exponents = [float(getattr(term, EXPONENTS[x])) for term in terms]
    if online:
        return exponents[0] if len(set(exponents)) == 1 else None
    return (exponents[0] if exponents else 0.0) or None


def bound_of_run(spec: RunSpec) -> Bound | None:
    """Return the bound of an online run's own algorithm under its privacy model, if a paper proves one."""
    key = spec.algorithm + SUFFIXES.get(spec.privacy, "")
    pure = "" if spec.delta else "-pure"
    found = (BOUNDS.get(name) for name in (key + pure, key, spec.algorithm))
    return next((bound for bound in found if bound and bound.model == spec.privacy != "none"), None)


def frontier_of(
    label: str,
    style: CurveStyle,
    points: Points,
    x: str,
    measure: tradeoff.Measure,
    ends: Callable[[Any], Array],
    worst_of: Callable[[Any], float],
    *,
    statistic: Statistic = "mean",
    world: str = "",
) -> Frontier:
    """Return one line of a sweep along the axis `x`, with a slope fitted to points whose runs learned enough. `ends`
    returns a run's final values [seeds], and `worst_of` its largest possible loss, or NaN if unknown. `world` names the
    environment if the chart shows several."""

    def band_of(values: Array) -> tuple[float, float, float]:
        return center_of(values[np.isfinite(values)], statistic)

    at, specs = zip(*points, strict=True)
    priced = "price" in measure
    finals = np.array([ends(spec) for spec in specs])
    rows = finals - np.array([ends(spec.baseline()) for spec in specs]) if priced else finals
    lost = np.array([band_of(final)[0] for final in finals])
    worst = np.array([worst_of(spec) for spec in specs])
    if measure == "share":
        most = np.where(worst > 0, worst, np.nan)
        rows, lost, worst = rows / most[:, None], lost / most, np.ones(len(specs))
    center, low, high = np.array([band_of(row) for row in rows]).T
    whole = np.asarray(np.isfinite(rows).all(axis=1), bool)
    fit = whole & (lost < LEARNED * worst)
    proved = proved_exponent(specs[0], x, price=priced)
    free = specs[0] == specs[0].baseline()
    enough = fit.sum() >= FEWEST and (proved is not None or not free)
    inside = np.array(at, float)[fit]
    return Frontier(
        label,
        style,
        tuple(style_of(spec).epsilon for spec in specs),
        np.array(at),
        center,
        low,
        high,
        seeds=np.isfinite(rows).sum(axis=1),
        whole=whole,
        worst=worst,
        share=center / np.where(worst > 0, worst, np.nan),
        slope=power_law(inside, rows[fit].T, statistic) if enough else (np.nan,) * 3,
        fitted=(inside[0], inside[-1]) if enough else (np.nan, np.nan),
        theory=proved,
        world=world,
    )


def frontier_picture(
    sweep: Any, curves: Mapping[Any, RunCurves], measure: str | None, *, dark: bool
) -> Picture:
    """Draw the chart for `SweepResult.plot`, given a `Sweep` and the curves of its finished runs. Raises SpecError."""
    algorithms = "algorithm" in dict(sweep.axes)
    if measure is None:
        measure = LOST.get(sweep.base.kind, PRICE) if algorithms else PRICE
    shown_as = measure_of(sweep.base.kind, measure)
    x = next((name for name, values in sweep.axes if not isinstance(values[0], str)), None)
    if x is None:
        raise SpecError("axes", "none of them is a number, but a chart needs one; add one, such as epsilon.")
    others = [name for name, _ in sweep.axes if name != x]
    panels: dict[str, Any] = {"": None}
    panel = ("environment" if "environment" in others else others[1]) if len(others) > 1 else ""
    if panel:
        panels = {axis_words(panel, value): value for value in dict(sweep.axes)[panel]}
    lines = {
        name: lines_of(sweep, x, priced=measure == PRICE, only={panel: value} if panel else {})
        for name, value in panels.items()
    }
    names = list(dict.fromkeys(name for points in lines.values() for name in points))
    if len(names) > style.MOST_CURVES:
        raise SpecError("axes", f"{len(names)} lines cannot be told apart; give at most {style.MOST_CURVES}.")
    kinds = [next(style_of(p[name][0][1]) for p in lines.values() if name in p) for name in names]
    looks = dict(zip(names, looks_of(marked(kinds), shaded=x not in BUDGETS), strict=True))
    best: dict[str, float] = {}  # V* by problem

    def worst_of(spec: Any) -> float:
        if (problem := place_of(spec)) not in best:
            best[problem] = float(answered(answer("v_star", spec)))
        if measure == "share" and not best[problem] > 0:
            raise SpecError("measure", "V* is 0, so no share of it is lost; give regret.")
        return all_to_lose(spec, best[problem])

    title, symbol = AXES.get(x, x), SYMBOLS.get(x, x)
    pictures = {}
    for value, found in lines.items():
        curves_of = [
            frontier_of(
                name, looks[name], points, x, shown_as, lambda spec: curves[spec].ends, worst_of,
                world=name if others == ["environment"] else "",
            )
            for name, points in found.items()
        ]  # fmt: skip
        see, axis = about_frontier(curves_of, shown_as, symbol), f"{title[0].upper()}{title[1:]}"
        if curves_of or not panel:
            pictures[value] = tradeoff.frontier(
                curves_of, measure=shown_as, axis=axis, symbol=symbol, see=see, dark=dark
            )
    whole = side_by_side(pictures, panel) if panel else pictures[""]
    see = " ".join(f"{name}: {one.see}" for name, one in pictures.items()) if panel else whole.see
    return replace(whole, see=f"{see} {ITSELF}" if algorithms and measure == PRICE else see)


def measure_of(kind: str, measure: str) -> tradeoff.Measure:
    """Return the name that the figures use for a measure of this kind of run. Raises SpecError."""
    if kind not in MEASURES:
        raise SpecError("sweep", f"sweeps of {kind} runs have no chart; give {' or '.join(MEASURES)} runs.")
    if not isinstance(measure, str) or measure not in MEASURES[kind]:
        of = "" if kind == RunSpec.kind else f" of {kind} runs"
        give = f"give one of {', '.join(MEASURES[kind])}."
        raise SpecError("measure", f"{shown(measure)} is not drawn for sweeps{of}; {give}")
    return MEASURES[kind][measure]


def lines_of(sweep: Any, x: str, *, priced: bool, only: Mapping[str, Any]) -> dict[str, Points]:
    """Return the runs of each line of a sweep chart. A line varies `x` and has fixed values on the other axes.

    Combinations with the same runs, such as those without privacy, share a line, named after the values that they have
    in common or else after the runs. priced: leave out runs without a privacy cost; only: values that runs must have.
    """
    found: dict[tuple[str, ...], Points] = {}
    for point in sweep.points:
        values = dict(zip((name for name, _ in sweep.axes), point.values, strict=True))
        left_out = point.spec is None or (priced and point.spec == point.spec.baseline())
        if left_out or any(values[name] != one for name, one in only.items()):
            continue
        key = tuple(axis_words(*one) for one in values.items() if one[0] not in (x, *only))
        found.setdefault(key, []).append((values[x], point.spec))
    same: dict[tuple[tuple[Any, Any], ...], list[tuple[str, ...]]] = {}
    for key, points in found.items():
        same.setdefault(tuple(sorted(points, key=lambda point: point[0])), []).append(key)
    titles = []
    for runs, keys in same.items():
        shared = [said[0] for said in zip(*keys, strict=True) if len(set(said)) == 1]
        titles.append(", ".join(shared) or runs[0][1].label().partition(f", {x} ")[0])
    return dict(zip(distinct(titles), map(list, same), strict=True))


def axis_words(name: str, value: Any) -> str:
    """Return the name of a value on an axis for a legend, such as an algorithm's title."""
    if not isinstance(value, str):
        return f"{SYMBOLS.get(name, name)} = {human(value)}"
    entry = next((registry[value] for registry in TITLED.get(name, ()) if value in registry), None)
    return getattr(entry, "title", str(value))

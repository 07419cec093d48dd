"""When privacy is free: regret and its price up to 10^15 episodes, how fast they grow, and what is proved beside it.

What is proved is dotted, has no marker and carries a letter; a bound is never filled like a band.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import lines, looks, style
from dprl.figures.chart import EPISODES, EXTRA_REGRET, REGRET, Chart, Trace, stacked
from dprl.figures.lines import Series
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.figures.regret import regret_numbers
from dprl.words import exponents, human, power

Array = NDArray[np.float64]
Measure = Literal["regret", "price"]

TITLES: dict[Measure, str] = {"regret": "Regret so far", "price": "What privacy has cost so far"}
SUBTITLES: dict[Measure, str] = {
    "regret": "mean over seeds",
    "price": "regret beyond that of the run without privacy, mean over seeds",
}
Y_TITLES: dict[Measure, str] = {"regret": REGRET, "price": EXTRA_REGRET}
ALTS: dict[Measure, str] = {
    "regret": "Line chart of cumulative regret against episodes, both logarithmic, a curve for each privacy model.",
    "price": "Line chart of the regret that privacy adds against episodes, both logarithmic, a curve for each "
    "privacy model.",
}
LETTERS = "ABCDEFGH"


@dataclass(frozen=True)
class Decades:
    """How the price of one run grew in D tenfolds of episodes: like K^mean, with a 95% t interval over seeds.

    Each array [D]; NaN where fewer than two of `of` seeds have a price above zero. flat: the number of episodes from
    which it is flat, None if it is not.
    """

    label: str
    style: CurveStyle
    from_k: Array
    to_k: Array
    mean: Array
    low: Array
    high: Array
    seeds: NDArray[Any]
    of: int
    flat: float | None = None


@dataclass(frozen=True)
class Proved:
    """A bound at N numbers of episodes.

    Attributes:
        paper: where it is from.
        model: its privacy model.
        epsilon: its budget.
    """

    label: str
    paper: str
    model: str
    epsilon: float | None
    episodes: Array
    values: Array


def long_run(
    curves: Sequence[Series],
    *,
    view: Measure,
    flat: Sequence[float | None] = (),
    show_seeds: bool = False,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Regret, or its price, of up to eight runs, logarithmic both ways.

    flat: of each curve, from how many episodes its price is flat: marked on it.
    """
    chart = Chart(
        TITLES[view],
        EPISODES,
        Y_TITLES[view],
        subtitle=SUBTITLES[view],
        height=430 + 18 * len(curves),
        dark=dark,
    )
    lines.draw_series(chart, curves, _after, show_seeds=show_seeds)
    if view == "regret":
        all_there_is(chart, curves)
    marked = [(curve, start) for curve, start in zip(curves, flat, strict=bool(flat)) if start is not None]
    for number, (curve, start) in enumerate(marked):
        _mark(chart, curve, start, curves, named=number == 0)
    return chart.picture(ALTS[view], see, regret_numbers(curves, median=True), revision=view)


def _after(k: float) -> str:
    return f"after {human(k)} episodes"


def all_there_is(chart: Chart, curves: Sequence[Series]) -> None:
    """K V*, all there is to lose: from theory."""
    known = [(c.x, c.v_star) for c in curves if c.v_star and len(c.x)]
    if not known:
        return
    v_star = float(known[0][1] or 0.0)
    ends = np.array([min(x[0] for x, _ in known), max(x[-1] for x, _ in known)], float)
    name = f"K·V*, all there is to lose (V* = {v_star:#.3g})"
    hover = "K·V*, all there is to lose: %{y:.3s}<extra></extra>"
    chart.theory(name, ends, ends * v_star, hovertemplate=hover)
    _reach(chart, ends * v_star)


def _reach(chart: Chart, values: Array) -> None:
    """Lets the vertical axis, if it is logarithmic, reach these values too."""
    positive = values[values > 0]
    if len(positive):
        chart.reach(np.log10(positive.min()) - 0.2, np.log10(positive.max()) + 0.3)


def _mark(chart: Chart, curve: Series, start: float, curves: Sequence[Series], *, named: bool) -> None:
    """A star where a curve becomes flat."""
    color = curve.style.color(chart.dark)
    known = np.isfinite(curve.center)
    height = float(np.interp(start, curve.x[known], curve.center[known]))
    chart.add(
        "markers+text",
        [start],
        [height],
        marker={"symbol": "star", "size": 15, "color": color, "line": {"width": 1, "color": "white"}},
        text=[f"flat from {power(start)}"],
        textposition=_room(curve, start, height, curves),
        textfont={"color": color, "size": 12},
        hovertemplate=f"From {power(start)} episodes on the exponent is at most 0.1<extra></extra>",
        name="flat from here on",
        legendgroup="flat",
        showlegend=named,
    )


def _room(curve: Series, start: float, height: float, curves: Sequence[Series]) -> str:
    """Where words at a star cross no other curve: above or below, whichever has more room, and towards the middle."""
    right = start < 1e-3 * float(curve.x[-1])
    # what the words take of a telephone's width
    beside = start * np.geomspace(1.0, 1e3 if right else 1e-3, 7)
    above = below = np.inf
    for other in curves:
        known = np.isfinite(other.center) & (other.center > 0)
        if other is not curve and known.any():
            away = np.log(np.interp(beside, other.x[known], other.center[known]) / height)
            above = min(above, float(away[away >= 0].min(initial=np.inf)))
            below = min(below, float(-away[away < 0].max(initial=-np.inf)))
    return f"{'top' if above > below else 'bottom'} {'right' if right else 'left'}"


Level = tuple[float, str, bool]  # a height, its name in the legend, and whether it is theory
PRICE_LEVELS: tuple[Level, ...] = (
    (1.0, "1: nothing is learned", False),
    (0.5, "0.5: theory with nobody trusted (else 0)", True),
    (0.1, "0.1: flat, at or below", False),
)


def growth_exponents(
    runs: Sequence[Decades],
    *,
    what: str = "the price of privacy",
    levels: Sequence[Level] = PRICE_LEVELS,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """The exponent of the price of privacy, or of something else, in each tenfold of episodes, with its interval over
    seeds."""
    chart = Chart(
        f"How fast {what} grows",
        "Episodes (one user each), decade by decade",
        "Exponent x of growth like Kˣ",
        subtitle="mean and 95% t interval over seeds",
        height=470,
        dark=dark,
    )
    ends = [-0.1, 1.05]  # what the vertical axis reaches at least
    for place, run in enumerate(runs):
        known = np.isfinite(run.mean)
        ends += [v for values in (run.low, run.mean, run.high) for v in values[known] if np.isfinite(v)]
        # Beside each other, so that intervals can be told apart.
        _exponents(chart, run, 10.0 ** (0.14 * (place - (len(runs) - 1) / 2)))
    reach = [min((r.from_k[0] for r in runs if len(r.from_k)), default=1e3)]
    reach.append(max((r.to_k[-1] for r in runs if len(r.to_k)), default=1e15))
    for height, name, theory in levels:
        if theory:
            chart.theory(name, reach, [height, height])
        else:
            chart.line(name, reach, [height, height], chart.colors.muted, 0.8, "solid")
    chart.x(type="log", nticks=7, tickangle=0, range=np.log10(reach).tolist())
    chart.y(nticks=8, range=[min(ends) - 0.05, max(ends) * 1.06])
    alt = "Chart of growth exponents in each decade of episodes, with intervals, a series for each privacy model."
    return chart.picture(alt, see, _growth_numbers(runs), revision="growth")


def _exponents(chart: Chart, run: Decades, aside: float) -> None:
    """Those of one run, with their intervals. aside: by which factor they stand beside the middle of each tenfold."""
    known, color = np.isfinite(run.mean), run.style.color(chart.dark)
    each = (values[known] for values in (run.from_k, run.to_k, run.mean, run.low, run.high, run.seeds))
    words = [
        f"{power(a)} to {power(b)} episodes<br>x = {exponents(m, low, high)}<br>{n} of {run.of} seeds"
        for a, b, m, low, high, n in zip(*each, strict=True)
    ]
    label = style.plain(run.label)
    chart.line(
        label,
        np.sqrt(run.from_k * run.to_k)[known] * aside,
        run.mean[known],
        style.translucent(color, 0.45),
        1.5,
        mode="lines+markers",
        error_y={
            "type": "data",
            "symmetric": False,
            "array": np.nan_to_num(run.high - run.mean)[known],
            "arrayminus": np.nan_to_num(run.mean - run.low)[known],
            "thickness": 1.6,
            "width": 4,
            "color": color,
        },
        marker={"symbol": run.style.symbol, "size": 9, "color": color},
        customdata=words,
        hovertemplate=f"<b>{label}</b><br>%{{customdata}}<extra></extra>",
    )


def regret_beside_bounds(
    curves: Sequence[Series], bounds: Sequence[Proved], *, see: str = "", dark: bool = False
) -> Picture:
    """Simulated regret, and dotted beside it what is proved, constants and logarithms set to 1."""
    chart = Chart(
        "What is proved, beside what is seen",
        EPISODES,
        REGRET,
        subtitle="means over seeds; dotted: bounds, constants set to 1",
        height=450 + 20 * (len(curves) + len(bounds)),
        dark=dark,
    )
    lines.draw_series(chart, curves, _after)
    all_there_is(chart, curves)
    for number, bound in enumerate(bounds):
        color = looks.color(bound.model, bound.epsilon, dark)
        name = f"{LETTERS[number]}: {style.plain(bound.label)}, {style.plain(bound.paper)}"
        hover = f"<b>{name}</b><br>at %{{x:.3s}} episodes: %{{y:.3s}}<extra></extra>"
        look: Trace = {"opacity": 0.85, "hovertemplate": hover, "legendgroup": name}
        chart.line(name, bound.episodes, bound.values, color, 1.6, style.BOUND_DASH, **look)
        at = round((0.1 + 0.8 * (number + 0.5) / len(bounds)) * (len(bound.values) - 1))
        x, y, letter = [bound.episodes[at]], [bound.values[at]], [f"<b>{LETTERS[number]}</b>"]
        chart.words(x, y, letter, color, 13, textposition="top center", legendgroup=name)
        _reach(chart, bound.values)
    proved = stacked(
        {"curve": f"{b.label}, {b.paper}", "episodes": b.episodes, "bound": b.values} for b in bounds
    )
    alt = "Line chart of simulated regret against episodes, with dotted lines for proved bounds beside it."
    seen = regret_numbers(curves, median=True)
    table = pd.concat([seen, proved], ignore_index=True) if bounds else seen
    return chart.picture(alt, see, table, revision=f"beside-{len(bounds)}")


def _growth_numbers(runs: Sequence[Decades]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            (run.label, f"{power(a)} to {power(b)}", m, low, high, f"{n} of {run.of}")
            for run in runs
            for a, b, m, low, high, n in zip(
                run.from_k, run.to_k, run.mean, run.low, run.high, run.seeds, strict=True
            )
        ],
        columns=["run", "episodes", "exponent", "low (95%)", "high (95%)", "seeds"],
    )

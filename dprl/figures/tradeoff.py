"""Charts of the privacy cost against epsilon, the number of users K, or the size of the environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dprl.figures import ends, lines, looks, style
from dprl.figures.chart import Chart, Trace, stacked
from dprl.figures.lines import Array, Floor, Statistic
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.messages import messages
from dprl.words import human, interval, percent, raised

Measure = Literal["price", "regret", "share", "gap price", "gap"]

TITLES: dict[Measure, str] = messages("charts")["cost"]["titles"]
Y_TITLES: dict[Measure, str] = messages("charts")["cost"]["y_titles"]
WORST: dict[Measure, str] = {"price": "K·V*", "regret": "K·V*", "share": "V*", "gap price": "v*", "gap": "v*"}
OVER: dict[Measure, str] = {one: lines.DATA_SETS if "gap" in one else lines.SEEDS for one in TITLES}
PROVED = "proved: "  # prefix of a bound's name
FEW = 3.0  # an axis of small numbers with at most this many decades labels 1, 2 and 5 in each


@dataclass(frozen=True)
class Frontier:
    """A curve of a trade-off chart, with P points."""

    label: str
    style: CurveStyle
    epsilon: Sequence[float | None]  # the budget at each point, which sets its marker's shade [P]
    x: NDArray[Any]  # the horizontal positions of the points, ascending [P]
    center: Array  # the mean (or median) over the finished seeds [P], NaN if there is none
    low: Array  # its interval [P]
    high: Array
    seeds: NDArray[np.int64]  # the number of finished seeds [P]
    whole: NDArray[np.bool_]  # whether all seeds are finished [P]
    worst: Array  # the largest possible loss [P]: K V*, or v* for a policy learned from a data set
    share: Array  # the loss (or the privacy cost, if it is drawn) divided by `worst` [P], NaN if nothing can be lost
    slope: tuple[float, float, float] = (np.nan, np.nan, np.nan)  # the exponent of x with its interval
    fitted: tuple[float, float] = (np.nan, np.nan)  # the range of x of that fit
    theory: float | None = None  # the exponent in the paper's bound, None if it is not drawn
    world: str = ""  # the environment, if the chart shows several


@dataclass(frozen=True)
class ProvedLine:
    """A paper's bound at P points, with constants and logarithms set to 1."""

    label: str
    model: str
    epsilon: float | None  # None if the axis shows epsilon
    x: Array  # ascending [P]
    values: Array


def frontier(
    curves: Sequence[Frontier],
    *,
    measure: Measure,
    axis: str,
    symbol: str,
    statistic: Statistic = "mean",
    bounds: Sequence[ProvedLine] = (),
    see: str = "",
    dark: bool = False,
    wide: bool = False,
) -> Picture:
    """Draw curves with intervals and a marker for each run. `axis` is the title of the horizontal axis, and `symbol`
    its symbol. `bounds` are dotted lines. If `wide`, names are at the right ends of curves."""
    over = OVER[measure]
    chart = Chart(
        TITLES[measure],
        axis,
        Y_TITLES[measure],
        subtitle=f"{statistic} over {lines.how_many((curve.seeds.max(initial=0) for curve in curves), over)}",
        height=440 + 18 * len(curves),
        dark=dark,
    )
    floor = Floor.of(np.concatenate([curve.center for curve in curves] or [np.zeros(0)]))
    # the largest loss is a thin line, like levels in lessons; dotted lines are the slopes of bounds
    for world in dict.fromkeys(curve.world for curve in curves):
        best = max((curve for curve in curves if curve.world == world), key=lambda curve: len(curve.x))
        name = f"{WORST[measure]}{f' of {style.plain(world)}' if world else ''}, the most that can be lost"
        dash = best.style.dash if world else "solid"
        chart.line(name, np.asarray(best.x, float), best.worst, chart.colors.muted, 1, dash)
    known = [np.isfinite(curve.center) for curve in curves]
    banded = False
    for curve, ok in zip(curves, known, strict=True):
        has, color = ok & np.isfinite(curve.low), curve.style.color(dark)
        if has.sum() > 1:
            banded, label = True, style.plain(curve.label)
            own: Trace = {"name": f"{label}: {lines.band(statistic, over)}", "legendgroup": label}
            x, low, high = np.asarray(curve.x, float)[has], curve.low[has], curve.high[has]
            chart.band(x, floor.lifted(low), floor.lifted(high), style.translucent(color, 0.2), **own)
        _markers(chart, curve, floor, symbol)
    if not bounds:
        _theory(chart, curves, symbol)
    if banded:
        lines.band_sign(chart, lines.band(statistic, over))
    if any((ok & ~curve.whole).any() for curve, ok in zip(curves, known, strict=True)):
        sign = {"symbol": "circle-open", "size": 9, "color": chart.colors.muted, "line": {"width": 1.5}}
        chart.sign(f"not all {over} yet", sign)
    if any((~floor.above(curve.center[ok])).any() for curve, ok in zip(curves, known, strict=True)):
        lines.floor_sign(chart)
    _axes(chart, curves, floor)
    for bound in bounds:  # without markers, so that they do not look measured
        name = PROVED + style.plain(bound.label)
        hover = f"<b>{name}</b><br>{symbol} = %{{x:.3s}}: %{{y:.3s}}<extra></extra>"
        color = looks.color(bound.model, bound.epsilon, dark)
        look: Trace = {"opacity": 0.85, "hovertemplate": hover, "legendgroup": name}
        chart.line(name, bound.x, bound.values, color, 1.8, style.BOUND_DASH, **look)
        chart.reach(np.log10(bound.values.min()) - 0.2, np.log10(bound.values.max()) + 0.3)
    if measure == "share":
        lines.percents(chart)
    if wide:
        ends.name_ends(chart, [(curve.label, curve.style, curve.center) for curve in curves])
    parts = (
        {"curve": c.label, symbol: c.x}
        | {statistic: c.center, "low (95%)": c.low, "high (95%)": c.high}
        | {f"share of {WORST[measure]}": c.share, over: c.seeds}
        for c in curves
    )
    proved = ({"curve": PROVED + b.label, symbol: b.x, "bound": b.values} for b in bounds)
    return chart.picture(f"frontier_{measure}", see, stacked([*parts, *proved]), revision=f"{measure}-{axis}")


def _markers(chart: Chart, curve: Frontier, floor: Floor, symbol: str) -> None:
    """Draw a curve with markers that are shaded by budget, and hollow if seeds are missing."""
    look, label = curve.style, style.plain(curve.label)
    ok = np.flatnonzero(np.isfinite(curve.center))
    x, center, whole = np.asarray(curve.x, float)[ok], curve.center[ok], curve.whole[ok]
    above = floor.above(center)
    rows = zip(x, center, curve.low[ok], curve.high[ok], curve.share[ok], strict=True)
    words = [
        (human(at), interval(human(float(mean)), float(low), float(high)), percent(float(share)))
        for at, mean, low, high, share in rows
    ]
    symbols = [
        "triangle-down-open" if not a else look.symbol + ("" if w else "-open")
        for a, w in zip(above, whole, strict=True)
    ]
    shades = [looks.color(look.model, curve.epsilon[int(p)], chart.dark) for p in ok]
    size = lines.marker_size(look, 9)
    chart.line(
        lines.folded(look.prefix + label),
        x,
        np.where(above, center, floor.at),
        look.color(chart.dark),
        2.2,
        look.dash,
        mode="lines+markers",
        marker={"symbol": symbols, "size": size, "color": shades, "line": {"width": 1.5, "color": shades}},
        cliponaxis=False,  # triangles on the bottom edge are not cut
        customdata=words,
        hovertemplate=(
            f"<b>{label}</b><br>{symbol} = %{{customdata[0]}}<br>%{{customdata[1]}}"
            "<br>%{customdata[2]} of the most that can be lost<extra></extra>"
        ),
        legendgroup=label,
    )
    full = (whole & above).nonzero()[0]  # the others are hollow
    fill = [shades[p] for p in full]
    lines.digits(chart, look, x[full], center[full], fill, name=label, legendgroup=label)


def _theory(chart: Chart, curves: Sequence[Frontier], symbol: str) -> None:
    """Draw the slope of each paper's bound through the middle of the fitted points."""
    named: set[float] = set()
    for curve in curves:
        x = np.asarray(curve.x, float)
        inside = (x >= curve.fitted[0]) & (x <= curve.fitted[1])
        inside &= np.isfinite(curve.center) & (curve.center > 0)
        if curve.theory is None or inside.sum() < 2:
            continue
        x, y = x[inside], curve.center[inside]
        middle_x, middle_y = np.exp(np.log(x).mean()), np.exp(np.log(y).mean())
        slope = f"1/{symbol}" if curve.theory == -1 else symbol + raised(curve.theory)
        ends = x[[0, -1]]
        along = middle_y * (ends / middle_x) ** curve.theory
        chart.theory(f"reference slope {slope}", ends, along, 1.6, showlegend=curve.theory not in named)
        named.add(curve.theory)


def _axes(chart: Chart, curves: Sequence[Frontier], floor: Floor) -> None:
    """Make both axes logarithmic. The vertical axis reaches up to the largest possible loss."""
    chart.x(type="log", nticks=8, tickangle=0, exponentformat="power")
    x = np.concatenate([np.asarray(curve.x, float) for curve in curves] or [np.ones(1)])
    if x.max() >= 10 * x.min():
        chart.x(**lines.log_ticks(x.min(), x.max(), FEW if x.max() <= 1000 else lines.FEW))
    chart.y(type="log", nticks=6)
    if floor.top is not None:
        top = max(floor.top, max(float(np.nanmax(curve.worst)) for curve in curves)) * 1.6
        chart.y(range=[np.log10(floor.at), np.log10(top)], **lines.log_ticks(floor.at, top))

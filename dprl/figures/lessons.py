"""Charts that are asked about: curves known up to a point or without their names, and answers drawn over them.

What somebody guessed is open and dashed, what was measured is filled and solid, and what others guessed is faint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from dprl.figures import lines, looks, style
from dprl.figures.looks import Kind
from dprl.figures.style import Picture
from dprl.words import human, listed

Array = NDArray[np.float64]
Who = Literal["guess", "truth", "other"]
WHO = {"guess": "your guess", "truth": "measured", "other": "guesses of others"}
HEIGHT, LARGE = 420, 470  # pixels, on a page and for a projector
GAP = 3 * "\u2002"  # between a name and the point that it belongs to
ALONG = 80  # points of a line that are looked at
ENOUGH, APART = (
    0.1,
    0.3,
)  # of the chart: as far as a number should be from edges and other curves; from others
FAINT = 0.16  # opacity of a guess among many


@dataclass(frozen=True)
class Curve:
    """One curve: center, low, high [C] at x [C]; until: as far as it is drawn before the answer is shown."""

    label: str
    kind: Kind
    x: Array
    center: Array
    low: Array
    high: Array
    until: float = np.inf


@dataclass(frozen=True)
class Frame:
    """What a chart has beside its curves.

    Attributes:
        x_range, y_range: in the units of the axes, not their logarithms.
        percent, percent_x: y is a share; so is x.
        level: what a curve comes down to, and its name.
        bound: what a theorem says, under a name, at x and y [P] each; drawn with the answer.
    """

    title: str
    x_title: str
    y_title: str
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    log_x: bool = True
    log_y: bool = False
    percent: bool = False
    percent_x: bool = False
    level: tuple[float, str] | None = None
    bound: tuple[str, Array, Array] | None = None


@dataclass(frozen=True)
class Chart(Frame):
    """A chart that stays as large when the answer comes."""

    curves: tuple[Curve, ...] = ()


def base(chart: Chart, *, shown: bool, names: bool = True, large: bool = False, dark: bool) -> go.Figure:
    """The chart alone. shown: with all of each curve; names: with what they are, else all are grey and alike."""
    colors = style.theme(dark)
    figure = style.base(
        chart.title,
        dark=dark,
        height=LARGE if large else HEIGHT,
        x_title=chart.x_title,
        y_title=chart.y_title,
    )
    drawn = [curve for curve in chart.curves if shown or curve.until > 0]
    if names:
        _named(figure, chart, drawn, shown, dark)
        if not shown:  # what is pressed is an answer, never a curve
            figure.update_traces(hovertemplate=None, hoverinfo="skip")
    else:
        for curve in drawn:
            figure.add_scatter(
                x=curve.x,
                y=_floored(chart, curve.center),
                mode="lines",
                line={"color": colors.muted, "width": 2.5},
                hoverinfo="skip",
                showlegend=False,
            )
    for axis, log, ends in (("xaxis", chart.log_x, chart.x_range), ("yaxis", chart.log_y, chart.y_range)):
        range_ = [float(np.log10(end)) for end in ends] if log else list(ends)
        figure.layout[axis].update(type="log" if log else "linear", range=range_, autorange=False)
        if log:
            figure.layout[axis].update(dtick=max(1, int(np.ceil((range_[1] - range_[0]) / 6))))
    if chart.percent:
        figure.update_yaxes(tickformat=".0%")
    if chart.percent_x:
        figure.update_xaxes(tickformat=".0%")
    if chart.level is not None:
        at, name = chart.level
        figure.add_scatter(
            x=chart.x_range,
            y=[at, at],
            mode="lines",
            line={"color": colors.muted, "width": 1},
            name=name,
            hoverinfo="skip",
        )
    if shown and chart.bound is not None:
        name, x, y = chart.bound
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines",
            line={"color": colors.roles["bound"], "width": 1.8, "dash": style.BOUND_DASH},
            name=name,
            hoverinfo="skip",
        )
    # Whatever is pressed, the nearest point is meant.
    figure.update_layout(hoverdistance=-1, dragmode=False)
    if large:
        figure.update_layout(font={"size": 19}, legend={"font": {"size": 19}}, title={"font": {"size": 24}})
        for axis in (figure.layout.xaxis, figure.layout.yaxis):
            axis.update(tickfont={"size": 18}, title={"font": {"size": 19}})
        figure.update_layout(margin={"t": 56})
    return figure


def _named(figure: go.Figure, chart: Chart, drawn: Sequence[Curve], shown: bool, dark: bool) -> None:
    """The curves in their own colours, as far as they are known."""
    found = []
    for curve in drawn:
        known = np.ones(len(curve.x), bool) if shown else curve.x <= curve.until
        center, low, high = (
            np.where(known, _floored(chart, v), np.nan) for v in (curve.center, curve.low, curve.high)
        )
        look = looks.look(curve.kind, dark)
        found.append(lines.Line(curve.label, look, curve.x, center, low, high, center[None]))
    lines.draw(
        figure,
        found,
        log_x=chart.log_x,
        log_y=chart.log_y,
        show_seeds=False,
        dark=dark,
        x_words=lambda x: f"at {human(x)}",
    )


def value_at(chart: Chart, curve: Curve, x: float) -> float:
    """The height of a curve, by straight lines as the chart has them."""
    place = np.log if chart.log_x else np.asarray
    if not chart.log_y:
        return float(np.interp(place(x), place(curve.x), curve.center))
    return float(np.exp(np.interp(place(x), place(curve.x), np.log(_floored(chart, curve.center)))))


def _floored(chart: Chart, values: Array) -> Array:
    """What a logarithmic axis can show of values, those below it at its edge."""
    return np.where(np.isnan(values), np.nan, np.maximum(values, chart.y_range[0])) if chart.log_y else values


def marker(figure: go.Figure, chart: Chart, at: Sequence[float], who: Who, dark: bool) -> None:
    """A line straight up where an answer is."""
    if not at:
        return
    ink = style.theme(dark).ink
    low, high = chart.y_range
    height = chart.level[0] if chart.level else (low * high) ** 0.5 if chart.log_y else (low + high) / 2
    figure.add_scatter(
        x=[v for x in at for v in (x, x, x, None)],
        y=[v for _ in at for v in (low, height, high, None)],
        mode="lines+markers",
        line={"color": ink, "width": 2, "dash": "solid" if who == "truth" else "10px,6px"},
        marker=_points(ink, who, [0, 15, 0, 0] * len(at)),
        opacity=FAINT if who == "other" else 1.0,
        name=WHO[who],
        hovertemplate=f"{WHO[who]}: %{{x:.3s}}<extra></extra>",
        unselected={"marker": {"opacity": 1}},
    )


def slope(
    figure: go.Figure, start: tuple[float, float], end: float, of: Sequence[float], who: Who, dark: bool
) -> None:
    """Lines of these exponents from a point on, to x = end."""
    if not of:
        return
    ink = style.theme(dark).ink
    x, y = start
    figure.add_scatter(
        x=[v for _ in of for v in (x, end, None)],
        y=[v for power in of for v in (y, y * (end / x) ** power, None)],
        mode="lines+markers",
        line={"color": ink, "width": 2.5, "dash": "solid" if who == "truth" else "10px,6px"},
        marker=_points(ink, who, [0, 14, 0] * len(of)),
        opacity=FAINT if who == "other" else 1.0,
        name=WHO[who],
        hoverinfo="skip",
        unselected={"marker": {"opacity": 1}},
    )


def fan(
    figure: go.Figure,
    start: tuple[float, float],
    end: float,
    choices: Sequence[tuple[float, str]],
    dark: bool,
) -> None:
    """The slopes to choose from; the end of each can be pressed, and says which it is."""
    colors = style.theme(dark)
    x, y = start
    for place, (power, name) in enumerate(choices):
        top = y * (end / x) ** power
        figure.add_scatter(
            x=[x, end],
            y=[y, top],
            mode="lines+markers+text",
            line={"color": colors.muted, "width": 1.2, "dash": style.BOUND_DASH},
            marker={"size": [0, 16], "color": colors.background, "line": {"width": 2, "color": colors.muted}},
            text=["", name + GAP],
            textposition="top left",
            textfont={"color": colors.ink, "size": figure.layout.font.size + 1},
            customdata=[None, place],
            hovertemplate=f"{name}<extra></extra>",
            showlegend=False,
            cliponaxis=False,
            unselected={"marker": {"opacity": 1}, "textfont": {"color": colors.ink}},
        )


def steps(figure: go.Figure, chart: Chart, at: Sequence[float], words: Sequence[str], dark: bool) -> None:
    """Where a marker can be put: points that are not seen, and can be pressed."""
    low, high = chart.y_range
    height = chart.level[0] if chart.level else (low * high) ** 0.5 if chart.log_y else (low + high) / 2
    figure.add_scatter(
        x=list(at),
        y=[height] * len(at),
        mode="markers",
        marker={"size": 30, "opacity": 0, "color": style.theme(dark).muted},
        customdata=list(words),
        hovertemplate="%{customdata}<extra></extra>",
        showlegend=False,
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
    )


def tags(
    figure: go.Figure,
    chart: Chart,
    order: Sequence[int],
    names: Sequence[str],
    right: Sequence[bool | None],
    dark: bool,
) -> None:
    """A number on each curve, and in the legend what it was called: there is no room for names between curves.

    Args:
        order: places of the curves in the chart, that of number 1 first.
        names: by number, "" for none yet.
        right: whether a name is right, None where that is not told yet; by number.
    """
    colors = style.theme(dark)
    points = apart(chart, order)
    for number, (point, name, fits) in enumerate(zip(points, names, right, strict=True), 1):
        x, y = point
        said = {None: name, True: f"{name}: rightly named", False: f"you said {name}"}[fits]
        figure.add_scatter(
            x=[x],
            y=[y],
            mode="markers+text",
            marker={
                "size": 26,
                "symbol": "circle",
                "color": colors.ink if fits else colors.background,
                "line": {"width": 2, "color": colors.ink},
            },
            text=[str(number)],
            textposition="middle center",
            textfont={"color": colors.background if fits else colors.ink, "size": 14, "weight": 700},
            customdata=[number - 1],
            hovertemplate=f"{said or 'press to name it'}<extra>{number}</extra>",
            name=f"{number}. {said or '?'}",
            showlegend=bool(name),
            cliponaxis=False,
            unselected={"marker": {"opacity": 1}},
        )


def apart(chart: Chart, order: Sequence[int]) -> list[tuple[float, float]]:
    """For each of these curves a point that is far from all others, and from the points of those before, as the eye
    sees the chart on a telephone."""
    curves = [_seen(chart, curve) for curve in chart.curves]
    found: list[Array] = []
    for place in order:
        own = curves[place]
        room = np.minimum(np.minimum(own[:, 2:], 1 - own[:, 2:]).min(axis=1), ENOUGH)
        others = [curve[:, 2:] for i, curve in enumerate(curves) if i != place]
        for points, enough in ((np.concatenate(others), ENOUGH), (np.array([p[2:] for p in found]), APART)):
            if len(points):
                near = np.sqrt(((own[:, None, 2:] - points[None]) ** 2).sum(axis=2)).min(axis=1)
                room = room + np.minimum(near, enough)
        found.append(own[int(room.argmax())])
    return [(float(point[0]), float(point[1])) for point in found]


def _seen(chart: Chart, curve: Curve) -> Array:
    """[P, 4] points of a curve within the chart: x, y, and both as shares of the chart's sides."""
    axes = (
        (curve.x, chart.log_x, chart.x_range),
        (_floored(chart, curve.center), chart.log_y, chart.y_range),
    )
    columns, shares = [], []
    for values, log, ends in axes:
        low, high = np.log(ends) if log else ends
        columns.append(values)
        shares.append(((np.log(values) if log else values) - low) / (high - low))
    points = np.column_stack([*columns, *shares])
    # Evenly along the line: a steep part has few points of its own.
    ok = np.isfinite(points).all(axis=1) & (points[:, 2] >= 0) & (points[:, 2] <= 1)
    points = points[ok]
    length = np.concatenate([[0.0], np.cumsum(np.sqrt((np.diff(points[:, 2:], axis=0) ** 2).sum(axis=1)))])
    at = np.linspace(0.0, length[-1], ALONG)
    even = np.column_stack([np.interp(at, length, points[:, i]) for i in (2, 3)])
    for i, (_, log, ends) in enumerate(axes):
        low, high = np.log(ends) if log else ends
        value = low + even[:, i] * (high - low)
        even = np.column_stack([even, np.exp(value) if log else value])
    return np.column_stack([even[:, 2:], even[:, :2]])


def picture(figure: go.Figure, chart: Chart, *, shown: bool, names: bool = True, see: str) -> Picture:
    """The figure with what a page shows around it. What is not drawn yet is not in its numbers either."""
    parts = []
    for number, curve in enumerate(chart.curves):
        known = curve.x <= (np.inf if shown else curve.until)
        label = curve.label if names else f"curve {number + 1}"
        parts.append(
            pd.DataFrame(
                {
                    "curve": label,
                    "x": curve.x[known],
                    "mean": curve.center[known],
                    "low (95%)": curve.low[known],
                    "high (95%)": curve.high[known],
                }
            )
        )
    what = listed([curve.label for curve in chart.curves]) if names else "curves without their names"
    alt = f"Line chart: {chart.title}, against {chart.x_title.partition(' (')[0]}: {what}."
    return Picture(figure, alt, see, pd.concat(parts, ignore_index=True))


def _points(ink: str, who: Who, sizes: Sequence[int]) -> dict[str, Any]:
    """The points of an answer: filled where it was measured."""
    symbol = "diamond" if who == "truth" else "diamond-open"
    return {
        "symbol": symbol,
        "size": list(sizes),
        "color": ink,
        "opacity": 1,
        "line": {"width": 2, "color": ink},
    }

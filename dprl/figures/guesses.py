"""Answers drawn over a chart that is asked about, and where they can be given.

What somebody guessed is open and dashed, what was measured is filled and solid, and what others guessed is faint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go

from dprl.figures import style
from dprl.figures.lessons import Array, Chart, Curve, floored

Who = Literal["guess", "truth", "other"]
WHO = {"guess": "your guess", "truth": "measured", "other": "guesses of others"}
GAP = 2 * "\u2002"  # between a name and the point that it belongs to
ALONG = 80  # points of a line that are looked at
ENOUGH, APART = (
    0.1,
    0.3,
)  # of the chart: as far as a number should be from edges and other curves; from others
FAINT = 0.16  # opacity of a guess among many
HELD = "held"  # what the browser knows the trace by that is dragged


def marker(figure: go.Figure, chart: Chart, at: Sequence[float], who: Who, dark: bool) -> None:
    """A line straight up where an answer is."""
    if not at:
        return
    ink, height = style.theme(dark).ink, _level(chart)
    low, high = chart.y_range
    figure.add_scatter(
        x=[v for x in at for v in (x, x, x, None)],
        y=[v for _ in at for v in (low, height, high, None)],
        mode="lines+markers",
        line={"color": ink, "width": 2, "dash": "solid" if who == "truth" else "10px,6px"},
        marker=_points(ink, who, [0, 15, 0, 0] * len(at)),
        opacity=FAINT if who == "other" else 1.0,
        name=WHO[who],
        hovertemplate=f"{WHO[who]}: %{{x:.3s}}<extra></extra>",
        cliponaxis=False,
        unselected={"marker": {"opacity": 1}},
        meta=HELD if who == "guess" else None,
    )


def waiting(figure: go.Figure, chart: Chart, at: float, dark: bool) -> None:
    """The marker before it was put anywhere, at the place where its slider stands: no answer, and not in the legend."""
    ink = style.theme(dark).ink
    low, high = chart.y_range
    figure.add_scatter(
        x=[at, at, at],
        y=[low, _level(chart), high],
        mode="lines+markers+text",
        line={"color": ink, "width": 2, "dash": "10px,6px"},
        marker=_points(ink, "guess", [0, 15, 0]),
        text=["", GAP + "drag me", ""],
        textposition="top right",
        textfont={"color": ink, "size": figure.layout.font.size + 1},
        hoverinfo="skip",
        showlegend=False,
        cliponaxis=False,
        unselected={"marker": {"opacity": 1}, "textfont": {"color": ink}},
        meta=HELD,
    )


def _level(chart: Chart) -> float:
    """At which height the point of a marker is."""
    low, high = chart.y_range
    return chart.level[0] if chart.level else (low * high) ** 0.5 if chart.log_y else (low + high) / 2


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
        cliponaxis=False,
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
    left, right = figure.layout.xaxis.range
    inward = -1 if left < right else 1  # from the end of a slope, where the axis stops
    for place, (power, name) in enumerate(choices):
        top = y * (end / x) ** power
        figure.add_scatter(
            x=[x, end],
            y=[y, top],
            mode="lines+markers",
            line={"color": colors.muted, "width": 1.2, "dash": style.BOUND_DASH},
            marker={"size": [0, 16], "color": colors.background, "line": {"width": 2, "color": colors.muted}},
            customdata=[None, place],
            hovertemplate=f"{name}<extra></extra>",
            showlegend=False,
            cliponaxis=False,
            unselected={"marker": {"opacity": 1}},
        )
        # on a ground of its own: on a telephone another slope goes through it
        figure.add_annotation(
            x=_placed(figure.layout.xaxis, end),
            y=_placed(figure.layout.yaxis, top),
            text=name,
            showarrow=False,
            xanchor="right" if inward < 0 else "left",
            yanchor="bottom",
            xshift=16 * inward,
            yshift=3,
            borderpad=1,
            bgcolor=style.translucent(colors.background, 0.6),  # what lies under it is still seen
            font={"color": colors.ink, "size": figure.layout.font.size + 1},
        )


def _placed(axis: Any, value: float) -> float:
    """A value as annotations have it: on a log axis its logarithm."""
    return float(np.log10(value)) if axis.type == "log" else value


def steps(figure: go.Figure, chart: Chart, at: Sequence[float], words: Sequence[str], dark: bool) -> None:
    """Where a marker can be put: points that are not seen, and can be pressed."""
    figure.add_scatter(
        x=list(at),
        y=[_level(chart)] * len(at),
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
    shown: bool,
    dark: bool,
) -> None:
    """A number on each curve, and in the legend what it was called: there is no room for names between curves. With
    the answer the legend has the curves in the order of their numbers.

    Args:
        order: places of the curves in the chart, that of number 1 first.
        names: by number, "" for none yet.
        shown: whether the chart has the curves' own names.
    """
    colors = style.theme(dark)
    points = apart(chart, order)
    for number, (point, name, place) in enumerate(zip(points, names, order, strict=True), 1):
        x, y = point
        own = chart.curves[place].label
        fits, said = shown and name == own, name
        if shown:
            said = f"{own}: rightly named" if fits else f"{own}<br>you said {name}" if name else own
            _rank(figure, style.plain(own), number, f"{number}. {said}")
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
            showlegend=bool(name) and not shown,
            cliponaxis=False,
            unselected={"marker": {"opacity": 1}},
        )


def _rank(figure: go.Figure, group: str, number: int, name: str) -> None:
    """Has the legend name the curve of a group so, at this place, before all that is no curve."""
    for trace in figure.data:
        if trace.legendgroup == group and trace.showlegend is not False:
            trace.update(name=name, legendrank=number)


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
        (floored(chart, curve.center), chart.log_y, chart.y_range),
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

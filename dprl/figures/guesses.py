"""Answers drawn over a chart that is asked about, and where they can be given.

Guesses are open and dashed, measurements filled and solid, and the guesses of others faint. The
middle of a class is wide, in a colour of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from dprl.figures import style
from dprl.figures.chart import Chart, Trace
from dprl.figures.lessons import AskedChart, floored
from dprl.figures.lines import Array, Series
from dprl.messages import filled, messages

Who = Literal["guess", "truth", "other", "class"]
SAID = messages("lessons")["chart"]
GAP = 2 * "\u2002"  # between a name and the point that it belongs to
ALONG = 80  # points of a line that are looked at
# Of the chart: as far as a number should be from edges and other curves; from others.
ENOUGH, APART = 0.1, 0.3
FAINT = 0.16  # opacity of a guess among many
WHOLE = {"marker": {"opacity": 1}}  # of what was not pressed, which else would fade
ABOVE = 1.06  # of circles that end at 1, where a marker among them has its point
HELD = "held"  # what the browser knows the trace by that is dragged


def marker(chart: Chart, asked: AskedChart, at: Sequence[float], who: Who, name: str = "") -> None:
    """Draw a vertical line at an answer. name: its label, if not the usual one."""
    if not at:
        return
    height = _level(asked)
    low, high = asked.y_range
    _answer_lines(
        chart,
        who,
        [v for x in at for v in (x, x, x, None)],
        [v for _ in at for v in (low, height, high, None)],
        [0, 15, 0, 0] * len(at),
        hovertemplate=f"{name or SAID[who]}: %{{x:.3s}}<extra></extra>",
        name=name or SAID[who],
        meta=HELD if who == "guess" else None,
    )


def circles_of_users(chart: Chart, asked: AskedChart, filled: float) -> None:
    """Draw a circle for each user that the axis counts, column by column; the first `filled` are full."""
    n = np.arange(asked.people)
    side, size = math.isqrt(asked.people), min(chart.layout["font"]["size"] + 2, 17)
    x = side * (n // side) + side / 2
    y = (n % side + 0.5) / side  # below the marker
    for some, symbol, color in (
        (n < round(filled), "circle", chart.colors.ink),
        (n >= round(filled), "circle-open", chart.colors.muted),
    ):
        marker = {"color": color, "size": size, "symbol": symbol, "opacity": 0.75, "line": {"width": 1.5}}
        skip: Trace = {"hoverinfo": "skip", "showlegend": False, "unselected": {"marker": {"opacity": 0.75}}}
        chart.add("markers", x[some], y[some], marker=marker, **skip)


def waiting(chart: Chart, asked: AskedChart, at: float) -> None:
    """Draw the unplaced marker where its slider stands: it is no answer yet, and not in the legend."""
    low, high = asked.y_range
    text = {"color": chart.colors.ink}
    _answer_lines(
        chart,
        "guess",
        [at, at, at],
        [low, _level(asked), high],
        [0, 15, 0],
        text=["", GAP + SAID["drag"], ""],
        textposition="top right",
        textfont=text | {"size": chart.layout["font"]["size"] + 1},
        showlegend=False,
        unselected={"marker": {"opacity": 1}, "textfont": text},
        meta=HELD,
        name=None,
        opacity=None,
    )


def slope(chart: Chart, start: tuple[float, float], end: float, of: Sequence[float], who: Who) -> None:
    """Lines of these exponents from a point on, to x = end."""
    if of:
        x, y = start
        up = [v for power in of for v in (y, y * (end / x) ** power, None)]
        _answer_lines(chart, who, [v for _ in of for v in (x, end, None)], up, [0, 14, 0] * len(of), 2.5)


def _answer_lines(
    chart: Chart, who: Who, x: list[Any], y: list[Any], sizes: list[int], width: float = 2, **trace: Any
) -> None:
    """Lines with points of these sizes: filled and solid where they were measured."""
    ink = chart.colors.roles["class"] if who == "class" else chart.colors.ink
    dash = "solid" if who == "truth" else "10px,6px"
    symbol = "diamond" if who == "truth" else "diamond-open"
    width += 2 * (who == "class")
    edge = {"width": 2, "color": ink}
    usual: Trace = {
        "line": {"color": ink, "width": width, "dash": dash},
        "marker": {"symbol": symbol, "size": sizes, "color": ink, "opacity": 1, "line": edge},
        "opacity": FAINT if who == "other" else 1.0,
        "name": SAID[who],
        "cliponaxis": False,
        "unselected": WHOLE,
    }
    mode = "lines+markers+text" if "text" in trace else "lines+markers"
    chart.add(mode, x, y, **usual | trace)


def _level(asked: AskedChart) -> float:
    """Return the height of a marker's point."""
    if asked.people:
        return ABOVE
    low, high = asked.y_range
    return asked.level[0] if asked.level else (low * high) ** 0.5 if asked.log_y else (low + high) / 2


def fan(chart: Chart, start: tuple[float, float], end: float, choices: Sequence[tuple[float, str]]) -> None:
    """Draw the slopes to choose from; the end of each can be pressed, and shows its name."""
    colors = chart.colors
    x, y = start
    left, right = chart.layout["xaxis"]["range"]
    inward = -1 if left < right else 1  # from the end of a slope, where the axis stops
    for place, (power, name) in enumerate(choices):
        top = y * (end / x) ** power
        edge = {"width": 2, "color": colors.muted}
        chart.add(
            "lines+markers",
            [x, end],
            [y, top],
            line={"color": colors.muted, "width": 1.2, "dash": style.BOUND_DASH},
            marker={"size": [0, 16], "color": colors.background, "line": edge},
            customdata=[None, place],
            hovertemplate=f"{name}<extra></extra>",
            showlegend=False,
            cliponaxis=False,
            unselected=WHOLE,
        )
        # on a ground of its own: on a telephone another slope goes through it
        chart.note(
            name,
            size=chart.layout["font"]["size"] + 1,
            x=_placed(chart.layout["xaxis"], end),
            y=_placed(chart.layout["yaxis"], top),
            xanchor="right" if inward < 0 else "left",
            yanchor="bottom",
            xshift=16 * inward,
            yshift=3,
            borderpad=1,
            bgcolor=style.translucent(colors.background, 0.6),  # what lies under it is still seen
        )


def _placed(axis: dict[str, Any], value: float) -> float:
    """Return a value as annotations need it: its logarithm on a log axis."""
    return float(np.log10(value)) if axis["type"] == "log" else value


def places_to_press(chart: Chart, asked: AskedChart, at: Sequence[float], words: Sequence[str]) -> None:
    """Add the places for a marker: points that are not seen, and can be pressed."""
    unseen = {"marker": {"opacity": 0}}
    chart.add(
        "markers",
        list(at),
        [_level(asked)] * len(at),
        marker={"size": 30, "opacity": 0, "color": chart.colors.muted},
        customdata=list(words),
        hovertemplate="%{customdata}<extra></extra>",
        showlegend=False,
        selected=unseen,
        unselected=unseen,
    )


def tags(chart: Chart, asked: AskedChart, order: Sequence[int], names: Sequence[str], shown: bool) -> None:
    """Write a number on each curve, and its given name in the legend: there is no room for names between curves. With
    the answer the legend lists the curves in the order of their numbers.

    Args:
        order: places of the curves in the chart, that of number 1 first.
        names: by number, "" for none yet.
        shown: whether the chart has the curves' own names.
    """
    colors = chart.colors
    points = points_apart(asked, order)
    for number, ((x, y), name, place) in enumerate(zip(points, names, order, strict=True), 1):
        own = asked.curves[place].label
        fits, said = shown and name == own, name
        if shown:
            said = _judged(own, name)
            _rank(chart, style.plain(own), number, f"{number}. {said}")
        fill, ink = (colors.ink, colors.background) if fits else (colors.background, colors.ink)
        chart.points(
            f"{number}. {said or '?'}",
            [x],
            [y],
            fill,
            size=26,
            mode="markers+text",
            marker={"line": {"width": 2, "color": colors.ink}},
            text=[str(number)],
            textposition="middle center",
            textfont={"color": ink, "size": 14, "weight": 700},
            customdata=[number - 1],
            hovertemplate=f"{said or SAID['press']}<extra>{number}</extra>",
            showlegend=bool(name) and not shown,
            cliponaxis=False,
            unselected=WHOLE,
        )


def _judged(own: str, name: str) -> str:
    """Return a curve's own name and the name the visitor gave it."""
    if name == own:
        return filled(SAID["rightly"], own=own)
    return filled(SAID["wrongly"], own=own, name=name) if name else own


def _rank(chart: Chart, group: str, number: int, name: str) -> None:
    """Let the legend name the curve of a group so, at this place, before all other symbols."""
    for trace in chart.traces:
        if trace.get("legendgroup") == group and trace.get("showlegend", True):
            trace |= {"name": name, "legendrank": number}


def points_apart(asked: AskedChart, order: Sequence[int]) -> list[tuple[float, float]]:
    """For each of these curves a point that is far from all others, and from the points of those before, as the eye
    sees the chart on a telephone."""
    curves = [_seen(asked, curve) for curve in asked.curves]
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


def _seen(asked: AskedChart, curve: Series) -> Array:
    """[P, 4] points of a curve within the chart: x, y, and both as shares of the chart's sides."""
    axes = (
        (curve.x, asked.log_x, asked.x_range),
        (floored(asked, curve.center), asked.log_y, asked.y_range),
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

"""Visitors' guesses and the true answers, drawn over a question's chart, and the points to click for an answer.

Guesses are dashed, measurements are solid, and other visitors' guesses are faint. A class's typical answer is a wide
line with its own colour.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from dprl.figures import style
from dprl.figures.chart import Chart, Trace
from dprl.figures.lessons import AskedChart, floored, placed
from dprl.figures.lines import Array, Series
from dprl.messages import filled, messages

Who = Literal["guess", "truth", "other", "class"]
SAID = messages("lessons")["chart"]
GAP = 2 * "\u2002"  # between a name and its point
ALONG = 80  # points examined along a line
# Desired distances of a curve's number, as shares of the chart: from edges and other curves, and from other numbers.
ENOUGH, APART = 0.1, 0.3
FAINT = 0.16  # opacity of a guess among many
WHOLE = {"marker": {"opacity": 1}}  # for points that were not clicked, which Plotly would fade
ABOVE = 1.06  # height of a marker's point above circles, which end at 1
HELD = "held"  # name of the draggable trace in the browser


def marker(chart: Chart, asked: AskedChart, at: Sequence[float], who: Who, name: str = "") -> None:
    """Draw a vertical line at each value in `at`: guesses or true answers. `name` replaces the usual label."""
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
    """Draw a circle for each user that the axis counts, column by column; the first `filled` circles are solid."""
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
    """Draw the marker at the slider's position before the visitor moves it. It has no legend entry yet."""
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
    """Draw power laws with the exponents `of`, from the point `start` to x = `end`."""
    if of:
        x, y = start
        up = [v for power in of for v in (y, y * (end / x) ** power, None)]
        _answer_lines(chart, who, [v for _ in of for v in (x, end, None)], up, [0, 14, 0] * len(of), 2.5)


def _answer_lines(
    chart: Chart, who: Who, x: list[Any], y: list[Any], sizes: list[int], width: float = 2, **trace: Any
) -> None:
    """Draw lines that end in points. Lines for true answers are solid, and lines for guesses are dashed."""
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
    """Return the y at which a marker's point is drawn on its vertical line."""
    if asked.people:
        return ABOVE
    low, high = asked.y_range
    return asked.level[0] if asked.level else (low * high) ** 0.5 if asked.log_y else (low + high) / 2


def fan(chart: Chart, start: tuple[float, float], end: float, choices: Sequence[tuple[float, str]]) -> None:
    """Draw the slopes that a visitor can choose from. The end of each shows its name and can be clicked."""
    colors = chart.colors
    x, y = start
    left, right = chart.layout["xaxis"]["range"]
    inward = -1 if left < right else 1  # the direction from the end of a slope into the plot
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
        # with a background, because another slope crosses it on a phone
        chart.note(
            name,
            size=chart.layout["font"]["size"] + 1,
            x=placed(chart.layout["xaxis"], end),
            y=placed(chart.layout["yaxis"], top),
            xanchor="right" if inward < 0 else "left",
            yanchor="bottom",
            xshift=16 * inward,
            yshift=3,
            borderpad=1,
            bgcolor=style.translucent(colors.background, 0.6),  # curves under it stay visible
        )


def places_to_press(chart: Chart, asked: AskedChart, at: Sequence[float], words: Sequence[str]) -> None:
    """Add invisible points that a visitor can click to place the marker."""
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
    """Write a number on each curve, and list the names that a visitor gave the curves in the legend.

    Once the answer is shown, the legend also lists the true names. `order` contains the index of the curve with each
    number. `names` is in the same order, with "" for a curve without a name.
    """
    colors = chart.colors
    points = points_apart(asked, order)
    for number, ((x, y), name, place) in enumerate(zip(points, names, order, strict=True), 1):
        own = asked.curves[place].label
        fits, said = shown and name == own, name
        if shown:
            verdict = {"own": own} if fits else {"own": own, "name": name}
            said = filled(SAID["rightly" if fits else "wrongly"], **verdict) if name else own
            for trace in chart.traces:  # list the curves before all other symbols in the legend
                if trace.get("legendgroup") == style.plain(own) and trace.get("showlegend", True):
                    trace |= {"name": f"{number}. {said}", "legendrank": number}
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


def points_apart(asked: AskedChart, order: Sequence[int]) -> list[tuple[float, float]]:
    """Choose a point (x, y) on each curve for its number, far from other curves and from the points chosen before."""
    curves = [_seen(asked, curve) for curve in asked.curves]
    found: list[tuple[float, float]] = []
    for place in order:
        own = curves[place]
        room = np.minimum(np.minimum(own, 1 - own).min(axis=1), ENOUGH)
        others = np.concatenate([curve for i, curve in enumerate(curves) if i != place])
        for points, enough in ((others, ENOUGH), (np.array(found), APART)):
            if len(points):
                near = np.sqrt(((own[:, None] - points[None]) ** 2).sum(axis=2)).min(axis=1)
                room = room + np.minimum(near, enough)
        found.append((float(own[int(room.argmax()), 0]), float(own[int(room.argmax()), 1])))
    axes = (asked.log_x, asked.x_range), (asked.log_y, asked.y_range)
    return [(_value(x, *axes[0]), _value(y, *axes[1])) for x, y in found]


def _value(share: float, log: bool, ends: tuple[float, float]) -> float:
    """Return the value at a position on an axis, given as a share of its length."""
    low, high = np.log(ends) if log else ends
    value = low + share * (high - low)
    return float(np.exp(value) if log else value)


def _seen(asked: AskedChart, curve: Series) -> Array:
    """Return evenly spaced points [P, 2] on the visible part of a curve, as shares of the chart's width and height."""
    axes = ((curve.x, asked.log_x, asked.x_range), (floored(asked, curve.center), asked.log_y, asked.y_range))
    columns = []
    for values, log, ends in axes:
        low, high = np.log(ends) if log else ends
        columns.append(((np.log(values) if log else values) - low) / (high - low))
    points = np.column_stack(columns)
    points = points[np.isfinite(points).all(axis=1) & (points[:, 0] >= 0) & (points[:, 0] <= 1)]
    length = np.concatenate([[0.0], np.cumsum(np.sqrt((np.diff(points, axis=0) ** 2).sum(axis=1)))])
    at = np.linspace(0.0, length[-1], ALONG)
    return np.column_stack([np.interp(at, length, points[:, i]) for i in (0, 1)])

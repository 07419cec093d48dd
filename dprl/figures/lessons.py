"""Charts that are asked about: curves known up to a point or without their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from dprl.figures import lines, looks, style
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.words import human, listed

Array = NDArray[np.float64]
HEIGHT = 420  # pixels, on a page; for a projector it is what the words leave
PROJECTOR, TELEPHONE = (19, 24, 18), (15, 16, 14)  # pixels of large letters: text, title, numbers at axes
EDGE = 1e-9  # of a decade


@dataclass(frozen=True)
class Curve:
    """One curve: center, low, high [C] at x [C]; until: as far as it is drawn before the answer is shown."""

    label: str
    kind: CurveStyle
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
        inverse_x: the axis says one over x, and runs the other way, so that what it says grows to the right.
        level: what a curve comes down to, and its name.
        bound: what a theorem says, under a name, at x and y [P] each; drawn with the answer.
        over: what curves are the mean of, `SEEDS` or `DATA_SETS` of figures.lines.
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
    inverse_x: bool = False
    level: tuple[float, str] | None = None
    bound: tuple[str, Array, Array] | None = None
    over: str = lines.SEEDS


@dataclass(frozen=True)
class Chart(Frame):
    """A chart that stays as large when the answer comes."""

    curves: tuple[Curve, ...] = ()


def base(
    chart: Chart, *, shown: bool, names: bool = True, large: bool = False, wide: bool = True, dark: bool
) -> go.Figure:
    """The chart alone. shown: with all of each curve; names: with what they are, else all are grey and alike; large:
    for a projector, if there is room (wide)."""
    colors = style.theme(dark)
    figure = style.base(
        chart.title,
        dark=dark,
        height=HEIGHT,
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
                y=floored(chart, curve.center),
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
            # a marker at the very end, 5 say, is at log10(5) or just beyond it, where Plotly would leave it out
            figure.layout[axis].range = [range_[0] - EDGE, range_[1] + EDGE]
    if chart.inverse_x:
        first, last = figure.layout.xaxis.range
        said = [10.0**k for k in range(int(np.ceil(-last)), int(np.floor(-first)) + 1)]
        figure.update_xaxes(
            range=[last, first], tickvals=[1 / value for value in said], ticktext=[f"{v:g}" for v in said]
        )
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
    figure.update_traces(cliponaxis=False)  # markers at an end, and on zero, are whole
    # Whatever is pressed, the nearest point is meant.
    figure.update_layout(hoverdistance=-1, dragmode=False)
    if not shown:  # Streamlit has what can be pressed move with the mouse, away from its axes
        figure.update_xaxes(fixedrange=True)
        figure.update_yaxes(fixedrange=True)
    if large:
        text, title, numbers = PROJECTOR if wide else TELEPHONE
        figure.update_layout(
            font={"size": text}, legend={"font": {"size": text}}, title={"font": {"size": title}}
        )
        for axis in (figure.layout.xaxis, figure.layout.yaxis):
            axis.update(tickfont={"size": numbers}, title={"font": {"size": text}})
        figure.update_layout(margin={"t": 56})
    return figure


def _named(figure: go.Figure, chart: Chart, drawn: Sequence[Curve], shown: bool, dark: bool) -> None:
    """The curves in their own colours, as far as they are known."""
    found = []
    for curve in drawn:
        known = np.ones(len(curve.x), bool) if shown else curve.x <= curve.until
        center, low, high = (
            np.where(known, floored(chart, v), np.nan) for v in (curve.center, curve.low, curve.high)
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
        x_words=lambda x: f"at {human(1 / x if chart.inverse_x else x)}",
        over=chart.over,
    )


def value_at(chart: Chart, curve: Curve, x: float) -> float:
    """The height of a curve, by straight lines as the chart has them."""
    place = np.log if chart.log_x else np.asarray
    if not chart.log_y:
        return float(np.interp(place(x), place(curve.x), curve.center))
    return float(np.exp(np.interp(place(x), place(curve.x), np.log(floored(chart, curve.center)))))


def floored(chart: Chart, values: Array) -> Array:
    """What a logarithmic axis can show of values, those below it at its edge."""
    return np.where(np.isnan(values), np.nan, np.maximum(values, chart.y_range[0])) if chart.log_y else values


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
                    "x": 1 / curve.x[known] if chart.inverse_x else curve.x[known],
                    "mean": curve.center[known],
                    "low (95%)": curve.low[known],
                    "high (95%)": curve.high[known],
                }
            )
        )
    what = listed([curve.label for curve in chart.curves]) if names else "curves without their names"
    alt = f"Line chart: {chart.title}, against {chart.x_title.partition(' (')[0]}: {what}."
    return Picture(figure, alt, see, pd.concat(parts, ignore_index=True))

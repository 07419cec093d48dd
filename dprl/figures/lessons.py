"""Charts that are asked about: curves known up to a point or without their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from dprl.figures import lines, style
from dprl.figures.chart import Chart, stacked
from dprl.figures.lines import Array, Series
from dprl.figures.picture import Picture
from dprl.messages import filled, messages
from dprl.words import human, listed

SAID = messages("lessons")["chart"]
HEIGHT, TALL = 360, 440  # pixels, on a page and on a telephone; for a projector it is what the words leave
PROJECTOR, TELEPHONE = (19, 24, 18), (15, 16, 14)  # pixels of large letters: text, title, numbers at axes
EDGE = 1e-9  # of a decade


@dataclass(frozen=True)
class Frame:
    """The parts of a chart besides its curves.

    Attributes:
        x_range, y_range: in the units of the axes, not their logarithms.
        percent, percent_x: y is a share; so is x.
        inverse_x: the axis says one over x, and runs the other way, so that its labels grow to the right.
        level: what a curve comes down to, and its name.
        bounds: what a theorem says, each under a name, at x and y [P] each; drawn with the answer, and what lies
            between two of them filled.
        people: the axis counts this many users; each is a circle, filled from the left as far as is answered.
        bare_x: no numbers stand at x, and none of x are told: they are what is asked next.
        over: what curves are the mean of, `SEEDS` or `DATA_SETS` of figures.lines.
        pointer: what the answer points at: x, y and a few words.
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
    bounds: tuple[tuple[str, Array, Array], ...] = ()
    people: int = 0
    bare_x: bool = False
    over: str = lines.SEEDS
    pointer: tuple[float, float, str] | None = None


@dataclass(frozen=True)
class AskedChart(Frame):
    """The chart of a question, which keeps its size when the answer comes.

    until: as far as each of its curves is drawn before the answer is shown.
    """

    curves: tuple[Series, ...] = ()
    until: tuple[float, ...] = ()


def open_chart(
    asked: AskedChart, *, shown: bool, names: bool = True, large: bool = False, wide: bool = True, dark: bool
) -> Chart:
    """Draw the chart alone. shown: all of each curve; names: with their names, else all are grey and alike; large: for
    a projector; wide: not on a telephone."""
    chart = Chart(asked.title, asked.x_title, asked.y_title, height=HEIGHT if wide else TALL, dark=dark)
    drawn = [pair for pair in zip(asked.curves, asked.until, strict=True) if shown or pair[1] > 0]
    if names:
        _named_curves(chart, asked, drawn, shown)
    else:
        for curve, _ in drawn:
            y = floored(asked, curve.center)
            chart.add("lines", curve.x, y, line={"color": chart.colors.muted, "width": 2.5}, showlegend=False)
    _question_axes(chart, asked)
    if asked.level is not None:
        at, name = asked.level
        chart.line(name, asked.x_range, [at, at], chart.colors.muted, 1)
    for number, bound in enumerate(asked.bounds if shown else ()):
        between = {"fill": "tonexty", "fillcolor": style.translucent(chart.colors.roles["bound"], 0.12)}
        chart.theory(*bound, 1.8, **(between if number else {}))
    for trace in chart.traces:
        trace["cliponaxis"] = False  # markers at an end, and on zero, are whole
    # Whatever is pressed, the nearest point is meant.
    chart.layout |= {"hoverdistance": -1, "dragmode": False}
    if not shown:  # Streamlit has what can be pressed move with the mouse, away from its axes
        chart.x(fixedrange=True)
        chart.y(fixedrange=True)
    if large:
        enlarge(chart, wide)
    if shown and asked.pointer:
        _point_at(chart, *asked.pointer, wide)
    return chart


def _named_curves(
    chart: Chart, asked: AskedChart, drawn: Sequence[tuple[Series, float]], shown: bool
) -> None:
    """Draw the curves in their own colours, as far as they are known."""
    found = []
    for curve, until in drawn:
        known = np.ones(len(curve.x), bool) if shown else curve.x <= until
        center, low, high = (
            np.where(known, floored(asked, v), np.nan) for v in (curve.center, curve.low, curve.high)
        )
        found.append(replace(curve, center=center, low=low, high=high, rows=center[None]))
    lines.draw_series(
        chart,
        found,
        lambda x: filled(SAID["at"], x=human(1 / x if asked.inverse_x else x)),
        log_x=asked.log_x,
        log_y=asked.log_y,
        over=asked.over,
    )
    chart.caveats.clear()  # a question gives nothing away
    if not shown:  # what is pressed is an answer, never a curve
        for trace in chart.traces:
            trace.pop("hovertemplate", None)
            trace["hoverinfo"] = "skip"


def _question_axes(chart: Chart, asked: AskedChart) -> None:
    """Their types and ends, which are what the question says."""
    for settle, log, ends in ((chart.x, asked.log_x, asked.x_range), (chart.y, asked.log_y, asked.y_range)):
        low, high = (float(np.log10(end)) for end in ends) if log else ends
        settle(type="log" if log else "linear", autorange=False, range=[low, high])
        if log:
            # a marker at the very end, 5 say, is at log10(5) or just beyond it, where Plotly would leave it out
            settle(dtick=max(1, int(np.ceil((high - low) / 6))), range=[low - EDGE, high + EDGE])
    if asked.inverse_x:
        first, last = chart.layout["xaxis"]["range"]
        said = [10.0**k for k in range(int(np.ceil(-last)), int(np.floor(-first)) + 1)]
        chart.x(
            range=[last, first], tickvals=[1 / value for value in said], ticktext=[f"{v:g}" for v in said]
        )
    if asked.people:
        chart.y(visible=False)
        chart.x(showgrid=False, dtick=10)
    if asked.bare_x:
        chart.x(showticklabels=False)
        for trace in chart.traces:  # nor does a hover tell; what is pressed is a name
            trace.pop("hovertemplate", None)
            trace["hoverinfo"] = "skip"
    if asked.percent:
        chart.y(tickformat=".0%")
    if asked.percent_x:
        chart.x(tickformat=".0%")


def _point_at(chart: Chart, x: float, y: float, words: str, wide: bool) -> None:
    """Draw an arrow from a few words to a point; the words stand wherever they fit."""
    place, share = [], []
    for value, axis in ((x, chart.layout["xaxis"]), (y, chart.layout["yaxis"])):
        low, high = axis["range"]
        place.append(float(np.log10(value)) if axis["type"] == "log" else value)
        share.append((place[-1] - low) / (high - low))
    right = share[0] < (0.6 if wide else 0.4)
    chart.note(
        words,
        size=chart.layout["font"]["size"] + 1,
        x=place[0],
        y=place[1],
        ax=40 if right else -40,
        ay=45 if share[1] > 0.5 else -45,
        xanchor="left" if right else "right",
        showarrow=True,
        arrowhead=2,
        arrowcolor=chart.colors.ink,
        bgcolor=style.translucent(chart.colors.background, 0.8),
        borderpad=2,
    )


def enlarge(chart: Chart, wide: bool) -> None:
    """Letters for a projector, if there is room (wide); else for a telephone."""
    text, title, numbers = PROJECTOR if wide else TELEPHONE
    layout = chart.layout
    for words, size in ((layout, text), (layout["legend"], text), (layout["title"], title)):
        words["font"] = words["font"] | {"size": size}
    for axis in (layout["xaxis"], layout["yaxis"]):
        axis["tickfont"] = axis["tickfont"] | {"size": numbers}
        axis["title"] = axis["title"] | {"font": axis["title"]["font"] | {"size": text}}
    layout["margin"]["t"] = 56


def value_at(asked: AskedChart, curve: Series, x: float) -> float:
    """Return the height of a curve, joining its points by straight lines as the chart does."""
    place = np.log if asked.log_x else np.asarray
    if not asked.log_y:
        return float(np.interp(place(x), place(curve.x), curve.center))
    return float(np.exp(np.interp(place(x), place(curve.x), np.log(floored(asked, curve.center)))))


def floored(asked: AskedChart, values: Array) -> Array:
    """Clip values to the edge of a logarithmic axis."""
    return np.where(np.isnan(values), np.nan, np.maximum(values, asked.y_range[0])) if asked.log_y else values


def asked_picture(chart: Chart, asked: AskedChart, *, shown: bool, names: bool = True) -> Picture:
    """Wrap the chart with the text that a page shows around it. Its numbers leave out what is not drawn yet."""
    parts = []
    for number, (curve, until) in enumerate(zip(asked.curves, asked.until, strict=True)):
        known = curve.x <= (np.inf if shown else until)
        x = {} if asked.bare_x else {"x": 1 / curve.x if asked.inverse_x else curve.x}
        columns = x | curve.numbers()
        label = curve.label if names else filled(SAID["curve"], number=number + 1)
        parts.append(
            {SAID["column_curve"]: label} | {name: values[known] for name, values in columns.items()}
        )
    for bound, across, up in asked.bounds if shown else ():
        parts.append({SAID["column_curve"]: bound, "x": across, "mean": up})
    if asked.people:
        alt = filled(SAID["circles"], users=asked.people, title=asked.title)
        return chart.picture(alt, "", pd.DataFrame({SAID["column_users"]: [asked.people]}))
    what = listed([curve.label for curve in asked.curves]) if names else SAID["unnamed"]
    axis = asked.x_title.partition(" (")[0]
    alt = filled(SAID["lines"], title=asked.title, axis=axis, curves=what)
    return chart.picture(alt, "", stacked(parts))

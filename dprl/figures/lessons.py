"""Charts for lessons: questions with their curves, a class's answers, and the visit counts of its clinic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dprl.figures import lines, looks, style
from dprl.figures.chart import Chart, stacked
from dprl.figures.lines import Array, Series
from dprl.figures.picture import Picture
from dprl.messages import filled, messages
from dprl.words import human, listed

SAID = messages("lessons")["chart"]
HEIGHT, TALL = 360, 440  # pixels, on a page and on a phone; a projector uses all the room left by the text
PROJECTOR, TELEPHONE = (19, 24, 18), (15, 16, 14)  # font sizes in large charts: text, title, axis labels
EDGE = 1e-9  # decades


@dataclass(frozen=True)
class Frame:
    """The title, axes and other parts of a question's chart, without its curves."""

    title: str
    x_title: str
    y_title: str
    x_range: tuple[float, float]  # in the units of the axis, not their logarithms
    y_range: tuple[float, float]
    log_x: bool = True
    log_y: bool = False
    percent: bool = False  # whether y is a share
    percent_x: bool = False
    # whether the axis shows 1/x and is reversed, so that its labels grow to the right
    inverse_x: bool = False
    level: tuple[float, str] | None = None  # a horizontal line with which curves are compared, as (y, name)
    # A theorem's bounds, each as (name, x [P], y [P]), drawn with the answer; the area between two is filled.
    bounds: tuple[tuple[str, Array, Array], ...] = ()
    people: int = 0  # the number of users that the axis counts; each is a circle, filled up to the answer
    bare_x: bool = False  # whether to hide all numbers on the x axis, because the next question asks for them
    over: str = lines.SEEDS  # the samples of the mean, `SEEDS` or `DATA_SETS`
    pointer: tuple[float, float, str] | None = None  # a point that the answer marks: x, y and a few words


@dataclass(frozen=True)
class AskedChart(Frame):
    """The chart of a lesson's question. It keeps its size when the answer is shown."""

    curves: tuple[Series, ...] = ()
    until: tuple[float, ...] = ()  # the x up to which each curve is drawn before the answer is shown


def open_chart(
    asked: AskedChart, *, shown: bool, names: bool = True, large: bool = False, wide: bool = True, dark: bool
) -> Chart:
    """Draw a question's chart. Curves are cut off unless `shown`, and grey unless `names`. `large` is for
    projectors."""
    chart = Chart(asked.title, asked.x_title, asked.y_title, height=HEIGHT if wide else TALL, dark=dark)
    drawn = [pair for pair in zip(asked.curves, asked.until, strict=True) if shown or pair[1] > 0]
    if names:
        _named_curves(chart, asked, drawn, shown)
    else:
        for curve, _ in drawn:
            y = floored(asked, curve.center)
            chart.add("lines", curve.x, y, line={"color": chart.colors.muted, "width": 2.5}, showlegend=False)
    if not shown or asked.bare_x:  # hover text must not reveal the answer, and a click is an answer
        for trace in chart.traces:
            trace.pop("hovertemplate", None)
            trace["hoverinfo"] = "skip"
    _question_axes(chart, asked)
    if asked.level is not None:
        at, name = asked.level
        chart.line(name, asked.x_range, [at, at], chart.colors.muted, 1)
    for number, bound in enumerate(asked.bounds if shown else ()):
        between = {"fill": "tonexty", "fillcolor": style.translucent(chart.colors.roles["bound"], 0.12)}
        chart.theory(*bound, 1.8, **(between if number else {}))
    for trace in chart.traces:
        trace["cliponaxis"] = False  # markers at the ends and on zero are not cut
    # A click selects the nearest point.
    chart.layout |= {"hoverdistance": -1, "dragmode": False}
    if not shown:  # in Streamlit, charts with clickable points can be dragged away from their axes
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
    """Draw the curves in their own colours, up to the last point that a visitor may see."""
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
    chart.caveats.clear()  # captions must not give the answer away


def _question_axes(chart: Chart, asked: AskedChart) -> None:
    for settle, log, ends in ((chart.x, asked.log_x, asked.x_range), (chart.y, asked.log_y, asked.y_range)):
        low, high = (float(np.log10(end)) for end in ends) if log else ends
        settle(type="log" if log else "linear", autorange=False, range=[low, high])
        if log:
            # a marker at the end of the axis may round to just beyond it, and Plotly would leave it out
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
    if asked.percent:
        chart.y(tickformat=".0%")
    if asked.percent_x:
        chart.x(tickformat=".0%")


def placed(axis: Mapping[str, Any], value: float) -> float:
    """Convert a value to the coordinate of an annotation, which is its logarithm on a log axis."""
    return float(np.log10(value)) if axis["type"] == "log" else value


def _point_at(chart: Chart, x: float, y: float, words: str, wide: bool) -> None:
    """Draw an arrow to a point, with a short text on the side that has more room."""
    place, share = [], []
    for value, axis in ((x, chart.layout["xaxis"]), (y, chart.layout["yaxis"])):
        low, high = axis["range"]
        place.append(placed(axis, value))
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
        bgcolor=style.translucent(chart.colors.background, 0.6),
        borderpad=2,
    )


def enlarge(chart: Chart, wide: bool) -> None:
    """Enlarge the text for a projector if the screen is `wide`, else for a phone."""
    text, title, numbers = PROJECTOR if wide else TELEPHONE
    layout = chart.layout
    for words, size in ((layout, text), (layout["legend"], text), (layout["title"], title)):
        words["font"] = words["font"] | {"size": size}
    for axis in (layout["xaxis"], layout["yaxis"]):
        axis["tickfont"] = axis["tickfont"] | {"size": numbers}
        axis["title"] = axis["title"] | {"font": axis["title"]["font"] | {"size": text}}
    layout["margin"]["t"] = 56


def value_at(asked: AskedChart, curve: Series, x: float) -> float:
    """Return a curve's y at x, interpolated between its points as the chart draws it."""
    place = np.log if asked.log_x else np.asarray
    if not asked.log_y:
        return float(np.interp(place(x), place(curve.x), curve.center))
    return float(np.exp(np.interp(place(x), place(curve.x), np.log(floored(asked, curve.center)))))


def floored(asked: AskedChart, values: Array) -> Array:
    """Raise values to the lower end of a logarithmic axis; leave them unchanged on a linear one."""
    return np.where(np.isnan(values), np.nan, np.maximum(values, asked.y_range[0])) if asked.log_y else values


def asked_picture(chart: Chart, asked: AskedChart, *, shown: bool, names: bool = True) -> Picture:
    """Return the chart with the text that a page shows around it; the table omits points that are not drawn yet."""
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


class KnownShare(NamedTuple):
    """The share of yes answers (0 to 1) under one privacy model, with its interval and the proved epsilon."""

    model: str  # local, shuffle or central
    title: str
    epsilon: float
    share: float
    low: float
    high: float


def shares_of_yes(
    said: Mapping[str, str],
    rows: Sequence[KnownShare],
    *,
    subtitle: str = "",
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Draw one row for each privacy model's result, in the model's colour. `said` contains the texts of the chart."""
    chart = Chart(said["title"], said["axis"], subtitle=subtitle, height=120 + 64 * len(rows), dark=dark)
    ink = chart.colors.ink
    for place, row in enumerate(reversed(rows)):
        color = looks.color(row.model, row.epsilon, dark=dark)
        low, high = f"{row.low:.0%}", f"{row.high:.0%}"
        words = filled(said["share"], share=f"{row.share:.0%}", low=low, high=high)
        interval = {"line": {"color": color, "width": 5}, "showlegend": False}
        chart.add("lines", [row.low, row.high], [place, place], **interval)
        # The text stays inside the chart if the share is near an end.
        side = "right" if row.share < 0.25 else "left" if row.share > 0.75 else "center"
        edge = {"color": ink, "width": 1}
        chart.add(
            "markers+text",
            [row.share],
            [place],
            marker={"color": color, "size": 15, "symbol": style.SYMBOLS[row.model][0], "line": edge},
            text=[words],
            textposition=[f"top {side}"],
            textfont={"color": ink, "size": 13},
            hovertemplate=f"{words}<extra>{style.plain(row.title)}</extra>",
            showlegend=False,
            cliponaxis=False,
        )
    chart.x(range=[-0.02, 1.02], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1])
    chart.y(
        range=[-0.5, len(rows) - 0.35],
        tickvals=list(range(len(rows))),
        ticktext=[f"{row.title}<br>ε = {human(float(f'{row.epsilon:.3g}'))}" for row in reversed(rows)],
        tickfont={"color": ink, "size": 13},
        showgrid=False,
    )
    columns = [said[f"column_{name}"] for name in ("trust", "epsilon", "share", "low", "high")]
    table = pd.DataFrame([(r.title, r.epsilon, r.share, r.low, r.high) for r in rows], columns=columns)
    return chart.picture(said["alt"], see, table)


def visits_by_state(
    words: Mapping[str, str],
    states: Sequence[str],
    said: Sequence[float],
    law: Sequence[float],
    spread: float,
    most: float,
    epsilon: float,
    *,
    see: str,
    dark: bool,
    large: bool = False,
    wide: bool = True,
) -> Picture:
    """Draw the noisy visits to each state as a row, from the top down; a band shows the possible range, 0 to `most`."""
    chart = Chart(words["visits"], words["visits_axis"], height=380, dark=dark)
    color, ink = looks.color("local", epsilon, dark=dark), chart.colors.ink
    places = list(range(len(states)))[::-1]
    band = {"type": "rect", "x0": 0, "x1": most, "y0": 0, "y1": 1, "yref": "y domain", "layer": "below"}
    fill = {"line": {"width": 0}, "fillcolor": chart.colors.grid}
    chart.layout.setdefault("shapes", []).append(band | fill)
    hover = "%{y}: %{x:.0f}<extra></extra>"
    edge = {"line": {"color": ink, "width": 1}}
    chart.points(
        words["visits_said"],
        list(said),
        places,
        color,
        size=13,
        marker=edge,
        error_x={"type": "constant", "value": 2 * spread, "color": color, "thickness": 4, "width": 0},
        hovertemplate=hover,
        cliponaxis=False,
    )
    chart.points(words["visits_law"], list(law), places, ink, "line-ns-open", 20, hovertemplate=hover)
    ends = [-0.1 * most, 1.1 * most, min(said) - 2.2 * spread, max(said) + 2.2 * spread]
    chart.x(range=[min(ends), max(ends)])
    chart.y(tickvals=places, ticktext=list(states), tickfont={"color": ink, "size": 13}, showgrid=False)
    if large:
        enlarge(chart, wide)
        chart.layout["yaxis"]["tickfont"]["size"] = chart.layout["font"]["size"]
    table = pd.DataFrame(
        {
            words["column_state"]: states,
            words["visits_said"]: said,
            words["column_spread"]: spread,
            words["visits_law"]: law,
        }
    )
    return chart.picture(words["visits_alt"], see, table)

"""Charts about papers: a matrix of verdicts, the users that each algorithm needs, the measurements in each setting of
an experiment next to the paper's claim, and the curves of one setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd

from dprl.figures import lines, style
from dprl.figures.chart import Chart, Trace, intervals, stacked
from dprl.figures.lines import Array, Series
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.words import human, power

# Filled if the claim holds, open if it does not: colours are not needed, because they stand for privacy models.
SYMBOLS = {
    "holds": "circle",
    "holds as an upper bound": "diamond",
    "nothing learned yet": "square-open",
    "undecided": "circle-open",
    "does not hold here": "x",
}
ROW = 34  # pixels

# Colours that people with any kind of colour vision can distinguish, with a mark for each.
CELLS = {
    "holds": ("#0072B2", "✓"),
    "fails": ("#D55E00", "✗"),
    "not settled": ("#E69F00", "?"),
    "superseded": ("#009E73", "↑"),
    "disputed": ("#CC79A7", "!"),
    "not tested": ("", "·"),  # in the theme's faint colour
}


@dataclass(frozen=True)
class MatrixCell:
    """A cell of the matrix: the paper's title, the item's address, and its name, statement and verdict."""

    paper: str
    address: str
    name: str
    says: str
    verdict: str


def matrix(cells: Sequence[MatrixCell], see: str, *, dark: bool = False) -> Picture:
    """Draw a row for each paper, with one cell for each item, in the order of verdicts."""
    papers = list(dict.fromkeys(cell.paper for cell in cells))
    order = list(CELLS)
    ordered = sorted(cells, key=lambda cell: order.index(cell.verdict))
    rows = [[cell for cell in ordered if cell.paper == paper] for paper in papers]
    placed = [(x, y, cell) for y, row in enumerate(rows) for x, cell in enumerate(row)]
    chart = Chart("Claims of each paper, by verdict", height=120 + 34 * len(papers), dark=dark)
    for verdict, (color, mark) in CELLS.items():
        own = [one for one in placed if one[2].verdict == verdict]
        fill = color or style.translucent(chart.colors.faint, 0.35)
        bars: Trace = {
            "type": "bar",
            "orientation": "h",
            "name": f"{mark} {verdict}",
            "base": [x + 0.04 for x, _, _ in own],
            "x": [0.92] * len(own),
            "y": [y for _, y, _ in own],
            "width": 0.8,
            "marker": {"color": fill, "line": {"width": 0}},
            "unselected": {"marker": {"opacity": 1}},
            "text": [mark] * len(own),
            "textposition": "inside",
            "insidetextanchor": "middle",
            "textangle": 0,
            "constraintext": "none",
            "textfont": {"color": style.readable_on(color) if color else chart.colors.ink, "size": 12},
            "customdata": [cell.address for _, _, cell in own],
            "hovertext": [
                f"<b>{style.plain(cell.name)}: {verdict}</b><br>{'<br>'.join(wrap(style.plain(cell.says), 50))}"
                for _, _, cell in own
            ],
            "hovertemplate": "%{hovertext}<extra></extra>",
        }
        if own:
            chart.traces.append(bars)
    most = max(x for x, _, _ in placed) + 1
    names = {"tickmode": "array", "tickvals": list(range(len(papers))), "ticktext": papers}
    chart.y(**names, range=[len(papers) - 0.5, -0.5], showgrid=False, zeroline=False, fixedrange=True)
    chart.x(visible=False, range=[0, most], fixedrange=True)
    columns = ["paper", "item", "verdict", "statement"]
    table = pd.DataFrame([(c.paper, c.name, c.verdict, c.says) for c in cells], columns=columns)
    return chart.picture("matrix", see, table, barmode="overlay", clickmode="event+select")


@dataclass(frozen=True)
class RankedRow:
    """An algorithm under a privacy model: the users that it needs, with the 95% interval and in words, and its look."""

    name: str
    model: str
    mechanism: str
    needed: float
    low: float
    high: float
    words: str
    look: CurveStyle


def ranked(title: str, rows: Sequence[RankedRow], see: str, *, dark: bool = False) -> Picture:
    """Draw the number of users that each algorithm needs, with the smallest number on top."""
    chart = Chart(
        title, "Users needed", "", subtitle="95% interval over seeds", height=110 + 26 * len(rows), dark=dark
    )
    known = [row for row in rows if np.isfinite(row.needed)]
    for model in dict.fromkeys(row.model for row in known):
        own = [(place, row) for place, row in enumerate(rows) if row.model == model and row in known]
        look = own[0][1].look
        needed, low, high = ([getattr(row, end) for _, row in own] for end in ("needed", "low", "high"))
        shown = intervals(needed, low, np.minimum(high, 10 * np.array(needed)).tolist(), look.color(dark))
        chart.points(
            model,
            needed,
            [place for place, _ in own],
            look.color(dark),
            look.symbol,
            10,
            error_x=shown,
            customdata=[
                f"<b>{style.plain(r.name)}</b>, {r.model}<br>{r.words}<br>{r.mechanism}" for _, r in own
            ],
            hovertemplate="%{customdata}<extra></extra>",
        )
    for place, row in enumerate(rows):
        if row not in known:
            chart.words([1e15], [place], [row.words], chart.colors.muted, 11, textposition="middle left")
    ticks = {"tickmode": "array", "tickvals": list(range(len(rows))), "ticktext": [r.name for r in rows]}
    chart.y(**ticks, range=[len(rows) - 0.5, -0.5], showgrid=False)
    decades = [10.0**k for k in range(3, 16, 3)]
    chart.x(
        type="log", range=[2.8, 15.2], tickvals=decades, ticktext=[power(k) for k in decades], tickangle=0
    )
    table = pd.DataFrame([(r.name, r.model, r.mechanism, r.needed, r.low, r.high) for r in rows])
    table.columns = pd.Index(
        ["algorithm", "privacy model", "mechanism", "users needed", "low (95%)", "high (95%)"]
    )
    return chart.picture("ranked", see, table)


@dataclass(frozen=True)
class Measurement:
    """The measurement in one setting: the setting's number and title, a statistic with its interval (also in words),
    the claimed threshold, the verdict, and `zone`, the range that contains the whole interval if the claim holds."""

    number: int
    title: str
    value: float
    low: float
    high: float
    words: str
    threshold: float
    verdict: str
    zone: tuple[float, float]


def measurements(
    statistic: str, rows: Sequence[Measurement], *, over: str, log: bool, see: str, dark: bool = False
) -> Picture:
    """Draw each setting's statistic and interval next to the claim; `over` names the interval's samples, or is ""."""
    places = list(range(len(rows)))
    ends = [
        v for row in rows for v in (row.low, row.high, row.value, row.threshold, *row.zone) if np.isfinite(v)
    ]
    if log:
        reach = (min(v for v in ends if v > 0), max(ends))
    else:
        room = max(0.08 * (max(ends) - min(ends)), 0.02)
        reach = (min(ends) - room, max(ends) + room)
    chart = Chart(
        "Measured and claimed values",
        statistic[:1].upper() + statistic[1:],
        "Setting",
        subtitle=f"95% interval over {over}" if over else "worked out exactly",
        height=150 + ROW * len(rows),
        dark=dark,
    )
    zones = [  # behind each row, cut at the axis
        ((max(row.zone[0], reach[0]), min(row.zone[1], reach[1]), None), (place, place, None))
        for place, row in enumerate(rows)
        if not np.isnan(row.zone).any()
    ]
    if zones:
        line = {"color": style.translucent(chart.colors.roles["optimal"], 0.3), "width": 18}
        x, y = ([end for zone in zones for end in zone[i]] for i in (0, 1))
        chart.add("lines", x, y, line=line, hoverinfo="skip", name="range of the claim")
    for verdict, symbol in SYMBOLS.items():
        own = [row for row in rows if row.verdict == verdict]
        if not own:
            continue
        ends_of = [row.value for row in own], [row.low for row in own], [row.high for row in own]
        chart.points(
            verdict,
            ends_of[0],
            [rows.index(row) for row in own],
            chart.colors.ink,
            symbol,
            11,
            2,
            error_x=intervals(*ends_of, chart.colors.ink),
            customdata=[f"<b>{row.number}</b> {style.plain(row.title)}<br>{row.words}" for row in own],
            hovertemplate="%{customdata}<extra></extra>",
        )
    edge = {"width": 3, "color": chart.colors.roles["optimal"]}
    chart.add(
        "markers",
        [row.threshold for row in rows],
        places,
        marker={"symbol": "line-ns", "size": 22, "line": edge},
        hovertemplate="claimed: %{x}<extra></extra>",
        name="smallest or largest value at which the claim holds",
    )
    numbers = {"tickmode": "array", "tickvals": places, "ticktext": [str(row.number) for row in rows]}
    chart.y(**numbers, range=[len(rows) - 0.4, -0.6], showgrid=False)
    chart.x(type="log" if log else "linear", nticks=6, tickangle=0)
    chart.x(**lines.log_ticks(*reach) if log else {"range": list(reach)})
    table = pd.DataFrame(
        [(r.number, r.title, r.value, r.low, r.high, r.threshold, r.verdict) for r in rows],
        columns=["setting", "where", statistic, "low (95%)", "high (95%)", "held against", "verdict"],
    )
    return chart.picture("papers" if over else "papers_exact", see, table)


def measured_curves(
    title: str,
    x_title: str,
    y_title: str,
    series: Sequence[Series],
    bound: tuple[str, Array, Array] | None = None,
    *,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Draw the curves of a setting on two log axes; `bound` is a theoretical curve, as (name, x [P], y [P])."""
    height = 400 + 18 * (len(series) + (bound is not None))
    chart = Chart(title, x_title, y_title, subtitle="mean over seeds", height=height, dark=dark)
    lines.draw_series(chart, series, lambda x: f"at {human(x)}")
    parts: list[Mapping[str, Any]] = [{"series": one.label, "x": one.x, **one.numbers()} for one in series]
    if bound is not None:
        name, x, y = bound
        hover = f"{style.plain(name)}: %{{y:.3s}}<extra></extra>"
        chart.theory(style.plain(name), x, y, 1.8, hovertemplate=hover)
        ends = np.log10(y[y > 0])
        chart.reach(ends.min() - 0.2, ends.max() + 0.3)
        low, high = chart.layout["yaxis"]["range"]
        chart.y(**lines.log_ticks(10**low, 10**high))
        parts.append({"series": name, "x": x, "mean": y})
    what = " · ".join(one.label for one in series)
    measure = y_title.partition(" (")[0].replace("<sup>", "^").replace("</sup>", "")
    alt = f"Line chart of {measure.lower()} against {x_title.partition(' (')[0]}: {what}."
    return chart.picture(alt, see, stacked(parts))

"""Charts about papers: verdicts on claims, the users that algorithms need, and the measurements behind a claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

# Filled if the claim holds. Colours are reserved for privacy models.
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


def matrix(papers: Mapping[str, Sequence[Any]], see: str, *, dark: bool = False) -> Picture:
    """Draw a row of cells for each paper, one cell for each `papers.items.ItemFinding`, sorted by verdict."""
    order = list(CELLS)
    rows = [sorted(found, key=lambda one: order.index(one.verdict)) for found in papers.values()]
    placed = [(x, y, one) for y, row in enumerate(rows) for x, one in enumerate(row)]
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
            "customdata": [one.item.address for _, _, one in own],
            "hovertext": [
                f"<b>{style.plain(item.name)}: {verdict}</b><br>{'<br>'.join(wrap(style.plain(item.says), 50))}"
                for item in (one.item for _, _, one in own)
            ],
            "hovertemplate": "%{hovertext}<extra></extra>",
        }
        if own:
            chart.traces.append(bars)
    most = max(x for x, _, _ in placed) + 1
    names = {"tickvals": list(range(len(papers))), "ticktext": list(papers)}
    chart.y(**names, range=[len(papers) - 0.5, -0.5], showgrid=False, fixedrange=True)
    chart.x(visible=False, range=[0, most], fixedrange=True)
    cells = [
        (paper, one.item.name, one.verdict, one.item.says) for paper, found in papers.items() for one in found
    ]
    table = pd.DataFrame(cells, columns=["paper", "item", "verdict", "statement"])
    return chart.picture("matrix", see, table, barmode="overlay", clickmode="event+select")


def ranked(
    title: str, rows: Sequence[tuple[Any, str, CurveStyle]], see: str, *, dark: bool = False
) -> Picture:
    """Draw how many users each algorithm needs. Each row is a `papers.ranking.Rank`, a privacy model and a style."""
    chart = Chart(
        title, "Users needed", "", subtitle="95% interval over seeds", height=110 + 26 * len(rows), dark=dark
    )
    known = [(place, *row) for place, row in enumerate(rows) if np.isfinite(row[0].needed)]
    for model in dict.fromkeys(model for _, _, model, _ in known):
        own = [(place, rank) for place, rank, title, _ in known if title == model]
        look = next(look for _, _, title, look in known if title == model)
        needed, low, high = ([getattr(rank, end) for _, rank in own] for end in ("needed", "low", "high"))
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
                f"<b>{style.plain(r.title)}</b>, {model}<br>{r.words}<br>{r.mechanism}" for _, r in own
            ],
            hovertemplate="%{customdata}<extra></extra>",
        )
    for place, (rank, _, _) in enumerate(rows):
        if not np.isfinite(rank.needed):
            chart.words([1e15], [place], [rank.words], chart.colors.muted, 11, textposition="middle left")
    ticks = {"tickvals": list(range(len(rows))), "ticktext": [r.title for r, *_ in rows]}
    chart.y(**ticks, range=[len(rows) - 0.5, -0.5], showgrid=False)
    decades = [10.0**k for k in range(3, 16, 3)]
    chart.x(
        type="log", range=[2.8, 15.2], tickvals=decades, ticktext=[power(k) for k in decades], tickangle=0
    )
    columns = ["algorithm", "privacy model", "mechanism", "users needed", "low (95%)", "high (95%)"]
    numbers = [(r.title, model, r.mechanism, r.needed, r.low, r.high) for r, model, _ in rows]
    table = pd.DataFrame(numbers, columns=columns)
    return chart.picture("ranked", see, table)


def measurements(
    statistic: str,
    rows: Sequence[tuple[int, str, Any, str]],
    *,
    over: str,
    log: bool,
    see: str,
    dark: bool = False,
) -> Picture:
    """Draw a statistic with its interval in each setting, next to the claimed value. A row has the setting's number and
    title, its `Finding`, and the finding in words. `over` names the samples of the intervals, or is ""."""
    places, found = list(range(len(rows))), [one for _, _, one, _ in rows]
    ends = [v for f in found for v in (f.low, f.high, f.value, f.threshold, *f.zone) if np.isfinite(v)]
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
        ((max(one.zone[0], reach[0]), min(one.zone[1], reach[1]), None), (place, place, None))
        for place, one in enumerate(found)
        if not np.isnan(one.zone).any()
    ]
    if zones:
        line = {"color": style.translucent(chart.colors.roles["optimal"], 0.3), "width": 18}
        x, y = ([end for zone in zones for end in zone[i]] for i in (0, 1))
        chart.add("lines", x, y, line=line, hoverinfo="skip", name="range of the claim")
    for verdict, symbol in SYMBOLS.items():
        own = [(place, row) for place, row in enumerate(rows) if row[2].verdict == verdict]
        if not own:
            continue
        value, low, high = ([getattr(row[2], end) for _, row in own] for end in ("value", "low", "high"))
        chart.points(
            verdict,
            value,
            [place for place, _ in own],
            chart.colors.ink,
            symbol,
            11,
            2,
            error_x=intervals(value, low, high, chart.colors.ink),
            customdata=[f"<b>{n}</b> {style.plain(title)}<br>{words}" for _, (n, title, _, words) in own],
            hovertemplate="%{customdata}<extra></extra>",
        )
    edge = {"width": 3, "color": chart.colors.roles["optimal"]}
    chart.add(
        "markers",
        [one.threshold for one in found],
        places,
        marker={"symbol": "line-ns", "size": 22, "line": edge},
        hovertemplate="claimed: %{x}<extra></extra>",
        name="smallest or largest value at which the claim holds",
    )
    numbers = {"tickvals": places, "ticktext": [str(number) for number, *_ in rows]}
    chart.y(**numbers, range=[len(rows) - 0.4, -0.6], showgrid=False)
    chart.x(type="log" if log else "linear", nticks=6, tickangle=0)
    chart.x(**lines.log_ticks(*reach) if log else {"range": list(reach)})
    table = pd.DataFrame(
        [(n, title, f.value, f.low, f.high, f.threshold, f.verdict) for n, title, f, _ in rows],
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
    """Draw the measured curves of a setting on two log axes, with a theoretical curve `bound` (name, x [P], y [P])."""
    height = 400 + 18 * (len(series) + (bound is not None))
    subtitle = "mean over seeds" if any(len(one.rows) > 1 for one in series) else ""
    chart = Chart(title, x_title, y_title, subtitle=subtitle, height=height, dark=dark)
    lines.draw_series(chart, series, lambda x: f"at {human(x)}")
    parts: list[Mapping[str, Any]] = [{"series": one.label, "x": one.x, **one.numbers()} for one in series]
    if bound is not None:
        name, x, y = bound
        chart.theory(style.plain(name), x, y, 1.8, hovertemplate="%{fullData.name}: %{y:.3s}<extra></extra>")
        ends = np.log10(y[y > 0])
        chart.reach(ends.min() - 0.2, ends.max() + 0.3)
        low, high = chart.layout["yaxis"]["range"]
        chart.y(**lines.log_ticks(10**low, 10**high))
        parts.append({"series": name, "x": x, "mean": y})
    what = " · ".join(one.label for one in series)
    measure = y_title.partition(" (")[0].replace("<sup>", "^").replace("</sup>", "")
    alt = f"Line chart of {measure.lower()} against {x_title.partition(' (')[0]}: {what}."
    return chart.picture(alt, see, stacked(parts))

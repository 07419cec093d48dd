"""Claims: what was measured in each setting against what was claimed, and the curves of a setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dprl.figures import lines, style
from dprl.figures.chart import Chart, stacked
from dprl.figures.lines import Array, Series
from dprl.figures.picture import Picture
from dprl.words import human

# Filled where the claim holds, open where it does not: told apart without colours, which mean privacy models.
SYMBOLS = {
    "holds": "circle",
    "holds as an upper bound": "diamond",
    "nothing learned yet": "square-open",
    "undecided": "circle-open",
    "does not hold here": "x",
}
ROW = 34  # pixels
ALT = "Points with intervals, a row for each numbered setting, and a mark for what each is held against."
EXACT_ALT = "Points, a row for each numbered setting, and a mark for what each is held against."


@dataclass(frozen=True)
class Measurement:
    """A setting by its number: its statistic and interval, these in words, what they are held against, the verdict, and
    the range in which a whole interval holds the claim."""

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
    """Each setting's statistic with its interval, beside what it is held against. over: what that is an interval over,
    "" for numbers that are exact."""
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
        "What was measured, and what was claimed",
        statistic[:1].upper() + statistic[1:],
        "Setting",
        subtitle=f"95% interval over {over}" if over else "worked out exactly",
        height=150 + ROW * len(rows),
        dark=dark,
    )
    _zones(chart, rows, reach)
    for verdict, symbol in SYMBOLS.items():
        if chosen := [(place, row) for place, row in enumerate(rows) if row.verdict == verdict]:
            _settings_points(chart, verdict, symbol, *zip(*chosen, strict=True))
    chart.add(
        "markers",
        [row.threshold for row in rows],
        places,
        marker={
            "symbol": "line-ns",
            "size": 22,
            "line": {"width": 3, "color": chart.colors.roles["optimal"]},
        },
        hovertemplate="what is claimed: %{x}<extra></extra>",
        name="what it is held against",
    )
    numbers = {"tickmode": "array", "tickvals": places, "ticktext": [str(row.number) for row in rows]}
    chart.y(**numbers, range=[len(rows) - 0.4, -0.6], showgrid=False)
    chart.x(type="log" if log else "linear", nticks=6, tickangle=0)
    chart.x(**lines.log_ticks(*reach) if log else {"range": list(reach)})
    table = pd.DataFrame(
        [(r.number, r.title, r.value, r.low, r.high, r.threshold, r.verdict) for r in rows],
        columns=["setting", "where", statistic, "low (95%)", "high (95%)", "held against", "verdict"],
    )
    return chart.picture(ALT if over else EXACT_ALT, see, table)


def _zones(chart: Chart, rows: Sequence[Measurement], reach: tuple[float, float]) -> None:
    """Behind each row the range in which a whole interval holds the claim, as far as the axis reaches."""
    x: list[float | None] = []
    y: list[float | None] = []
    for place, row in enumerate(rows):
        if not np.isnan(row.zone).any():
            x += [max(row.zone[0], reach[0]), min(row.zone[1], reach[1]), None]
            y += [place, place, None]
    if x:
        fill = style.translucent(chart.colors.roles["optimal"], 0.3)
        line = {"color": fill, "width": 18}
        chart.add("lines", x, y, line=line, hoverinfo="skip", name="where the claim holds")


def _settings_points(
    chart: Chart, verdict: str, symbol: str, places: Sequence[int], rows: Sequence[Measurement]
) -> None:
    """The settings of one verdict."""
    ink = chart.colors.ink
    chart.points(
        verdict,
        [row.value for row in rows],
        list(places),
        ink,
        symbol,
        11,
        2,
        error_x={
            "type": "data",
            "symmetric": False,
            "array": np.nan_to_num([row.high - row.value for row in rows]),
            "arrayminus": np.nan_to_num([row.value - row.low for row in rows]),
            "thickness": 1.6,
            "width": 5,
            "color": ink,
        },
        customdata=[f"<b>{row.number}</b> {style.plain(row.title)}<br>{row.words}" for row in rows],
        hovertemplate="%{customdata}<extra></extra>",
    )


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
    """The curves of a setting, logarithmic both ways. bound: a name, and theory's x and y [P]."""
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

"""Charts of the users needed under different kinds of privacy, one row for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dprl.figures import style
from dprl.figures.chart import Chart, intervals
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.words import human, interval, rough

ALT = "Chart of the users needed for each way to be private, one row each, with intervals."


@dataclass(frozen=True)
class UsersRow:
    """The users needed under one kind of privacy.

    Attributes:
        needed: NaN during the search, infinite if more than `most`.
        low, high: 95% bootstrap interval over seeds, NaN if there is none.
        note: text shown instead of a number.
        times: ratio to the smallest number in the chart, with its interval; NaN if unknown.
    """

    label: str
    style: CurveStyle
    needed: float
    low: float
    high: float
    note: str = ""
    times: tuple[float, float, float] = (np.nan, np.nan, np.nan)


def users_needed(
    rows: Sequence[UsersRow], *, title: str, most: float, see: str, dark: bool = False
) -> Picture:
    """Draw one row for each kind of privacy, with the users it needs on a logarithmic axis up to `most`."""
    chart = Chart(title, "Users (episodes), logarithmic", height=150 + 46 * len(rows), dark=dark)
    smallest = min((row.needed for row in rows if np.isfinite(row.needed)), default=1.0)
    for i, row in enumerate(rows):
        if np.isfinite(row.needed):
            _point(chart, row, -float(i), most)
        else:
            words = [style.plain(row.note)]
            chart.words([smallest], [-float(i)], words, chart.colors.muted, textposition="middle right")
    known = [v for row in rows for v in (row.needed, row.low, min(row.high, most)) if np.isfinite(v)]
    if known:
        low, high = np.log10(min(known)), np.log10(max(known))
        chart.x(range=[np.floor(low - 0.35), np.ceil(high + 0.35)])
    chart.x(type="log", nticks=6, tickangle=0, exponentformat="power")
    chart.y(
        tickmode="array",
        tickvals=[-float(i) for i in range(len(rows))],
        ticktext=[_wrapped(style.plain(row.label)) for row in rows],
        range=[-len(rows) + 0.4, 0.75],
        showgrid=True,
        zeroline=False,
    )
    table = pd.DataFrame(
        {
            "model": [row.label for row in rows],
            "users needed": [row.needed for row in rows],
            "low (95%)": [row.low for row in rows],
            "high (95%)": [row.high for row in rows],
            "times the fewest": [row.times[0] for row in rows],
            "times, low": [row.times[1] for row in rows],
            "times, high": [row.times[2] for row in rows],
        }
    )
    return chart.picture(ALT, see, table, revision=title)


def _point(chart: Chart, row: UsersRow, y: float, most: float) -> None:
    color = row.style.color(chart.dark)
    said = interval(f"{human(row.needed)} users", row.low, row.high)
    chart.add(
        "markers+text",
        [row.needed],
        [y],
        marker={"symbol": row.style.symbol, "size": 11, "color": color},
        error_x=intervals([row.needed], [row.low], [min(row.high, most)], color),
        text=[style.plain(row.note) or rough(row.needed)],
        textposition="top center",
        textfont={"color": chart.colors.ink, "size": 12},
        hovertemplate=f"<b>{style.plain(row.label)}</b><br>{said}<extra></extra>",
        showlegend=False,
        cliponaxis=False,
    )


def _wrapped(name: str, width: int = 26) -> str:
    """Wrap a long label onto two lines, so that a phone has room for the chart."""
    words, rows = name.split(" "), [""]
    for word in words:
        if rows[-1] and len(rows[-1]) + len(word) > width:
            rows.append("")
        rows[-1] = f"{rows[-1]} {word}".strip()
    return "<br>".join(rows)

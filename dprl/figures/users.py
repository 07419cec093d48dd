"""Charts of the users needed against epsilon for each privacy model, or as one row for each kind of privacy.

Measured lines are solid with filled markers; extrapolated lines are dashed with open markers. The band around a line
shows its possible error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dprl.figures import lines, looks, style
from dprl.figures.chart import Chart, Trace, intervals, stacked
from dprl.figures.lines import Array
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.words import human, interval, rough

TITLE = "Users needed, by privacy model"
X_TITLE = "Privacy budget ε (more private to the left)"
DASH = "7px,4px"  # of extrapolated lines; dotted lines are theory
TICKS = (0.03, 0.1, 0.3, 1, 3, 10)
MARKS = 4  # markers on a line
OPACITY = {"measured": 0.3, "extrapolated": 0.16}


@dataclass(frozen=True)
class UsersCurve:
    """The users needed under one privacy model."""

    model: str  # none, central, shuffle or local
    name: str  # in a legend
    measured: bool  # whether the numbers were measured for this problem; otherwise they were extrapolated
    epsilon: Array  # the budgets, ascending [P]
    needed: Array  # the users needed [P]; infinite if more than the largest possible run
    factor: float  # the factor by which `needed` may be too low or too high; NaN if unknown

    @property
    def how(self) -> str:
        """The source of the numbers, as text."""
        return "measured" if self.measured else "extrapolated"


Mine = tuple[float, float]  # a visitor's number of users and budget


def users_by_trust(curves: Sequence[UsersCurve], mine: Mine, *, see: str, dark: bool) -> Picture:
    """Draw the users needed under each privacy model as a line with a band, and the visitor's own users and budget."""
    chart = Chart(TITLE, X_TITLE, "Users needed", height=480, dark=dark)
    low, high = _decades(curves, mine)
    for curve in curves:
        _draw(chart, curve)
    lines.band_sign(chart, "possible error of a line")
    ends = [float(curves[0].epsilon[0]), float(curves[0].epsilon[-1])]
    gaps = [np.nanmin([abs(np.log(one.needed[end] / mine[0])) for one in curves]) for end in (0, -1)]
    _draw_mine(chart, mine, ends, (low, high), right=bool(gaps[1] >= gaps[0]))
    chart.x(type="log", range=list(np.log10(ends)), tickangle=0, tickvals=TICKS, ticktext=TICKS)
    chart.y(type="log", range=list(np.log10([low, high])), dtick=2, exponentformat="power")
    return chart.picture("curves", see, _numbers(curves))


def _draw_mine(
    chart: Chart, mine: Mine, ends: list[float], heights: tuple[float, float], right: bool
) -> None:
    """Draw the visitor's users and budget. `right` means that there is more room for text on the right."""
    users, epsilon = mine
    for x, y in ((ends, [users] * 2), ([epsilon] * 2, list(heights))):
        chart.add("lines", x, y, line={"color": chart.colors.ink, "width": 1.5}, showlegend=False)
    at_users: Trace = {"xanchor": "right" if right else "left", "yanchor": "bottom"}
    at_users |= {"x": np.log10(ends[right]), "y": np.log10(users)}
    chart.note(f"your {human(users)} users", bgcolor=chart.colors.background, **at_users)
    side = "left" if epsilon < 1 else "right"
    at_epsilon = {"x": np.log10(epsilon), "y": np.log10(heights[1]), "xanchor": side, "yanchor": "top"}
    chart.note(f"your ε = {epsilon:g}", **at_epsilon)


def _draw(chart: Chart, curve: UsersCurve) -> None:
    color = looks.color(curve.model, None, chart.dark)
    shown = np.isfinite(curve.needed)
    x, y = curve.epsilon[shown], curve.needed[shown]
    group: Trace = {"legendgroup": curve.model}
    dash = "solid" if curve.measured else DASH
    if np.isfinite(curve.factor):
        fill = style.translucent(color, OPACITY[curve.how])
        chart.band(x, y / curve.factor, y * curve.factor, fill, **group)
    words = [f"ε = {human(e)}: {rough(k)} users" for e, k in zip(x, y, strict=True)]
    hover = f"<b>{curve.name}</b>, {curve.how}<br>%{{customdata}}<extra></extra>"
    said: Trace = {"customdata": words, "hovertemplate": hover, "showlegend": False}
    chart.line(curve.name, x, y, color, 2.5, dash, **said, **group)
    at = np.linspace(0, len(x) - 1, MARKS + 2).astype(int)[1:-1] if len(x) else np.zeros(0, int)
    symbol = style.SYMBOLS[curve.model][0] + ("" if curve.measured else "-open")
    marker = {"symbol": symbol, "size": 9, "color": color, "line": {"width": 2, "color": color}}
    both: Trace = {"mode": "lines+markers", "marker": marker} | group
    name = f"{curve.name}: {curve.how}"
    chart.line(name, lines.gapped(x[at]), lines.gapped(y[at]), color, 2.5, dash, **both)


def _decades(curves: Sequence[UsersCurve], mine: Mine) -> tuple[float, float]:
    """Return the range of powers of ten that contains everything drawn. Very wide bands are cut off."""
    seen = [mine[0]]
    for curve in curves:
        known = curve.needed[np.isfinite(curve.needed)]
        factor = curve.factor if np.isfinite(curve.factor) else 1.0
        if known.size:
            seen += [float(known.min()) / factor, float(known.max()) * min(factor, 10.0)]
    return 10 ** np.floor(np.log10(max(min(seen), 1.0))), 10 ** np.ceil(np.log10(max(seen)) + 0.3)


def _numbers(curves: Sequence[UsersCurve]) -> pd.DataFrame:
    """Return the drawn numbers as a table, without numbers of users beyond the largest possible run."""
    parts = []
    for curve in curves:
        kept = slice(1 if curve.model == "none" else None)  # without privacy all numbers are the same
        epsilon, needed = curve.epsilon[kept], curve.needed[kept]
        parts.append(
            {
                "trust": curve.name,
                "epsilon": np.full(1, np.nan) if curve.model == "none" else epsilon,
                "users": needed,
                "at least": needed / curve.factor,
                "at most": needed * curve.factor,
                "how": curve.how,
            }
        )
    found = stacked(parts)
    return pd.DataFrame(found[np.isfinite(found["users"])])


@dataclass(frozen=True)
class UsersRow:
    """The users needed under one kind of privacy."""

    label: str
    style: CurveStyle
    needed: float  # NaN during the search, infinite if more than the largest number tried
    low: float  # the ends of the 95% bootstrap interval over seeds; NaN if there is none
    high: float
    note: str = ""  # the text shown instead of a number


def users_needed(
    rows: Sequence[UsersRow], *, title: str, most: float, see: str, dark: bool = False
) -> Picture:
    """Draw one row for each kind of privacy, with the number of users needed on a logarithmic axis up to `most`."""
    chart = Chart(title, "Users (episodes), logarithmic", height=150 + 46 * len(rows), dark=dark)
    smallest = min((row.needed for row in rows if np.isfinite(row.needed)), default=1.0)
    for i, row in enumerate(rows):
        if np.isfinite(row.needed):
            _point(chart, row, -float(i), most)
        else:
            words = [style.plain(row.note)]
            chart.words([smallest], [-float(i)], words, chart.colors.muted, textposition="middle right")
    known = [v for row in rows for v in (row.needed, row.low, min(row.high, most)) if np.isfinite(v)]
    known = known or [10.0, most / 10]  # if nothing is found
    low, high = np.log10(min(known)), np.log10(max(known))
    chart.x(range=[np.floor(low - 0.35), np.ceil(high + 0.35)])
    chart.x(type="log", nticks=6, tickangle=0, exponentformat="power")
    chart.y(
        tickvals=[-float(i) for i in range(len(rows))],
        ticktext=[lines.folded(style.plain(row.label), 27) for row in rows],
        range=[-len(rows) + 0.4, 0.75],
    )
    columns = ["model", "users needed", "low (95%)", "high (95%)"]
    table = pd.DataFrame([(r.label, r.needed, r.low, r.high) for r in rows], columns=columns)
    return chart.picture("needs", see, table, revision=title)


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

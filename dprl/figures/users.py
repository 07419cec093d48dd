"""The users needed under each kind of trust, against epsilon: on a page, and as a drawing for print.

Measurements are a solid line with filled markers; extrapolations of the law are dashed, with open markers. The band of
either is its own error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dprl.figures import lines, looks, style
from dprl.figures.chart import Chart, Trace, stacked
from dprl.figures.lines import Array
from dprl.figures.picture import Picture, Sketch
from dprl.words import human, power, rough

ALT = "Line chart of the users needed against the privacy budget epsilon, by privacy model."
TITLE = "Users needed, by privacy model"
X_TITLE = "Privacy budget ε (to the left more private)"
Y_TITLE = "Users needed"
DASH = "7px,4px"  # of what is extrapolated; dotted lines are theory
TICKS = (0.03, 0.1, 0.3, 1, 3, 10)
MARKS = 4  # markers of a line
OPACITY = {"measured": 0.3, "extrapolated": 0.16}


@dataclass(frozen=True)
class UsersCurve:
    """One privacy model.

    Attributes:
        model: none, central, shuffle or local.
        name: in words, for a legend.
        measured: whether numbers were measured for this problem, else extrapolated.
        epsilon: [P] ascending.
        needed: [P] users; infinite for more than can be run.
        factor: how far it may be off either way; NaN if that is not known.
    """

    model: str
    name: str
    measured: bool
    epsilon: Array
    needed: Array
    factor: float

    @property
    def how(self) -> str:
        """The source of the numbers, in words."""
        return "measured" if self.measured else "extrapolated"


@dataclass(frozen=True)
class Mine:
    """A visitor's users and budget."""

    users: float
    epsilon: float


def users_by_trust(curves: Sequence[UsersCurve], mine: Mine | None, *, see: str, dark: bool) -> Picture:
    """Draw a line and a band for each model, and the visitor's own users and budget if they are known."""
    chart = Chart(TITLE, X_TITLE, Y_TITLE, height=480, dark=dark)
    low, high = _decades(curves, mine)
    for curve in curves:
        _draw(chart, curve)
    lines.band_sign(chart, "possible error of a line")
    ends = [float(curves[0].epsilon[0]), float(curves[0].epsilon[-1])]
    if mine is not None:
        _draw_mine(chart, mine, ends, (low, high))
    chart.x(type="log", range=list(np.log10(ends)), tickangle=0, tickvals=TICKS, ticktext=TICKS)
    chart.y(type="log", range=list(np.log10([low, high])), dtick=2, exponentformat="power")
    return chart.picture(ALT, see, _numbers(curves))


def _draw_mine(chart: Chart, mine: Mine, ends: list[float], heights: tuple[float, float]) -> None:
    """Draw the visitor's own users and budget, a line each."""
    for x, y in ((ends, [mine.users] * 2), ([mine.epsilon] * 2, list(heights))):
        chart.add("lines", x, y, line={"color": chart.colors.ink, "width": 1.5}, showlegend=False)
    at_users = {"x": np.log10(ends[1]), "y": np.log10(mine.users), "xanchor": "right", "yanchor": "bottom"}
    chart.note(f"your {human(mine.users)} users", **at_users)
    side = "left" if mine.epsilon < 1 else "right"
    at_epsilon = {"x": np.log10(mine.epsilon), "y": np.log10(heights[1]), "xanchor": side, "yanchor": "top"}
    chart.note(f"your ε = {mine.epsilon:g}", **at_epsilon)


def _draw(chart: Chart, curve: UsersCurve) -> None:
    """Draw the band, the line, and a few of its markers."""
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


def _decades(curves: Sequence[UsersCurve], mine: Mine | None) -> tuple[float, float]:
    """Whole powers of ten around all that is drawn, bands cut if nothing can be run."""
    seen = [mine.users] if mine else []
    for curve in curves:
        known = curve.needed[np.isfinite(curve.needed)]
        factor = curve.factor if np.isfinite(curve.factor) else 1.0
        if known.size:
            seen += [float(known.min()) / factor, float(known.max()) * min(factor, 10.0)]
    return 10 ** np.floor(np.log10(max(min(seen), 1.0))), 10 ** np.ceil(np.log10(max(seen)) + 0.3)


def _numbers(curves: Sequence[UsersCurve]) -> pd.DataFrame:
    """Tabulate the drawn numbers, without users beyond the largest possible run."""
    parts = []
    for curve in curves:
        kept = slice(1 if curve.model == "none" else None)  # without privacy one number says all
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


WIDE, HIGH = 680, 330
LEFT, RIGHT, TOP, BOTTOM = 54, 150, 14, 40  # room for ticks, names of lines, and titles


def printed_users(curves: Sequence[UsersCurve], mine: Mine) -> Sketch:
    """Draw the same for print, on white, with names at the ends of their lines."""
    colors = style.theme(False)
    low, high = _decades(curves, mine)
    ends = curves[0].epsilon[[0, -1]]

    def across(epsilon: Array) -> Array:
        share = (np.log(epsilon) - np.log(ends[0])) / (np.log(ends[1]) - np.log(ends[0]))
        return np.asarray(LEFT + (WIDE - LEFT - RIGHT) * share)

    def up(users: Array) -> Array:
        share = (np.log(users) - np.log(low)) / (np.log(high) - np.log(low))
        return np.asarray(HIGH - BOTTOM - (HIGH - TOP - BOTTOM) * np.clip(share, 0, 1))

    def text(x: float, y: float, words: str, more: str = "") -> str:
        return f'<text x="{x:.1f}" y="{y:.1f}" font-size="11" {more}>{style.plain(words)}</text>'

    right, floor = WIDE - RIGHT, HIGH - BOTTOM
    parts = []
    decades = range(round(np.log10(low)), round(np.log10(high)) + 1)
    for users in 10.0 ** np.array(decades[::2]):
        at = float(up(users))
        parts.append(f'<path d="M{LEFT} {at:.1f}H{right}" stroke="#D7DCE2"/>')
        parts.append(text(LEFT - 6, at + 4, power(float(users)), 'text-anchor="end"'))
    for epsilon in np.array(TICKS):
        at = float(across(epsilon))
        parts.append(f'<path d="M{at:.1f} {TOP}V{floor}" stroke="#D7DCE2"/>')
        parts.append(text(at, floor + 15, f"{epsilon:g}", 'text-anchor="middle"'))
    parts.append(text((LEFT + right) / 2, HIGH - 6, X_TITLE, 'text-anchor="middle"'))
    names: list[tuple[float, str, str]] = []
    for curve in curves:
        color = looks.color(curve.model, None, False)
        shown = np.isfinite(curve.needed)
        x, y = across(curve.epsilon[shown]), up(curve.needed[shown])
        if not shown.any():
            continue
        if np.isfinite(curve.factor):
            top, bottom = (up(curve.needed[shown] * side) for side in (curve.factor, 1 / curve.factor))
            around = _points(np.concatenate([x, x[::-1]]), np.concatenate([top, bottom[::-1]]))
            parts.append(f'<polygon points="{around}" fill="{color}" fill-opacity="{OPACITY[curve.how]}"/>')
        dash = "" if curve.measured else ' stroke-dasharray="7 4"'
        parts.append(
            f'<polyline points="{_points(x, y)}" fill="none" stroke="{color}" stroke-width="2.2"{dash}/>'
        )
        names.append((float(y[-1]), color, curve.name))
    below = -np.inf
    for end, color, name in sorted(names):
        below = max(end, below + 14)
        parts.append(text(right + 6, below + 4, name, f'fill="{color}" font-weight="600"'))
    mine_x, mine_y = float(across(np.array(mine.epsilon))), float(up(np.array(mine.users)))
    parts.append(f'<path d="M{LEFT} {mine_y:.1f}H{right}M{mine_x:.1f} {TOP}V{floor}" stroke="{colors.ink}"/>')
    clear = 'stroke="#FFFFFF" stroke-width="3" paint-order="stroke"'  # of the lines behind it
    parts.append(text(LEFT + 4, mine_y - 4, f"{human(mine.users)} users", clear))
    parts.append(text(mine_x + 4, TOP + 10, f"ε = {mine.epsilon:g}", clear))
    turned = f'text-anchor="middle" transform="rotate(-90 12 {(TOP + floor) / 2:.0f})"'
    parts.append(text(12, (TOP + floor) / 2, Y_TITLE, turned))
    return Sketch("".join(parts), WIDE, HIGH, ALT)


def _points(x: Array, y: Array) -> str:
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))

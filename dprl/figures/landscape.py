"""Regret of many learners against the number of users: a panel for each kind of trust, names at the ends of the lines.

Each point is a run of its own, planned for its number of users. In a panel all curves have the colour of the trust; a
learner has its own dashes, which are the same on every page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd

from dprl.figures import style
from dprl.figures.chart import REGRET, Chart, Trace, stacked
from dprl.figures.ends import spread_apart
from dprl.figures.lines import Array, Series
from dprl.figures.picture import PackedPicture, Picture
from dprl.words import at_least, human, interval, percent, power

View = Literal["regret", "share"]

ALT = "Line chart of regret against the number of users, a curve for each algorithm under one privacy model."
LOWER = "lower bound"
Y_TITLES: dict[View, str] = {"regret": REGRET, "share": "Share of K·V* lost"}
X_TITLE = "Users K, each point a run planned for K"
SUBTITLE = "median over seeds, 95% interval"
HEIGHT = 430
SIDE = 102  # pixels for names
APART = 0.052  # of the axis: names below one another
ENDS = (3.0, 15.0)  # decades
ROOM = 0.01  # of the axis
LEAST_SHARE = 1e-16  # of all there is to lose: what is drawn of nothing, as the axis is logarithmic


def _drawn(curve: Series, view: View, v_star: float) -> tuple[Array, Array, Array]:
    """Center, low and high as a view shows them."""
    unit = curve.x * v_star if view == "share" else np.ones(len(curve.x))
    least = LEAST_SHARE * curve.x * v_star / unit
    center, low, high = (np.maximum(row / unit, least) for row in (curve.center, curve.low, curve.high))
    return center, low, high


def span(
    curves: Sequence[Series], view: View, v_star: float, lower: Sequence[tuple[Array, Array]] = ()
) -> tuple[float, float]:
    """The powers of ten between which all curves and lower bounds lie: one axis for all panels. Of shares it ends at
    all there is to lose."""
    below = [y / (x * v_star) if view == "share" else y for x, y in lower]
    seen = np.concatenate(
        [*below, *(np.concatenate(_drawn(c, view, v_star)) for c in curves if len(c.x))] or [np.ones(1)]
    )
    top = 0.0 if view == "share" else np.ceil(np.log10(v_star * 10.0 ** ENDS[1]) + 0.2)
    return float(np.floor(np.log10(seen.min()) - 0.2)), float(top)


def regret_by_users(
    title: str,
    curves: Sequence[Series],
    *,
    view: View,
    v_star: float,
    target: float,
    ends: tuple[float, float],
    dark: bool,
    lower: tuple[Array, Array] | None = None,
) -> Picture:
    """One kind of trust: of each learner its regret after K users, over K. target: the share of V* that counts as good;
    ends: of the axis, in powers of ten; lower: K, and what no algorithm stays below here and on one neighbour."""
    chart = Chart(title, X_TITLE, Y_TITLES[view], subtitle=SUBTITLE, height=HEIGHT, dark=dark)
    _levels(chart, view, v_star, target)
    if lower is not None:
        _lower_bound(chart, *lower, view, v_star)
    for curve in curves:
        _draw_learner(chart, curve, view, v_star)
    _names(chart, [curve for curve in curves if len(curve.x)], view, v_star, ends)
    decades = [10.0**k for k in range(3, 16, 3)]
    chart.x(type="log", range=[ENDS[0] - 0.2, ENDS[1] + 0.2], tickangle=0)
    chart.x(tickvals=decades, ticktext=[power(k) for k in decades])
    marks = [k for k in range(int(ends[0]), int(ends[1]) + 1) if k % 2 == 0]
    # a line at the end is seen whole
    chart.y(type="log", range=[ends[0], ends[1] + ROOM * (ends[1] - ends[0])])
    chart.y(tickvals=[10.0**k for k in marks], ticktext=[_power_of_ten(k, view) for k in marks])
    chart.layout["margin"]["r"] = SIDE
    return chart.picture(ALT, "", _landscape_table(curves, title, v_star), showlegend=False)


def _power_of_ten(k: int, view: View) -> str:
    """10^k on the vertical axis, in as large letters as on the other, for which Plotly's own powers are too large."""
    if view == "regret":
        return power(10.0**k)
    return f"{100 * 10.0**k:g}%" if k > -5 else f"{power(10.0 ** (k + 2))}%"


def _levels(chart: Chart, view: View, v_star: float, target: float) -> None:
    """All there is to lose, and what counts as good; both are lines of theory, so they are dotted and thin."""
    colors, x = chart.colors, 10.0 ** np.array(ENDS)
    for share, color, words in (
        (1.0, colors.roles["bound"], "all there is to lose, K·V*"),
        (target, colors.muted, f"{percent(target)} of it"),
    ):
        y = np.full(2, share) if view == "share" else share * x * v_star
        chart.line(words, x, y, color, 1.3, style.BOUND_DASH, hovertemplate=f"{words}<extra></extra>")
        if view == "regret" and share < 1:
            continue  # too near the other for words
        place: Trace = {"x": ENDS[1], "y": float(np.log10(y[1])), "xanchor": "right", "yanchor": "bottom"}
        ground: Trace = {"bgcolor": style.translucent(colors.background, 0.7), "borderpad": 0}
        chart.note(words, color, 11, **place, **ground)


def _lower_bound(chart: Chart, at: Array, regret: Array, view: View, v_star: float) -> None:
    """What is proved of every algorithm: a line of theory, with its name below it."""
    y = regret / (at * v_star) if view == "share" else regret
    words = [
        f"K = {power(float(k))}: every algorithm loses at least {at_least(float(r))} here or on one neighbour"
        for k, r in zip(at, regret, strict=True)
    ]
    hover: Trace = {"customdata": words, "hovertemplate": "%{customdata}<extra></extra>"}
    chart.theory(LOWER, at, y, 1.8, **hover)
    middle = len(at) // 3
    place: Trace = {"x": float(np.log10(at[middle])), "y": float(np.log10(y[middle])), "yanchor": "top"}
    chart.note(LOWER, chart.colors.roles["bound"], 11, **place, xanchor="right")


def _draw_learner(chart: Chart, curve: Series, view: View, v_star: float) -> None:
    """The band, the line, and a marker at each run."""
    color, label = curve.style.color(chart.dark), style.plain(curve.label)
    center, low, high = _drawn(curve, view, v_star)
    has = np.isfinite(low) & np.isfinite(high)
    if has.sum() > 1:
        name = f"{label}: 95% interval of the median"
        chart.band(curve.x[has], low[has], high[has], style.translucent(color, 0.16), name=name)
    words = [
        f"K = {power(float(k))}: regret {interval(human(float(r)), float(a), float(b))}, "
        f"{percent(float(r / (k * v_star)))} of K·V*"
        for k, r, a, b in zip(curve.x, curve.center, curve.low, curve.high, strict=True)
    ]
    marker = {"symbol": curve.style.symbol, "size": 5, "color": color}
    hover: Trace = {"customdata": words, "hovertemplate": f"<b>{label}</b><br>%{{customdata}}<extra></extra>"}
    both: Trace = {"mode": "lines+markers", "marker": marker}
    chart.line(label, curve.x, center, color, 2.2, curve.style.dash, **both, **hover)


def _names(
    chart: Chart, curves: Sequence[Series], view: View, v_star: float, ends: tuple[float, float]
) -> None:
    """Beside the end of each line; moved apart where two ends are near."""
    last = sorted((float(np.log10(_drawn(c, view, v_star)[0][-1])), i) for i, c in enumerate(curves))
    step = APART * (ends[1] - ends[0])
    low, high = ends[0] + step / 2, ends[1] - step / 2
    places = low + spread_apart(np.array([end for end, _ in last]) - low, high - low, step)
    line: Trace = {"showarrow": True, "arrowhead": 0, "arrowwidth": 0.8, "standoff": 3}
    side: Trace = {"xanchor": "left", "yanchor": "middle", "axref": "x", "ax": ENDS[1] + 0.9, "ayref": "y"}
    for (end, i), place in zip(last, places, strict=True):
        tip: Trace = {"x": float(np.log10(curves[i].x[-1])), "y": end, "ay": float(place)}
        color = curves[i].style.color(chart.dark)
        chart.note(style.plain(curves[i].label), **line, **side, **tip, arrowcolor=color)


def _landscape_table(curves: Sequence[Series], title: str, v_star: float) -> pd.DataFrame:
    """The numbers drawn."""
    return stacked(
        {"trust": title, "learner": c.label, "K": c.x.astype(np.int64)}
        | c.numbers("regret (median)")
        | {"share of K V* lost": c.center / (c.x * v_star)}
        for c in curves
        if len(c.x)
    )


def joined(panels: Mapping[str, Picture | PackedPicture]) -> pd.DataFrame:
    """The numbers of all panels."""
    return pd.concat([one.table for one in panels.values()], ignore_index=True)

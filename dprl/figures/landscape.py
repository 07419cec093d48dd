"""Regret of many learners against the number of users: a panel for each kind of trust, names at the ends of the lines.

Each point is a run of its own, planned for its number of users. In a panel all curves have the colour of the trust; a
learner has its own dashes, which are the same on every page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import looks, style
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import PackedPicture, Picture
from dprl.words import between, human, percent, power

Array = NDArray[np.float64]
View = Literal["regret", "share"]

ALT = "Line chart of regret against the number of users, a curve for each learner under one kind of trust."
Y_TITLES: dict[View, str] = {"regret": "Regret (reward lost)", "share": "Share of K·V* lost"}
X_TITLE = "Users K, each point a run planned for K"
SUBTITLE = "median over seeds, 95% interval"
HEIGHT = 430
SIDE = 102  # pixels for names
APART = 0.052  # of the axis: names below one another
ENDS = (3.0, 15.0)  # decades
ROOM = 0.01  # of the axis
LEAST_SHARE = 1e-16  # of all there is to lose: what is drawn of nothing, as the axis is logarithmic


@dataclass(frozen=True)
class Curve:
    """A learner: center, low, high [N] of regret after K users, at = K [N]."""

    name: str
    kind: CurveStyle
    at: Array
    center: Array
    low: Array
    high: Array

    def shown(self, view: View, v_star: float) -> tuple[Array, Array, Array]:
        """What is drawn of it."""
        unit = self.at * v_star if view == "share" else np.ones(len(self.at))
        least = LEAST_SHARE * self.at * v_star / unit
        rows = (np.maximum(row / unit, least) for row in (self.center, self.low, self.high))
        center, low, high = rows
        return center, low, high


def span(curves: Sequence[Curve], view: View, v_star: float) -> tuple[float, float]:
    """The powers of ten between which all curves lie: one axis for all panels. Of shares it ends at all there is to
    lose."""
    seen = np.concatenate(
        [np.concatenate(c.shown(view, v_star)) for c in curves if len(c.at)] or [np.ones(1)]
    )
    top = 0.0 if view == "share" else np.ceil(np.log10(v_star * 10.0 ** ENDS[1]) + 0.2)
    return float(np.floor(np.log10(seen.min()) - 0.2)), float(top)


def panel(
    title: str,
    curves: Sequence[Curve],
    *,
    view: View,
    v_star: float,
    target: float,
    ends: tuple[float, float],
    dark: bool,
) -> Picture:
    """One kind of trust. target: the share of V* that counts as good; ends: of the axis, in powers of ten."""
    colors = style.theme(dark)
    figure = style.base(
        title, dark=dark, height=HEIGHT, x_title=X_TITLE, y_title=Y_TITLES[view], subtitle=SUBTITLE
    )
    _levels(figure, view, v_star, target, colors)
    for curve in curves:
        _draw(figure, curve, view, v_star, dark)
    _names(figure, [c for c in curves if len(c.at)], view, v_star, ends, dark)
    ticks = range(3, 16, 3)
    figure.update_xaxes(
        type="log",
        range=[ENDS[0] - 0.2, ENDS[1] + 0.2],
        tickvals=[10.0**k for k in ticks],
        ticktext=[power(10.0**k) for k in ticks],
        tickangle=0,
    )
    marks = [k for k in range(int(ends[0]), int(ends[1]) + 1) if k % 2 == 0]
    figure.update_yaxes(
        type="log",
        range=[ends[0], ends[1] + ROOM * (ends[1] - ends[0])],  # a line at the end is seen whole
        tickvals=[10.0**k for k in marks],
        ticktext=[_mark(k, view) for k in marks],
    )
    figure.update_layout(showlegend=False, margin={"r": SIDE})
    return Picture(figure, ALT, "", table(curves, title, v_star))


def _mark(k: int, view: View) -> str:
    """10^k on the vertical axis, in as large letters as on the other, for which Plotly's own powers are too large."""
    if view == "regret":
        return power(10.0**k)
    return f"{100 * 10.0**k:g}%" if k > -5 else f"{power(10.0 ** (k + 2))}%"


def _levels(figure: Any, view: View, v_star: float, target: float, colors: style.Theme) -> None:
    """All there is to lose, and what counts as good; both are lines of theory, so they are dotted and thin."""
    x = 10.0 ** np.array(ENDS)
    for share, color, words in (
        (1.0, colors.roles["bound"], "all there is to lose, K·V*"),
        (target, colors.muted, f"{percent(target)} of it"),
    ):
        y = np.full(2, share) if view == "share" else share * x * v_star
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines",
            line={"color": color, "width": 1.3, "dash": style.BOUND_DASH},
            hovertemplate=f"{words}<extra></extra>",
            name=words,
        )
        if view == "regret" and share < 1:
            continue  # too near the other for words
        figure.add_annotation(
            x=ENDS[1], y=float(np.log10(y[1])), text=words, showarrow=False, xanchor="right", yanchor="bottom",
            font={"size": 11, "color": color}, bgcolor=style.translucent(colors.background, 0.7), borderpad=0,
        )  # fmt: skip


def _draw(figure: Any, curve: Curve, view: View, v_star: float, dark: bool) -> None:
    """The band, the line, and a marker at each run."""
    look = looks.look(curve.kind, dark)
    center, low, high = curve.shown(view, v_star)
    has = np.isfinite(low) & np.isfinite(high)
    label = style.plain(curve.name)
    if has.sum() > 1:
        figure.add_scatter(
            x=np.concatenate([curve.at[has], curve.at[has][::-1]]),
            y=np.concatenate([high[has], low[has][::-1]]),
            mode="lines",
            line={"width": 0},
            fill="toself",
            fillcolor=style.translucent(look.color, 0.16),
            hoverinfo="skip",
            name=f"{label}: 95% interval of the median",
        )
    words = [
        f"K = {power(float(k))}: regret {human(float(r))}{between(float(a), float(b))}, "
        f"{percent(float(r / (k * v_star)))} of K·V*"
        for k, r, a, b in zip(curve.at, curve.center, curve.low, curve.high, strict=True)
    ]
    figure.add_scatter(
        x=curve.at,
        y=center,
        mode="lines+markers",
        line={"color": look.color, "width": 2.2, "dash": look.dash},
        marker={"symbol": look.symbol, "size": 5, "color": look.color},
        customdata=words,
        hovertemplate=f"<b>{label}</b><br>%{{customdata}}<extra></extra>",
        name=label,
    )


def _names(
    figure: Any, curves: Sequence[Curve], view: View, v_star: float, ends: tuple[float, float], dark: bool
) -> None:
    """Beside the end of each line; moved apart where two ends are near."""
    last = sorted(
        ((float(np.log10(c.shown(view, v_star)[0][-1])), c) for c in curves), key=lambda one: one[0]
    )
    step = APART * (ends[1] - ends[0])
    for (end, curve), place in zip(last, apart([end for end, _ in last], step, ends), strict=True):
        color = looks.look(curve.kind, dark).color
        figure.add_annotation(
            x=float(np.log10(curve.at[-1])), y=end, ax=ENDS[1] + 0.9, ay=place, axref="x", ayref="y",
            text=style.plain(curve.name), showarrow=True, arrowhead=0, arrowwidth=0.8, arrowcolor=color,
            xanchor="left", yanchor="middle", font={"size": 12, "color": style.theme(dark).ink}, standoff=3,
        )  # fmt: skip


def apart(places: Sequence[float], step: float, ends: tuple[float, float]) -> list[float]:
    """Ascending places moved as little as needed so that two are a step apart, within ends."""
    found = list(places)
    for _ in range(200):
        moved = False
        for i in range(1, len(found)):
            lack = step - (found[i] - found[i - 1])
            if lack > 1e-9:
                found[i - 1] -= lack / 2
                found[i] += lack / 2
                moved = True
        if not moved:
            break
    low, high = ends[0] + step / 2, ends[1] - step / 2
    for i in range(len(found)):
        found[i] = max(found[i], low if i == 0 else found[i - 1] + step)
    for i in range(len(found) - 1, -1, -1):
        found[i] = min(found[i], high if i == len(found) - 1 else found[i + 1] - step)
    return found


def table(curves: Sequence[Curve], title: str, v_star: float) -> pd.DataFrame:
    """The numbers drawn."""
    parts = [
        pd.DataFrame(
            {
                "trust": title,
                "learner": c.name,
                "K": c.at.astype(np.int64),
                "regret (median)": c.center,
                "low (95%)": c.low,
                "high (95%)": c.high,
                "share of K V* lost": c.center / (c.at * v_star),
            }
        )
        for c in curves
        if len(c.at)
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def joined(panels: Mapping[str, Picture | PackedPicture]) -> pd.DataFrame:
    """The numbers of all panels."""
    return pd.concat([one.table for one in panels.values()], ignore_index=True)

"""What privacy costs against epsilon, K, or the size of the environment; and how many users it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import ends, lines, looks, style
from dprl.figures.lines import LOWEST_SHARE, Statistic
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.words import between, halving, human, percent, raised, rough, to_the

Array = NDArray[np.float64]
Measure = Literal["price", "regret", "gap price", "gap"]

TITLES: dict[Measure, str] = {
    "price": "Price of privacy",
    "regret": "Regret at the end",
    "gap price": "Price of privacy",
    "gap": "How far from the best policy?",
}
Y_TITLES: dict[Measure, str] = {
    "price": "Extra regret (reward lost)",
    "regret": "Regret (reward lost)",
    "gap price": "Extra gap (reward)",
    "gap": "Gap v* − v<sup>π</sup> (reward)",
}
ALTS: dict[Measure, str] = {
    "price": "Chart of the regret that privacy adds, a curve for each privacy model.",
    "regret": "Chart of regret at the end, a curve for each privacy model.",
    "gap price": "Chart of the gap to the best policy that privacy adds, a curve for each learner.",
    "gap": "Chart of the gap to the best policy, a curve for each learner.",
}
WORST: dict[Measure, str] = {"price": "K·V*", "regret": "K·V*", "gap price": "v*", "gap": "v*"}
OVER: dict[Measure, str] = {
    "price": lines.SEEDS,
    "regret": lines.SEEDS,
    "gap price": lines.DATA_SETS,
    "gap": lines.DATA_SETS,
}
FEW = 3.0  # decades of small numbers in which 1, 2 and 5 of each are named


@dataclass(frozen=True)
class Frontier:
    """One model of a sweep at P points.

    Attributes:
        kind: Of its line.
        epsilon: [P] the budget at each point, which gives its marker's shade; None without privacy.
        x: [P] ascending.
        center, low, high: [P] the mean (or median) over the seeds there are with its interval, NaN where there is none.
        seeds: [P] how many those are.
        whole: [P] all seeds are there.
        worst: [P] what is lost when nothing is learned: K V*, of a policy learned from a data set v*.
        share: [P] how much of that was lost, NaN where there is nothing to lose.
        slope: Exponent of x over `fitted` (x from, x to), with its interval; NaN when not fitted.
        theory: The exponent that the paper's bound has, None when there is none to draw.
    """

    label: str
    kind: CurveStyle
    epsilon: Sequence[float | None]
    x: NDArray[Any]
    center: Array
    low: Array
    high: Array
    seeds: NDArray[np.int64]
    whole: NDArray[np.bool_]
    worst: Array
    share: Array
    slope: tuple[float, float, float] = (np.nan, np.nan, np.nan)
    fitted: tuple[float, float] = (np.nan, np.nan)
    theory: float | None = None


def frontier(
    curves: Sequence[Frontier],
    *,
    measure: Measure,
    axis: str,
    symbol: str,
    statistic: Statistic = "mean",
    see: str = "",
    when: str = "",
    dark: bool = False,
    wide: bool = False,
) -> Picture:
    """A marker for each run, at its x; axis: its title; symbol: how it names x; when: it is, where not at the end;
    wide: see `regret.comparison`.

    The customdata of each marker begins with the index of its curve and of its point.
    """
    colors = style.theme(dark)
    named: list[ends.End] = []
    figure = style.base(
        TITLES[measure].removesuffix(" at the end") if when else TITLES[measure],
        dark=dark,
        height=440 + 18 * len(curves),
        x_title=axis,
        y_title=Y_TITLES[measure],
        subtitle=", ".join(filter(None, [f"{statistic} over {OVER[measure]}", when])),
    )
    values = np.concatenate([c.center[np.isfinite(c.center)] for c in curves] or [np.zeros(0)])
    tiny = LOWEST_SHARE * values.max() if values.size else 0.0
    positive = values[values > max(tiny, 0.0)]
    floor = float(positive.min()) / 2 if positive.size else 1.0
    band_name = lines.band(statistic, OVER[measure])
    banded = hollow = on_floor = False
    _worst(figure, curves, WORST[measure], colors)
    for i, curve in enumerate(curves):
        look = looks.look(curve.kind, dark)
        label = style.plain(curve.label)
        ok = np.flatnonzero(np.isfinite(curve.center))
        x, center = np.asarray(curve.x, float)[ok], curve.center[ok]
        low, high = curve.low[ok], curve.high[ok]
        above = center > max(tiny, 0.0)
        has = np.isfinite(low)
        if has.sum() > 1:
            banded = True
            lower, upper = np.maximum(low[has], floor), np.maximum(high[has], floor)
            figure.add_scatter(
                x=np.concatenate([x[has], x[has][::-1]]),
                y=np.concatenate([upper, lower[::-1]]),
                mode="lines",
                line={"width": 0},
                fill="toself",
                fillcolor=style.translucent(look.color, 0.2),
                hoverinfo="skip",
                name=f"{label}: {band_name}",
                showlegend=False,
                legendgroup=label,
            )
        words = np.empty((len(ok), 6), object)
        words[:, 0], words[:, 1] = i, ok
        words[:, 2] = [human(v) for v in x]
        words[:, 3] = [human(float(m)) for m in center]
        words[:, 4] = [between(float(a), float(b)) for a, b in zip(low, high, strict=True)]
        words[:, 5] = [percent(float(share)) for share in curve.share[ok]]
        whole = curve.whole[ok]
        hollow |= bool((~whole).any())
        on_floor |= bool((~above).any())
        symbols = [
            "triangle-down-open" if not a else look.symbol + ("" if w else "-open")
            for a, w in zip(above, whole, strict=True)
        ]
        name = lines.prefix(look) + label
        if np.isfinite(curve.slope[0]):
            name += f": {halving(curve.slope, symbol, short=True) or to_the(symbol, curve.slope[0])}"
        shades = [looks.color(curve.kind.model, curve.epsilon[int(p)], dark) for p in ok]
        size = 9 if look.number == 1 else lines.NUMBERED
        figure.add_scatter(
            x=x,
            y=np.where(above, center, floor),
            mode="lines+markers",
            line={"color": look.color, "width": 2.2, "dash": look.dash},
            marker={
                "symbol": symbols,
                "size": size,
                "color": shades,
                "line": {"width": 1.5, "color": shades},
            },
            unselected={"marker": {"opacity": 0.6}},
            cliponaxis=False,  # triangles on the bottom edge are seen whole
            customdata=words,
            hovertemplate=(
                f"<b>{label}</b><br>{symbol} = %{{customdata[2]}}<br>%{{customdata[3]}}%{{customdata[4]}}"
                "<br>%{customdata[5]} of all there is to lose<extra></extra>"
            ),
            name=lines.folded(name),
            legendgroup=label,
        )
        if len(ok):
            named.append(ends.End(curve.label, look, float(center[-1]) if above[-1] else floor))
        digits = (whole & above).nonzero()[0]  # the others are hollow
        lines.digits(
            figure,
            look,
            x[digits],
            center[digits],
            [shades[p] for p in digits],
            name=label,
            legendgroup=label,
        )
    _theory(figure, curves, symbol, colors)
    if banded:
        lines.legend_only(figure, band_name, lines.band_sign(colors))
    if hollow:
        sign = {"symbol": "circle-open", "size": 9, "color": colors.muted, "line": {"width": 1.5}}
        lines.legend_only(figure, f"not all {OVER[measure]} yet", sign)
    if on_floor:
        lines.legend_only(figure, lines.ON_FLOOR, lines.floor_sign(colors))
    figure.update_xaxes(type="log", nticks=8, tickangle=0, exponentformat="power")
    x = np.concatenate([np.asarray(c.x, float) for c in curves] or [np.ones(1)])
    if x.max() >= 10 * x.min():
        figure.update_xaxes(**lines.log_ticks(x.min(), x.max(), FEW if x.max() <= 1000 else lines.FEW))
    figure.update_yaxes(type="log", nticks=6)
    if positive.size:
        top = max(float(positive.max()), max(float(np.nanmax(c.worst)) for c in curves)) * 1.6
        edges = np.log10(floor), np.log10(top)
        figure.update_yaxes(range=list(edges))
        figure.update_yaxes(**lines.log_ticks(floor, top))
    if wide:
        ends.label(figure, named, dark=dark)
    figure.update_layout(uirevision=f"{measure}-{axis}", clickmode="event+select")
    return Picture(
        figure, ALTS[measure], see, _table(curves, symbol, statistic, WORST[measure], OVER[measure])
    )


def _worst(figure: Any, curves: Sequence[Frontier], named: str, colors: style.Theme) -> None:
    """All there is to lose: a thin line, as levels are in lessons; dots are for the slope of a bound."""
    if not curves:
        return
    best = max(curves, key=lambda c: len(c.x))
    figure.add_scatter(
        x=np.asarray(best.x, float),
        y=best.worst,
        mode="lines",
        line={"color": colors.muted, "width": 1, "dash": "solid"},
        name=f"{named}, all there is to lose",
        hoverinfo="skip",
    )


def _theory(figure: Any, curves: Sequence[Frontier], symbol: str, colors: style.Theme) -> None:
    """The slope of the papers' bounds, laid through the middle of each fitted stretch."""
    shown: set[float] = set()
    for curve in curves:
        inside = (np.asarray(curve.x, float) >= curve.fitted[0]) & (
            np.asarray(curve.x, float) <= curve.fitted[1]
        )
        inside &= np.isfinite(curve.center) & (curve.center > 0)
        if curve.theory is None or inside.sum() < 2:
            continue
        x = np.asarray(curve.x, float)[inside]
        center_x, center_y = np.exp(np.log(x).mean()), np.exp(np.log(curve.center[inside]).mean())
        figure.add_scatter(
            x=x[[0, -1]],
            y=center_y * (x[[0, -1]] / center_x) ** curve.theory,
            mode="lines",
            line={"color": colors.roles["bound"], "width": 1.6, "dash": style.BOUND_DASH},
            name="reference slope "
            + (f"1/{symbol}" if curve.theory == -1 else symbol + raised(curve.theory)),
            showlegend=curve.theory not in shown,
            hoverinfo="skip",
        )
        shown.add(curve.theory)


def _table(
    curves: Sequence[Frontier], symbol: str, statistic: Statistic, worst: str, over: str
) -> pd.DataFrame:
    if not curves:
        return pd.DataFrame()
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "model": c.label,
                    symbol: c.x,
                    statistic: c.center,
                    "low (95%)": c.low,
                    "high (95%)": c.high,
                    f"share of {worst}": c.share,
                    over: c.seeds,
                }
            )
            for c in curves
        ],
        ignore_index=True,
    )


@dataclass(frozen=True)
class Need:
    """How many users one way to be private needs.

    Attributes:
        needed: NaN while searched for, infinite when more than `most`.
        low, high: 95% bootstrap interval over seeds, NaN where there is none.
        note: what to say instead of a number.
        times: as many as the fewest, with its interval; NaN where that is not known.
    """

    label: str
    kind: CurveStyle
    needed: float
    low: float
    high: float
    note: str = ""
    times: tuple[float, float, float] = (np.nan, np.nan, np.nan)


def users(needs: Sequence[Need], *, title: str, most: float, see: str, dark: bool = False) -> Picture:
    """A row for each way to be private, with the users it needs."""
    colors = style.theme(dark)
    figure = style.base(
        title, dark=dark, height=150 + 46 * len(needs), x_title="Users (episodes), logarithmic"
    )
    names = [style.plain(n.label) for n in needs]
    smallest = min((n.needed for n in needs if np.isfinite(n.needed)), default=1.0)
    for i, need in enumerate(needs):
        look = looks.look(need.kind, dark)
        at = -float(i)
        if np.isfinite(need.needed):
            figure.add_scatter(
                x=[need.needed],
                y=[at],
                mode="markers+text",
                marker={"symbol": look.symbol, "size": 11, "color": look.color},
                error_x={
                    "type": "data",
                    "symmetric": False,
                    "array": [min(need.high, most) - need.needed],
                    "arrayminus": [need.needed - need.low],
                    "color": look.color,
                    "thickness": 2,
                    "width": 6,
                },
                text=[style.plain(need.note) or rough(need.needed)],
                textposition="top center",
                textfont={"color": colors.ink, "size": 12},
                hovertemplate=f"<b>{names[i]}</b><br>{human(need.needed)} users"
                f"{between(need.low, need.high)}<extra></extra>",
                showlegend=False,
                cliponaxis=False,
            )
        else:
            figure.add_scatter(
                x=[smallest],
                y=[at],
                mode="text",
                text=[style.plain(need.note)],
                textposition="middle right",
                textfont={"color": colors.muted, "size": 12},
                hoverinfo="skip",
                showlegend=False,
            )
    known = [v for n in needs for v in (n.needed, n.low, min(n.high, most)) if np.isfinite(v)]
    if known:
        low, high = np.log10(min(known)), np.log10(max(known))
        figure.update_xaxes(range=[np.floor(low - 0.35), np.ceil(high + 0.35)])
    figure.update_xaxes(type="log", nticks=6, tickangle=0, exponentformat="power")
    figure.update_yaxes(
        tickmode="array",
        tickvals=[-float(i) for i in range(len(needs))],
        ticktext=[_wrapped(name) for name in names],
        range=[-len(needs) + 0.4, 0.75],
        showgrid=True,
        zeroline=False,
    )
    figure.update_layout(uirevision=title)
    table = pd.DataFrame(
        {
            "model": [n.label for n in needs],
            "users needed": [n.needed for n in needs],
            "low (95%)": [n.low for n in needs],
            "high (95%)": [n.high for n in needs],
            "times the fewest": [n.times[0] for n in needs],
            "times, low": [n.times[1] for n in needs],
            "times, high": [n.times[2] for n in needs],
        }
    )
    alt = "Chart of the users each way to be private needs, one row each, with intervals."
    return Picture(figure, alt, see, table)


def _wrapped(name: str, width: int = 26) -> str:
    """A long label on two lines, so that a phone has room for the chart."""
    words, rows = name.split(" "), [""]
    for word in words:
        if rows[-1] and len(rows[-1]) + len(word) > width:
            rows.append("")
        rows[-1] = f"{rows[-1]} {word}".strip()
    return "<br>".join(rows)

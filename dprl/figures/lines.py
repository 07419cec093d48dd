"""Curves over seeds: means or medians with named bands, single seeds, unfinished curves, log axes that meet zeros."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from dprl.figures import style
from dprl.figures.ends import End
from dprl.figures.looks import Look
from dprl.words import between, human

Array = NDArray[np.float64]
Statistic = Literal["mean", "median"]  # of the seeds
BANDS: dict[Statistic, str] = {
    "mean": "95% t interval of the mean over seeds",
    "median": "95% interval of the median over seeds",
}
SEEDS, DATA_SETS = (
    "seeds",
    "data sets",
)  # what a curve is the mean of: of the latter each has noise of its own, too
ON_FLOOR = "zero or less: on the bottom edge"
DECADES, FEW = 6, 1.5  # that an axis names; with less than so many it names 1, 2 and 5 of each
NUMBERED = 14  # pixels: a marker with room for a digit
LONGEST = 44  # signs in a row of a legend: what 390 pixels have room for
LOWEST_SHARE = 1e-12  # of the largest value: below it a number is rounding, and a log axis shows it as zero


@dataclass(frozen=True)
class Line:
    """One curve. x [C]; center, low, high [C]; rows [seeds, C]. NaN where nothing is known (yet)."""

    label: str
    look: Look
    x: NDArray[Any]
    center: Array
    low: Array
    high: Array
    rows: Array
    complete: bool = True
    note: str = ""
    shown: bool = True


def draw(
    figure: go.Figure,
    lines: Sequence[Line],
    *,
    log_x: bool,
    log_y: bool,
    show_seeds: bool,
    dark: bool,
    x_words: Callable[[float], str],
    statistic: Statistic = "mean",
    least: float = 0.0,
    over: str = SEEDS,
) -> str:
    """Add the curves to a figure and set its axis types. Returns a note on what a log axis does not show.

    least: below it nothing matters, and a log axis need not go. over: `SEEDS` or `DATA_SETS`.
    """
    colors = style.theme(dark)
    drawn = [line for line in lines if line.shown]
    positive = np.concatenate(
        [v[np.isfinite(v) & (v > 0)] for line in drawn for v in (line.center, line.rows.ravel())]
        or [np.zeros(0)]
    )
    if log_y and positive.size == 0 and any(np.isfinite(line.rows).any() for line in drawn):
        log_y = False
        note = "Nothing is above zero here, so the vertical axis is linear. "
    else:
        note = ""
    tiny = max(least, LOWEST_SHARE * positive.max()) if positive.size else 0.0
    positive = positive[positive > tiny]
    floor = max(float(positive.min()) / 2 if positive.size else 1.0, least)
    faint = f"below {human(least)}" if least else "zero or less"
    on_floor = 0

    band_name = band(statistic, over)
    banded = False
    for number, line in enumerate(lines):
        label = style.plain(line.label)
        group = {"legendgroup": label, "visible": True if line.shown else "legendonly"}
        ok = np.isfinite(line.center)
        at = np.flatnonzero(ok)[style.thin(int(ok.sum()))]
        x, center = np.asarray(line.x, float)[at], line.center[at]
        low, high = line.low[at], line.high[at]
        above = center > tiny if log_y else np.ones(len(at), bool)

        has_band = np.isfinite(low) & np.isfinite(high)
        if has_band.sum() > 1:
            banded = True
            part = np.flatnonzero(has_band)[style.thin(int(has_band.sum()), style.MOST_POINTS // 2)]
            lower, upper = low[part], high[part]
            if log_y:
                lower, upper = np.maximum(lower, floor), np.maximum(upper, floor)
            figure.add_scatter(
                x=np.concatenate([x[part], x[part][::-1]]),
                y=np.concatenate([upper, lower[::-1]]),
                mode="lines",
                line={"width": 0},
                fill="toself",
                fillcolor=style.translucent(line.look.color, 0.18 if line.complete else 0.10),
                hoverinfo="skip",
                name=f"{label}: {band_name}",
                showlegend=False,
                **group,
            )
        for row in _single_seeds(line, show_seeds):
            known = np.flatnonzero(np.isfinite(row))
            pick = known[style.thin(len(known))]
            y = row[pick]
            figure.add_scatter(
                x=np.asarray(line.x, float)[pick],
                y=np.where(y > tiny, y, np.nan) if log_y else y,
                mode="lines",
                line={"color": style.translucent(line.look.color, 0.45), "width": 1},
                hoverinfo="skip",
                name=f"{label}: one seed",
                showlegend=False,
                **group,
            )
        words = np.empty((len(x), 3), object)  # an array: Plotly checks lists element by element
        words[:, 0] = [x_words(float(k)) for k in x]
        words[:, 1] = [human(float(m)) for m in center]
        words[:, 2] = [between(float(a), float(b)) for a, b in zip(low, high, strict=True)]
        hover = f"<b>{label}</b><br>%{{customdata[0]}}<br>%{{customdata[1]}}%{{customdata[2]}}<extra></extra>"
        name = prefix(line.look) + label
        if not line.complete:
            name += f" ({style.plain(line.note) or 'unfinished'})"
        stroke = {
            "color": line.look.color,
            "width": 2.5 if line.complete else 1.8,
            "dash": line.look.dash,
        }
        figure.add_scatter(
            x=x,
            y=np.where(above, center, np.nan),
            mode="lines",
            line=stroke,
            opacity=1.0 if line.complete else 0.65,
            customdata=words,
            hovertemplate=hover,
            name=label,
            showlegend=False,
            **group,
        )
        # The legend shows line and marker together; the gaps keep the line from being drawn a second time.
        signs = _signs(x[above], log_x, (number + 0.5) / len(lines))
        size = 8 if line.look.number == 1 else NUMBERED
        figure.add_scatter(
            x=gapped(x[above][signs]),
            y=gapped(center[above][signs]),
            mode="lines+markers",
            line=stroke,
            marker={"symbol": line.look.symbol, "size": size, "color": line.look.color},
            opacity=1.0 if line.complete else 0.65,
            hoverinfo="skip",
            name=folded(name),
            **group,
        )
        digits(figure, line.look, x[above][signs], center[above][signs], line.look.color, name=label, **group)
        if log_y and not above.all():
            on_floor += int((~above).sum())
            figure.add_scatter(
                x=x[~above],
                y=np.full(int((~above).sum()), floor),
                mode="markers",
                marker={"symbol": "triangle-down-open", "size": 8, "color": line.look.color},
                customdata=words[~above],
                hovertemplate=hover,
                name=f"{label}: {faint}",
                showlegend=False,
                **group,
            )
        if not line.complete and len(at):
            # The open end of a curve that is still growing, or was stopped.
            figure.add_scatter(
                x=x[-1:],
                y=np.maximum(center[-1:], floor) if log_y else center[-1:],
                mode="markers",
                marker={"symbol": "circle-open", "size": 13, "color": line.look.color, "line": {"width": 2}},
                hoverinfo="skip",
                name=f"{label}: so far",
                showlegend=False,
                **group,
            )
    if banded:
        legend_only(figure, band_name, band_sign(colors))
    if on_floor:
        legend_only(figure, f"{faint}: on the bottom edge" if least else ON_FLOOR, floor_sign(colors))
        where = faint if least else "at or below zero"
        note += (
            f"{on_floor} point{'s' if on_floor > 1 else ''} {where} {'are' if on_floor > 1 else 'is'} drawn as open "
            f"triangles on the bottom edge{'' if least else ', for a log axis has no zero'}. "
        )
    figure.update_xaxes(
        type="log" if log_x else "linear", nticks=7, tickangle=0, exponentformat="power" if log_x else "B"
    )
    x = np.concatenate([np.asarray(line.x, float) for line in drawn] or [np.zeros(0)])
    if log_x and (x > 0).any():
        figure.update_xaxes(**log_ticks(x[x > 0].min(), x.max()))
    if log_y:
        figure.update_yaxes(type="log", nticks=6)
        if positive.size:
            top = np.log10(positive.max() * 1.6)
            bottom = np.log10(floor)
            figure.update_yaxes(range=[bottom - (0.05 if on_floor else 0), max(top, bottom + 0.5)])
            figure.update_yaxes(**log_ticks(floor, 10 ** max(top, bottom + 0.5)))
    else:
        lowest = min(
            (float(np.nanmin(line.rows)) for line in drawn if np.isfinite(line.rows).any()), default=0.0
        )
        figure.update_yaxes(
            type="linear", nticks=7, exponentformat="B", rangemode="tozero" if lowest >= 0 else "normal"
        )
    return note.strip()


def band(statistic: Statistic, over: str = SEEDS) -> str:
    """What interval a band is, and over what."""
    return BANDS[statistic].replace(SEEDS, over)


def ends(lines: Sequence[Line]) -> list[End]:
    """What stands at the right ends of the curves that are shown."""
    found = []
    for line in lines:
        known = line.center[np.isfinite(line.center)]
        if line.shown and known.size:
            found.append(End(line.label, line.look, float(known[-1]), not line.complete))
    return found


def _signs(x: Array, log_x: bool, phase: float, most: int = 7) -> NDArray[np.intp]:
    """Which points carry the curve's marker: a few, evenly spread, out of step between curves."""
    if len(x) <= 2:
        return np.arange(len(x))
    place = np.log(np.maximum(x, 1e-300)) if log_x else x
    wanted = place[0] + (place[-1] - place[0]) * (np.arange(most) + phase) / most
    return np.unique(np.abs(place[:, None] - wanted[None, :]).argmin(axis=0))


def prefix(look: Look) -> str:
    """What a legend says before the name of a curve that has a number."""
    return "" if look.number == 1 else f"{look.number}: "


def folded(name: str) -> str:
    """A long name in a legend, in rows that a telephone has room for."""
    if len(name) <= LONGEST:
        return name
    return "<br>".join(textwrap.wrap(name, LONGEST, break_long_words=False, break_on_hyphens=False)) or name


def digits(figure: go.Figure, look: Look, x: Array, y: Array, fill: Any, **trace: Any) -> None:
    """The number of a curve on its markers, which are filled with these colours."""
    if look.number > 1:
        inks = style.readable_on(fill) if isinstance(fill, str) else [style.readable_on(f) for f in fill]
        figure.add_scatter(
            x=x,
            y=y,
            mode="text",
            text=[str(look.number)] * len(x),
            textfont={"color": inks, "size": 10, "weight": 700},
            hoverinfo="skip",
            showlegend=False,
            **trace,
        )


def log_ticks(low: float, high: float, few: float = FEW) -> dict[str, Any]:
    """Settings of a log axis that names decades or, on less than so few of them, 1, 2 and 5 of each.

    Left to itself Plotly names every digit, or a tiny 2 where 0.2 is meant, and a telephone has no room for them.
    """
    span = float(np.log10(high / low))
    if span > few:
        return {"dtick": max(1, int(np.ceil(span / DECADES)))}
    first, last = int(np.floor(np.log10(low))) - 1, int(np.ceil(np.log10(high))) + 1
    values = [
        digit * 10.0**k for k in range(first, last + 1) for digit in (1, 2, 5)
    ]  # more than is seen: one can zoom
    return {"tickmode": "array", "tickvals": values, "ticktext": [human(value) for value in values]}


def gapped(values: Array) -> Array:
    """The values with a gap after each."""
    return np.column_stack([values, np.full(len(values), np.nan)]).ravel()


def _single_seeds(line: Line, show_seeds: bool) -> list[Array]:
    """Each seed's own curve where it is wanted, or where seeds have run ahead of what is over all."""
    if show_seeds and len(line.rows) > 1:
        return list(line.rows)
    if line.complete:
        return []
    known = np.flatnonzero(np.isfinite(line.center))
    last = int(known[-1]) if len(known) else 0
    ahead = []
    for row in line.rows:
        if np.isfinite(row[last + 1 :]).any():
            row = row.copy()
            row[:last] = np.nan
            ahead.append(row)
    return ahead


def band_sign(colors: style.Theme) -> dict[str, Any]:
    """The marker of a legend that stands for the band of every curve."""
    return {"symbol": "square", "size": 14, "color": style.translucent(colors.muted, 0.35)}


def floor_sign(colors: style.Theme) -> dict[str, Any]:
    """The marker of a legend that stands for values on the bottom edge."""
    return {"symbol": "triangle-down-open", "size": 9, "color": colors.muted}


def legend_only(figure: go.Figure, name: str, marker: dict[str, Any]) -> None:
    """A legend entry that explains a sign used by several curves; clicking it does nothing."""
    figure.add_scatter(x=[None], y=[None], mode="markers", marker=marker, name=name, hoverinfo="skip")

"""Claims: what was measured in each setting against what was claimed, and the curves of a setting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import lines, looks, style
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.words import human, listed

Array = NDArray[np.float64]
# Filled where the claim holds, open where it does not: told apart without colours, which mean privacy models.
SYMBOLS = {
    "holds": "circle",
    "holds as an upper bound": "diamond",
    "nothing learned yet": "square-open",
    "undecided": "circle-open",
    "does not hold here": "x",
}
ROW = 34  # pixels


@dataclass(frozen=True)
class Row:
    """A setting by its number: its statistic and interval, these in words, what they are held against, the verdict."""

    number: int
    title: str
    value: float
    low: float
    high: float
    words: str
    threshold: float
    verdict: str


@dataclass(frozen=True)
class Measured:
    """A series: center, low, high [P] over seeds of rows [seeds, P] at x [P]."""

    label: str
    kind: CurveStyle
    x: Array
    center: Array
    low: Array
    high: Array
    rows: Array


def settings(
    statistic: str, rows: Sequence[Row], *, over: str, log: bool, see: str, dark: bool = False
) -> Picture:
    """Each setting's statistic with its interval, beside what it is held against. over: what that is an interval over,
    "" for numbers that are exact."""
    colors = style.theme(dark)
    places = list(range(len(rows)))
    figure = style.base(
        "What was measured, and what was claimed",
        dark=dark,
        height=150 + ROW * len(rows),
        x_title=statistic[:1].upper() + statistic[1:],
        y_title="Setting",
        subtitle=f"95% interval over {over}" if over else "worked out exactly",
    )
    for verdict, symbol in SYMBOLS.items():
        chosen = [(place, row) for place, row in enumerate(rows) if row.verdict == verdict]
        if not chosen:
            continue
        figure.add_scatter(
            x=[row.value for _, row in chosen],
            y=[place for place, _ in chosen],
            error_x={
                "type": "data",
                "symmetric": False,
                "array": np.nan_to_num([row.high - row.value for _, row in chosen]),
                "arrayminus": np.nan_to_num([row.value - row.low for _, row in chosen]),
                "thickness": 1.6,
                "width": 5,
                "color": colors.ink,
            },
            mode="markers",
            marker={
                "symbol": symbol,
                "size": 11,
                "color": colors.ink,
                "line": {"width": 2, "color": colors.ink},
            },
            customdata=[f"<b>{row.number}</b> {style.plain(row.title)}<br>{row.words}" for _, row in chosen],
            hovertemplate="%{customdata}<extra></extra>",
            name=verdict,
        )
    figure.add_scatter(
        x=[row.threshold for row in rows],
        y=places,
        mode="markers",
        marker={"symbol": "line-ns", "size": 22, "line": {"width": 3, "color": colors.roles["optimal"]}},
        hovertemplate="what is claimed: %{x}<extra></extra>",
        name="what it is held against",
    )
    figure.update_yaxes(
        tickmode="array",
        tickvals=places,
        ticktext=[str(row.number) for row in rows],
        range=[len(rows) - 0.4, -0.6],
        showgrid=False,
    )
    figure.update_xaxes(type="log" if log else "linear", nticks=6, tickangle=0)
    ends = [v for row in rows for v in (row.low, row.high, row.value, row.threshold) if np.isfinite(v)]
    if log:
        figure.update_xaxes(**lines.log_ticks(min(v for v in ends if v > 0), max(ends)))
    else:
        room = max(0.08 * (max(ends) - min(ends)), 0.02)
        figure.update_xaxes(range=[min(ends) - room, max(ends) + room])
    table = pd.DataFrame(
        [(r.number, r.title, r.value, r.low, r.high, r.threshold, r.verdict) for r in rows],
        columns=["setting", "where", statistic, "low (95%)", "high (95%)", "held against", "verdict"],
    )
    points = "Points with intervals" if over else "Points"
    alt = f"{points}, a row for each numbered setting, and a mark for what each is held against."
    return Picture(figure, alt, see, table)


def curves(
    title: str,
    x_title: str,
    y_title: str,
    series: Sequence[Measured],
    bound: tuple[str, Array, Array] | None = None,
    *,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """The curves of a setting, logarithmic both ways. bound: a name, and theory's x and y [P], dotted."""
    figure = style.base(
        title,
        dark=dark,
        height=400 + 18 * (len(series) + (bound is not None)),
        x_title=x_title,
        y_title=y_title,
        subtitle="mean over seeds",
    )
    drawn = [
        lines.Line(one.label, looks.look(one.kind, dark), one.x, one.center, one.low, one.high, one.rows)
        for one in series
    ]
    note = lines.draw(
        figure, drawn, log_x=True, log_y=True, show_seeds=False, dark=dark, x_words=lambda x: f"at {human(x)}"
    )
    parts = [
        pd.DataFrame(
            {"series": s.label, "x": s.x, "mean": s.center, "low (95%)": s.low, "high (95%)": s.high}
        )
        for s in series
    ]
    if bound is not None:
        name, x, y = bound
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines",
            line={"color": style.theme(dark).roles["bound"], "width": 1.8, "dash": style.BOUND_DASH},
            hovertemplate=f"{style.plain(name)}: %{{y:.3s}}<extra></extra>",
            name=style.plain(name),
        )
        low, high = figure.layout.yaxis.range
        ends = np.log10(y[y > 0])
        low, high = min(low, ends.min() - 0.2), max(high, ends.max() + 0.3)
        figure.update_yaxes(range=[low, high], **lines.log_ticks(10**low, 10**high))
        parts.append(pd.DataFrame({"series": name, "x": x, "mean": y}))
    alt = f"Line chart of {y_title.partition(' (')[0].lower()} against {x_title.partition(' (')[0]}: " + (
        f"{listed([one.label for one in series])}."
    )
    return Picture(figure, alt, " ".join(filter(None, [see, note])), pd.concat(parts, ignore_index=True))

"""What a class says of itself: one share of yes, as three kinds of trust let it be known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd
import plotly.graph_objects as go

from dprl.figures import looks, style
from dprl.figures.picture import Picture
from dprl.figures.style import SYMBOLS
from dprl.words import human

SHARES_ALT = (
    "Shares of yes with intervals, a row for each kind of trust: local, shuffle, and central, simulated."
)


class Row(NamedTuple):
    """What one kind of trust lets be known: a share of yes with its ends, from 0 to 1; what it proves."""

    model: str  # local, shuffle or central
    title: str
    epsilon: float
    share: float
    low: float
    high: float


def shares(
    title: str, rows: Sequence[Row], *, subtitle: str = "", see: str = "", dark: bool = False
) -> Picture:
    """The rows from the top down. Colours are those of the privacy models at their epsilon."""
    figure = style.base(
        title, subtitle=subtitle, dark=dark, height=310, x_title="Answered yes, with a 95% interval"
    )
    ink = style.theme(dark).ink
    for place, row in enumerate(reversed(rows)):
        color = looks.color(row.model, row.epsilon, dark=dark)
        low, high = f"{row.low:.0%}", f"{row.high:.0%}"
        words = f"{row.share:.0%} ({low} to {high})" if low != high else f"{low} alone"
        figure.add_trace(
            go.Scatter(
                x=[row.low, row.high],
                y=[place, place],
                mode="lines",
                line={"color": color, "width": 5},
                hoverinfo="skip",
                showlegend=False,
            )
        )
        figure.add_trace(
            go.Scatter(
                x=[row.share],
                y=[place],
                mode="markers+text",
                marker={
                    "color": color,
                    "size": 15,
                    "symbol": SYMBOLS[row.model][0],
                    "line": {"color": ink, "width": 1},
                },
                # Words keep inside of the chart where the share is near an end.
                text=[words],
                textposition=[
                    "top right" if row.share < 0.25 else "top left" if row.share > 0.75 else "top center"
                ],
                textfont={"color": ink, "size": 13},
                hovertemplate=f"{words}<extra>{style.plain(row.title)}</extra>",
                showlegend=False,
                cliponaxis=False,
            )
        )
    figure.update_xaxes(range=[-0.02, 1.02], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1])
    figure.update_yaxes(
        range=[-0.5, len(rows) - 0.35],
        tickvals=list(range(len(rows))),
        ticktext=[f"{row.title}<br>ε = {human(float(f'{row.epsilon:.3g}'))}" for row in reversed(rows)],
        tickfont={"color": ink, "size": 13},
        showgrid=False,
    )
    table = pd.DataFrame(
        [
            {"trust": r.title, "epsilon": r.epsilon, "share of yes": r.share, "low": r.low, "high": r.high}
            for r in rows
        ]
    )
    return Picture(figure, SHARES_ALT, see, table)

"""Charts of a class: its answers under each privacy model, and the counts that the algorithm reads in the clinic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from dprl.figures import looks, style
from dprl.figures.chart import Chart
from dprl.figures.lessons import enlarge
from dprl.figures.picture import Picture
from dprl.figures.style import SYMBOLS
from dprl.messages import filled
from dprl.words import human


class KnownShare(NamedTuple):
    """A privacy model's result: the share of yes answers from 0 to 1 with its interval, and the proved epsilon."""

    model: str  # local, shuffle or central
    title: str
    epsilon: float
    share: float
    low: float
    high: float


def shares_of_yes(
    said: Mapping[str, str],
    rows: Sequence[KnownShare],
    *,
    subtitle: str = "",
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Draw a row for each result, from the top down, in its privacy model's colour; `said`: the chart's texts."""
    chart = Chart(said["title"], said["axis"], subtitle=subtitle, height=120 + 64 * len(rows), dark=dark)
    ink = chart.colors.ink
    for place, row in enumerate(reversed(rows)):
        color = looks.color(row.model, row.epsilon, dark=dark)
        low, high = f"{row.low:.0%}", f"{row.high:.0%}"
        words = filled(said["share"], share=f"{row.share:.0%}", low=low, high=high)
        interval = {"line": {"color": color, "width": 5}, "showlegend": False}
        chart.add("lines", [row.low, row.high], [place, place], **interval)
        # The text stays inside the chart if the share is near an end.
        side = "right" if row.share < 0.25 else "left" if row.share > 0.75 else "center"
        edge = {"color": ink, "width": 1}
        chart.add(
            "markers+text",
            [row.share],
            [place],
            marker={"color": color, "size": 15, "symbol": SYMBOLS[row.model][0], "line": edge},
            text=[words],
            textposition=[f"top {side}"],
            textfont={"color": ink, "size": 13},
            hovertemplate=f"{words}<extra>{style.plain(row.title)}</extra>",
            showlegend=False,
            cliponaxis=False,
        )
    chart.x(range=[-0.02, 1.02], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1])
    chart.y(
        range=[-0.5, len(rows) - 0.35],
        tickvals=list(range(len(rows))),
        ticktext=[f"{row.title}<br>ε = {human(float(f'{row.epsilon:.3g}'))}" for row in reversed(rows)],
        tickfont={"color": ink, "size": 13},
        showgrid=False,
    )
    columns = [said[f"column_{name}"] for name in ("trust", "epsilon", "share", "low", "high")]
    table = pd.DataFrame([(r.title, r.epsilon, r.share, r.low, r.high) for r in rows], columns=columns)
    return chart.picture(said["alt"], see, table)


def visits_by_state(
    words: Mapping[str, str],
    states: Sequence[str],
    said: Sequence[float],
    law: Sequence[float],
    spread: float,
    most: float,
    epsilon: float,
    *,
    see: str,
    dark: bool,
    large: bool = False,
    wide: bool = True,
    height: int = 380,
) -> Picture:
    """Draw the noisy visits to each state as a row, from the top down; a band shows the possible range, 0 to `most`."""
    chart = Chart(words["visits"], words["visits_axis"], height=height, dark=dark)
    color, ink = looks.color("local", epsilon, dark=dark), chart.colors.ink
    places = list(range(len(states)))[::-1]
    band = {"type": "rect", "x0": 0, "x1": most, "y0": 0, "y1": 1, "yref": "y domain", "layer": "below"}
    fill = {"line": {"width": 0}, "fillcolor": chart.colors.grid}
    chart.layout.setdefault("shapes", []).append(band | fill)
    for place, value in zip(places, said, strict=True):
        chart.add(
            "lines",
            [value - 2 * spread, value + 2 * spread],
            [place, place],
            line={"color": color, "width": 4},
            showlegend=False,
        )
    hover = "%{y}: %{x:.0f}<extra></extra>"
    edge = {"line": {"color": ink, "width": 1}}
    chart.points(
        words["visits_said"],
        list(said),
        places,
        color,
        size=13,
        marker=edge,
        hovertemplate=hover,
        cliponaxis=False,
    )
    chart.points(words["visits_law"], list(law), places, ink, "line-ns-open", 20, hovertemplate=hover)
    ends = [-0.1 * most, 1.1 * most, min(said) - 2.2 * spread, max(said) + 2.2 * spread]
    chart.x(range=[min(ends), max(ends)])
    chart.y(tickvals=places, ticktext=list(states), tickfont={"color": ink, "size": 13}, showgrid=False)
    if large:
        enlarge(chart, wide)
        chart.layout["yaxis"]["tickfont"]["size"] = chart.layout["font"]["size"]
    table = pd.DataFrame(
        {
            words["column_state"]: states,
            words["visits_said"]: said,
            words["column_spread"]: spread,
            words["visits_law"]: law,
        }
    )
    return chart.picture(words["visits_alt"], see, table)

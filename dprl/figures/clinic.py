"""A class that played the clinic: what the algorithm reads of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from dprl.figures import looks
from dprl.figures.chart import Chart
from dprl.figures.lessons import enlarge
from dprl.figures.picture import Picture


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
    """Draw a row for each state, from the top down. most: the largest possible number of visits, as a band."""
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

"""A class that played the clinic: what the algorithm reads of it, and how learning goes on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from dprl.figures import looks, style
from dprl.figures.chart import Chart, stacked
from dprl.figures.lessons import enlarge
from dprl.figures.picture import Picture

MODELS = ("local", "shuffle", "central", "none")


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
    """A row for each state, from the top down. most: visits there can be at all, said as a band."""
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
        _enlarge(chart, wide)
    table = pd.DataFrame(
        {
            words["column_state"]: states,
            words["visits_said"]: said,
            words["column_spread"]: spread,
            words["visits_law"]: law,
        }
    )
    return chart.picture(words["visits_alt"], see, table)


def goes_on(
    words: Mapping[str, str],
    curves: Mapping[str, Sequence[tuple[int, float]]],
    n: int,
    epsilon: float,
    here: str,
    *,
    see: str,
    dark: bool,
    large: bool = False,
    wide: bool = True,
    height: int = 440,
) -> Picture:
    """The share lost until each number of users, for each kind of trust."""
    chart = Chart("", words["goes_on_axis"], words["lost_axis"], height=height, dark=dark)
    for model in MODELS:
        look = looks.CurveStyle(model, None if model == "none" else epsilon)
        users, lost = zip(*curves[model], strict=True)
        hover = (
            words["goes_on_hover"].format(users="%{x:,}", lost="%{y:.1%}")
            + "<extra>"
            + style.plain(words[f"{model}_name"])
            + "</extra>"
        )
        width = 4 if model == "local" else 2
        chart.line(words[f"{model}_name"], users, lost, look.color(dark), width, hovertemplate=hover)
    chart.upright(n, chart.colors.ink, style.BOUND_DASH)
    chart.note(here, x=math.log10(n), xref="x", xanchor="left", xshift=4, y=1, yref="paper", yanchor="top")
    chart.x(type="log", range=[0, 9], dtick=1, exponentformat="power")
    chart.y(range=[0, 1], tickformat=".0%")
    if large:
        _enlarge(chart, wide)
    columns = [words[f"column_{name}"] for name in ("trust", "users", "lost")]
    table = stacked(
        (
            {
                columns[0]: words[f"{model}_name"],
                columns[1]: [u for u, _ in curve],
                columns[2]: [x for _, x in curve],
            }
            for model, curve in curves.items()
        ),
        columns,
    )
    return chart.picture(words["goes_on_alt"], see, table)


def _enlarge(chart: Chart, wide: bool) -> None:
    """All letters for a projector: also the names of states, and where the class is."""
    enlarge(chart, wide)
    size = chart.layout["font"]["size"]
    for written in (
        chart.layout["yaxis"]["tickfont"],
        *(note["font"] for note in chart.layout.get("annotations", ())),
    ):
        written["size"] = size

"""What is proved, beside what is seen. A bound is dotted, has no marker and carries a letter; it is never filled like a
band."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from dprl.figures import lines, looks, style
from dprl.figures.chart import EPISODES, REGRET, Chart, Trace, stacked
from dprl.figures.lines import Array, Series
from dprl.figures.long_run import after_episodes, all_there_is, reach_values
from dprl.figures.picture import Picture
from dprl.figures.regret import regret_numbers

LETTERS = "ABCDEFGH"


@dataclass(frozen=True)
class Proved:
    """A bound at N numbers of episodes.

    Attributes:
        paper: where it is from.
        model: its privacy model.
        epsilon: its budget.
    """

    label: str
    paper: str
    model: str
    epsilon: float | None
    episodes: Array
    values: Array


def regret_beside_bounds(
    curves: Sequence[Series], bounds: Sequence[Proved], *, see: str = "", dark: bool = False
) -> Picture:
    """Simulated regret, and dotted beside it what is proved, constants and logarithms set to 1."""
    chart = Chart(
        "What is proved, beside what is seen",
        EPISODES,
        REGRET,
        subtitle="means over seeds; dotted: bounds, constants set to 1",
        height=450 + 20 * (len(curves) + len(bounds)),
        dark=dark,
    )
    lines.draw_series(chart, curves, after_episodes)
    all_there_is(chart, curves)
    for number, bound in enumerate(bounds):
        color = looks.color(bound.model, bound.epsilon, dark)
        name = f"{LETTERS[number]}: {style.plain(bound.label)}, {style.plain(bound.paper)}"
        hover = f"<b>{name}</b><br>at %{{x:.3s}} episodes: %{{y:.3s}}<extra></extra>"
        look: Trace = {"opacity": 0.85, "hovertemplate": hover, "legendgroup": name}
        chart.line(name, bound.episodes, bound.values, color, 1.6, style.BOUND_DASH, **look)
        at = round((0.1 + 0.8 * (number + 0.5) / len(bounds)) * (len(bound.values) - 1))
        x, y, letter = [bound.episodes[at]], [bound.values[at]], [f"<b>{LETTERS[number]}</b>"]
        chart.words(x, y, letter, color, 13, textposition="top center", legendgroup=name)
        reach_values(chart, bound.values)
    proved = stacked(
        {"curve": f"{b.label}, {b.paper}", "episodes": b.episodes, "bound": b.values} for b in bounds
    )
    alt = "Line chart of simulated regret against episodes, with dotted lines for proved bounds beside it."
    seen = regret_numbers(curves, median=True)
    table = pd.concat([seen, proved], ignore_index=True) if bounds else seen
    return chart.picture(alt, see, table, revision=f"beside-{len(bounds)}")

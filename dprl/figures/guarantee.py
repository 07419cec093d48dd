"""Bar charts of the noise that the same guarantee needs under different mechanisms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from dprl.figures import looks, style
from dprl.figures.chart import Chart, Trace
from dprl.figures.picture import Picture
from dprl.words import human, proves

LADDER_ALT = "Bar chart of the noise in one counter with each way of adding it, from the paper's noise down."


class NoiseStep(NamedTuple):
    """One way to add noise: its name, one counter's standard deviation, the guarantee proved, and its idea."""

    what: str
    std: float
    epsilon: float
    delta: float
    idea: str = ""


def noise_ladder(
    steps: Sequence[NoiseStep],
    *,
    own: int | None = None,
    epsilon: float | None = None,
    instance: str = "",
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Draw bars of the noise in one counter, in the given order, on a logarithmic axis.

    `own` is the index of the run's own step, drawn in the colour of its epsilon; `instance` names the problem. Each
    bar's label stands above it, so that it has room at 390 pixels.
    """
    chart = Chart(
        "Noise on one counter of visits",
        "Standard deviation (visits)",
        subtitle=f"{instance}, at the worst release" if instance else "at the worst release",
        height=130 + 44 * len(steps),
        dark=dark,
    )
    ink, muted = chart.colors.ink, chart.colors.muted
    std = np.array([step.std for step in steps])
    low = 10 ** np.floor(np.log10(std.min()) - 0.15)
    strong, faint = looks.color("central", epsilon, dark), style.mix(chart.colors.amount, 0.4)
    proved = [proves(step.epsilon, step.delta) for step in steps]
    bars = {
        "type": "bar",
        "orientation": "h",
        "y": np.arange(len(steps)) + 0.16,
        "x": std,
        "width": 0.42,
        "marker": {"color": [strong if i == own else faint for i in range(len(steps))], "line": {"width": 0}},
        "text": [
            f" <b>{human(s)}</b>  ◀ this run" if i == own else f" {human(s)}" for i, s in enumerate(std)
        ],
        "textposition": "outside",
        "textfont": {"color": ink, "size": 12.5},
        "cliponaxis": False,
        "showlegend": False,
        "name": "noise",
        "customdata": [[style.plain(step.what), said] for step, said in zip(steps, proved, strict=True)],
        "hovertemplate": "%{customdata[0]}<br>noise %{x:,.0f} visits<br>proved: %{customdata[1]}<extra></extra>",
    }
    chart.traces.append(bars)
    left: Trace = {"x": 0, "xref": "paper", "xanchor": "left", "yanchor": "bottom", "align": "left"}
    for i, (step, said) in enumerate(zip(steps, proved, strict=True)):
        words = f"{style.plain(step.what)} <span style='color:{muted}'>· {said} proved</span>"
        chart.note(words, **left, y=i - 0.06)
    chart.x(type="log", range=[np.log10(low), np.log10(std.max() * 5)], nticks=5, tickangle=0)
    chart.y(visible=False, range=[len(steps) - 0.5, -0.6])
    table = pd.DataFrame(
        {
            "way": [step.what for step in steps],
            "std of one counter": std,
            "proved epsilon": [step.epsilon for step in steps],
            "at delta": [step.delta for step in steps],
            "this run": [i == own for i in range(len(steps))],
        }
    )
    return chart.picture(LADDER_ALT, see, table)

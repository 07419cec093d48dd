"""Learners that work in stages: how each stage narrowed things down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import looks, style
from dprl.figures.chart import EPISODES, Chart
from dprl.figures.lines import Array
from dprl.figures.picture import Picture
from dprl.words import human

ALT = "Line charts over the stages: policies left, the width of confidence, and infrequent tuples."
TITLES = {
    "active policies": "Active policies left",
    "best estimate": "Value of the best policy, as estimated",
    "confidence width": "Confidence width (worse by more: dropped)",
    "infrequent tuples": "Infrequent (step, state, action, next state)",
}
PANEL, GAP = 130, 56  # pixels


def narrowing(
    episodes: NDArray[Any],
    series: Mapping[str, Array],
    *,
    v_star: float,
    label: str = "",
    see: str = "",
    dark: bool = False,
) -> Picture:
    """One seed's measures, [D] each, at the ends of its stages, episodes [D].

    v_star: the value of an optimal episode, which the width must fall below to
    tell anything.
    """
    shown = [name for name in TITLES if name in series]
    plot = len(shown) * (PANEL + GAP) - GAP
    chart = Chart("Stage by stage", subtitle=style.plain(label), height=plot + 176, dark=dark)
    chart.layout["margin"]["t"] = 88
    k = np.asarray(episodes, float)
    for i, name in enumerate(shown):
        top, last = 1 - i * (PANEL + GAP) / plot, i == len(shown) - 1
        title = chart.layout["xaxis"]["title"] | {"text": EPISODES if last else ""}
        x = {"type": "log", "nticks": 7, "tickangle": 0, "showticklabels": last, "title": title}
        kind = "linear" if name in ("infrequent tuples", "best estimate") else "log"
        domain = [max(0.0, top - PANEL / plot), min(1.0, top)]
        y = {"type": kind, "rangemode": "tozero", "nticks": 5, "domain": domain}
        place = chart.axes(i, x | ({"matches": "x"} if i else {}), y)
        color = looks.color("shuffle", None, dark) if name == "active policies" else chart.colors.muted
        values = np.asarray(series[name], float)
        words = [
            [stage, human(float(a)), human(float(b))]
            for stage, (a, b) in enumerate(zip(k, values, strict=True), 1)
        ]
        chart.line(
            name,
            k,
            values,
            color,
            mode="lines+markers",
            marker={"size": 7},
            customdata=words,
            hovertemplate="stage %{customdata[0]}, after %{customdata[1]} episodes<br>"
            f"{name}: %{{customdata[2]}}<extra></extra>",
            showlegend=False,
            **place,
        )
        chart.heading(TITLES[name], 0, top, yshift=2)
        if name == "confidence width" and len(k):
            wide = f"V* = {v_star:#.3g}: wider than this, nothing can be dropped"
            chart.theory(wide, k[[0, -1]], [v_star, v_star], 1.6, **place)
    table = pd.DataFrame({"stage": np.arange(1, len(k) + 1), "episodes": episodes, **dict(series)})
    return chart.picture(ALT, see, table, revision="stages")

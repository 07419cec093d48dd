"""Whether the noise stays below its bound, seed by seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import style
from dprl.figures.chart import EPISODES, Chart
from dprl.figures.lines import Array
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.words import human

COVERAGE_ALT = "Line chart of the largest noise so far as a share of its bound, one line for each seed."


def noise_below_bound(
    episodes: NDArray[Any],
    ratio: Array,
    *,
    look: CurveStyle,
    label: str,
    promise: float | None = None,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Largest noise so far over its bound, ratio [seeds, C] at episodes [C], NaN if not known yet.

    promise: the probability with which the bound holds everywhere and always, 1 - beta/3.
    """
    chart = Chart(
        "Does the noise stay below its bound?",
        EPISODES,
        "Largest noise so far / bound",
        subtitle=style.plain(label),
        height=360,
        dark=dark,
    )
    pick = style.thin(len(episodes))
    k = np.asarray(episodes, float)[pick]
    for seed, row in enumerate(ratio):
        chart.add(
            "lines",
            k,
            row[pick],
            line={"color": look.color(dark), "width": 1.6, "shape": "hv"},
            opacity=0.8,
            name="each seed",
            legendgroup="seeds",
            showlegend=seed == 0,
            customdata=[human(float(value)) for value in k],
            hovertemplate=f"seed {seed}: %{{y:.0%}} of the bound<br>"
            "after %{customdata} episodes<extra></extra>",
        )
    name = "the bound" if promise is None else f"the bound, kept with probability ≥ {promise:.3g}"
    if len(k):
        chart.theory(name, k[[0, -1]], [1.0, 1.0], 1.8)
    known = ratio[:, np.isfinite(ratio).any(axis=0)]
    worst = float(np.nanmax(known)) if known.size else 0.0
    chart.x(type="log", nticks=7, tickangle=0)
    chart.y(range=[0, max(1.15, 1.08 * worst)], tickformat=".0%", nticks=6)
    table = pd.DataFrame(
        {
            "seed": np.repeat(np.arange(len(ratio)), len(episodes)),
            "episodes": np.tile(episodes, len(ratio)),
            "largest noise / bound": ratio.ravel(),
        }
    ).dropna(ignore_index=True)
    return chart.picture(COVERAGE_ALT, see, table, revision="coverage")

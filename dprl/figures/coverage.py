"""Whether the noise stays below its bound, seed by seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import looks, style
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.words import human

Array = NDArray[np.float64]

COVERAGE_ALT = "Line chart of the largest noise so far as a share of its bound, one line for each seed."


def coverage(
    episodes: NDArray[Any],
    ratio: Array,
    *,
    kind: CurveStyle,
    label: str,
    promise: float | None = None,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Largest noise so far over its bound, ratio [seeds, C] at episodes [C], NaN where not known yet.

    promise: the probability with which the bound holds everywhere and always, 1 - beta/3.
    """
    figure = style.base(
        "Does the noise stay below its bound?",
        subtitle=style.plain(label),
        dark=dark,
        height=360,
        x_title="Episodes (one user each)",
        y_title="Largest noise so far / bound",
    )
    look = looks.look(kind, dark)
    colors = style.theme(dark)
    pick = style.thin(len(episodes))
    k = np.asarray(episodes, float)[pick]
    words = [human(float(value)) for value in k]
    for seed, row in enumerate(ratio):
        figure.add_scatter(
            x=k,
            y=row[pick],
            mode="lines",
            line={"color": look.color, "width": 1.6, "shape": "hv"},
            opacity=0.8,
            name="each seed",
            legendgroup="seeds",
            showlegend=seed == 0,
            customdata=words,
            hovertemplate=f"seed {seed}: %{{y:.0%}} of the bound<br>"
            "after %{customdata} episodes<extra></extra>",
        )
    name = "the bound" if promise is None else f"the bound, kept with probability ≥ {promise:.3g}"
    if len(k):
        figure.add_scatter(
            x=k[[0, -1]],
            y=[1.0, 1.0],
            mode="lines",
            line={"color": colors.roles["bound"], "width": 1.8, "dash": style.BOUND_DASH},
            name=name,
            hoverinfo="skip",
        )
    known = ratio[:, np.isfinite(ratio).any(axis=0)]
    worst = float(np.nanmax(known)) if known.size else 0.0
    figure.update_xaxes(type="log", nticks=7, tickangle=0)
    figure.update_yaxes(range=[0, max(1.15, 1.08 * worst)], tickformat=".0%", nticks=6)
    figure.update_layout(uirevision="coverage")
    table = pd.DataFrame(
        {
            "seed": np.repeat(np.arange(len(ratio)), len(episodes)),
            "episodes": np.tile(episodes, len(ratio)),
            "largest noise / bound": ratio.ravel(),
        }
    ).dropna(ignore_index=True)
    return Picture(figure, COVERAGE_ALT, see, table)

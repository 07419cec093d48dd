"""Learners that work in stages: how each stage narrowed things down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import looks, style
from dprl.figures.picture import Picture
from dprl.words import human

Array = NDArray[np.float64]

ALT = "Line charts over the stages: what is left, the width of confidence, and infrequent tuples."
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
    colors = style.theme(dark)
    shown = [name for name in TITLES if name in series]
    plot = len(shown) * (PANEL + GAP) - GAP
    figure = style.base(
        "Stage by stage", subtitle=style.plain(label), dark=dark, height=plot + 176, x_title="", y_title=""
    )
    figure.update_layout(margin_t=88)
    k = np.asarray(episodes, float)
    for i, name in enumerate(shown):
        top = 1 - i * (PANEL + GAP) / plot
        axis, last = ("" if i == 0 else str(i + 1)), i == len(shown) - 1
        y = np.asarray(series[name], float)
        figure.add_scatter(
            x=k,
            y=y,
            mode="lines+markers",
            line={
                "color": looks.color("shuffle", None, dark) if name == "active policies" else colors.muted,
                "width": 2,
            },
            marker={"size": 7},
            xaxis=f"x{axis}",
            yaxis=f"y{axis}",
            customdata=[
                [stage + 1, human(float(a)), human(float(b))]
                for stage, (a, b) in enumerate(zip(k, y, strict=True))
            ],
            hovertemplate="stage %{customdata[0]}, after %{customdata[1]} episodes<br>"
            + name
            + ": %{customdata[2]}<extra></extra>",
            showlegend=False,
            name=name,
        )
        common = figure.layout.xaxis.to_plotly_json() if i == 0 else {}
        if i:
            common = figure.layout.xaxis.to_plotly_json() | {"matches": "x"}
        figure.update_layout(
            {
                f"xaxis{axis}": common
                | {
                    "type": "log",
                    "nticks": 7,
                    "tickangle": 0,
                    "anchor": f"y{axis}",
                    "showticklabels": last,
                    "title": {
                        "text": "Episodes (one user each)" if last else "",
                        "standoff": 8,
                        "font": {"size": 13},
                    },
                },
                f"yaxis{axis}": figure.layout.yaxis.to_plotly_json()
                | {
                    "type": "linear" if name in ("infrequent tuples", "best estimate") else "log",
                    "rangemode": "tozero",
                    "nticks": 5,
                    "anchor": f"x{axis}",
                    "domain": [max(0.0, top - PANEL / plot), min(1.0, top)],
                },
            }
        )
        figure.add_annotation(
            text=TITLES[name],
            x=0,
            xref="paper",
            xanchor="left",
            y=top,
            yref="paper",
            yanchor="bottom",
            yshift=2,
            showarrow=False,
            font={"size": 13, "color": colors.ink},
        )
        if name == "confidence width" and len(k):
            figure.add_scatter(
                x=k[[0, -1]],
                y=[v_star, v_star],
                mode="lines",
                line={"color": colors.roles["bound"], "width": 1.6, "dash": style.BOUND_DASH},
                xaxis=f"x{axis}",
                yaxis=f"y{axis}",
                hoverinfo="skip",
                name=f"V* = {v_star:#.3g}: wider than this, nothing can be dropped",
            )
    figure.update_layout(uirevision="stages")
    table = pd.DataFrame({"stage": np.arange(1, len(k) + 1), "episodes": episodes, **dict(series)})
    return Picture(figure, ALT, see, table)

"""Mistakes: how many episodes were more than alpha worse than optimal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import lines, looks, style
from dprl.figures.lines import Statistic
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.words import human

ALT = (
    "Line chart of how many episodes were more than alpha suboptimal, against alpha, one curve for each run."
)
Array = NDArray[np.float64]
MOST_TICKS = 8


@dataclass(frozen=True)
class PacCurve:
    """One finished run: alpha [P]; rows [seeds, P] numbers of episodes; center, low, high [P] over seeds."""

    label: str
    kind: CurveStyle
    alpha: NDArray[Any]
    rows: Array
    center: Array
    low: Array
    high: Array


def mistakes(
    curves: Sequence[PacCurve],
    *,
    statistic: Statistic = "mean",
    log_y: bool = True,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Episodes more than alpha suboptimal against alpha, with 95% intervals over seeds."""
    figure = style.base(
        "Episodes more than α suboptimal",
        dark=dark,
        height=380 + 16 * len(curves),
        x_title="α (reward an episode falls short of V*)",
        y_title="Episodes",
        subtitle=f"{statistic} over seeds",
    )
    drawn = []
    for curve in curves:
        drawn.append(
            lines.Line(
                curve.label,
                looks.look(curve.kind, dark),
                curve.alpha,
                curve.center,
                curve.low,
                curve.high,
                curve.rows,
            )
        )
    note = lines.draw(
        figure,
        drawn,
        log_x=True,
        log_y=log_y,
        show_seeds=False,
        dark=dark,
        x_words=lambda alpha: f"more than {human(alpha)} short of V*",
        statistic=statistic,
    )
    alphas = np.unique(np.concatenate([np.asarray(c.alpha, float) for c in curves] or [np.zeros(0)]))
    if 0 < len(alphas) <= MOST_TICKS:  # the values there are, rather than whatever a log axis would name
        figure.update_xaxes(tickmode="array", tickvals=alphas, ticktext=[f"{a:.2g}" for a in alphas])
    table = pd.concat(
        [
            pd.DataFrame(
                {
                    "curve": curve.label,
                    "alpha": curve.alpha,
                    f"episodes ({statistic})": curve.center,
                    "low (95%)": curve.low,
                    "high (95%)": curve.high,
                }
            )
            for curve in curves
        ]
        or [pd.DataFrame(columns=["curve", "alpha", f"episodes ({statistic})", "low (95%)", "high (95%)"])],
        ignore_index=True,
    )
    return Picture(figure, ALT, " ".join(filter(None, [see, note])), table)

"""Charts of the number of episodes that were more than alpha worse than optimal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dprl.figures import lines
from dprl.figures.chart import Chart, stacked
from dprl.figures.lines import Series, Statistic
from dprl.figures.picture import Picture
from dprl.words import human

ALT = "Line chart of the number of episodes that were suboptimal by more than alpha, with one curve for each run."
MOST_TICKS = 8


def mistakes_over_alpha(
    curves: Sequence[Series],
    *,
    statistic: Statistic = "mean",
    log_y: bool = True,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Draw the number of episodes more than alpha suboptimal against alpha, with 95% intervals over finished seeds."""
    chart = Chart(
        "Episodes more than α suboptimal",
        "α (reward an episode falls short of V*)",
        "Episodes",
        subtitle=f"{statistic} over {lines.how_many((len(curve.rows) for curve in curves), lines.SEEDS)}",
        height=380 + 16 * len(curves),
        dark=dark,
    )

    def said(alpha: float) -> str:
        return f"more than {human(alpha)} short of V*"

    lines.draw_series(chart, curves, said, log_y=log_y, statistic=statistic)
    alphas = np.unique(np.concatenate([np.asarray(curve.x, float) for curve in curves] or [np.zeros(0)]))
    if 0 < len(alphas) <= MOST_TICKS:  # the alphas measured, not the usual labels of a log axis
        chart.x(tickmode="array", tickvals=alphas, ticktext=[f"{a:.2g}" for a in alphas])
    name = f"episodes ({statistic})"
    parts = ({"curve": curve.label, "alpha": curve.x, **curve.numbers(name)} for curve in curves)
    return chart.picture(ALT, see, stacked(parts, ["curve", "alpha", name, "low (95%)", "high (95%)"]))

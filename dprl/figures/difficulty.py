"""Regret at the end of runs on environments that get harder with the number of users."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dprl.figures import lines
from dprl.figures.chart import Chart
from dprl.figures.lines import Series, Statistic
from dprl.figures.picture import Picture
from dprl.figures.regret import regret_numbers, told_apart
from dprl.words import human

ALT = "Line chart of final regret against the number of users. Each point has its own environment. Lines show slopes."


def harder(
    curves: Sequence[Series],
    slopes: Sequence[tuple[float, str]],
    *,
    statistic: Statistic = "mean",
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Regret at the end of whole runs: curves over their numbers of users, and the slopes that theory allows at most.

    slopes: an exponent and its name in the legend, drawn through the highest of the first points: only their steepness
    means something.
    """
    curves = told_apart(curves)
    chart = Chart(
        "Harder environments for more users",
        "Users K of a run",
        "Regret at the end (reward lost)",
        subtitle=f"{statistic} over seeds; at larger K actions differ less",
        height=450 + 18 * (len(curves) + len(slopes)),
        dark=dark,
    )
    lines.draw_series(chart, curves, lambda k: f"of {human(k)} users", statistic=statistic)
    known = [(curve.x[0], curve.x[-1], curve.center[0]) for curve in curves if len(curve.x)]
    if known:
        x = np.array([min(first for first, _, _ in known), max(last for _, last, _ in known)], float)
        height = max(value for _, _, value in known)
        for exponent, name in slopes:
            chart.theory(name, x, height * (x / x[0]) ** exponent)
        steepest = max((exponent for exponent, _ in slopes), default=0.0)
        chart.reach(high=np.log10(height * (x[1] / x[0]) ** steepest * 1.3))
    return chart.picture(ALT, see, regret_numbers(curves, statistic, "users"), revision="harder")

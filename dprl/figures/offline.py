"""Charts of learning from a data set: suboptimality and privacy cost against its size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dprl.figures import ends, lines, style
from dprl.figures.chart import Chart
from dprl.figures.lines import Series
from dprl.figures.picture import Picture
from dprl.figures.regret import regret_numbers, told_apart, worst_case
from dprl.words import human

GAP_ALT = "Line chart of suboptimality against the size of the data set, a curve for each run."
PRICE_ALT = (
    "Line chart of the privacy cost in the lower bound on the value, against the size of the data set."
)
X_TITLE = "Trajectories n (one user each by default)"
FAINT = 1e-5  # share of the largest possible loss: a log axis shows no smaller values


def gaps_over_n(
    curves: Sequence[Series],
    *,
    shaded: tuple[float, str] | None = None,
    log_y: bool = True,
    show_seeds: bool = False,
    see: str = "",
    dark: bool = False,
    wide: bool = False,
) -> Picture:
    """Draw the suboptimality v* - v^pi against n: the mean of each run with its 95% interval over data sets.

    `shaded` holds an n up to which the chart is shaded, and the name of that range. wide: see `regret.comparison`.
    """
    curves = told_apart(curves)
    chart = _over_n(
        "Distance from the best policy", "Suboptimality v* − v<sup>π</sup> (reward)", curves, dark
    )
    most = max((curve.v_star for curve in curves if curve.v_star), default=0.0)
    _draw(chart, curves, log_y, show_seeds, least=float(f"{FAINT * most:.1g}"))
    worst_case(chart, curves, "v*")
    if wide:
        ends.name_ends(chart, lines.names_at_ends(curves))
    if shaded is not None:
        _shade(chart, curves, *shaded)
    return chart.picture(GAP_ALT, see, regret_numbers(curves, "mean", "n"), revision=f"gap-{log_y}")


def prices_over_n(
    curves: Sequence[Series],
    *,
    log_y: bool = True,
    show_seeds: bool = False,
    see: str = "",
    dark: bool = False,
    wide: bool = False,
    proved: Sequence[str] = (),
) -> Picture:
    """Draw the baseline's lower bound on the value minus each private run's bound, against n, as means over data sets.

    `proved` holds, for each curve, the theorem that proves a decrease in proportion to 1/n, or "". The first curve of
    each theorem gets a line with that slope.
    """
    curves = told_apart(curves)
    chart = _over_n("Privacy cost in the lower bound", "Lower by (reward)", curves, dark)
    _draw(chart, curves, log_y, show_seeds)
    guided: set[str] = set()
    for curve, theorem in zip(curves, proved or [""] * len(curves), strict=True):
        if log_y and theorem and theorem not in guided and len(curve.center) and curve.center[-1] > 0:
            guided.add(theorem)
            last, end = float(curve.center[-1]), float(curve.x[-1])
            x = np.geomspace(max(float(curve.x[0]), end / 1e4), end, 20)
            chart.theory(f"falls like 1/n ({theorem})", x, last * end / x, 1.6)
    if wide:
        ends.name_ends(chart, lines.names_at_ends(curves))
    return chart.picture(PRICE_ALT, see, regret_numbers(curves, "mean", "n"), revision=f"price-{log_y}")


def _over_n(title: str, y_title: str, curves: Sequence[Series], dark: bool) -> Chart:
    height = 420 + 18 * len(curves)
    return Chart(title, X_TITLE, y_title, subtitle="mean over data sets", height=height, dark=dark)


def _draw(
    chart: Chart, curves: Sequence[Series], log_y: bool, show_seeds: bool, *, least: float = 0.0
) -> None:
    words, over = (lambda n: f"{human(n)} trajectories"), lines.DATA_SETS
    lines.draw_series(chart, curves, words, log_y=log_y, show_seeds=show_seeds, least=least, over=over)
    axis = chart.layout["yaxis"]
    shown = axis.get("range")
    if axis["type"] == "log" and shown and shown[1] - shown[0] > 2:
        chart.y(dtick=1)


def _shade(chart: Chart, curves: Sequence[Series], end: float, words: str) -> None:
    """Shade a range from the left end of the axis, with its name at the bottom."""
    begin = min((float(curve.x[0]) for curve in curves if len(curve.x)), default=1.0)
    fill = style.translucent(chart.colors.roles["bound"], 0.16)
    ground = {"type": "rect", "y0": 0, "y1": 1, "yref": "paper", "layer": "below", "line": {"width": 0}}
    chart.layout["shapes"] = [ground | {"x0": begin, "x1": end, "fillcolor": fill}]
    middle = (np.log10(begin) + np.log10(end)) / 2
    chart.note(words, chart.colors.muted, x=middle, y=0.02, yref="paper", yanchor="bottom")

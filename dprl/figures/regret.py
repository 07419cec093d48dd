"""Charts that compare up to eight runs: regret and mistakes, or loss and privacy cost against the size of data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from dprl.figures import ends, lines, style
from dprl.figures.chart import EPISODES, Chart, stacked
from dprl.figures.lines import Series, Statistic
from dprl.figures.picture import Picture
from dprl.messages import filled, messages
from dprl.words import human

SAID = messages("charts")["regret"]

SHARES = 1.05  # the end of the axis of shares, just above the line at V*, the largest possible loss
Measure = Literal["cumulative", "share", "per-episode", "extra"]

TITLES: dict[Measure, str] = SAID["titles"]
Y_TITLES: dict[Measure, str] = SAID["y_titles"]


def comparison(
    curves: Sequence[Series],
    *,
    view: Measure = "cumulative",
    statistic: Statistic = "mean",
    log_x: bool = True,
    log_y: bool = True,
    show_seeds: bool = False,
    see: str = "",
    dark: bool = False,
    wide: bool = False,
) -> Picture:
    """Draw a measure of each curve against episodes, with 95% intervals over seeds. `wide` adds names at the ends."""
    curves = told_apart(curves)
    chart = Chart(
        TITLES[view],
        EPISODES,
        Y_TITLES[view],
        subtitle=f"{statistic} over {lines.how_many((len(curve.rows) for curve in curves), lines.SEEDS)}",
        height=420 + 18 * len(curves),
        dark=dark,
    )
    lines.draw_series(
        chart,
        curves,
        lambda k: f"after {human(k)} episodes",
        log_x=log_x,
        log_y=log_y,
        show_seeds=show_seeds,
        statistic=statistic,
    )
    if view == "share":
        lines.percents(chart)
        if not log_y:
            chart.y(minallowed=0, maxallowed=SHARES)  # the interval of two seeds may reach far beyond
    if view in ("share", "per-episode"):
        worst_case(chart, curves, most=1.0 if view == "share" else None)
    if wide:
        name_ends(chart, curves)
    # Zoom survives a redraw of the same view (a live update), but not a change of the view or an axis.
    alt, table = f"regret_{view}", regret_numbers(curves, statistic)
    return chart.picture(alt, see, table, revision=f"{view}-{log_x}-{log_y}")


def name_ends(chart: Chart, curves: Sequence[Series]) -> None:
    """Write the names of the visible curves at their right ends."""
    shown = [curve for curve in curves if curve.shown and np.isfinite(curve.center).any()]
    going = any(not curve.complete for curve in shown)
    ends.name_ends(chart, [(curve.label, curve.style, curve.center) for curve in shown], going)


def worst_case(chart: Chart, curves: Sequence[Series], symbol: str = "V*", most: float | None = None) -> None:
    """Draw the largest possible loss of an episode as a dotted line, if it is the same for all curves. `symbol` stands
    for the best policy's value. `most` replaces the height of the line."""
    shown = [curve for curve in curves if curve.shown]
    values = {None if curve.v_star is None else round(curve.v_star, 9) for curve in shown}
    reached = [curve.x[[0, -1]] for curve in shown if len(curve.x)]
    v_star = values.pop() if len(values) == 1 else None
    if v_star is None or not reached:
        return
    ends = np.array([min(r[0] for r in reached), max(r[1] for r in reached)], float)
    name, hover = most_of(v_star, symbol, shown[0].world)
    level = v_star if most is None else most
    chart.theory(name, ends, [level, level], hovertemplate=hover)
    if level > 0:
        chart.reach(high=np.log10(level * 1.3))


def most_of(v_star: float, symbol: str = "V*", world: str = "") -> tuple[str, str]:
    """Return the label and the hover text of the line at an episode's largest possible loss."""
    said = {"symbol": symbol, "most": f"{v_star:#.3g}"} | ({"world": style.plain(world)} if world else {})
    name = filled(SAID["line_in" if world else "line"], **said)
    return name, f"{symbol} = {v_star:.4g}: the value of the optimal policy<extra></extra>"


def told_apart(curves: Sequence[Series]) -> list[Series]:
    """Give the curves different labels, because the legend groups them by label."""
    names = distinct([curve.label for curve in curves])
    return [replace(curve, label=name) for curve, name in zip(curves, names, strict=True)]


def distinct(labels: Sequence[str]) -> list[str]:
    """Add numbers to labels that occur more than once, so that all are different."""
    counts: dict[str, int] = {}
    result = []
    for label in labels:
        counts[label] = counts.get(label, 0) + 1
        result.append(label if counts[label] == 1 else f"{label} ({counts[label]})")
    return result


def regret_numbers(curves: Sequence[Series], statistic: str = "mean", x: str = "episodes") -> pd.DataFrame:
    """Tabulate the drawn means (or medians) and intervals, one row for each curve and checkpoint."""
    columns = ["curve", x, statistic, "low (95%)", "high (95%)", "seeds"]
    parts = [
        {"curve": curve.label, x: np.asarray(curve.x, np.int64)}
        | curve.numbers(statistic)
        | {"seeds": np.isfinite(curve.rows).sum(axis=0)}
        for curve in curves
        if len(curve.x)
    ]
    return stacked(parts, columns)


def mistakes_over_alpha(
    curves: Sequence[Series],
    *,
    statistic: Statistic = "mean",
    log_y: bool = True,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Draw for each alpha how many episodes are suboptimal by more than alpha, with 95% intervals over seeds."""
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
    name = f"episodes ({statistic})"
    parts = ({"curve": curve.label, "alpha": curve.x, **curve.numbers(name)} for curve in curves)
    return chart.picture("mistakes", see, stacked(parts, ["curve", "alpha", name, "low (95%)", "high (95%)"]))


X_TITLE = "Trajectories n (one user each by default)"
FAINT = 1e-5  # share of the largest possible loss: a log axis shows no smaller values


def gaps_over_n(curves: Sequence[Series], *, see: str = "", **how: Any) -> Picture:
    """Draw the suboptimality v* - v^pi against n, with 95% intervals over data sets."""
    most = max((curve.v_star for curve in curves if curve.v_star), default=0.0)
    titles = "Distance from the best policy", "Suboptimality v* − v<sup>π</sup> (reward)"
    return _over_n("gap", *titles, curves, see, float(f"{FAINT * most:.1g}"), **how)


def prices_over_n(
    curves: Sequence[Series], *, proved: Sequence[str] = (), see: str = "", **how: Any
) -> Picture:
    """Draw the privacy cost against n: how far each private run's lower bound is below that of its baseline.

    For each curve, `proved` has the theorem that proves a decrease in proportion to 1/n, or "". The first curve of each
    theorem gets a line with that slope.
    """
    titles = "Privacy cost in the lower bound", "Lower by (reward)"
    return _over_n("price", *titles, curves, see, proved=proved, **how)


def _over_n(
    what: str,
    title: str,
    y_title: str,
    curves: Sequence[Series],
    see: str,
    least: float = 0.0,
    *,
    proved: Sequence[str] = (),
    log_y: bool = True,
    show_seeds: bool = False,
    dark: bool = False,
    wide: bool = False,
) -> Picture:
    curves, height = told_apart(curves), 420 + 18 * len(curves)
    chart = Chart(title, X_TITLE, y_title, subtitle="mean over data sets", height=height, dark=dark)
    words, over = (lambda n: f"{human(n)} trajectories"), lines.DATA_SETS
    lines.draw_series(chart, curves, words, log_y=log_y, show_seeds=show_seeds, least=least, over=over)
    axis = chart.layout["yaxis"]
    shown = axis.get("range")
    if axis["type"] == "log" and shown and shown[1] - shown[0] > 2:
        chart.y(dtick=1)
    worst_case(chart, curves, "v*")
    guided = {""}
    for curve, theorem in zip(curves, proved if log_y else (), strict=False):
        if theorem not in guided and len(curve.center) and curve.center[-1] > 0:
            guided.add(theorem)
            last, end = float(curve.center[-1]), float(curve.x[-1])
            x = np.geomspace(max(float(curve.x[0]), end / 1e4), end, 20)
            chart.theory(f"falls like 1/n ({theorem})", x, last * end / x, 1.6)
    if wide:
        name_ends(chart, curves)
    return chart.picture(what, see, regret_numbers(curves, "mean", "n"), revision=f"{what}-{log_y}")

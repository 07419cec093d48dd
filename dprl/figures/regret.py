"""Regret of up to eight runs, compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd

from dprl.figures import ends, lines, style
from dprl.figures.chart import EPISODES, EXTRA_REGRET, REGRET, Chart, stacked
from dprl.figures.lines import Series, Statistic
from dprl.figures.picture import Picture
from dprl.figures.trust import LOST
from dprl.messages import filled, messages
from dprl.words import human

SAID = messages("charts")["regret"]

SHARES = 1.05  # no episode loses more than all, which has a line
Measure = Literal["cumulative", "share", "per-episode", "extra"]

TITLES: dict[Measure, str] = {
    "cumulative": "Regret so far",
    "share": LOST,
    "per-episode": "Average regret per episode so far",
    "extra": "Extra regret over the non-private run",
}
Y_TITLES: dict[Measure, str] = {
    "cumulative": REGRET,
    "share": "Share of V* lost",
    "per-episode": "Regret per episode (reward)",
    "extra": EXTRA_REGRET,
}
ALTS: dict[Measure, str] = {
    "cumulative": "Line chart of cumulative regret against the number of episodes, a curve for each run.",
    "share": "Line chart of the share of V* lost so far against the number of episodes, a curve for each run.",
    "per-episode": "Line chart of average regret per episode against episodes so far, a curve for each run.",
    "extra": "Line chart of the regret that privacy adds against episodes so far, a curve for each run.",
}


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
    """Draw up to eight curves against episodes, with the 95% interval of each mean (or median) over its seeds.

    curves: measured as the view asks (cumulative, as a share, per episode, or extra regret). wide: there is room for
    names at the ends of lines, instead of a legend, if that suits them.
    Raises ValueError for more than eight curves or an unknown view.
    """
    if len(curves) > style.MOST_CURVES:
        raise ValueError(
            f"{len(curves)} curves are too many to tell apart; compare at most {style.MOST_CURVES}"
        )
    if view not in TITLES:
        raise ValueError(f"the view {view!r} is not one of {', '.join(TITLES)}")
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
            chart.y(minallowed=0, maxallowed=SHARES)  # the interval of two seeds may go far beyond
    if view in ("share", "per-episode"):
        worst_case(chart, curves, most=1.0 if view == "share" else None)
    if wide:
        ends.name_ends(chart, lines.names_at_ends(curves))
    # Zoom survives a redraw of the same view (a live update), not a change of view or of an axis.
    return chart.picture(
        ALTS[view], see, regret_numbers(curves, statistic), revision=f"{view}-{log_x}-{log_y}"
    )


def worst_case(chart: Chart, curves: Sequence[Series], symbol: str = "V*", most: float | None = None) -> None:
    """Draw the largest possible loss of an episode if all curves share it: a reference from theory.

    Args:
        symbol: its name, v* of learners from a data set.
        most: where it is drawn, None at its own value.
    """
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
    """Return the label and the hover text of the largest possible loss of an episode. world: the environment, because
    two may have the same value in three digits."""
    ends = {"symbol": symbol, "most": f"{v_star:#.3g}"}
    name = (
        filled(SAID["line_in"], world=style.plain(world), **ends) if world else filled(SAID["line"], **ends)
    )
    return name, f"{symbol} = {v_star:.4g}: the value of the optimal policy<extra></extra>"


def told_apart(curves: Sequence[Series]) -> list[Series]:
    """Make the labels of the curves distinct, because the legend groups by name."""
    names = distinct([curve.label for curve in curves])
    return [replace(curve, label=name) for curve, name in zip(curves, names, strict=True)]


def distinct(labels: Sequence[str]) -> list[str]:
    """Labels made different by a number where two curves share one."""
    counts: dict[str, int] = {}
    result = []
    for label in labels:
        counts[label] = counts.get(label, 0) + 1
        result.append(label if counts[label] == 1 else f"{label} ({counts[label]})")
    return result


def regret_numbers(curves: Sequence[Series], statistic: str = "mean", x: str = "episodes") -> pd.DataFrame:
    """Return the means (or medians) and intervals drawn, one row for each curve and checkpoint."""
    columns = ["curve", x, statistic, "low (95%)", "high (95%)", "seeds"]
    parts = [
        {"curve": curve.label, x: np.asarray(curve.x, np.int64)}
        | curve.numbers(statistic)
        | {"seeds": np.isfinite(curve.rows).sum(axis=0)}
        for curve in curves
        if len(curve.x)
    ]
    return stacked(parts, columns)


MISTAKES_ALT = (
    "Line chart of the number of episodes that were suboptimal by more than alpha, with "
    "one curve for each run."
)
MOST_TICKS = 8


def mistakes_over_alpha(
    curves: Sequence[Series],
    *,
    statistic: Statistic = "mean",
    log_y: bool = True,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Episodes more than alpha suboptimal against alpha, with 95% intervals over seeds; of finished runs."""
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
    if 0 < len(alphas) <= MOST_TICKS:  # the values there are, rather than whatever a log axis would name
        chart.x(tickmode="array", tickvals=alphas, ticktext=[f"{a:.2g}" for a in alphas])
    name = f"episodes ({statistic})"
    parts = ({"curve": curve.label, "alpha": curve.x, **curve.numbers(name)} for curve in curves)
    return chart.picture(
        MISTAKES_ALT, see, stacked(parts, ["curve", "alpha", name, "low (95%)", "high (95%)"])
    )

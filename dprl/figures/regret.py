"""Charts that compare up to eight runs: regret over episodes, errors over alpha, and suboptimality and privacy cost
against the size of a data set."""

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

SHARES = 1.05  # no episode loses more than V*, which is drawn as a line
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
    "cumulative": "Line chart of cumulative regret against the number of episodes, with a curve for each run.",
    "share": "Line chart of the share of V* lost so far against the number of episodes, with a curve for each run.",
    "per-episode": "Line chart of regret per episode against the number of episodes, with a curve for each run.",
    "extra": "Line chart of the regret added by privacy against the number of episodes, with a curve for each run.",
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

    curves: the curves; their values must fit the `view` (cumulative, as a share, per episode, or extra regret). wide:
    whether there is room for names at the ends of lines instead of a legend. Raises ValueError for more than eight
    curves or an unknown view.
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
            chart.y(minallowed=0, maxallowed=SHARES)  # the interval of two seeds may reach far beyond
    if view in ("share", "per-episode"):
        worst_case(chart, curves, most=1.0 if view == "share" else None)
    if wide:
        ends.name_ends(chart, lines.names_at_ends(curves))
    # Zoom survives a redraw of the same view (a live update), but not a change of the view or an axis.
    return chart.picture(
        ALTS[view], see, regret_numbers(curves, statistic), revision=f"{view}-{log_x}-{log_y}"
    )


def worst_case(chart: Chart, curves: Sequence[Series], symbol: str = "V*", most: float | None = None) -> None:
    """Draw the largest possible loss of an episode as a line from theory, if all curves have the same one.

    Args:
        symbol: the symbol of the best policy's value, "v*" for learners from a data set.
        most: the height at which the line is drawn; None for the largest possible loss itself.
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
    """Return the label and the hover text of the largest possible loss of an episode. `world` names the environment,
    because two environments may have the same value in three digits."""
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
    """Make labels distinct by numbering those that occur more than once."""
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


MISTAKES_ALT = (
    "Line chart of the number of episodes that were suboptimal by more than alpha, with a curve for each run."
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
    return chart.picture(
        MISTAKES_ALT, see, stacked(parts, ["curve", "alpha", name, "low (95%)", "high (95%)"])
    )


GAP_ALT = "Line chart of suboptimality against the size of the data set, with a curve for each run."
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

    `shaded`: the n up to which the chart is shaded, and the range's name; `wide`: whether names fit at lines' ends.
    """
    curves = told_apart(curves)
    most = max((curve.v_star for curve in curves if curve.v_star), default=0.0)
    titles = "Distance from the best policy", "Suboptimality v* − v<sup>π</sup> (reward)"
    chart = _over_n(*titles, curves, log_y, show_seeds, float(f"{FAINT * most:.1g}"), dark=dark)
    worst_case(chart, curves, "v*")
    if wide:
        ends.name_ends(chart, lines.names_at_ends(curves))
    if shaded is not None:
        end, words = shaded
        begin = min((float(curve.x[0]) for curve in curves if len(curve.x)), default=1.0)
        fill = style.translucent(chart.colors.roles["bound"], 0.16)
        ground = {"type": "rect", "y0": 0, "y1": 1, "yref": "paper", "layer": "below", "line": {"width": 0}}
        chart.layout["shapes"] = [ground | {"x0": begin, "x1": end, "fillcolor": fill}]
        middle = (np.log10(begin) + np.log10(end)) / 2
        chart.note(words, chart.colors.muted, x=middle, y=0.02, yref="paper", yanchor="bottom")
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

    `proved` contains, for each curve, the theorem that proves a decrease in proportion to 1/n, or "". The first curve
    of each theorem gets a line with that slope.
    """
    curves = told_apart(curves)
    titles = "Privacy cost in the lower bound", "Lower by (reward)"
    chart = _over_n(*titles, curves, log_y, show_seeds, dark=dark)
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


def _over_n(
    title: str,
    y_title: str,
    curves: Sequence[Series],
    log_y: bool,
    show_seeds: bool,
    least: float = 0.0,
    *,
    dark: bool,
) -> Chart:
    height = 420 + 18 * len(curves)
    chart = Chart(title, X_TITLE, y_title, subtitle="mean over data sets", height=height, dark=dark)
    words, over = (lambda n: f"{human(n)} trajectories"), lines.DATA_SETS
    lines.draw_series(chart, curves, words, log_y=log_y, show_seeds=show_seeds, least=least, over=over)
    axis = chart.layout["yaxis"]
    shown = axis.get("range")
    if axis["type"] == "log" and shown and shown[1] - shown[0] > 2:
        chart.y(dtick=1)
    return chart

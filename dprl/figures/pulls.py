"""Pulls of bad arms: the number that each run has taken so far, next to the least that privacy needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from dprl.figures import lines, style
from dprl.figures.chart import EPISODES, Chart, Trace, stacked
from dprl.figures.lines import Array, Series
from dprl.figures.picture import Picture
from dprl.words import after, at_least

ALT = (
    "Line chart of the mean pulls of a bad arm against episodes, one curve for each run, with a lower bound."
)
MOST_ARMS = 8  # drawn each by itself


@dataclass(frozen=True)
class PullCurve:
    """One run and its bad arms.

    Attributes:
        mean: pulls of an arm on average.
        arms: their names.
        gap: how much less often they succeed than the best.
        each: [3, D, arms] mean, low and high of every arm.
        bound: the fewest pulls in expectation that theory allows, None if it does not cover this run.
        bound_at: what that follows from, in words.
    """

    mean: Series
    arms: Sequence[str]
    gap: float
    each: Array
    bound: float | None
    bound_at: str = ""


def pulls_over_episodes(curves: Sequence[PullCurve], *, see: str = "", dark: bool = False) -> Picture:
    """Mean pulls of a bad arm against episodes, with 95% t intervals over seeds, and the lower bounds."""
    bounds = {curve.bound: curve.bound_at for curve in curves if curve.bound is not None}
    chart = Chart(
        "Pulls of a bad arm",
        EPISODES,
        "Pulls of one bad arm so far",
        subtitle="mean over arms and seeds, from the first pull on; thin: each arm",
        height=400 + 16 * (len(curves) + len(bounds)),
        dark=dark,
    )
    lines.draw_series(chart, [_from_first_pull(curve.mean) for curve in curves], after, log_x=True)
    for curve in curves:
        label, x = curve.mean.label, np.asarray(curve.mean.x, float)
        faint = style.translucent(curve.mean.style.color(dark), 0.45)
        for arm, pulls in zip(curve.arms, curve.each[0].T, strict=True):
            if 1 < len(curve.arms) <= MOST_ARMS:
                group: Trace = {"legendgroup": style.plain(label), "showlegend": False}
                y = np.where(pulls > 0, pulls, np.nan)
                chart.line(style.plain(f"{label}: {arm}"), x, y, faint, 1, **group)
    if curves and bounds:
        ends = np.array([float(edge(curve.mean.x)) for edge in (np.min, np.max) for curve in curves])
        for bound, at in sorted(bounds.items(), reverse=True):
            words = f"lower bound {at_least(bound)}" + (f" ({style.plain(at)})" if at else "")
            x = np.geomspace(ends.min(), ends.max(), 30)  # points enough to be pointed at
            chart.theory(words, x, np.full(30, bound), 1.8, hovertemplate=f"{words}<extra></extra>")
        chart.reach(np.log10(min(bounds)) - 0.25, np.log10(max(bounds)) + 0.25)
    return chart.picture(ALT, see, _pulls_table(curves), revision="pulls")


def _from_first_pull(mean: Series) -> Series:
    center = np.where(mean.center > 0, mean.center, np.nan) if mean.center.any() else mean.center
    return replace(mean, center=center)


def _pulls_table(curves: Sequence[PullCurve]) -> pd.DataFrame:
    parts: list[dict[str, Any]] = []
    for curve in curves:
        names = ["mean of the bad arms", *curve.arms]
        every = curve.mean.numbers("pulls (mean)").items()
        parts.append(
            {
                "curve": curve.mean.label,
                "arm": np.repeat(np.array(names, object), len(curve.mean.x)),
                "worse by": curve.gap,
                "episodes": np.tile(curve.mean.x, len(names)),
                **{
                    name: np.concatenate([mean, each.T.ravel()])
                    for (name, mean), each in zip(every, curve.each, strict=True)
                },
                "lower bound": np.nan if curve.bound is None else curve.bound,
            }
        )
    return stacked(parts, ["curve", "arm"])

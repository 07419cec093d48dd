"""Pulls of bad arms: how often each run has taken them so far, beside what privacy asks for at least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import lines, looks, style
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.words import after, human

ALT = (
    "Line chart of the mean pulls of a bad arm against episodes, one curve for each run, with a lower bound."
)
MOST_ARMS = 8  # drawn each by itself
Array = NDArray[np.float64]


@dataclass(frozen=True)
class PullCurve:
    """One run and its bad arms.

    Attributes:
        arms: Their names.
        gap: How much less often they succeed than the best.
        episodes: [D].
        rows: [seeds, D] pulls of an arm on average.
        mean, low, high: [D] the same over seeds.
        each_mean, each_low, each_high: [D, arms] of every arm.
        bound: The fewest pulls in expectation that theory allows, None where it says nothing about this run.
        bound_at: What that follows from, in words.
    """

    label: str
    kind: CurveStyle
    arms: Sequence[str]
    gap: float
    episodes: NDArray[Any]
    rows: Array
    mean: Array
    low: Array
    high: Array
    each_mean: Array
    each_low: Array
    each_high: Array
    bound: float | None
    bound_at: str = ""


def pulls(curves: Sequence[PullCurve], *, log_x: bool = True, see: str = "", dark: bool = False) -> Picture:
    """Mean pulls of a bad arm against episodes, with 95% t intervals over seeds, and the lower bounds dotted."""
    colors = style.theme(dark)
    bounds = {curve.bound: curve.bound_at for curve in curves if curve.bound is not None}
    figure = style.base(
        "Pulls of a bad arm",
        subtitle="mean over arms and seeds, from the first pull on; thin: each arm",
        dark=dark,
        height=400 + 16 * (len(curves) + len(bounds)),
        x_title="Episodes (one user each)",
        y_title="Pulls of one bad arm so far",
    )
    drawn = []
    for curve in curves:
        drawn.append(
            lines.Line(
                curve.label,
                looks.look(curve.kind, dark),
                curve.episodes,
                np.where(curve.mean > 0, curve.mean, np.nan) if curve.mean.any() else curve.mean,
                curve.low,
                curve.high,
                curve.rows,
            )
        )
    note = lines.draw(
        figure,
        drawn,
        log_x=log_x,
        log_y=True,
        show_seeds=False,
        dark=dark,
        x_words=after,
    )
    for curve, line in zip(curves, drawn, strict=True):
        for j, arm in enumerate(curve.arms if 1 < len(curve.arms) <= MOST_ARMS else ()):
            figure.add_scatter(
                x=np.asarray(curve.episodes, float),
                y=np.where(curve.each_mean[:, j] > 0, curve.each_mean[:, j], np.nan),
                mode="lines",
                line={"color": style.translucent(line.look.color, 0.45), "width": 1},
                hoverinfo="skip",
                name=style.plain(f"{curve.label}: {arm}"),
                legendgroup=style.plain(curve.label),
                showlegend=False,
            )
    if curves and bounds:
        ends = np.array([float(edge(c.episodes)) for edge in (np.min, np.max) for c in curves])
        for bound, at in sorted(bounds.items(), reverse=True):
            words = f"lower bound {human(bound)}" + (f" ({style.plain(at)})" if at else "")
            figure.add_scatter(
                x=np.geomspace(ends.min(), ends.max(), 30),  # points enough to be pointed at
                y=np.full(30, bound),
                mode="lines",
                line={"color": colors.roles["bound"], "width": 1.8, "dash": style.BOUND_DASH},
                name=words,
                hovertemplate=f"{words}<extra></extra>",
            )
        if figure.layout.yaxis.range:  # otherwise nothing was pulled, and the axis is linear
            low, high = figure.layout.yaxis.range
            least, most = np.log10(min(bounds)), np.log10(max(bounds))
            figure.update_yaxes(range=[min(low, least - 0.25), max(high, most + 0.25)])
    figure.update_layout(uirevision="pulls")
    return Picture(figure, ALT, " ".join(filter(None, [see, note])), _table(curves))


def _table(curves: Sequence[PullCurve]) -> pd.DataFrame:
    parts = []
    for curve in curves:
        D = len(curve.episodes)
        names = ["mean of the bad arms", *curve.arms]
        numbers = {
            "pulls (mean)": (curve.mean, curve.each_mean),
            "low (95%)": (curve.low, curve.each_low),
            "high (95%)": (curve.high, curve.each_high),
        }
        parts.append(
            pd.DataFrame(
                {
                    "curve": curve.label,
                    "arm": np.repeat(np.array(names, object), D),
                    "worse by": curve.gap,
                    "episodes": np.tile(curve.episodes, len(names)),
                    **{
                        name: np.concatenate([mean, each.T.ravel()]) for name, (mean, each) in numbers.items()
                    },
                    "lower bound": np.nan if curve.bound is None else curve.bound,
                }
            )
        )
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["curve", "arm"])

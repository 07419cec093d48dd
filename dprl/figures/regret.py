"""Regret of up to eight runs, compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import ends, lines, looks, style
from dprl.figures.lines import Statistic
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.words import human

Array = NDArray[np.float64]
Measure = Literal["cumulative", "per-episode", "extra"]

TITLES: dict[Measure, str] = {
    "cumulative": "Regret so far",
    "per-episode": "Average regret per episode so far",
    "extra": "Extra regret over the non-private run",
}
Y_TITLES: dict[Measure, str] = {
    "cumulative": "Regret (reward lost)",
    "per-episode": "Regret per episode (reward)",
    "extra": "Extra regret (reward lost)",
}
ALTS: dict[Measure, str] = {
    "cumulative": "Line chart of cumulative regret against the number of episodes, a curve for each run.",
    "per-episode": "Line chart of average regret per episode against episodes so far, a curve for each run.",
    "extra": "Line chart of the regret that privacy adds against episodes so far, a curve for each run.",
}


@dataclass(frozen=True)
class Curve:
    """One run, measured as the chosen view asks (cumulative, per episode, or extra regret).

    Attributes:
        kind: Gives its look.
        episodes: [C].
        rows: [seeds, C], NaN past a seed's end.
        center, low, high: [C] the mean (or median) over seeds, with its 95% interval; NaN if unknown.
        complete: Every seed reached the end.
        note: What to say of one that is not complete ("running, 43%").
        v_star: The best value of an episode.
        growth: The exponent of cumulative regret over the last tenfold of episodes, with its interval.
        median: [C] over seeds, for a table that has it beside the mean.
        needed: From how many episodes on an average episode loses less than trust.LEARNED of v_star; NaN if never, None
            if unknown.
    """

    label: str
    kind: CurveStyle
    episodes: NDArray[Any]
    rows: Array
    center: Array
    low: Array
    high: Array
    complete: bool = True
    note: str = ""
    shown: bool = True
    v_star: float | None = None
    growth: tuple[float, float, float] | None = None
    median: Array | None = None
    needed: float | None = None


def line(curve: Curve, name: str, dark: bool) -> lines.Line:
    """A curve as it is drawn."""
    return lines.Line(
        name,
        looks.look(curve.kind, dark),
        curve.episodes,
        curve.center,
        curve.low,
        curve.high,
        curve.rows,
        curve.complete,
        curve.note,
        curve.shown,
    )


def comparison(
    curves: Sequence[Curve],
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
    """Up to eight curves against episodes, with the 95% interval of each mean (or median) over its seeds.

    wide: there is room for names at the ends of lines, in place of a legend, if that suits them.
    Raises ValueError for more than eight curves or an unknown view.
    """
    if len(curves) > style.MOST_CURVES:
        raise ValueError(
            f"{len(curves)} curves are too many to tell apart; compare at most {style.MOST_CURVES}"
        )
    if view not in TITLES:
        raise ValueError(f"the view {view!r} is not one of {', '.join(TITLES)}")
    names = distinct([curve.label for curve in curves])
    drawn = [line(c, name, dark) for name, c in zip(names, curves, strict=True)]
    figure = style.base(
        TITLES[view],
        dark=dark,
        height=420 + 18 * len(curves),
        x_title="Episodes (one user each)",
        y_title=Y_TITLES[view],
        subtitle=f"{statistic} over seeds",
    )
    note = lines.draw(
        figure,
        drawn,
        log_x=log_x,
        log_y=log_y,
        show_seeds=show_seeds,
        dark=dark,
        x_words=lambda k: f"after {human(k)} episodes",
        statistic=statistic,
    )
    if view == "per-episode":
        worst_case(figure, curves, dark)
    if wide:
        ends.label(figure, lines.ends(drawn), dark=dark)
    # Zoom survives a redraw of the same view (a live update), not a change of view or of an axis.
    figure.update_layout(uirevision=f"{view}-{log_x}-{log_y}")
    return Picture(figure, ALTS[view], " ".join(filter(None, [see, note])), table(names, curves, statistic))


def worst_case(figure: Any, curves: Sequence[Curve], dark: bool, symbol: str = "V*") -> None:
    """The most an episode can lose, where all curves share it: a reference from theory, hence dotted. symbol: its
    name, v* of learners from a data set."""
    values = {round(c.v_star, 9) for c in curves if c.v_star is not None and c.shown}
    reached = [c.episodes[[0, -1]] for c in curves if c.shown and len(c.episodes)]
    if len(values) != 1 or not reached or any(c.v_star is None for c in curves if c.shown):
        return
    v_star = values.pop()
    ends = np.array([min(r[0] for r in reached), max(r[1] for r in reached)], float)
    figure.add_scatter(
        x=ends,
        y=[v_star, v_star],
        mode="lines",
        line={"color": style.theme(dark).roles["bound"], "width": 1.5, "dash": style.BOUND_DASH},
        name=f"{symbol} = {v_star:#.3g}, all an episode can lose",
        hovertemplate=f"{symbol} = {v_star:.4g}: the value of the optimal policy<extra></extra>",
    )
    if figure.layout.yaxis.range:
        low, high = figure.layout.yaxis.range
        figure.update_yaxes(range=[low, max(high, float(np.log10(v_star * 1.3)))])


def distinct(labels: Sequence[str]) -> list[str]:
    """Labels made different by a number where two curves share one (the legend groups by name)."""
    counts: dict[str, int] = {}
    result = []
    for label in labels:
        counts[label] = counts.get(label, 0) + 1
        result.append(label if counts[label] == 1 else f"{label} ({counts[label]})")
    return result


def table(
    names: Sequence[str], curves: Sequence[Curve], statistic: Statistic, axis: str = "episodes"
) -> pd.DataFrame:
    """The means (or medians) and intervals drawn, one row for each curve and checkpoint."""
    columns = ["curve", axis, statistic, "low (95%)", "high (95%)", "seeds"]
    frames = [
        pd.DataFrame(
            {
                "curve": name,
                axis: np.asarray(curve.episodes, np.int64),
                statistic: curve.center,
                "low (95%)": curve.low,
                "high (95%)": curve.high,
                "seeds": np.isfinite(curve.rows).sum(axis=0),
            }
        )
        for name, curve in zip(names, curves, strict=True)
        if len(curve.episodes)
    ]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)

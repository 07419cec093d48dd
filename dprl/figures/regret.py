"""Regret of up to eight runs, compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import lines, looks, style
from dprl.figures.looks import Kind
from dprl.figures.style import Picture
from dprl.words import exponent, human, percent, quoted, rough

Array = NDArray[np.float64]
View = Literal["cumulative", "per-episode", "extra"]

TITLES: dict[View, str] = {
    "cumulative": "Regret so far",
    "per-episode": "Average regret per episode so far",
    "extra": "Extra regret over the non-private run",
}
Y_TITLES: dict[View, str] = {
    "cumulative": "Regret (reward lost)",
    "per-episode": "Regret per episode (reward)",
    "extra": "Extra regret (reward lost)",
}
ALTS: dict[View, str] = {
    "cumulative": "Line chart of cumulative regret against the number of episodes, a curve for each run.",
    "per-episode": "Line chart of average regret per episode against episodes so far, a curve for each run.",
    "extra": "Line chart of the regret that privacy adds against episodes so far, a curve for each run.",
}


@dataclass(frozen=True)
class Curve:
    """One run, measured as the chosen view asks (cumulative, per episode, or extra regret).

    kind: gives its look; episodes [C]; rows [seeds, C], NaN past a seed's end; mean, low, high [C]: 95% t interval
    over seeds, NaN if unknown; complete: every seed reached the end; note: what to say of one that is not ("running,
    43%"); v_star: the best value of an episode; growth: the exponent of cumulative regret over the last tenfold of
    episodes with its interval.
    """

    label: str
    kind: Kind
    episodes: NDArray[Any]
    rows: Array
    mean: Array
    low: Array
    high: Array
    complete: bool = True
    note: str = ""
    shown: bool = True
    v_star: float | None = None
    growth: tuple[float, float, float] | None = None


def comparison(
    curves: Sequence[Curve],
    *,
    view: View = "cumulative",
    log_x: bool = True,
    log_y: bool = True,
    show_seeds: bool = False,
    dark: bool = False,
) -> Picture:
    """Up to eight curves against episodes, with the 95% t interval of each mean over its seeds.

    Raises ValueError for more than eight curves or an unknown view.
    """
    if len(curves) > style.MOST_CURVES:
        raise ValueError(
            f"{len(curves)} curves are too many to tell apart; compare at most {style.MOST_CURVES}"
        )
    if view not in TITLES:
        raise ValueError(f"the view {view!r} is not one of {', '.join(TITLES)}")
    names = _distinct([curve.label for curve in curves])
    figure = style.base(
        TITLES[view],
        dark=dark,
        height=400 + 18 * len(curves),
        x_title="Episodes (one user each)",
        y_title=Y_TITLES[view],
    )
    note = lines.draw(
        figure,
        [
            lines.Line(
                name,
                looks.look(c.kind, dark),
                c.episodes,
                c.mean,
                c.low,
                c.high,
                c.rows,
                c.complete,
                c.note,
                c.shown,
            )
            for name, c in zip(names, curves, strict=True)
        ],
        log_x=log_x,
        log_y=log_y,
        show_seeds=show_seeds,
        dark=dark,
        x_words=lambda k: f"after {human(k)} episodes",
    )
    if view == "per-episode":
        _worst_case(figure, curves, dark)
    # Zoom survives a redraw of the same view (a live update), not a change of view or of an axis.
    figure.update_layout(uirevision=f"{view}-{log_x}-{log_y}")
    see = " ".join(part for part in (_see(names, curves, view), note) if part)
    return Picture(figure, ALTS[view], see, _table(names, curves))


def _worst_case(figure: Any, curves: Sequence[Curve], dark: bool) -> None:
    """V*, the most an episode can lose, where all curves share it: a reference from theory, hence dotted."""
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
        name=f"V* = {v_star:#.3g}, all an episode can lose",
        hovertemplate=f"V* = {v_star:.4g}: the value of the optimal policy<extra></extra>",
    )
    if figure.layout.yaxis.range:
        low, high = figure.layout.yaxis.range
        figure.update_yaxes(range=[low, max(high, float(np.log10(v_star * 1.3)))])


def _distinct(labels: Sequence[str]) -> list[str]:
    """Labels made different by a number where two curves share one (the legend groups by name)."""
    counts: dict[str, int] = {}
    result = []
    for label in labels:
        counts[label] = counts.get(label, 0) + 1
        result.append(label if counts[label] == 1 else f"{label} ({counts[label]})")
    return result


@dataclass(frozen=True)
class _End:
    name: str
    curve: Curve
    episodes: float
    value: float  # mean at the last checkpoint all seeds reached


def _ends(names: Sequence[str], curves: Sequence[Curve]) -> list[_End]:
    ends = []
    for name, curve in zip(names, curves, strict=True):
        known = np.flatnonzero(np.isfinite(curve.mean))
        if curve.shown and len(known):
            last = known[-1]
            ends.append(_End(name, curve, float(curve.episodes[last]), float(curve.mean[last])))
    return ends


def _see(names: Sequence[str], curves: Sequence[Curve], view: View) -> str:
    ends = _ends(names, curves)
    if not ends:
        return "There is nothing to draw yet."
    if view == "extra":
        return _see_extra(ends)
    ends.sort(key=lambda e: _average(e, view))
    best, worst = ends[0], ends[-1]
    said = f"{_after(best)} {quoted(best.name)} {'has lost' if best.curve.complete else 'has so far lost'} "
    said += _loss(best, _average(best, view), view)
    if len(ends) > 1:
        low, high = _average(best, view), _average(worst, view)
        when = "" if worst.episodes == best.episodes else f" after {human(worst.episodes)}"
        said += f"; {quoted(worst.name)}{when} lost {_loss(worst, high, view, short=True)}"
        if low > 0 and high / low >= 1.5:
            said += f", {rough(high / low)} times as much"
    elif best.curve.growth is not None and np.isfinite(best.curve.growth[0]):
        mean, low, high = best.curve.growth
        said += f"; over the last tenfold of episodes its regret grew like K^{exponent(mean)}"
        if np.isfinite(low):
            said += f" ({exponent(low)} to {exponent(high)} over seeds)"
        said += ", where 1 is learning nothing and 0.5 is what theory promises"
    return said + "."


def _average(end: _End, view: View) -> float:
    return end.value if view == "per-episode" else end.value / end.episodes


def _after(end: _End) -> str:
    return f"After {human(end.episodes)} episodes"


def _loss(end: _End, average: float, view: View, short: bool = False) -> str:
    v_star = end.curve.v_star
    said = f"{human(average)} an episode"
    if v_star:
        share = percent(average / v_star)
        said += f" ({share})" if short else f", {share} of V* = {v_star:#.3g}"
    if view == "cumulative" and not short:
        said = f"{human(end.value)} in all, {said}"
    return said


def _see_extra(ends: list[_End]) -> str:
    ends.sort(key=lambda e: e.value / e.episodes)
    parts = []
    for end in [ends[0], ends[-1]] if len(ends) > 1 else ends:
        tenth = np.interp(end.episodes / 10, end.curve.episodes, end.curve.mean)
        said = f"{quoted(end.name)} {human(end.value)} in all ({human(end.value / end.episodes)} an episode)"
        if np.isfinite(tenth) and tenth > 0 and end.value > 0:
            share = 1 - tenth / end.value
            if 0 <= share < 0.2:
                said += (
                    f", nearly flat: only {percent(share)} of it came in the last nine tenths of the episodes"
                )
            elif share > 0.5:
                said += (
                    f", still growing: {percent(share)} of it came in the last nine tenths of the episodes"
                )
        parts.append(said)
    return f"{_after(ends[0])} privacy has cost {'; '.join(parts)}."


def _table(names: Sequence[str], curves: Sequence[Curve]) -> pd.DataFrame:
    """The means and intervals drawn, one row for each curve and checkpoint."""
    columns = ["curve", "episodes", "mean", "low (95%)", "high (95%)", "seeds"]
    frames = [
        pd.DataFrame(
            {
                "curve": name,
                "episodes": np.asarray(curve.episodes, np.int64),
                "mean": curve.mean,
                "low (95%)": curve.low,
                "high (95%)": curve.high,
                "seeds": np.isfinite(curve.rows).sum(axis=0),
            }
        )
        for name, curve in zip(names, curves, strict=True)
        if len(curve.episodes)
    ]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)

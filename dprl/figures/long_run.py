"""When privacy is free: regret and the privacy cost up to 10^15 users, and from where on it is flat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from dprl.figures import lines
from dprl.figures.chart import EPISODES, EXTRA_REGRET, REGRET, Chart
from dprl.figures.lines import Array, Series
from dprl.figures.picture import Picture
from dprl.figures.regret import regret_numbers
from dprl.words import human, power

Measure = Literal["regret", "price"]

TITLES: dict[Measure, str] = {"regret": "Regret so far", "price": "What privacy has cost so far"}
SUBTITLES: dict[Measure, str] = {
    "regret": "mean over seeds",
    "price": "regret beyond that of the run without privacy, mean over seeds",
}
Y_TITLES: dict[Measure, str] = {"regret": REGRET, "price": EXTRA_REGRET}
ALTS: dict[Measure, str] = {
    "regret": "Line chart of cumulative regret against episodes, both logarithmic, a curve for each privacy model.",
    "price": "Line chart of the privacy cost against episodes, both logarithmic, a curve for each privacy model.",
}


def long_run(
    curves: Sequence[Series],
    *,
    view: Measure,
    flat: Sequence[float | None] = (),
    show_seeds: bool = False,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Regret, or its price, of up to eight runs, logarithmic both ways.

    flat: of each curve, from how many episodes its price is flat: marked on it.
    """
    chart = Chart(
        TITLES[view],
        EPISODES,
        Y_TITLES[view],
        subtitle=SUBTITLES[view],
        height=430 + 18 * len(curves),
        dark=dark,
    )
    lines.draw_series(chart, curves, after_episodes, show_seeds=show_seeds)
    if view == "regret":
        all_there_is(chart, curves)
    marked = [(curve, start) for curve, start in zip(curves, flat, strict=bool(flat)) if start is not None]
    for number, (curve, start) in enumerate(marked):
        _mark(chart, curve, start, curves, named=number == 0)
    return chart.picture(ALTS[view], see, regret_numbers(curves, median=True), revision=view)


def after_episodes(k: float) -> str:
    return f"after {human(k)} episodes"


def all_there_is(chart: Chart, curves: Sequence[Series]) -> None:
    """K V*, all there is to lose: from theory."""
    known = [(c.x, c.v_star) for c in curves if c.v_star and len(c.x)]
    if not known:
        return
    v_star = float(known[0][1] or 0.0)
    ends = np.array([min(x[0] for x, _ in known), max(x[-1] for x, _ in known)], float)
    name = f"K·V*, all there is to lose (V* = {v_star:#.3g})"
    hover = "K·V*, all there is to lose: %{y:.3s}<extra></extra>"
    chart.theory(name, ends, ends * v_star, hovertemplate=hover)
    reach_values(chart, ends * v_star)


def reach_values(chart: Chart, values: Array) -> None:
    """Lets the vertical axis, if it is logarithmic, reach these values too."""
    positive = values[values > 0]
    if len(positive):
        chart.reach(np.log10(positive.min()) - 0.2, np.log10(positive.max()) + 0.3)


def _mark(chart: Chart, curve: Series, start: float, curves: Sequence[Series], *, named: bool) -> None:
    """A star where a curve becomes flat."""
    color = curve.style.color(chart.dark)
    known = np.isfinite(curve.center)
    height = float(np.interp(start, curve.x[known], curve.center[known]))
    chart.add(
        "markers+text",
        [start],
        [height],
        marker={"symbol": "star", "size": 15, "color": color, "line": {"width": 1, "color": "white"}},
        text=[f"flat from {power(start)}"],
        textposition=_room(curve, start, height, curves),
        textfont={"color": color, "size": 12},
        hovertemplate=f"From {power(start)} episodes on the exponent is at most 0.1<extra></extra>",
        name="flat from here on",
        legendgroup="flat",
        showlegend=named,
    )


def _room(curve: Series, start: float, height: float, curves: Sequence[Series]) -> str:
    """Where words at a star cross no other curve: above or below, whichever has more room, and towards the middle."""
    right = start < 1e-3 * float(curve.x[-1])
    # what the words take of a telephone's width
    beside = start * np.geomspace(1.0, 1e3 if right else 1e-3, 7)
    above = below = np.inf
    for other in curves:
        known = np.isfinite(other.center) & (other.center > 0)
        if other is not curve and known.any():
            away = np.log(np.interp(beside, other.x[known], other.center[known]) / height)
            above = min(above, float(away[away >= 0].min(initial=np.inf)))
            below = min(below, float(-away[away < 0].max(initial=-np.inf)))
    return f"{'top' if above > below else 'bottom'} {'right' if right else 'left'}"

"""True visit counts next to the planner's noisy ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import heat, style
from dprl.figures.chart import EPISODES, Chart
from dprl.figures.lines import Array
from dprl.figures.picture import Picture
from dprl.words import after, brief, human

HEATMAP_ALT = "Heatmaps of the visits to each state and action: true, with noise, and the difference."
SCATTER_ALT = (
    "Scatter plot of noisy against true visit counts, one point for each cell, with the bound on the noise."
)
CELL_ALT = (
    "Line chart of one cell's true and noisy visits against the number of episodes, with the bound on noise."
)


@dataclass(frozen=True)
class CountFamily:
    """A kind of count: its noun, a column's title, and the share of E that bounds its error (with its words)."""

    noun: str
    title: str
    share: float
    bound: str


VISITS = CountFamily("visits", "Visits", 0.25, "E/4")
REWARDS = CountFamily("reward", "Reward sums", 1.0, "E")


def count_heatmaps(
    true: Array,
    noisy: Array,
    *,
    typical: float,
    episode: int,
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    step: int | None = None,
    word: str = "noisy",
    family: CountFamily = VISITS,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Visits n[h,s,a] (or reward sums r) after `episode` episodes: true, noisy, and noisy less true.

    Args:
        true, noisy: [H, S, A].
        typical: the noise's typical size, up to which colour is linear and beyond it logarithmic.
        step: one h (states across, actions up), or None for all (steps across, state-action pairs up).
        word: what the second array is ("noisy", "released"). Without any noise there is one panel.
    """
    a, b = heat.laid_out(true, step), heat.laid_out(noisy, step)
    error, linear = b - a, max(1.0, typical)
    # Amounts share one scale, its middle at zero, so that a colour means the same count in both.
    bottom, top = min(float(b.min()), 0.0), float(max(a.max(), b.max(), -b.min(), 1.0))
    lowest, reach = float(style.symlog(bottom, linear)), float(style.symlog(top, linear))
    colors = style.theme(dark)
    scale = style.crop(colors.counts, 0.5 + 0.5 * lowest / reach)
    ticks = style.symlog_ticks(bottom, top, linear, most=heat.height(len(a)) // 22)
    how: dict[str, Any] = {"scale": scale, "low": lowest, "high": reach, "ticks": ticks}
    panels = [heat.Heatmap("True", style.symlog(a, linear), a, text=heat.in_cells(brief, a), **how)]
    if error.any():
        name, words = word.capitalize(), heat.in_cells(brief, b)
        panels.append(heat.Heatmap(name, style.symlog(b, linear), b, text=words, **how))
        name, words = f"Difference, {word} − true", heat.in_cells(brief, error)
        panels.append(heat.difference(name, error, brief, "+,.0f", colors, zero="0", text=words))
    title = f"{family.title} at every step" if step is None else f"{family.title} at step {step}"
    axes = heat.cell_axes(true.shape, state_labels, action_labels, step)
    chart = heat.stacked(panels, title=title, subtitle=after(episode), dark=dark, **axes)
    table = heat.cell_numbers(
        _table_columns(true, noisy, word), true.shape, state_labels, action_labels, step
    )
    return chart.picture(HEATMAP_ALT, see, table, revision=f"counts-{step}")


def count_scatter(
    true: Array,
    noisy: Array,
    *,
    typical: float,
    episode: int,
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    bound: float | None = None,
    word: str = "noisy",
    family: CountFamily = VISITS,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Noisy against true visits of every cell [H, S, A], with the corridor of E/4 (bound: E) around equality.

    Both axes are linear up to the noise's typical size and logarithmic beyond, negative counts included. bound: E, of
    which a share (family) bounds the noise of a count with high probability.
    Of more than 500 cells those with the largest errors are drawn, and others evenly over the true counts.
    """
    x, y = true.ravel(), noisy.ravel()
    error, linear = y - x, max(1.0, typical)
    chart = Chart(
        f"{word.capitalize()} against true {family.noun}",
        f"True {family.noun}",
        f"{word.capitalize()} {family.noun}",
        subtitle=f"every cell (step, state, action), {after(episode)}",
        height=460,
        dark=dark,
    )
    top, bottom = float(max(x.max(), y.max(), 1.0)), float(min(y.min(), 0.0))
    along = np.sinh(np.linspace(0, float(style.symlog(top, linear)), 200)) * linear
    equal = style.symlog(along, linear)
    chart.line("no error", equal, equal, chart.colors.roles["true"], 1.2)
    allowed = family.share * bound if bound else None
    if allowed:
        _corridor(chart, equal, along, allowed, linear, f"bound {family.bound} = {human(allowed)}")
    pick = _most_telling(x, error)
    outside = np.abs(error[pick]) > allowed if allowed else np.zeros(len(pick), bool)
    names = _cell_names(true.shape, state_labels, action_labels)
    for chosen, name, symbol, size in (
        (pick[~outside], f"cells, {word} count", "circle", 7),
        (pick[outside], "outside the bound", "x", 9),
    ):
        if len(chosen):
            chart.points(
                name,
                style.symlog(x[chosen], linear),
                style.symlog(y[chosen], linear),
                chart.colors.roles["noisy"],
                symbol,
                size,
                marker={"opacity": 0.7, "line": {"width": 0}},
                customdata=[
                    [names(int(i)), human(float(x[i])), human(float(y[i])), human(float(error[i]))]
                    for i in chosen
                ],
                hovertemplate=_hover("%{customdata[0]}", word),
            )
    low = min(bottom, -(allowed or 0.0) if bottom < 0 else 0.0)
    x_at, x_text = style.symlog_ticks(0.0, top, linear, most=6)
    chart.x(tickvals=x_at, ticktext=x_text, tickangle=0)
    _symlog_axis(chart, low, top, linear, 11)
    if len(pick) < len(x):
        see += f" {len(pick)} of {len(x):,} cells are drawn, the largest errors among them."
    table = heat.cell_numbers(_table_columns(true, noisy, word), true.shape, state_labels, action_labels)
    return chart.picture(SCATTER_ALT, see, table, revision="scatter")


def _table_columns(true: Array, noisy: Array, word: str) -> dict[str, Any]:
    return {"true": true, word: noisy, "difference": noisy - true}


def _hover(place: str, word: str) -> str:
    """Build the hover text of a count: `place` in words, then the true count, the other and the difference."""
    return (
        f"{place}<br>true %{{customdata[1]}}<br>{word} %{{customdata[2]}}<br>"
        "difference %{customdata[3]}<extra></extra>"
    )


def _corridor(chart: Chart, x: Array, around: Array, allowed: Any, linear: float, name: str) -> None:
    """Draw the corridor of allowed values, one entry in the legend."""
    for sign in (1, -1):
        y = style.symlog(around + sign * allowed, linear)
        chart.theory(name, x, y, 1.6, legendgroup="bound", showlegend=sign > 0)


def _symlog_axis(chart: Chart, low: float, high: float, linear: float, most: int) -> None:
    """Set the vertical axis of counts."""
    at, text = style.symlog_ticks(low, high, linear, most=most)
    chart.y(tickvals=at, ticktext=text, zeroline=True, zerolinecolor=chart.colors.muted)


def cell_over_time(
    episodes: NDArray[Any],
    true: Array,
    noisy: Array,
    *,
    typical: float,
    cell: str,
    bound: Array | None = None,
    word: str = "noisy",
    family: CountFamily = VISITS,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """One cell's true and noisy visits (or reward) [D] at episodes [D], and true ± its share of the bound E [D].

    Args:
        typical: the noise's typical size, where the axis turns logarithmic.
        cell: its words, as "step 3, state 5, right".
    """
    pick = style.thin(len(episodes))
    k, x, y = np.asarray(episodes, float)[pick], true[pick], noisy[pick]
    linear = max(1.0, typical)
    chart = Chart(
        f"One cell's {family.noun}", EPISODES, family.title, subtitle=style.plain(cell), height=420, dark=dark
    )
    limits = [y.min(), x.max(), y.max()] if len(k) else [0.0]
    if bound is not None and len(k):
        allowed = family.share * bound[pick]
        limits += [float((x - allowed).min()), float((x + allowed).max())]
        _corridor(chart, k, x, allowed, linear, f"true ± bound {family.bound}")
    words = [
        [human(float(a)), human(float(b)), human(float(c)), human(float(c - b))]
        for a, b, c in zip(k, x, y, strict=True)
    ]
    for values, name, role, symbol, dash in (
        (x, "true", "true", "circle-open", "solid"),
        (y, word, "noisy", "circle", "6px,3px"),
    ):
        chart.line(
            name,
            k,
            style.symlog(values, linear),
            chart.colors.roles[role],
            2,
            dash,
            mode="lines+markers",
            marker={"symbol": symbol, "size": 6},
            customdata=words,
            hovertemplate=_hover("after %{customdata[0]} episodes", word),
        )
    chart.x(type="log", nticks=7, tickangle=0)
    _symlog_axis(chart, min(limits), max(limits), linear, 10)
    columns = {"episodes": episodes} | _table_columns(true, noisy, word)
    if bound is not None:
        columns[f"bound {family.bound}"] = family.share * bound
    return chart.picture(CELL_ALT, see, pd.DataFrame(columns), revision="cell")


def _most_telling(x: Array, error: Array) -> NDArray[np.intp]:
    """Cells to draw: all, or the 100 largest errors and others spread evenly over the true counts."""
    if len(x) <= style.MOST_POINTS:
        return np.arange(len(x))
    largest = np.argsort(-np.abs(error), kind="stable")[:100]
    others = np.argsort(x, kind="stable")[style.thin(len(x), style.MOST_POINTS - 100)]
    return np.unique(np.concatenate([largest, others]))


def _cell_names(shape: tuple[int, ...], states: Sequence[str], actions: Sequence[str]) -> Any:
    def name(i: int) -> str:
        h, s, a = np.unravel_index(i, shape)
        return f"step {h}, {style.plain(states[int(s)])}, {style.plain(actions[int(a)])}"

    return name

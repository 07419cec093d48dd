"""True visit counts beside what privacy lets the planner see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import heat, style
from dprl.figures.picture import Picture
from dprl.words import after, brief, human

Array = NDArray[np.float64]

HEATMAP_ALT = (
    "Heatmaps of how often each state and action was tried: truly, through the noise, and the difference."
)
SCATTER_ALT = (
    "Scatter plot of noisy against true visit counts, one point for each cell, with the bound on the noise."
)
CELL_ALT = (
    "Line chart of one cell's true and noisy visits against the number of episodes, with the bound on noise."
)


@dataclass(frozen=True)
class Family:
    """What is counted: its noun, a column's title, and the share of E that bounds its error (with its words)."""

    noun: str
    title: str
    share: float
    bound: str


VISITS = Family("visits", "Visits", 0.25, "E/4")
REWARDS = Family("reward", "Reward sums", 1.0, "E")


def heatmaps(
    true: Array,
    noisy: Array,
    *,
    typical: float,
    episode: int,
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    step: int | None = None,
    word: str = "noisy",
    family: Family = VISITS,
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
    axes = heat.cell_axes(true.shape, state_labels, action_labels, step)
    where = "at every step" if step is None else f"at step {step}"
    error = b - a
    linear = max(1.0, typical)
    exact = not error.any()
    # Amounts share one scale, its middle at zero, so that a colour means the same count in both.
    bottom, top = min(float(b.min()), 0.0), float(max(a.max(), b.max(), -b.min(), 1.0))
    lowest, reach = float(style.symlog(bottom, linear)), float(style.symlog(top, linear))
    colors = style.theme(dark)
    scale = style.crop(colors.counts, 0.5 + 0.5 * lowest / reach)
    ticks = style.symlog_ticks(bottom, top, linear, most=heat.height(len(a)) // 22)
    panels = [
        heat.Panel("True", style.symlog(a, linear), a, scale, lowest, reach, text=_short(a), ticks=ticks)
    ]
    if not exact:
        most = float(np.abs(error).max())
        panels += [
            heat.Panel(
                word.capitalize(),
                style.symlog(b, linear),
                b,
                scale,
                lowest,
                reach,
                text=_short(b),
                ticks=ticks,
            ),
            heat.Panel(
                f"Difference, {word} − true",
                error,
                error,
                colors.difference,
                -most,
                most,
                form="+,.0f",
                text=_short(error),
                ticks=([-most, 0.0, most], [brief(-most), "0", brief(most)]),
            ),
        ]
    figure = heat.stacked(panels, title=f"{family.title} {where}", subtitle=after(episode), dark=dark, **axes)
    figure.update_layout(uirevision=f"counts-{step}")
    return Picture(
        figure,
        HEATMAP_ALT,
        see,
        _cells_table(true, noisy, state_labels, action_labels, step, word),
    )


def scatter(
    true: Array,
    noisy: Array,
    *,
    typical: float,
    episode: int,
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    bound: float | None = None,
    word: str = "noisy",
    family: Family = VISITS,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Noisy against true visits of every cell [H, S, A], with the corridor of E/4 (bound: E) around equality.

    Both axes are linear up to the noise's typical size and logarithmic beyond, negative counts included. bound: E, of
    which a share (family) bounds the noise of a count with high probability.
    Of more than 500 cells those with the largest errors are drawn, and others evenly over the true counts.
    """
    x, y = true.ravel(), noisy.ravel()
    error = y - x
    linear = max(1.0, typical)
    colors = style.theme(dark)
    figure = style.base(
        f"{word.capitalize()} against true {family.noun}",
        subtitle=f"every cell (step, state, action), {after(episode)}",
        dark=dark,
        height=460,
        x_title=f"True {family.noun}",
        y_title=f"{word.capitalize()} {family.noun}",
    )
    top, bottom = float(max(x.max(), y.max(), 1.0)), float(min(y.min(), 0.0))
    along = np.sinh(np.linspace(0, float(style.symlog(top, linear)), 200)) * linear
    figure.add_scatter(
        x=style.symlog(along, linear),
        y=style.symlog(along, linear),
        mode="lines",
        line={"color": colors.roles["true"], "width": 1.2},
        name="no error",
        hoverinfo="skip",
    )
    allowed = family.share * bound if bound else None
    if allowed:
        for sign, shown in ((1, True), (-1, False)):
            figure.add_scatter(
                x=style.symlog(along, linear),
                y=style.symlog(along + sign * allowed, linear),
                mode="lines",
                line={"color": colors.roles["bound"], "width": 1.6, "dash": style.BOUND_DASH},
                name=f"bound {family.bound} = {human(allowed)}",
                legendgroup="bound",
                showlegend=shown,
                hoverinfo="skip",
            )
    pick = _most_telling(x, error)
    outside = np.abs(error[pick]) > allowed if allowed else np.zeros(len(pick), bool)
    names = _cell_names(true.shape, state_labels, action_labels)
    for chosen, name, symbol, size in (
        (pick[~outside], f"cells, {word} count", "circle", 7),
        (pick[outside], "outside the bound", "x", 9),
    ):
        if len(chosen):
            figure.add_scatter(
                x=style.symlog(x[chosen], linear),
                y=style.symlog(y[chosen], linear),
                mode="markers",
                marker={
                    "color": colors.roles["noisy"],
                    "symbol": symbol,
                    "size": size,
                    "opacity": 0.7,
                    "line": {"width": 0},
                },
                name=name,
                customdata=[
                    [names(int(i)), human(float(x[i])), human(float(y[i])), human(float(error[i]))]
                    for i in chosen
                ],
                hovertemplate="%{customdata[0]}<br>true %{customdata[1]}<br>"
                + word
                + " %{customdata[2]}<br>difference %{customdata[3]}<extra></extra>",
            )
    low = min(bottom, -(allowed or 0.0) if bottom < 0 else 0.0)
    x_at, x_text = style.symlog_ticks(0.0, top, linear, most=6)
    y_at, y_text = style.symlog_ticks(low, top, linear, most=11)
    figure.update_xaxes(tickvals=x_at, ticktext=x_text, tickangle=0)
    figure.update_yaxes(tickvals=y_at, ticktext=y_text, zeroline=True, zerolinecolor=colors.muted)
    figure.update_layout(uirevision="scatter")
    if len(pick) < len(x):
        see += f" {len(pick)} of {len(x):,} cells are drawn, the largest errors among them."
    return Picture(
        figure, SCATTER_ALT, see, _cells_table(true, noisy, state_labels, action_labels, None, word)
    )


def cell_over_time(
    episodes: NDArray[Any],
    true: Array,
    noisy: Array,
    *,
    typical: float,
    cell: str,
    bound: Array | None = None,
    word: str = "noisy",
    family: Family = VISITS,
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
    colors = style.theme(dark)
    figure = style.base(
        f"One cell's {family.noun}",
        subtitle=style.plain(cell),
        dark=dark,
        height=420,
        x_title="Episodes (one user each)",
        y_title=family.title,
    )
    limits = [y.min(), x.max(), y.max()] if len(k) else [0.0]
    if bound is not None and len(k):
        allowed = family.share * bound[pick]
        limits += [float((x - allowed).min()), float((x + allowed).max())]
        for sign, shown in ((1, True), (-1, False)):
            figure.add_scatter(
                x=k,
                y=style.symlog(x + sign * allowed, linear),
                mode="lines",
                line={"color": colors.roles["bound"], "width": 1.6, "dash": style.BOUND_DASH},
                name=f"true ± bound {family.bound}",
                legendgroup="bound",
                showlegend=shown,
                hoverinfo="skip",
            )
    words = [
        [human(float(a)), human(float(b)), human(float(c)), human(float(c - b))]
        for a, b, c in zip(k, x, y, strict=True)
    ]
    hover = (
        "after %{customdata[0]} episodes<br>true %{customdata[1]}<br>"
        + word
        + " %{customdata[2]}<br>difference %{customdata[3]}<extra></extra>"
    )
    for values, name, role, symbol, dash in (
        (x, "true", "true", "circle-open", "solid"),
        (y, word, "noisy", "circle", "6px,3px"),
    ):
        figure.add_scatter(
            x=k,
            y=style.symlog(values, linear),
            mode="lines+markers",
            line={"color": colors.roles[role], "width": 2, "dash": dash},
            marker={"symbol": symbol, "size": 6},
            name=name,
            customdata=words,
            hovertemplate=hover,
        )
    at, text = style.symlog_ticks(min(limits), max(limits), linear, most=10)
    figure.update_xaxes(type="log", nticks=7, tickangle=0)
    figure.update_yaxes(tickvals=at, ticktext=text, zeroline=True, zerolinecolor=colors.muted)
    figure.update_layout(uirevision="cell")
    columns: dict[str, Any] = {"episodes": episodes, "true": true, word: noisy, "difference": noisy - true}
    if bound is not None:
        columns[f"bound {family.bound}"] = family.share * bound
    return Picture(figure, CELL_ALT, see, pd.DataFrame(columns))


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


def _cells_table(
    true: Array, noisy: Array, states: Sequence[str], actions: Sequence[str], step: int | None, word: str
) -> pd.DataFrame:
    H, S, A = true.shape
    h, s, a = (index.ravel() for index in np.indices((H, S, A)))
    table = pd.DataFrame(
        {
            "step": h,
            "state": np.asarray(states, object)[s],
            "action": np.asarray(actions, object)[a],
            "true": true.ravel(),
            word: noisy.ravel(),
            "difference": (noisy - true).ravel(),
        }
    )
    return table if step is None else table[table["step"] == step].reset_index(drop=True)


def _short(values: Array) -> NDArray[np.object_] | None:
    """Words for cells, or None where there are too many to show them."""
    if max(values.shape) > heat.TEXT_CELLS:
        return None
    return np.array([[brief(v) for v in row] for row in values], object)

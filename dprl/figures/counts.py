"""True visit counts beside what privacy lets the planner see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import heat, looks, style
from dprl.figures.looks import Kind
from dprl.figures.style import Picture
from dprl.words import after, brief, human, percent

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
COVERAGE_ALT = "Line chart of the largest noise so far as a share of its bound, one line for each seed."


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
    episode: int,
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    step: int | None = None,
    word: str = "noisy",
    bound: float | None = None,
    family: Family = VISITS,
    dark: bool = False,
) -> Picture:
    """Visits n[h,s,a] (or reward sums r) after `episode` episodes: true, noisy, and noisy less true.

    true, noisy: [H, S, A]. step: one h (states across, actions up), or None for all (steps across,
    state-action pairs up). word: what the second array is ("noisy", "released"). bound: E, of which
    a share (family) bounds the noise of a count with high probability. Colour is linear up to the noise's typical
    size and logarithmic beyond. Without any noise there is one panel.
    """
    H, S, A = true.shape
    states, actions = style.short_labels(state_labels), style.short_labels(action_labels)
    if step is None:
        a, b = true.reshape(H, S * A).T, noisy.reshape(H, S * A).T
        axes: dict[str, Any] = {
            "x_title": f"Step h (0 to {H - 1})",
            "x_ticks": style.step_ticks(H),
            "x_hover": [f"step {h}" for h in range(H)],
        } | heat.pair_rows(state_labels, action_labels)
        where = "at every step"
    else:
        a, b = true[step].T, noisy[step].T
        axes = {
            "x_title": "State",
            "y_title": "Action",
            "x_ticks": style.label_ticks(states, 14),
            "y_ticks": heat.row_ticks(actions),
            "x_hover": list(state_labels),
            "y_hover": list(action_labels),
        }
        where = f"at step {step}"
    error = b - a
    linear = _linear(error)
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
        _see_error(
            true if step is None else true[step], noisy if step is None else noisy[step], bound, word, family
        ),
        _cells_table(true, noisy, state_labels, action_labels, step, word),
    )


def scatter(
    true: Array,
    noisy: Array,
    *,
    episode: int,
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    bound: float | None = None,
    word: str = "noisy",
    family: Family = VISITS,
    dark: bool = False,
) -> Picture:
    """Noisy against true visits of every cell [H, S, A], with the corridor of E/4 (bound: E) around equality.

    Both axes are linear up to the noise's typical size and logarithmic beyond, negative counts included.
    Of more than 500 cells those with the largest errors are drawn, and others evenly over the true counts.
    """
    x, y = true.ravel(), noisy.ravel()
    error = y - x
    linear = _linear(error)
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
    see = _see_error(true, noisy, bound, word, family)
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
    cell: str,
    bound: Array | None = None,
    word: str = "noisy",
    family: Family = VISITS,
    dark: bool = False,
) -> Picture:
    """One cell's true and noisy visits (or reward) [D] at episodes [D], and true ± its share of the bound E [D].

    cell: its words, as "step 3, state 5, right".
    """
    pick = style.thin(len(episodes))
    k, x, y = np.asarray(episodes, float)[pick], true[pick], noisy[pick]
    linear = _linear(y - x)
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
    see = "There is nothing to draw yet."
    if len(k):
        gap = float(y[-1] - x[-1])
        had = "was visited {} times" if family is VISITS else "has paid {} in all"
        see = (
            f"After {human(float(k[-1]))} episodes this cell {had.format(human(float(x[-1])))} and the planner is told "
            f"{human(float(y[-1]))}"
        )
        more, less = ("too many", "too few") if family is VISITS else ("too much", "too little")
        see += f", {percent(abs(gap) / x[-1])} {more if gap > 0 else less}." if gap and x[-1] else "."
    columns: dict[str, Any] = {"episodes": episodes, "true": true, word: noisy, "difference": noisy - true}
    if bound is not None:
        columns[f"bound {family.bound}"] = family.share * bound
    return Picture(figure, CELL_ALT, see, pd.DataFrame(columns))


def coverage(
    episodes: NDArray[Any],
    ratio: Array,
    *,
    kind: Kind,
    label: str,
    promise: float | None = None,
    dark: bool = False,
) -> Picture:
    """Largest noise so far over its bound, ratio [seeds, C] at episodes [C], NaN where not known yet.

    promise: the probability with which the bound holds everywhere and always, 1 - beta/3.
    """
    figure = style.base(
        "Does the noise stay below its bound?",
        subtitle=style.plain(label),
        dark=dark,
        height=360,
        x_title="Episodes (one user each)",
        y_title="Largest noise so far / bound",
    )
    look = looks.look(kind, dark)
    colors = style.theme(dark)
    pick = style.thin(len(episodes))
    k = np.asarray(episodes, float)[pick]
    words = [human(float(value)) for value in k]
    for seed, row in enumerate(ratio):
        figure.add_scatter(
            x=k,
            y=row[pick],
            mode="lines",
            line={"color": look.color, "width": 1.6, "shape": "hv"},
            opacity=0.8,
            name="each seed",
            legendgroup="seeds",
            showlegend=seed == 0,
            customdata=words,
            hovertemplate=f"seed {seed}: %{{y:.0%}} of the bound<br>"
            "after %{customdata} episodes<extra></extra>",
        )
    name = "the bound" if promise is None else f"the bound, kept with probability ≥ {promise:.3g}"
    if len(k):
        figure.add_scatter(
            x=k[[0, -1]],
            y=[1.0, 1.0],
            mode="lines",
            line={"color": colors.roles["bound"], "width": 1.8, "dash": style.BOUND_DASH},
            name=name,
            hoverinfo="skip",
        )
    known = ratio[:, np.isfinite(ratio).any(axis=0)]
    worst = float(np.nanmax(known)) if known.size else 0.0
    figure.update_xaxes(type="log", nticks=7, tickangle=0)
    figure.update_yaxes(range=[0, max(1.15, 1.08 * worst)], tickformat=".0%", nticks=6)
    figure.update_layout(uirevision="coverage")
    if not known.size:
        see = "There is nothing to draw yet."
    elif worst == 0:
        see = "There is no noise: the planner sees the true counts."
    else:
        with np.errstate(all="ignore"):
            kept = int((np.nanmax(np.where(np.isfinite(ratio), ratio, -np.inf), axis=1) <= 1).sum())
        see = (
            f"The bound on the noise has held in {kept} of {len(ratio)} seeds; the largest noise reached "
            f"{percent(worst)} of it."
        )
    table = pd.DataFrame(
        {
            "seed": np.repeat(np.arange(len(ratio)), len(episodes)),
            "episodes": np.tile(episodes, len(ratio)),
            "largest noise / bound": ratio.ravel(),
        }
    ).dropna(ignore_index=True)
    return Picture(figure, COVERAGE_ALT, see, table)


def _linear(error: Array) -> float:
    """Where the scale turns from linear to logarithmic: the noise's root mean square, at least one visit."""
    finite = error[np.isfinite(error)]
    return max(1.0, float(np.sqrt(np.mean(np.square(finite)))) if finite.size else 1.0)


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


def _see_error(true: Array, noisy: Array, bound: float | None, word: str, family: Family) -> str:
    error = np.abs(noisy - true)
    if not error.any():
        return "There is no noise: the planner sees the true counts."
    typical, visits = float(np.sqrt(np.mean(error**2))), float(true.max())
    drowned = float(np.mean(true < typical))
    cell = "the most visited cell here has" if family is VISITS else "the cell that paid most here has"
    said = (
        f"The noise is about {human(typical)} {family.noun} and {cell} {human(visits)}, so {percent(drowned)} of the "
        "cells drown in it"
    )
    if word == "noisy" and (noisy < 0).any():
        said += f" and {percent(float(np.mean(noisy < 0)))} look negative"
    if bound:
        allowed = family.share * bound
        share = percent(float(error.max()) / allowed)
        said += f"; the largest error is {share} of the bound {family.bound} = {human(allowed)}"
    return said + "."


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

"""Heatmaps of cells, each a state and an action: true next to noisy visit counts, pessimism, and coverage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dprl.figures import heat, style
from dprl.figures.lines import Array
from dprl.figures.picture import Picture
from dprl.words import after, brief, human, power, rough

HEATMAP_ALT = (
    "Heatmaps of how often each state and action was tried: true counts, noisy counts, and the difference."
)


@dataclass(frozen=True)
class CountFamily:
    """A kind of count: its noun, its column title, the share of E that bounds its error, and the bound's symbol."""

    noun: str
    title: str
    share: float
    bound: str


VISITS = CountFamily("visits", "Visits", 0.25, "E/4")
REWARDS = CountFamily("reward", "Reward sums", 1.0, "E")


def _which(step: int | None) -> str:
    return "every step" if step is None else f"step {step}"


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
    """Draw the visits n[h,s,a] (or reward sums r) after `episode` episodes: true, noisy, and the difference.

    Args:
        true, noisy: the true and the noisy counts [H, S, A].
        typical: the typical size of the noise; the colour scale is linear up to it and logarithmic beyond.
        step: one h (with states across and actions up), or None for all (with steps across and state-action pairs up).
        word: the name of the second array ("noisy", "released"). Without any noise there is one panel.
    """
    a, b = heat.laid_out(true, step), heat.laid_out(noisy, step)
    error, linear = b - a, max(1.0, typical)
    # Both amounts share one scale with its middle at zero, so that a colour means the same count in both.
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
    title = f"{family.title} at {_which(step)}"
    axes = heat.cell_axes(true.shape, state_labels, action_labels, step)
    chart = heat.stacked(panels, title=title, subtitle=after(episode), dark=dark, **axes)
    columns = {"true": true, word: noisy, "difference": noisy - true}
    table = heat.cell_numbers(columns, true.shape, state_labels, action_labels, step)
    return chart.picture(HEATMAP_ALT, see, table, revision=f"counts-{step}")


PESSIMISM_ALT = (
    "Heatmaps of a data set's true and released visit counts, of the penalty, and of the learned values."
)
COVERAGE_ALT = "Heatmaps of the states visited in a data set, and of those visited by the best policy."
RARE = 1e-8  # smaller chances are drawn as this one


def pessimism_of_cells(
    visits: Array,
    released: Array | None,
    penalty: Array,
    Q_hat: Array,
    Q: Array,
    *,
    typical: float,
    n: int,
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    step: int | None = None,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Draw the counts that a learner received from a data set, and the values that it computed, each [H, S, A].

    Args:
        visits: the true counts; released: the noisy counts, None if no visits are released.
        penalty: Gamma; Q_hat: the values before the penalty; Q: the values after it.
        typical: the typical size of the noise, up to which the colours of visits are linear.
        step: one h (with states across and actions up), or None for all.
    """
    colors = style.theme(dark)
    true = heat.laid_out(visits, step)
    told = None if released is None else heat.laid_out(released, step)
    most = float(max(true.max(), 1.0 if told is None else told.max(), 1.0))
    linear = max(1.0, typical)
    ticks = style.symlog_ticks(0.0, most, linear, most=heat.height(len(true)) // 22)
    top = float(style.symlog(most, linear))

    def counts(name: str, values: Array) -> heat.Heatmap:
        z, words = style.symlog(values, linear), heat.in_cells(brief, values)
        return heat.Heatmap(name, z, values, colors.amount, 0.0, top, text=words, ticks=ticks, unit=" visits")

    # Values share one colour scale, up to the largest value; a larger penalty gets the last colour.
    reach = float(max(Q_hat.max(), Q.max(), 1e-9))
    taken = min(reach, float(max(penalty.max(), 1e-9)))

    def worth(name: str, values: Array, top: float) -> heat.Heatmap:
        words = heat.in_cells(lambda v: f"{v:.2g}" if v >= 0.005 else "0", values)
        beyond = "+" if values.max() > top else ""
        ticks = ([0.0, top / 2, top], ["0", rough(top / 2), rough(top) + beyond])
        z = np.minimum(values, top)
        return heat.Heatmap(name, z, values, colors.amount, 0.0, top, form=".3~g", text=words, ticks=ticks)

    panels = [counts("n: visits in the data", true)]
    if told is not None:
        panels.append(counts("ñ: visits as released", told))
    panels += [
        worth("Γ: the penalty for uncertainty", heat.laid_out(penalty, step), taken),
        worth("Q̂: value before the penalty", heat.laid_out(Q_hat, step), reach),
        worth("Q: value after the penalty", heat.laid_out(Q, step), reach),
    ]
    chart = heat.stacked(
        panels,
        title=f"Effect of pessimism at {_which(step)}",
        subtitle=f"a data set of {human(n)} trajectories",
        dark=dark,
        **heat.cell_axes(visits.shape, state_labels, action_labels, step),
    )
    columns = {"visits": visits} | ({} if released is None else {"released visits": released})
    columns |= {"penalty": penalty, "Q before": Q_hat, "Q": Q}
    table = heat.cell_numbers(columns, visits.shape, state_labels, action_labels, step)
    return chart.picture(PESSIMISM_ALT, see, table, revision=f"pessimism-{step}")


def coverage_of_cells(
    behaviour: Array,
    best: Array,
    *,
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    step: int | None = None,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Draw the probability of each state and action [H, S, A] in the data and under the best policy."""
    colors = style.theme(dark)
    positive = np.concatenate([values[values > 0] for values in (behaviour, best)])
    low = int(np.floor(np.log10(max(float(positive.min()), RARE))))
    decades = list(range(low, 1, max(1, -low // 4)))
    ticks = ([float(k) for k in decades], [power(10.0**k) for k in decades])

    def shares(name: str, values: Array) -> heat.Heatmap:
        z = np.where(values > 0, np.log10(np.maximum(values, 10.0**low)), np.nan)
        words = heat.in_cells(lambda v: f"{100 * v:.2g}%" if v else "", values)
        return heat.Heatmap(
            name, z, values, colors.amount, low - 0.5, 0.0, form=".3~p", text=words, ticks=ticks
        )

    chart = heat.stacked(
        [
            shares("Share of the data: d<sup>μ</sup>", heat.laid_out(behaviour, step)),
            shares("The best policy: d*", heat.laid_out(best, step)),
        ],
        title=f"Coverage of the data at {_which(step)}",
        subtitle="share of the trajectories; empty: never",
        dark=dark,
        **heat.cell_axes(behaviour.shape, state_labels, action_labels, step),
    )
    columns = {"share of the data": behaviour, "share under the best policy": best}
    table = heat.cell_numbers(columns, behaviour.shape, state_labels, action_labels, step)
    return chart.picture(COVERAGE_ALT, see, table, revision=f"coverage-{step}")

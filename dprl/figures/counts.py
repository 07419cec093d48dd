"""Heatmaps of true visit counts next to the noisy counts that the planner uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dprl.figures import heat, style
from dprl.figures.lines import Array
from dprl.figures.picture import Picture
from dprl.words import after, brief

HEATMAP_ALT = (
    "Heatmaps of how often each state and action was tried: true counts, noisy counts, and the difference."
)


@dataclass(frozen=True)
class CountFamily:
    """A kind of count: its noun, its column title, and the share of E that bounds its error (and its symbol)."""

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
    """Draw the visits n[h,s,a] (or reward sums r) after `episode` episodes: true, noisy, and the difference.

    Args:
        true, noisy: [H, S, A].
        typical: the typical size of the noise; the colour scale is linear up to it and logarithmic beyond.
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
    columns = {"true": true, word: noisy, "difference": noisy - true}
    table = heat.cell_numbers(columns, true.shape, state_labels, action_labels, step)
    return chart.picture(HEATMAP_ALT, see, table, revision=f"counts-{step}")

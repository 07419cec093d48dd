"""Sentences about counts: the size of the noise, the counts below it, and its bound."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from dprl.figures.counts import VISITS, CountFamily
from dprl.messages import filled, messages
from dprl.metrics import Array, CountNoise, Coverage
from dprl.words import human, percent

SAID = messages("charts")["counts"]

IN_A_COUNT = "Noise in a count (standard deviation)"
NONE = "There is no noise: the planner sees the true counts."
NOTHING = "There is nothing to draw yet."


def deviation(std: float, users: float | None = None) -> str:
    """Describe the size of the noise in a count of visits, by its kind; after how many users, as it grows with K."""
    if not users:
        return filled(SAID["deviation"], std=human(std))
    return filled(SAID["deviation_after"], std=human(std), users=human(users))


def about_cells(
    noise: CountNoise, *, bound: float | None = None, word: str = "noisy", family: CountFamily = VISITS
) -> str:
    """Describe the noise in all cells.

    Args:
        bound: E, of which a share (family) bounds an error.
        word: what the planner sees.
    """
    if not noise.largest:
        return NONE
    typical = {"typical": human(noise.typical), "noun": family.noun, "most": human(noise.most)}
    said = [
        filled(SAID["visits" if family is VISITS else "rewards"], **typical),
        filled(SAID["drowned"], share=percent(noise.drowned)),
    ]
    if word == "noisy" and noise.negative:
        said.append(filled(SAID["negative"], share=percent(noise.negative)))
    if bound:
        allowed = family.share * bound
        share = percent(noise.largest / allowed)
        said.append(filled(SAID["bound"], bound=family.bound, allowed=human(allowed), share=share))
    return " ".join(said)


def about_cell(episodes: NDArray[Any], true: Array, noisy: Array, *, family: CountFamily = VISITS) -> str:
    """Describe one cell, [D] each."""
    if not len(episodes):
        return NOTHING
    x, y = float(true[-1]), float(noisy[-1])
    gap, had = y - x, "visited" if family is VISITS else "paid"
    told = {"episodes": human(float(episodes[-1])), "true": human(x), "noisy": human(y)}
    if not gap or not x:
        return filled(SAID[had], **told)
    way = "more" if gap > 0 else "less"
    return filled(SAID[f"{had}_{way}"], **told, share=percent(abs(gap) / x))


def about_bound(held: Coverage | None) -> str:
    """Describe the bound on the noise, over seeds."""
    if held is None:
        return NOTHING
    if held.worst == 0:
        return NONE
    return (
        f"The bound on the noise has held in {held.kept} of {held.seeds} seeds. The largest noise reached "
        f"{percent(held.worst)} of the bound."
    )

"""About counts: how large the noise is, what drowns in it, and whether its bound has held."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from dprl.figures.counts import VISITS, CountFamily
from dprl.metrics import Array, CountNoise, Coverage
from dprl.words import human, percent

IN_A_COUNT = "Noise in a count (standard deviation)"
NONE = "There is no noise: the planner sees the true counts."
NOTHING = "There is nothing to draw yet."


def deviation(std: float, users: float | None = None) -> str:
    """How large the noise in a count of visits is, named as what it is; after how many users, as it grows with K."""
    return f"standard deviation {human(std)} visits" + (f" after {human(users)} users" if users else "")


def about_cells(
    noise: CountNoise, *, bound: float | None = None, word: str = "noisy", family: CountFamily = VISITS
) -> str:
    """Of all cells.

    Args:
        bound: E, of which a share (family) bounds an error.
        word: what the planner sees.
    """
    if not noise.largest:
        return NONE
    cell = "the most visited cell here has" if family is VISITS else "the cell that paid most here has"
    said = (
        f"The errors of the cells here have root mean square {human(noise.typical)} {family.noun}. For "
        f"comparison, {cell} {human(noise.most)}. In {percent(noise.drowned)} of the cells the true value is "
        "smaller than such an error."
    )
    if word == "noisy" and noise.negative:
        said += f" In {percent(noise.negative)} of the cells the noisy value is negative."
    if bound:
        allowed = family.share * bound
        share = percent(noise.largest / allowed)
        said += (
            f" The noise bound {family.bound} allows an error of {human(allowed)}, and the largest here is "
        )
        said += f"{share} of it."
    return said


def about_cell(episodes: NDArray[Any], true: Array, noisy: Array, *, family: CountFamily = VISITS) -> str:
    """Of one cell, [D] each."""
    if not len(episodes):
        return NOTHING
    x, y = float(true[-1]), float(noisy[-1])
    had = "was visited {} times" if family is VISITS else "has paid {}"
    said = (
        f"After {human(float(episodes[-1]))} episodes this cell {had.format(human(x))}. The planner is told "
        f"{human(y)}"
    )
    gap = y - x
    more, less = ("too many", "too few") if family is VISITS else ("too much", "too little")
    return said + (f", {percent(abs(gap) / x)} {more if gap > 0 else less}." if gap and x else ".")


def about_bound(held: Coverage | None) -> str:
    """Of the bound on the noise, over seeds."""
    if held is None:
        return NOTHING
    if held.worst == 0:
        return NONE
    return (
        f"The bound on the noise has held in {held.kept} of {held.seeds} seeds. The largest noise reached "
        f"{percent(held.worst)} of the bound."
    )

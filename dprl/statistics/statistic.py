"""The interface of a statistic: sums over users, released with noise, which are all that a learner sees of them.

A privatizer needs only one user's largest effect on the sums. So a learner can bring its own statistic (such as
matrices and vectors), and every mechanism works with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, Protocol, Self

from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.messages import filled, messages

PAPER = messages("cards")["paper"]
REPLACE_ONE = "replace-one"
BLANK_ONE = "blank-one"  # replace a user's trajectory by an empty one


@dataclass(frozen=True)
class Change:
    """The largest effect of changing one user's data on the cells of a statistic."""

    moves: tuple[tuple[int, float], ...]  # pairs (count, size): `count` cells move by at most `size`
    one_way: bool = False  # whether all of them go up (or all down); otherwise half go up and half go down
    # the same for cells that are queried again, with new noise, at each release from that item on
    anew: tuple[tuple[int, float], ...] = ()
    asked: int = 0  # the largest number of releases with these queries; 0 means all

    @property
    def l1(self) -> float:
        return sum(count * size for count, size in self.moves)

    @property
    def l2_squared(self) -> float:
        return sum(count * size * size for count, size in self.moves)

    def at_once(self, times: int) -> Change:
        """Return the joint effect of `times` such changes. In the worst case, they affect the same cells."""
        moves, anew = (tuple((n, times * size) for n, size in cells) for cells in (self.moves, self.anew))
        return replace(self, moves=moves, anew=anew)

    def times(self, releases: int) -> int:
        """Return the largest number of releases in which the cells of `anew` are queried."""
        return min(self.asked, releases) if self.asked else releases

    @property
    def once(self) -> Change:
        """Return the change of the cells in `anew` in a single release."""
        return Change(self.anew, self.one_way)

    @property
    def raised(self) -> int:
        """Return the number of cells that rise."""
        count = sum(count for count, _ in self.moves)
        return count if self.one_way else count // 2


class PaperScale(NamedTuple):
    """The size of the noise that a paper states, with its formula, its sources, and remarks for the guarantee."""

    scale: float  # of one draw, in units of release
    formula: str
    sources: tuple[str, ...]
    notes: tuple[str, ...] = ()
    spread: float = 1.0  # the factor from the scale of one draw to the paper's noise in a sum
    of_users: bool = True  # whether the leaves of its tree are users; otherwise they are releases


def remarks(epsilon: float, *notes: str) -> tuple[str, ...]:
    """Return remarks on the noise of a paper whose proof needs epsilon below 1, for the guarantee."""
    if epsilon < 1:
        return notes
    return (*notes, filled(PAPER["beyond"], epsilon=epsilon))


class Statistic(Protocol):
    """The interface of a statistic. It is frozen and hashable, because caches of guarantees use it as a key."""

    parts: ClassVar[str]  # its numbers, in words
    # whether its numbers are counts, which guarantees, charts and attacks can show one by one
    counted: ClassVar[bool] = False
    # the norms of `Change` that are known; only mechanisms calibrated to one of them are offered
    norms: ClassVar[tuple[str, ...]]
    # the keys of the mechanisms for which papers state the size of the noise
    in_papers: ClassVar[tuple[str, ...]]

    @property
    def moved(self) -> str:
        """Describe in words the effect of replacing one user."""

    @property
    def then(self) -> str:
        """Describe how the noisy sums are processed before the learner sees them; return "" if they are not."""
        return ""

    @property
    def formula(self) -> str:
        """Return the formula for the number of cells, as text."""

    def cells(self, size: Size) -> int:
        """Return how many numbers each release contains."""

    def sensitivity(self, size: Size, adjacency: str) -> Change:
        """Return the largest effect of changing one user's data (REPLACE_ONE or BLANK_ONE), in the units of release."""

    def scales(self, size: Size, scale: float) -> Array:
        """Convert a noise scale from units of release to each cell's units. If rows repeat, one row is enough."""

    def counter(self, scale: float) -> float:
        """Return the noise scale of the counter in guarantees and previews; without counters, that of any cell."""
        return scale

    def error_bound(self, scale: float, tail: Array) -> Array:
        """Return E, the assumed noise bound. By default it is `tail`, the bound on each cell's unit noise."""
        return tail

    def row(self, size: Size) -> int:
        """Return the number of cells per row. Learners use these cells together, so they share a joint noise bound."""

    def rows(self, size: Size) -> int:
        """Return the number of rows into which the cells are grouped."""
        return self.cells(size) // self.row(size)

    def evened(self) -> Self:
        """Return the same statistic with its parts rescaled, so that one noise scale suits all of them."""

    def paper_noise(self, model: str, size: Size, K: int, epsilon: float, delta: float) -> PaperScale:
        """Return the noise that a paper states for a privacy model, "central" or "local"."""

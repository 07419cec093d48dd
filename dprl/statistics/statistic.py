"""The interface of a statistic: numbers summed over users, released with noise, and all that a learner sees of them.

A privatizer uses only the largest effect of one user on it. So a learner that is a function of other sums (such as
matrices and vectors) brings a statistic of its own, and every mechanism works for it, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, Self

from dprl.mdp import Size
from dprl.mdp.tabular import Array

REPLACE_ONE = "replace-one"
BLANK_ONE = "blank-one"  # an empty trajectory stands in a user's place


@dataclass(frozen=True)
class Change:
    """The effect of one neighbouring change on the cells of a statistic at one item of the stream.

    Attributes:
        moves: `count` cells move by at most `size`, for each (count, size).
        one_way: all of them up (or all down), otherwise half go up and half go down.
        anew: the same for cells that are no running sums: they are asked for again, with noise of their own, at each
            release from that item on.
        asked: at how many releases at most, 0: at each.
    """

    moves: tuple[tuple[int, float], ...]
    one_way: bool = False
    anew: tuple[tuple[int, float], ...] = ()
    asked: int = 0

    @property
    def l1(self) -> float:
        """Return the L1 norm."""
        return sum(count * size for count, size in self.moves)

    @property
    def l2_squared(self) -> float:
        """Return the squared L2 norm."""
        return sum(count * size * size for count, size in self.moves)

    def at_once(self, times: int) -> Change:
        """Return the joint effect of `times` such changes by one person, largest if all are in the same cells."""
        moves, anew = (tuple((n, times * size) for n, size in cells) for cells in (self.moves, self.anew))
        return replace(self, moves=moves, anew=anew)

    def times(self, releases: int) -> int:
        """Return how many of these releases, at most, contain the cells that are requested again."""
        return min(self.asked, releases) if self.asked else releases

    @property
    def once(self) -> Change:
        """Return the change of cells that are requested again, in one release."""
        return Change(self.anew, self.one_way)

    @property
    def raised(self) -> int:
        """Return the number of cells that go up."""
        count = sum(count for count, _ in self.moves)
        return count if self.one_way else count // 2


class PaperScale(NamedTuple):
    """Noise as in a paper.

    Attributes:
        scale: of one draw, in units of release.
        formula: in words.
        sources: where the paper states it.
        notes: a card's remarks in addition to its proof.
        spread: the factor by which the paper's noise in a sum is larger.
        of_users: the leaves of its tree are users, else releases.
    """

    scale: float
    formula: str
    sources: tuple[str, ...]
    notes: tuple[str, ...] = ()
    spread: float = 1.0
    of_users: bool = True


class Statistic(Protocol):
    """A kind of statistic. Frozen and hashable: cards and ladders are kept by it.

    Attributes:
        kind: names the details that a trace of it has.
        parts, moved, paper_norm, evening: words for the guarantee card, see `counts.Counts`.
        then: what is done with noisy sums before a learner's own post-processing, for the card; "" for nothing.
        counted: its numbers are counts, of which cards, charts and attacks can speak one by one.
        norms: of `Change`s, those that are known: noise is offered that asks for one of these.
        in_papers: keys of the mechanisms for which papers state how much noise there is.
    """

    @property
    def kind(self) -> str: ...
    @property
    def parts(self) -> str: ...
    @property
    def moved(self) -> str: ...
    @property
    def paper_norm(self) -> str: ...
    @property
    def evening(self) -> str: ...
    @property
    def then(self) -> str: ...
    @property
    def formula(self) -> str: ...
    @property
    def counted(self) -> bool: ...
    @property
    def norms(self) -> tuple[str, ...]: ...
    @property
    def in_papers(self) -> tuple[str, ...]: ...

    def __hash__(self) -> int: ...

    def cells(self, size: Size) -> int:
        """Return the numbers released each time."""

    def sensitivity(self, size: Size, adjacency: str) -> Change:
        """Return the largest effect of one change of the data, in the units of release.

        Args:
            size: of the problem.
            adjacency: REPLACE_ONE or BLANK_ONE.
        """

    def scales(self, size: Size, scale: float) -> Array:
        """Return the factor of unit noise in each cell (or in each cell of a row that repeats), in the statistic's own
        units, if the noise in units of release has this scale."""

    def counter(self, scale: float) -> float:
        """Return the same for the counter that cards and previews show: n, the visits, for counts."""

    def error_bound(self, scale: float, tail: Array) -> Array:
        """Return E, from a bound `tail` on the unit noise of every cell."""

    def row(self, size: Size) -> int:
        """Return numbers that a learner looks at together, and whose noise is bounded together."""

    def rows(self, size: Size) -> int:
        """Return the number of such rows."""

    def evened(self) -> Self:
        """Return the same statistic, released in units in which its parts tolerate the same noise."""

    def paper_noise(self, model: str, size: Size, K: int, epsilon: float, delta: float) -> PaperScale:
        """Return noise as in the paper for a privacy model, by its key: central or local."""

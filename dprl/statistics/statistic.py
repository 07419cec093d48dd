"""The interface of a statistic: sums over users, released with noise, the only data that a learner receives about them.

A privatizer only uses the largest effect of one user on it. So a learner that depends on other sums (such as matrices
and vectors) can bring its own statistic, and every mechanism works with it.
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
        moves: pairs (count, size): `count` cells move by at most `size`.
        one_way: whether all of them go up (or all down); otherwise half go up and half go down.
        anew: the same for cells that are not running sums: they are queried again, with new noise, at each release from
            that item on.
        asked: the maximum number of releases with these queries; 0 means all.
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
        """Return the maximum number, among these releases, in which the cells of `anew` are queried."""
        return min(self.asked, releases) if self.asked else releases

    @property
    def once(self) -> Change:
        """Return the change in one release alone, on the cells of `anew`."""
        return Change(self.anew, self.one_way)

    @property
    def raised(self) -> int:
        """Return the number of cells that increase."""
        count = sum(count for count, _ in self.moves)
        return count if self.one_way else count // 2


class PaperScale(NamedTuple):
    """The size of a paper's noise.

    Attributes:
        scale: of one draw, in units of release.
        formula: in words.
        sources: the places in the paper that state it.
        notes: remarks for the guarantee, in addition to its proof.
        spread: the factor from the scale of one draw to the paper's noise in a sum.
        of_users: whether the leaves of its tree are users; otherwise they are releases.
    """

    scale: float
    formula: str
    sources: tuple[str, ...]
    notes: tuple[str, ...] = ()
    spread: float = 1.0
    of_users: bool = True


class Statistic(Protocol):
    """A kind of statistic. It is frozen and hashable, because guarantees are cached by it.

    Attributes:
        kind: key of the details that a trace stores for it.
        parts, moved, paper_norm, evening: texts for the guarantee, see `counts.Counts`.
        then: the processing of noisy sums before a learner's own, as a text for the guarantee; "" for none.
        counted: whether its numbers are counts, which guarantees, charts and attacks can show one by one.
        norms: the norms of `Change` that are known; only mechanisms calibrated to one of them are offered.
        in_papers: keys of the mechanisms for which papers state the size of the noise.
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
        """Return the number of numbers released each time."""

    def sensitivity(self, size: Size, adjacency: str) -> Change:
        """Return the largest effect of one change of the data, in the units of release.

        Args:
            size: of the problem.
            adjacency: REPLACE_ONE or BLANK_ONE.
        """

    def scales(self, size: Size, scale: float) -> Array:
        """Return the scale of the noise in each cell (or in each cell of a repeating row), in the statistic's own
        units, given the scale in units of release."""

    def counter(self, scale: float) -> float:
        """Return the scale of the noise in the counter that guarantees and previews show: n, the visits, for counts."""

    def error_bound(self, scale: float, tail: Array) -> Array:
        """Return E, the bound on noise for the learner, given a bound `tail` on the unit noise of every cell."""

    def row(self, size: Size) -> int:
        """Return the number of cells in a row, whose noise has a joint bound because a learner uses them together."""

    def rows(self, size: Size) -> int:
        """Return the number of rows."""

    def evened(self) -> Self:
        """Return the same statistic, released in units in which its parts tolerate the same noise."""

    def paper_noise(self, model: str, size: Size, K: int, epsilon: float, delta: float) -> PaperScale:
        """Return a paper's noise for a privacy model, given by its key: central or local."""

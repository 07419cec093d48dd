"""Families of queries: the sums over one data set that an offline learner asks a curator to release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.statistics.statistic import Change


class Query(Protocol):
    """One release, as a public function of the data set and of noise.

    Attributes:
        family: name of the family it belongs to, which says how far one trajectory moves its sums.
    """

    @property
    def family(self) -> str: ...

    @property
    def half(self) -> int:
        """The half of a data set that it is about."""

    def draws(self, size: Size) -> int:
        """Count the draws of unit noise."""

    def answer(self, record: Array, noise: Array, error: float) -> Array:
        """Return sums with `noise` added, post-processed: the learner's view.

        Args:
            record: [H, S, A, S + 2], the counts of a data set, or of a half of it, see mdp/counts.py.
            noise: [draws], independent, of the family's scale; zeros without privacy.
            error: E of the family, 0 without privacy.
        """


@dataclass(frozen=True)
class Family:
    """Sums over the trajectories of a data set that are released with independent noise of one scale.

    Attributes:
        name: by which the learner asks for them.
        what: in words.
        change: what replacing one trajectory, and blanking one, moves in one release.
        blanked: the same for a trajectory that is replaced by an empty one.
        times: how many releases there are of it.
        weight: of its noise next to that of the other families, if no paper states its noise.
        half: which half of the data set it is summed over; two halves have no trajectory in common.
    """

    name: str
    what: str
    change: Change
    blanked: Change
    times: int = 1
    weight: float = 1.0
    half: int = 0

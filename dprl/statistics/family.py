"""Families of queries: the sums over one data set that an offline learner asks a curator to release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from dprl.mdp.tabular import Array
from dprl.statistics.statistic import Change


class Query(Protocol):
    """One release, as a public function of the data set and of noise.

    Attributes:
        family: name of the family it belongs to, which says how far one trajectory moves its sums.
    """

    @property
    def family(self) -> str: ...

    def draws(self, m: Array) -> int:
        """How many numbers of unit noise it takes, for transitions m: [H, S, A, S]."""

    def answer(self, m: Array, noise: Array, error: float) -> Array:
        """The sums over m with `noise` added, post-processed: what the learner sees.

        Args:
            m: [H, S, A, S], transitions of the trajectories that it is summed over.
            noise: [draws], independent, of the family's scale; zeros without privacy.
            error: E, 0 without privacy.
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
        weight: of its noise beside that of the other families, where the noise is not printed.
        half: which half of the data set it is summed over; two halves have no trajectory in common.
    """

    name: str
    what: str
    change: Change
    blanked: Change
    times: int = 1
    weight: float = 1.0
    half: int = 0

"""Queries for sums over one data set, which an offline learner sends to a curator, and families of such queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.statistics.statistic import Change


class Query(Protocol):
    """A query for sums over a data set, answered by a public function of the data set and of noise.

    Attributes:
        family: name of its family, which defines the effect of one trajectory on its sums.
    """

    @property
    def family(self) -> str: ...

    @property
    def half(self) -> int:
        """Return the half of the data set that the query sums over, 0 or 1."""

    def draws(self, size: Size) -> int:
        """Return how many random draws of noise an answer needs."""

    def answer(self, record: Array, noise: Array, error: float) -> Array:
        """Return the sums with `noise` added and post-processed, as the learner receives them.

        Args:
            record: [H, S, A, S + 2], the counts of a data set or of half of it, see mdp/counts.py.
            noise: [draws], independent, of the family's scale; zeros without privacy.
            error: E of the family, 0 without privacy.
        """


@dataclass(frozen=True)
class Family:
    """A family of sums over the trajectories of a data set, released with independent noise of one scale."""

    name: str  # its name in queries
    what: str  # a description
    change: Change  # the effect of replacing one trajectory on one release
    blanked: Change  # the effect of replacing one trajectory by an empty one
    times: int = 1  # number of releases
    weight: float = 1.0  # scale of its noise relative to the other families, if no paper states it
    half: int = 0  # the half of the data set that it sums over, 0 or 1; the halves are disjoint

"""Queries for sums over one data set, which an offline learner sends to a curator, and families of such queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.statistics.statistic import REPLACE_ONE, Change


class Query(Protocol):
    """A query for sums over a data set, answered with noise. `family` defines one trajectory's effect on the sums."""

    @property
    def family(self) -> str: ...

    @property
    def half(self) -> int:
        """Return the half of the data set that the query sums over, 0 or 1."""

    def draws(self, size: Size) -> int:
        """Return how many random draws of noise an answer needs."""

    def answer(self, record: Array, noise: Array, error: float) -> Array:
        """Add `noise` to the sums, and return them with the post-processing that the learner expects.

        Args:
            record: the counts of the data set or of half of it, [H, S, A, S + 2] (mdp/counts.py).
            noise: independent draws of the family's scale, [draws]; zeros without privacy.
            error: the E of the family; 0 without privacy.
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

    def effect(self, adjacency: str) -> Change:
        """Return the effect of changing one trajectory (REPLACE_ONE or BLANK_ONE) on one release."""
        return self.change if adjacency == REPLACE_ONE else self.blanked

"""The interface of an environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from dprl.fields import Field
from dprl.mdp import TabularMDP
from dprl.mdp.mixture import Mixture
from dprl.mdp.structure import Table
from dprl.mdp.tabular import Array
from dprl.plugins import Entry


@dataclass(frozen=True, repr=False)
class Environment(Entry):
    """An environment's entry in the registry: how to build it, its size, and what is public about it."""

    fields: tuple[Field, ...]  # its parameters
    make: Callable[..., TabularMDP]  # make(**params): builds the MDP
    # size(**params): returns (S, A, H), or (S, A, H, d) for a linear MDP or a linear mixture
    size: Callable[..., tuple[int, ...]]
    # advice if even H = 1 is too large to run, for environments whose states and actions cannot be chosen
    smaller: str = ""
    # features(**params): returns the public features [S, A, d] of a linear MDP, with norms of at most 1, or None
    features: Callable[..., Array] | None = None
    # mixture(**params): returns the public features of a linear-mixture MDP; None for all other environments
    mixture: Callable[..., Mixture] | None = None
    # branching(**params): returns B, the largest number of possible next states; None if it is always S
    branching: Callable[..., int] | None = None
    # possible(**params): returns the table of next states that the owner declares possible, or None; None if the model
    # itself determines the table
    possible: Callable[..., Table | None] | None = None
    # name(**params): returns the name of one environment in a collection; None if the title is always used
    name: Callable[..., str] | None = None

    def called(self, params: Mapping[str, Any]) -> str:
        return self.name(**params) if self.name else self.title


def horizon(default: int) -> Field:
    """Return the `Field` for the horizon H, a parameter of every environment."""
    return Field("H", "int", default, "steps in an episode", low=1, high=1000)


def homogeneous(
    name: str,
    P: Array,
    R: Array,
    *,
    start: Array,
    H: int,
    state_labels: tuple[str, ...],
    action_labels: tuple[str, ...],
    drawing: Mapping[str, Any] = MappingProxyType({"kind": "graph"}),
    possible: Table | None = None,
) -> TabularMDP:
    """Build an MDP with the same P and R [S, A] at all H steps. P is [S, A, S], or [S, A, B] on `possible`."""
    return TabularMDP(
        name=name,
        P=np.broadcast_to(P, (H, *P.shape)),
        R=np.broadcast_to(R, (H, *R.shape)),
        d1=start,
        state_labels=state_labels,
        action_labels=action_labels,
        drawing=drawing,
        possible=possible,  # type: ignore[arg-type]  # None: every state
    )

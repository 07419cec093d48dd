"""The record every environment file offers to the registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dprl.fields import Field
from dprl.mdp import TabularMDP


@dataclass(frozen=True)
class Environment:
    """key: its name in a spec; fields: its parameters; make(**params): the MDP; size(**params): (S, A, H)."""

    key: str
    title: str
    summary: str
    source: str
    fields: tuple[Field, ...]
    make: Callable[..., TabularMDP]
    size: Callable[..., tuple[int, int, int]]


def horizon(default: int) -> Field:
    """The horizon H, the one parameter every environment has."""
    return Field("H", "int", default, "steps in an episode", low=1, high=1000)

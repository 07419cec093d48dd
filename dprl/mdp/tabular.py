"""Finite-horizon, time-inhomogeneous tabular Markov decision processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprl.brief import described
from dprl.fields import SpecError
from dprl.mdp.structure import Table, every_state

Array = NDArray[np.float64]


class Size(NamedTuple):
    """Numbers of states and actions, the horizon, and the number of features of a linear MDP or mixture, else 0."""

    S: int
    A: int
    H: int
    d: int = 0


@dataclass(frozen=True, eq=False)
class TabularMDP:
    """A finite-horizon MDP. Steps are h = 0..H-1 and V[H] = 0.

    Attributes:
        P: [H, S, A, B] transition probabilities on the table `possible`, rows sum to 1 (within 1e-9).
        R: [H, S, A] mean rewards in [0, 1].
        d1: [S] distribution of the first state.
        bernoulli: rewards are Bernoulli(R) draws; otherwise each reward equals its mean.
        drawing: hints for a picture; "kind" is chain, grid or graph.
        possible: see mdp/structure.py; by default all S next states, so that B = S.

    Raises:
        SpecError: shapes disagree, a row does not sum to 1, or a number is out of range.
    """

    name: str
    P: Array
    R: Array
    d1: Array
    state_labels: tuple[str, ...]
    action_labels: tuple[str, ...]
    bernoulli: bool = True
    drawing: Mapping[str, Any] = field(default_factory=lambda: {"kind": "graph"})
    possible: Table = None  # type: ignore[assignment]  # filled in below

    __repr__ = described

    def __post_init__(self) -> None:
        every = self.possible is None
        if self.P.ndim != 4 or (every and self.P.shape[1] != self.P.shape[3]) or min(self.P.shape) < 1:
            raise SpecError("P", f"the shape {self.P.shape} is not allowed; give [H, S, A, S].")
        H, S, A, _ = self.P.shape
        for name, array, shape in (("R", self.R, (H, S, A)), ("d1", self.d1, (S,))):
            if array.shape != shape:
                raise SpecError(name, f"the shape {array.shape} is not allowed; give {shape}.")
        for name in ("P", "d1"):  # a sum of probabilities may be rounded to more than 1
            array = getattr(self, name)
            if 1 < array.max() <= 1 + 1e-9:
                object.__setattr__(self, name, np.minimum(array, 1.0))
        for name, array in (("P", self.P), ("R", self.R), ("d1", self.d1)):
            if not (np.isfinite(array).all() and array.min() >= 0 and array.max() <= 1):
                raise SpecError(
                    name, "a number below 0, above 1 or missing is not allowed; give numbers from 0 to 1."
                )
        for name, array in (("P", self.P), ("d1", self.d1)):
            if np.abs(array.sum(-1) - 1).max() > 1e-9:
                raise SpecError(name, "a row does not sum to 1; give probabilities that do, within 1e-9.")
        if every:
            object.__setattr__(self, "possible", every_state(S))
        if len(self.state_labels) != S or len(self.action_labels) != A:
            raise SpecError("labels", f"give {S} state labels and {A} action labels.")

    @property
    def H(self) -> int:
        """Horizon: steps in an episode."""
        return int(self.P.shape[0])

    @property
    def S(self) -> int:
        """Number of states."""
        return int(self.P.shape[1])

    @property
    def A(self) -> int:
        """Number of actions."""
        return int(self.P.shape[2])

    @property
    def dense(self) -> bool:
        """Whether every next state is possible, so that P is [H, S, A, S]."""
        return bool(self.P.shape[3] == self.S and self.possible.shape[1] == 1)

    @property
    def size(self) -> Size:
        """S, A and H."""
        return Size(self.S, self.A, self.H)

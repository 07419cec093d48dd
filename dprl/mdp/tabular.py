"""Finite-horizon, time-inhomogeneous tabular Markov decision processes."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprl.fields import Frozen, SpecError
from dprl.mdp.structure import Table, every_state
from dprl.messages.brief import described

Array = NDArray[np.float64]

TOLERANCE = 1e-5  # how far a row's sum may be from 1, because numbers may be rounded or have 32 bits
ARRAYS = "P", "R", "d1", "possible"
ROUNDED = 1e-9  # a row with a smaller difference is left unchanged


def check_unit(name: str, array: Array) -> None:
    """Raise SpecError if a number in the array is outside [0, 1]. The message calls the array `name`."""
    _refuse_first(name, array, ~((array >= 0) & (array <= 1)), "numbers from 0 to 1")


def probabilities(name: str, array: Array) -> Array:
    """Check and return an array of probabilities [.., X]. Rows that sum to 1 only within TOLERANCE are rescaled.

    Raises SpecError for the first wrong number or row. name: the path of the array in the spec, for the message.
    """
    _refuse_first(name, array, ~(array >= 0), "probabilities")
    total = array.sum(-1, keepdims=True)
    off = np.abs(total - 1)
    if not (off <= TOLERANCE).all():
        at = tuple(np.argwhere(~(off <= TOLERANCE))[0])
        raise SpecError(
            name, f"{_place(name, at[:-1])} sums to {total[at]:.9g}; give probabilities that sum to 1."
        )
    if (off > ROUNDED).any():
        array = np.where(off > ROUNDED, array / total, array)
    return np.minimum(array, 1.0) if array.max() > 1 else array  # a rounded sum may exceed 1


def _refuse_first(name: str, array: Array, wrong: NDArray[np.bool_], allowed: str) -> None:
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0])
        raise SpecError(name, f"{_place(name, at)} is {as_written(array[at])}; give {allowed}.")


def normalised(name: str, P: Array) -> Array:
    """Return probabilities that sum to 1 exactly, from ones with rounding errors. Raises SpecError for larger ones."""
    if P.min() < -1e-12 or np.abs(P.sum(-1) - 1).max() > 1e-9:
        raise SpecError(name, "a probability is negative, or a row does not sum to 1; give others.")
    P = np.maximum(P, 0.0)
    return np.asarray(P / P.sum(-1, keepdims=True))


def _place(name: str, at: tuple[Any, ...]) -> str:
    return name.rpartition(".")[2] + "".join(f"[{i}]" for i in at)


def as_written(value: float) -> str:
    """Return a wrong number as text for an error message, which says so if the number is negative."""
    return "NaN" if np.isnan(value) else f"{value:g}, which is negative" if value < 0 else f"{value:g}"


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


class Size(NamedTuple):
    """The size of a problem: the numbers of states and actions, the horizon, and the number of features (0 if none)."""

    S: int
    A: int
    H: int
    d: int = 0


@dataclass(frozen=True, eq=False)
class TabularMDP:
    """A finite-horizon MDP with steps h = 0..H-1 and V[H] = 0. Its arrays are read-only copies of the given ones.

    Attributes:
        P: transition probabilities [H, S, A, B] on the table `possible`; rows sum to 1 (within 1e-5, and are then
            divided by their sums).
        R: mean rewards in [0, 1] [H, S, A].
        d1: the distribution of the first state [S].
        bernoulli: whether rewards are Bernoulli(R) draws; otherwise each reward equals its mean.
        drawing: options for drawing the MDP; "kind" is "chain", "grid" or "graph".
        possible: the table of possible next states (mdp/structure.py); by default all S states, so that B = S.

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
        assign = partial(object.__setattr__, self)
        for name in ("P", "R", "d1"):
            try:
                assign(name, np.array(getattr(self, name), dtype=float, order="C"))
            except (TypeError, ValueError, OverflowError):
                raise SpecError(name, "this is not allowed; give an array of numbers.") from None
        every = self.possible is None
        if self.P.ndim != 4 or (every and self.P.shape[1] != self.P.shape[3]) or min(self.P.shape) < 1:
            raise SpecError("P", f"the shape {self.P.shape} is not allowed; give [H, S, A, S].")
        H, S, A, _ = self.P.shape
        for name, array, shape in (("R", self.R, (H, S, A)), ("d1", self.d1, (S,))):
            if array.shape != shape:
                raise SpecError(name, f"the shape {array.shape} is not allowed; give {shape}.")
        for name in ("P", "d1"):
            assign(name, probabilities(name, getattr(self, name)))
        check_unit("R", self.R)
        assign("possible", every_state(S) if every else np.array(self.possible, dtype=np.int64))
        if len(self.state_labels) != S or len(self.action_labels) != A:
            raise SpecError("labels", f"give {S} state labels and {A} action labels.")
        assign("drawing", Frozen(self.drawing))
        for name in ARRAYS:
            assign(name, read_only(getattr(self, name)))

    def writable(self) -> TabularMDP:
        """Return a copy with writable arrays, which compiled kernels distinguish from read-only ones."""
        copied = copy(self)
        for name in ARRAYS:
            object.__setattr__(copied, name, getattr(self, name).copy())
        return copied

    @property
    def H(self) -> int:
        """Return the horizon, the number of steps in an episode."""
        return int(self.P.shape[0])

    @property
    def S(self) -> int:
        """Return the number of states."""
        return int(self.P.shape[1])

    @property
    def A(self) -> int:
        """Return the number of actions."""
        return int(self.P.shape[2])

    @property
    def dense(self) -> bool:
        """Return whether every next state is possible, so that P is [H, S, A, S]."""
        return bool(self.P.shape[3] == self.S and self.possible.shape[1] == 1)

    @property
    def size(self) -> Size:
        """Return the size: S, A, H, and no features."""
        return Size(self.S, self.A, self.H)

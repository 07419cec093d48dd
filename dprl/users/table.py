"""The table of users needed (`python -m bench.bundled users`): measurements, the fitted law, and its errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dprl.users.law import Array, Law, Power


@dataclass(frozen=True)
class Problem:
    """An environment of one size, with the measured numbers of users needed in it.

    Attributes:
        v_star: V*, the best policy's reward in an episode.
        needed: for each model, the users from which an average episode loses at most a share of V*, for E budgets and L
            shares [E, L]; infinite if above MOST. Without privacy, E is 1.
    """

    key: str
    title: str
    environment: str
    params: Mapping[str, Any]
    S: int
    A: int
    H: int
    v_star: float
    needed: Mapping[str, Array]

    @property
    def value(self) -> float:
        """Return V* as a percentage of H, the largest possible reward."""
        return 100 * self.v_star / self.H

    def to_dict(self) -> dict[str, Any]:
        """Convert the problem to data for JSON; None stands for more than MOST users."""
        needed = {
            model: [[float(f"{k:.4g}") if np.isfinite(k) else None for k in row] for row in rows]
            for model, rows in self.needed.items()
        }
        return {**asdict(self), "params": dict(self.params), "needed": needed}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Problem:
        """Build the problem from the output of `to_dict`."""
        needed = {
            model: np.nan_to_num(np.array(rows, float), nan=np.inf) for model, rows in given["needed"].items()
        }
        return cls(**{**given, "needed": needed})


@dataclass(frozen=True)
class Check:
    """A comparison of the predicted numbers with runs made after the fit.

    Attributes:
        of: the kind of runs, in words.
        new: whether the runs are on problems outside the fit.
        numbers: how many numbers were compared.
        within: the share of these numbers within the stated error.
        factor: the error factor that covers a share COVERED of these numbers; the stated error does not use it.
    """

    of: str
    new: bool
    model: str
    numbers: int
    within: float
    factor: float


@dataclass(frozen=True)
class Table:
    """The whole table of users needed.

    Attributes:
        epsilons, losses, delta: the measured settings.
        problems: the measured problems by key.
        drawn_epsilons, drawn: the budgets of randomly generated problems, and these problems by key. Their
            `environment` is the kind of problem; they have no title, no params, and no entry in menus.
        held_out: for each model, the law's error factor for a share COVERED of the numbers on a new kind of problem
            (`law.covering`). This is the stated error.
        crossed: for each model and kind, the share of the numbers within the error that is stated without this kind.
        hidden_losses, hidden: the losses of randomly generated problems that neither the law nor its errors use, and
            these problems by key. They have the budgets of `drawn`, and their own seeds.
        between: for each model, the error factor of numbers interpolated between a problem's measured ones.
        checks: comparisons with later runs.
    """

    version: Mapping[str, str]
    epsilons: tuple[float, ...]
    losses: tuple[float, ...]
    delta: float
    problems: Mapping[str, Problem]
    drawn_epsilons: tuple[float, ...]
    drawn: Mapping[str, Problem]
    law: Law
    held_out: Mapping[str, float]
    crossed: Mapping[str, Mapping[str, float]]
    between: Mapping[str, float]
    hidden_losses: tuple[float, ...]
    hidden: Mapping[str, Problem]
    checks: tuple[Check, ...]

    @property
    def inside(self) -> dict[str, float]:
        """Return the share of each model's predictions within the stated factor, averaged over unseen environments."""
        return {model: float(np.mean(list(kinds.values()))) for model, kinds in self.crossed.items()}

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        """Return the smallest and the largest measured S, A, H and value."""
        found = {}
        for name in ("S", "A", "H", "value"):
            values = [getattr(problem, name) for problem in (*self.problems.values(), *self.drawn.values())]
            found[name] = min(values), max(values)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Convert the table to data for JSON."""
        problems = {
            name: [one.to_dict() for one in getattr(self, name).values()]
            for name in ("problems", "drawn", "hidden")
        }
        return {**asdict(self), **problems, "checks": list(map(asdict, self.checks))}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Table:
        """Build the table from the output of `to_dict`."""
        problems = {
            name: {one["key"]: Problem.from_dict(one) for one in given[name]}
            for name in ("problems", "drawn", "hidden")
        }
        named = ("epsilons", "losses", "drawn_epsilons", "hidden_losses")
        read = {
            "law": {model: Power(**power) for model, power in given["law"].items()},
            "checks": tuple(Check(**check) for check in given["checks"]),
        }
        return cls(**{**given, **problems, **{name: tuple(given[name]) for name in named}, **read})

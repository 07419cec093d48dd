"""The table of users needed: measured numbers, the power law fitted to them, and the error of both, as a file.

`python -m bench.bundled users` computes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dprl.users.law import Array, Law, Power


@dataclass(frozen=True)
class Problem:
    """An environment at one size, and the users that it needs.

    Attributes:
        key: its name in links.
        title: the environment's title.
        environment, params: as in a spec.
        S, A, H: its size.
        v_star: V*, the best policy's reward in an episode.
        needed: by model, [E, L]: the number of users from which an average episode loses at most each of L shares of
            V* at each of E budgets; infinite if above MOST. Without privacy E is 1.
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
        """V* in percent of H, the largest possible reward."""
        return 100 * self.v_star / self.H

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON data; None stands for more than MOST."""
        needed = {
            model: [[float(f"{k:.4g}") if np.isfinite(k) else None for k in row] for row in rows]
            for model, rows in self.needed.items()
        }
        return {**asdict(self), "params": dict(self.params), "needed": needed}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Problem:
        """Read the output of `to_dict`."""
        needed = {
            model: np.array([[np.inf if k is None else k for k in row] for row in rows], float)
            for model, rows in given["needed"].items()
        }
        return cls(**{**given, "needed": needed})


@dataclass(frozen=True)
class Check:
    """A comparison of the stated numbers with runs made after the fit.

    Attributes:
        of: the kind of runs, in words.
        new: whether they are on problems outside the fit.
        model: a privacy model.
        numbers: how many numbers were compared.
        within: the share of them within the stated error.
        factor: the error factor that covers COVERED of them; the stated error does not use it.
    """

    of: str
    new: bool
    model: str
    numbers: int
    within: float
    factor: float


@dataclass(frozen=True)
class Table:
    """The whole table.

    Attributes:
        version: of the software that computed it.
        epsilons, losses, delta: the measured settings.
        problems: by key.
        drawn_epsilons, drawn: randomly generated problems by key, and their budgets. `environment` is the kind of
            problem; they have no title, no params, and no entry in menus.
        law: see law.py.
        exponents: by model and name, the 95% interval of each exponent, from resampled environments.
        held_out: by model, the error factor of the law for COVERED of the numbers on a new kind of problem
            (`law.covering`). This is the stated error.
        crossed: by model and kind, the share of its numbers within the error stated without that kind.
        hidden_losses, hidden: randomly generated problems by key that neither law nor errors use, and their losses.
            They have the budgets of `drawn`, and their own seeds.
        between: by model, the error factor of numbers interpolated between those measured for a problem.
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
    exponents: Mapping[str, Mapping[str, tuple[float, float]]]
    held_out: Mapping[str, float]
    crossed: Mapping[str, Mapping[str, float]]
    between: Mapping[str, float]
    hidden_losses: tuple[float, ...]
    hidden: Mapping[str, Problem]
    checks: tuple[Check, ...]

    @property
    def inside(self) -> dict[str, float]:
        """Return, by model, the share of numbers of unseen kinds within the stated factor; all kinds count equally."""
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
        """Convert to JSON data."""
        problems = {
            name: [one.to_dict() for one in getattr(self, name).values()]
            for name in ("problems", "drawn", "hidden")
        }
        return {**asdict(self), **problems, "checks": list(map(asdict, self.checks))}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Table:
        """Read the output of `to_dict`."""
        problems = {
            name: {one["key"]: Problem.from_dict(one) for one in given[name]}
            for name in ("problems", "drawn", "hidden")
        }
        named = ("epsilons", "losses", "drawn_epsilons", "hidden_losses")
        read = {
            "law": {model: Power(**power) for model, power in given["law"].items()},
            "exponents": {
                model: {name: tuple(ends) for name, ends in one.items()}
                for model, one in given["exponents"].items()
            },
            "checks": tuple(Check(**check) for check in given["checks"]),
        }
        return cls(**{**given, **problems, **{name: tuple(given[name]) for name in named}, **read})

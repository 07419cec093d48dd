"""The measured numbers of users needed, the law fitted to them, and the error of both, as a file.

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
    """An environment at one size, and what it takes.

    Attributes:
        key: of it in links.
        title: of the environment.
        environment, params: as a spec has them.
        S, A, H: its size.
        v_star: what the best policy earns in an episode.
        needed: by model, [E, L]: from how many users on an average episode loses at most each of L shares of V*, at
            each of E budgets; infinite if that is more than MOST. Without privacy E is 1.
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
        """V* in percent of H."""
        return 100 * self.v_star / self.H

    def to_dict(self) -> dict[str, Any]:
        """JSON-able; None for more than MOST."""
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
    """The check of the page's numbers against runs that were made after everything was fitted.

    Attributes:
        of: which runs, in words.
        new: whether they are of problems that had no part in the law.
        model: a privacy model.
        numbers: how many there are.
        within: the share of them that lay within the error that is stated.
        factor: how far COVERED of them were off at most. The stated error takes no notice of it.
    """

    of: str
    new: bool
    model: str
    numbers: int
    within: float
    factor: float


@dataclass(frozen=True)
class Table:
    """All of it.

    Attributes:
        version: of the program that computed it.
        epsilons, losses, delta: what was measured.
        problems: by key.
        drawn_epsilons, drawn: budgets of, and by key, problems drawn at random. Their `environment` is their kind; they
            have no title and no params, and are in no menu.
        law: see law.py.
        exponents: by model and name the 95% interval of each exponent, from environments drawn again.
        held_out: by model, how far the law is off at most on a kind that it was not fitted to, for COVERED of all
            numbers (`law.covering`). This is what is stated.
        crossed: by model and kind, the share of its numbers within what would be stated without that kind.
        hidden_losses, hidden: losses of, and by key, problems drawn at random that had no part in law and errors. They
            have the budgets of `drawn`, and seeds of their own.
        between: by model, the same of numbers read between those measured of a problem.
        checks: on runs made afterwards.
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
        """Return by model the share of numbers within the stated factors, on kinds that had no part in them; kinds
        weigh the same."""
        return {model: float(np.mean(list(kinds.values()))) for model, kinds in self.crossed.items()}

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        """Return the least and the largest measured S, A, H and value."""
        found = {}
        for name in ("S", "A", "H", "value"):
            values = [getattr(problem, name) for problem in (*self.problems.values(), *self.drawn.values())]
            found[name] = min(values), max(values)
        return found

    def to_dict(self) -> dict[str, Any]:
        """JSON-able."""
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

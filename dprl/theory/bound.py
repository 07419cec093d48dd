"""A bound that can be evaluated: a sum of products of powers, with the conditions of its theorem."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.words import raised

Array = NDArray[np.float64]
# in the order of a formula; budgets and alpha follow
SYMBOLS = {"C": "(√d+1)", "d": "d", "S": "S", "A": "A", "H": "H", "kappa": "κ", "K": "K", "coverage": "dₘ"}


@dataclass(frozen=True)
class BoundSetting:
    """The arguments of a bound. K, the number of episodes, may be an array; all others are single positive numbers.

    Attributes:
        d: the dimension of a linear representation.
        alpha, beta: for bounds on mistakes (episodes more than alpha suboptimal), valid with probability 1 - beta.
        rho: the zCDP budget of a release about a data set of K trajectories.
        coverage: d_m, the smallest positive probability that the behaviour policy takes an action in a state at a step.
        kappa: the smallest eigenvalue of the features' second moment, over all steps.
    """

    S: float
    A: float
    H: float
    K: Any
    epsilon: float = 1.0
    d: float = 10.0
    alpha: float = 0.1
    beta: float = 0.1
    rho: float = 1.0
    coverage: float = 0.01
    kappa: float = 0.01


@dataclass(frozen=True)
class BoundTerm:
    """A product of powers in a bound, with constant 1. Each attribute is an exponent.

    Attributes:
        C: the exponent of (C_w + 1), where C_w = sqrt(d) bounds the mixture's weights.
        log: "K" or "1/beta" if the paper states a factor ln(K) or ln(1/beta).
    """

    S: float = 0
    A: float = 0
    H: float = 0
    K: float = 0
    d: float = 0
    C: float = 0
    epsilon: float = 0
    alpha: float = 0
    rho: float = 0
    coverage: float = 0
    kappa: float = 0
    log: str = ""

    @property
    def private(self) -> bool:
        """Return whether the term is part of the privacy cost."""
        return bool(self.epsilon or self.rho)

    def value(self, at: BoundSetting) -> Array:
        """Return the term's value with constant 1, in the shape of K."""
        K = np.asarray(at.K, float)
        factor = {"": 1.0, "K": np.log(K), "1/beta": math.log(1 / at.beta)}[self.log]
        powers = (at.S**self.S) * (at.A**self.A) * (at.H**self.H) * (at.d**self.d)
        powers *= (math.sqrt(at.d) + 1) ** self.C * at.epsilon**self.epsilon * at.alpha**self.alpha
        powers *= at.rho**self.rho * at.coverage**self.coverage * at.kappa**self.kappa
        return np.asarray(powers * K**self.K * factor, float)

    @property
    def text(self) -> str:
        """Write the term as a formula: H²√(SAK), S²AH³/ε, √(d/(κK))."""
        above, root = "", ""
        below: list[str] = []
        root_below: list[str] = []
        for name, symbol in SYMBOLS.items():
            power = getattr(self, name)
            half = float(2 * power).is_integer() and not float(power).is_integer()
            written = _raised(symbol, abs(2 * power if half else power)) if power else ""
            if power < 0:
                (root_below if half else below).append(written)
            elif half:
                root += written
            else:
                above += written
        if root_below:
            root = f"{root or '1'}/{_together(root_below)}"
        for symbol, power in (("ε", -self.epsilon), ("α", -self.alpha), ("ρ", -self.rho)):
            if power:
                below.append(f"√{symbol}" if power == 0.5 else _raised(symbol, power))
        if root:
            above += f"√({root})" if len(root) > 1 else f"√{root}"
        if self.log:
            above += " ln K" if self.log == "K" else " ln(1/β)"
        return (above or "1") + (f"/{_together(below)}" if below else "")


def _together(factors: list[str]) -> str:
    return factors[0] if len(factors) == 1 else f"({''.join(factors)})"


def _raised(symbol: str, power: float) -> str:
    if power == 1:
        return symbol
    if float(power).is_integer():
        return symbol + raised(int(power))
    for below in (3, 4, 5):
        if float(round(power * below, 9)).is_integer():
            return f"{symbol}^({round(power * below)}/{below})"
    raise ValueError(f"the exponent {power} has no written form")


@dataclass(frozen=True)
class Bound:
    """A proved bound.

    Attributes:
        title: the algorithm, or "Lower bound".
        model: the privacy model (none, central, shuffle, local).
        budget: the guarantee of its algorithm, "" without privacy.
        conditions: the conditions of the theorem, in words.
        upper: whether it is an upper bound; a lower bound holds for some problem.
        world: the class of problems (tabular, linear mixture, linear).
        of: the bounded quantity: "regret"; "mistakes" (episodes more than alpha suboptimal); "suboptimality" (the loss
            per episode of a policy learned from a data set of K trajectories).
        epsilon_below: the upper limit on epsilon in the theorem.
        from_S: the theorem requires K >= S^from_S.
    """

    key: str
    title: str
    paper: str
    model: str
    budget: str
    terms: tuple[BoundTerm, ...]
    conditions: str
    upper: bool = True
    world: str = "tabular"
    of: str = "regret"
    epsilon_below: float = math.inf
    from_S: float = 0.0

    def value(self, at: BoundSetting) -> Array:
        """Return the value of the bound, a total loss of reward (or a number of episodes), in the shape of K."""
        return np.asarray(sum(term.value(at) for term in self.terms))

    def price(self, at: BoundSetting) -> Array:
        """Return the part of the bound that is due to privacy: the sum of the terms with epsilon or rho."""
        return np.asarray(
            sum(term.value(at) for term in self.terms if term.private) + np.zeros(np.shape(at.K))
        )

    @property
    def formula(self) -> str:
        """Return the bound as a formula, in episodes."""
        sign = "Õ" if self.upper else "Ω"
        return f"{sign}({' + '.join(term.text for term in self.terms)})"

    def unmet(self, at: BoundSetting) -> str:
        """Describe the first condition of the theorem that a setting with a single K violates, or return ""."""
        if at.epsilon >= self.epsilon_below:
            return f"proved for ε below {self.epsilon_below:g}"
        if float(at.K) < at.S**self.from_S:
            return f"proved for K from S^{self.from_S:g}"
        return ""


def _term(exponents: dict[str, Any]) -> BoundTerm:
    log = exponents.pop("log", "")
    return BoundTerm(**{name: float(Fraction(power)) for name, power in exponents.items()}, log=log)


BOUNDS: dict[str, Bound] = {
    key: Bound(**{"key": key, "budget": "", **row, "terms": tuple(map(_term, row["terms"]))})
    for key, row in tomllib.loads(Path(__file__).with_name("bounds.toml").read_text("utf-8")).items()
}

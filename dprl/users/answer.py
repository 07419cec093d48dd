"""The number of users needed in a given setting, measured or extrapolated by the power law, with a verdict.

Users are enough above the number needed times its error factor, too few below the number divided by this factor, and
too close to call in between.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dprl.fields import Field
from dprl.users.law import MODELS, MOST, Array, At, log_needed, signal
from dprl.users.table import Table

Verdict = Literal["enough", "too close to call", "not enough", "not known"]
Kind = Literal["measured", "extrapolated", "beyond"]

FIELDS: Mapping[str, Field] = {
    f.name: f
    for f in (
        Field("users", "int", 10**7, "users, one episode each", 1, int(MOST), query="K"),
        Field("S", "int", 10, "states", 2, 10_000, query="S"),
        Field("A", "int", 3, "actions", 2, 1000, query="A"),
        Field("H", "int", 10, "steps in an episode", 1, 1000, query="H"),
        Field("value", "float", 50.0, "V* as a percentage of H, the most that an episode can pay", 1, 100, query="V"),
        Field("epsilon", "float", 1.0, "privacy budget", 0.03, 10, query="eps"),
        Field("delta", "float", 1e-6, "second part of the budget, in addition to epsilon", 1e-12, 1e-4, query="delta"),
        Field("loss", "float", 10.0, "percentage of V* that an average episode may lose", 1, 10, query="loss"),
        Field("today", "float", 100.0, "percentage of V* lost by a policy you already know", 0, 100, query="today"),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """The setting for which a visitor asks how many users are needed, with an attribute for each of FIELDS.

    today is 100 if no policy is known. problem is the key of a measured problem, which replaces S, A, H and value, or
    "" for your own numbers.
    """

    users: int = 10**7
    S: int = 10
    A: int = 3
    H: int = 10
    value: float = 50.0
    epsilon: float = 1.0
    delta: float = 1e-6
    loss: float = 10.0
    today: float = 100.0
    problem: str = ""

    @property
    def met(self) -> bool:
        """Return whether the best policy known today already loses at most `loss`."""
        return self.today <= self.loss


@dataclass(frozen=True)
class Need:
    """The number of users needed under one privacy model.

    Attributes:
        kind: "beyond" if a size is outside the measured range; then there is no factor and no verdict.
        needed: the users needed to learn from nothing; infinite for more than MOST.
        factor: in nine cases out of ten, `needed` is too low or too high by at most this factor.
        least: the smallest epsilon for which the users are enough; infinite if there is none in the range of FIELDS.
        met: True if the policy known today is good enough, so that any number of users is enough.
    """

    model: str
    kind: Kind
    needed: float
    factor: float
    verdict: Verdict
    least: float
    met: bool = False

    @property
    def low(self) -> float:
        """Return the lower end of the interval for the number of users needed."""
        return self.needed / self.factor

    @property
    def high(self) -> float:
        """Return the upper end of the interval for the number of users needed."""
        return self.needed * self.factor


BUDGETS = np.geomspace(FIELDS["epsilon"].low or 0.0, FIELDS["epsilon"].high or 0.0, 101)


def answers(table: Table, asked: Asked) -> list[Need]:
    """Return the number of users needed under each privacy model."""
    kind, found = kind_of(table, asked), []
    for model in MODELS:
        needed = float(curve(table, asked, model, np.array([asked.epsilon]))[0])
        factor = factor_of(table, asked, model)
        verdict = "enough" if asked.met else _verdict(asked.users, needed, factor)
        line = curve(table, asked, model, BUDGETS) if model != "none" else np.full(len(BUDGETS), np.nan)
        found.append(Need(model, kind, needed, factor, verdict, _crossing(line, asked.users), asked.met))
    return found


def _verdict(users: float, needed: float, factor: float) -> Verdict:
    if not np.isfinite(factor):
        return "not known"
    if users >= needed * factor:
        return "enough"
    return "not enough" if users <= needed / factor else "too close to call"


def _crossing(line: Array, users: float) -> float:
    """Return the smallest budget for which this many users are enough. Values are interpolated on a log scale."""
    if np.isnan(line).any():
        return np.nan
    above = np.flatnonzero(line > users)
    if not len(above):
        return float(BUDGETS[0])
    last = int(above[-1])
    if last == len(line) - 1:
        return np.inf
    if not np.isfinite(line[last]):
        return float(BUDGETS[last + 1])
    share = np.log(line[last] / users) / np.log(line[last] / line[last + 1])
    return float(BUDGETS[last] * (BUDGETS[last + 1] / BUDGETS[last]) ** share)


def likely(table: Table, asked: Asked, model: str) -> bool:
    """Return whether the users suffice even if the number needed is larger by the full error factor."""
    needed = float(curve(table, asked, model, np.array([asked.epsilon]))[0])
    return asked.users >= needed * factor_of(table, asked, model)


def likely_from(table: Table, asked: Asked, model: str) -> float:
    """Return the smallest budget that likely suffices, with two digits: inf if none does, NaN without a known error."""
    low, high = float(BUDGETS[0]), float(BUDGETS[-1])
    factor = factor_of(table, asked, model)
    if not np.isfinite(factor):
        return np.nan
    found = _crossing(curve(table, asked, model, BUDGETS) * factor, asked.users)
    while found <= high:
        found = max(_rounded_up(found), low)
        if likely(table, replace(asked, epsilon=found), model):
            return found
        found *= 1 + 1e-9
    return np.inf


def ways(table: Table, asked: Asked, model: str) -> list[Asked]:
    """Return similar settings in which the users likely suffice, with another budget, more users or a larger loss."""
    if not np.isfinite(factor := factor_of(table, asked, model)) or likely(table, asked, model):
        return []
    least, largest = likely_from(table, asked, model), float(BUDGETS[-1])
    budgets = [asked.epsilon] if np.isfinite(least) else list(dict.fromkeys([asked.epsilon, largest]))
    found = [replace(asked, epsilon=least)] if np.isfinite(least) else []
    for epsilon in budgets:
        needed = factor * float(curve(table, asked, model, np.array([epsilon]))[0])
        if needed <= MOST / 2:
            found.append(replace(asked, epsilon=epsilon, users=math.ceil(_rounded_up(needed))))
    losses = range(math.floor(asked.loss) + 1, int(FIELDS["loss"].high or 0) + 1)
    lost = (replace(asked, epsilon=e, loss=float(loss)) for e in budgets for loss in losses)
    found += [next((one for one in lost if likely(table, one, model)), asked)]
    return [one for one in found if one != asked and likely(table, one, model)]


def _rounded_up(value: float) -> float:
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / unit - 1e-12) * unit:.6g}")


def kind_of(table: Table, asked: Asked) -> Kind:
    """Return the kind of the numbers: measured, extrapolated, or beyond the measured range."""
    if asked.problem:
        return "measured"
    return "beyond" if beyond(table, asked) else "extrapolated"


def beyond(table: Table, asked: Asked) -> list[str]:
    """Return those of S, A, H and value that are outside the measured range."""
    return [name for name, (low, high) in table.ranges.items() if not low <= getattr(asked, name) <= high]


def factor_of(table: Table, asked: Asked, model: str) -> float:
    """Return the factor by which a privacy model's numbers may be wrong, or NaN if it is unknown."""
    errors = {"measured": table.between, "extrapolated": table.held_out}.get(kind_of(table, asked))
    return errors[model] if errors else np.nan


def episodes_needed(table: Table, asked: Asked, model: str, most: int) -> float:
    """Return the episodes needed if each user has up to `most`: inf above MOST, NaN below the measured budgets."""
    if model != "none" and asked.epsilon / most < min(table.epsilons):
        return np.nan
    return float(curve(table, asked, model, np.array([asked.epsilon]), most)[0])


def curve(table: Table, asked: Asked, model: str, epsilons: Array, episodes: int = 1) -> Array:
    """Return the number of users needed at each budget, [P]. It is infinite above MOST."""
    H = table.problems[asked.problem].H if asked.problem else asked.H
    mu = np.array([signal(model, float(epsilon), asked.delta, H, episodes) for epsilon in epsilons])
    share = asked.loss / 100
    if asked.problem:
        found = _between(table, asked.problem, model, mu, share)
    else:
        at = At(asked.S, asked.A, asked.H, asked.value / 100, share, mu)
        found = np.exp(log_needed(table.law, model, at))
        found = np.broadcast_to(found, mu.shape)
    return np.where(found <= MOST, found, np.inf)


def _between(table: Table, key: str, model: str, mu: Array, share: float) -> Array:
    """Interpolate the number of users needed linearly on log scales, first in the loss and then in the signal.

    If a budget needed more than MOST users, the line continues from the next larger budget with the law's exponent, but
    never below MOST.
    """
    problem = table.problems[key]
    logs = np.log(problem.needed[model])
    if model == "none":
        return np.full(mu.shape, np.exp(straight(np.log([share]), np.log(table.losses), logs.T)[0, 0]))
    known = np.log([signal(model, epsilon, table.delta, problem.H) for epsilon in table.epsilons])
    for i in reversed(range(len(logs) - 1)):
        further = logs[i + 1] + table.law[model].mu * (known[i + 1] - known[i])
        logs[i] = np.where(np.isinf(logs[i]), np.maximum(further, np.log(MOST) + 1e-6), logs[i])
    return np.exp(straight(np.log(mu), known, straight(np.log([share]), np.log(table.losses), logs.T)[0]))


def straight(x: Array, at: Array, values: Array) -> Array:
    """Interpolate values linearly, and extrapolate beyond the ends. The values [N] at the ascending points `at` [N]
    give values at x [P]; values [N, R] give [1, R] at x [1]. Between a finite and an infinite value, the result is
    infinite. Small deltas need extrapolation: at 10^-12, the smallest epsilon lies a fifth outside the measured
    range."""
    left = np.clip(np.searchsorted(at, x, side="right") - 1, 0, len(at) - 2)
    share = (x - at[left]) / (at[left + 1] - at[left])
    ends = values[left], values[left + 1]
    with np.errstate(invalid="ignore"):
        found = (1 - share) * ends[0] + share * ends[1]
    return np.where(share == 0, ends[0], np.where(share == 1, ends[1], found))

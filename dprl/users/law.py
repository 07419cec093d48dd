"""A power law for the number of users needed, fitted to measured runs, with its error in other environments.

A problem has S states, A actions and H steps, its best policy earns V* = v H per episode, and an average episode may
lose the share x of V*. Then

    K(none)  = P_none(S, A, H, v, x)
    K(model) = K(none) + P_model(S, A, H, v, x, mu)                 central, shuffle, local
    P        = C S^s A^a H^h / (v^w x^b mu^e)

where mu is the signal-to-noise ratio that (epsilon, delta) allows: one user's effect divided by the standard deviation
of the smallest sufficient noise. With a trusted curator or shuffler, the noise is Gaussian, and mu is about epsilon /
sqrt(2 ln(1/delta)) for a small epsilon. With no trusted party, users answer one-hot questions, and mu is about epsilon
/ 2 for every delta.

The papers' bounds have this form: regret is a term without epsilon plus a term with it, each a product of powers, and
we solve R(K)/K <= x V* for K. Upper bounds are not tight, so we fit the exponents.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from dprl.metrics.curves import Array
from dprl.privacy.accounting import for_each, gaussian_mu
from dprl.privacy.mechanisms.unary import clearest

MODELS = ("none", "central", "shuffle", "local")
MOST = 1e15  # largest number of users in a run; larger needs were not measured
LEARNED = 10  # if no more users than this are needed, the first policy is already good enough
COVERED = 0.9  # share of the held-out numbers that an error factor covers


@lru_cache(maxsize=10_000)
def signal(model: str, epsilon: float, delta: float, H: int, episodes: int = 1) -> float:
    """Return mu: one episode's effect, in standard deviations of the smallest sufficient noise (1 without privacy).

    In the local model, mu is for a count at one of H steps, with the best number of steps for each user to report. The
    guarantee covers all of a user's m = `episodes` together: Gaussian noise in sums is m times as large, one-hot
    questions get epsilon/m each, and shuffled bits get the budget per episode from the group-privacy lemma
    (docs/report/privacy.md).
    """
    if model == "none":
        return 1.0
    if model == "local":
        return math.sqrt(H / clearest(H, epsilon / episodes)[1])
    if model == "shuffle":
        return gaussian_mu(*for_each(epsilon, delta, episodes))
    return gaussian_mu(epsilon, delta) / episodes


@dataclass(frozen=True)
class Point:
    """A measured number of users needed, which is infinite if it is above MOST. Without privacy, mu is 1."""

    environment: str
    model: str
    S: int
    A: int
    H: int
    value: float
    loss: float
    mu: float
    needed: float


class At(NamedTuple):
    """The arguments of a power law, each a number or an array."""

    S: Any
    A: Any
    H: Any
    value: Any
    loss: Any
    mu: Any


@dataclass(frozen=True)
class Power:
    """A product of powers, with the factor exp(log_c). The other attributes are the exponents of S, A, H and so on.
    Those of value, loss and mu are for the denominator. Without privacy, the exponent of mu is 0."""

    log_c: float
    S: float
    A: float
    H: float
    value: float
    loss: float
    mu: float = 0.0

    def log_at(self, at: At) -> Array:
        """Return the logarithm of the product at these arguments."""
        sizes = self.S * np.log(at.S) + self.A * np.log(at.A) + self.H * np.log(at.H)
        lost = self.value * np.log(at.value) + self.loss * np.log(at.loss)
        return np.asarray(self.log_c + sizes - lost - self.mu * np.log(at.mu))


Law = Mapping[str, Power]  # keyed by model; private models add to the users of `none`


def log_needed(law: Law, model: str, at: At) -> Array:
    """Return the natural logarithm of the number of users needed, K, in the shape of the arguments."""
    free = law["none"].log_at(at)
    return free if model == "none" else np.logaddexp(free, law[model].log_at(at))


def off(law: Law, points: Sequence[Point]) -> Array:
    """Return the errors ln(predicted K / measured K) for points of one model, [N]. If K is only known to exceed MOST,
    the error is min(0, ln(predicted K / MOST))."""
    at = At(*(np.array([getattr(p, name) for p in points], float) for name in At._fields))
    found = log_needed(law, points[0].model, at)
    measured = np.array([p.needed for p in points])
    seen = found - np.log(np.minimum(measured, MOST))
    return np.asarray(np.where(measured <= MOST, seen, np.minimum(seen, 0.0)))


def fitted(points: Sequence[Point]) -> dict[str, Power]:
    """Fit the power law to points above LEARNED by least squares in logarithms, with equal weights for environments."""
    points = [p for p in points if p.needed > LEARNED]
    law: dict[str, Power] = {}
    for model in MODELS:
        if own := [p for p in points if p.model == model]:
            law[model] = _fitted(law, model, own)
    return law


def _fitted(law: Law, model: str, points: Sequence[Point]) -> Power:
    from scipy.optimize import least_squares

    weight = np.sqrt(weights([p.environment for p in points]))
    private = model != "none"

    def residuals(theta: Array) -> Array:
        return weight * off({**law, model: Power(*theta)}, points)

    begin = (5.0, *(1.0 for _ in fields(Power)[1 if private else 2 :]))
    return Power(*map(float, least_squares(residuals, begin).x))


def weights(groups: Sequence[str]) -> Array:
    """Return the weights of members of groups, [N]. All groups have the same total weight, and all weights sum to 1."""
    sizes = {group: groups.count(group) for group in dict.fromkeys(groups)}
    return np.array([1 / (len(sizes) * sizes[group]) for group in groups])


def factor(errors: Array, groups: Sequence[str], share: float = COVERED) -> float:
    """Return the smallest factor that covers this share of the errors (log ratios [N]). Groups have equal weight."""
    size = np.abs(errors)
    order = np.argsort(size)
    reached = np.cumsum(weights(groups)[order])
    return float(np.exp(size[order][np.searchsorted(reached, share - 1e-9)]))


def covering(errors: Array, groups: Sequence[str]) -> float:
    """Return an error factor that covers the share COVERED of the errors in a new group.

    With n groups seen, the new one has weight 1/(n + 1) and is treated as if all its errors were larger than any seen.
    So the factor must cover the share COVERED (n + 1)/n of the errors seen (Lee, Barber, Willett 2023, hierarchical
    conformal prediction). With fewer than nine groups, it is the largest error.
    """
    n = len(dict.fromkeys(groups))
    return factor(errors, groups, min(1.0, COVERED * (n + 1) / n))


def held_out(points: Sequence[Point]) -> dict[str, float]:
    """Return each model's error factor in environments left out of the fit, one at a time in all its sizes."""
    errors: dict[str, list[float]] = {}
    names: dict[str, list[str]] = {}
    for left in dict.fromkeys(p.environment for p in points):
        law = fitted([p for p in points if p.environment != left])
        for model, off_by in errors_on(law, points, left).items():
            errors.setdefault(model, []).extend(off_by.tolist())
            names.setdefault(model, []).extend([left] * len(off_by))
    return {model: covering(np.array(errors[model]), names[model]) for model in errors}


def errors_on(law: Law, points: Sequence[Point], kind: str) -> dict[str, Array]:
    """Return the law's errors in one environment for each model. Points that need no learning are left out."""
    own = [p for p in points if p.environment == kind and p.needed > LEARNED]
    by_model = {model: [p for p in own if p.model == model] for model in MODELS}
    return {model: off(law, some) for model, some in by_model.items() if some}


def crossed(points: Sequence[Point], kinds: Sequence[str] = ()) -> dict[str, dict[str, float]]:
    """Return the share of numbers within the error estimated from other environments, by model and environment."""
    found: dict[str, dict[str, float]] = {}
    for kind in kinds or dict.fromkeys(p.environment for p in points):
        others = [p for p in points if p.environment != kind]
        law, stated = fitted(others), held_out(others)
        for model, off_by in errors_on(law, points, kind).items():
            inside = float((np.abs(off_by) <= np.log(stated[model])).mean())
            found.setdefault(model, {})[kind] = inside
    return found

"""Compute the delta and epsilon of a sum of independent privacy losses, with a bound on the rounding errors.

    delta(epsilon) = P[L = inf] + E (1 - e^(epsilon - L))^+

The FFT computes the distribution of a sum with a rounding error of about 1e-16 of the *largest* probability, but delta
depends on the smallest ones. So we tilt the losses first: q(l) = p(l) e^(theta l) / M(theta), with M the
moment-generating function of p and theta near the saddle point. The tilted sum lies near epsilon, and p = q M(theta)
e^(-theta l) restores the probabilities. The rounding error is then a small share of delta, however small delta is, and
we add a bound on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprl.mdp.tabular import Array
from dprl.privacy.losses import LossPart

Complexes = NDArray[np.complex128]

REACH = 13.0  # standard deviations of the tilted sum that are computed on each side; the rest is bounded
LARGEST = 2**23  # the most points of an FFT; if more are needed, Chernoff's bound is the result
ROUNDING = 2.0**-53
SLACK = 1e-9  # relative bound on rounding errors in the input, about 1e-16 for each counter


class Tail(NamedTuple):
    """Bounds on the probabilities of large privacy losses.

    `mass` [N]: at increasing `losses` [N]; `beyond`: at an infinite loss; `rounding` [N]: the part due to rounding.
    """

    losses: Array
    mass: Array
    rounding: Array
    beyond: float

    def delta(self, epsilon: float) -> float:
        """Return an upper bound on delta at this epsilon, which must be at least losses[0]."""
        first, factor = self._above(epsilon)
        return self.beyond + float((self.mass[first:] * factor).sum())

    def rough(self, epsilon: float) -> bool:
        """Return whether rounding may account for more than 0.01% of the delta at this epsilon."""
        first, factor = self._above(epsilon)
        return float((self.rounding[first:] * factor).sum()) > 1e-4 * self.delta(epsilon)

    def _above(self, epsilon: float) -> tuple[int, Array]:
        first = int(np.searchsorted(self.losses, epsilon, side="right"))
        return first, -np.expm1(epsilon - self.losses[first:])


def delta_at(parts: Sequence[LossPart], interval: float, epsilon: float) -> float:
    """Return a tight upper bound on delta at this epsilon >= 0, for losses on multiples of `interval`."""
    theta = _least(lambda t: _log_moment(parts, interval, t) - t * epsilon, interval)
    chernoff = min(_log_moment(parts, interval, theta) - theta * epsilon, 0.0)
    least = _lost(parts) + math.exp(chernoff)
    for tilt in _gentler(theta):
        tail = _tilted_tail(parts, interval, tilt, epsilon)
        if tail is None:
            break
        if tail.losses[0] <= epsilon:
            least = min(least, tail.delta(epsilon))
            if not tail.rough(epsilon):
                break
    return min(least, 1.0)


def epsilon_at(parts: Sequence[LossPart], interval: float, delta: float) -> float:
    """Return a tight upper bound on the smallest epsilon >= 0 for this delta; inf if there is none."""
    from scipy.optimize import brentq

    lost = _lost(parts)
    if lost >= delta:
        return math.inf
    log_rest = math.log(delta - lost)
    theta = _least(lambda t: (_log_moment(parts, interval, t) - log_rest) / t, interval)
    least = max((_log_moment(parts, interval, theta) - log_rest) / theta, 0.0)  # Chernoff
    for tilt in _gentler(theta):
        tail = _tilted_tail(parts, interval, tilt, 0.0)
        if least == 0 or tail is None:
            break
        low = max(0.0, float(tail.losses[0]))
        if low >= least or tail.delta(least) > delta:
            continue
        if tail.delta(low) <= delta:
            least = low
            continue
        found = brentq(lambda e, t=tail: t.delta(e) - delta, low, least, xtol=1e-14 * least, rtol=1e-13)
        least = min(least, float(found) * (1 + 1e-12))
        if not tail.rough(least):
            break
    return least


def _gentler(theta: float) -> Iterator[float]:
    """Yield theta, and then smaller tilts in case theta covers too few losses or causes visible rounding errors."""
    for _ in range(8):
        yield theta
        theta /= 4


def _lost(parts: Sequence[LossPart]) -> float:
    """Return the probability that at least one privacy loss is infinite."""
    if any(part.lost >= 1 for part in parts):
        return 1.0
    return -math.expm1(sum(part.times * math.log1p(-part.lost) for part in parts))


def _tilted(part: LossPart, interval: float, theta: float) -> tuple[Array, float]:
    """Return the exponentially tilted distribution q of one privacy loss, and the logarithm of its factor M(theta)."""
    exponent = part.log_pmf + theta * interval * part.index
    high = float(exponent.max())
    q = np.exp(exponent - high)
    total = float(q.sum())
    return q / total, high + math.log(total)


def _log_moment(parts: Sequence[LossPart], interval: float, theta: float) -> float:
    return sum(part.times * _tilted(part, interval, theta)[1] for part in parts)


def _least(height: Callable[[float], float], interval: float) -> float:
    """Return the approximate theta > 0 that minimises `height`, a function with a single minimum."""
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        lambda log_theta: height(math.exp(log_theta)),
        bounds=(math.log(1e-12 / interval), math.log(1 / (16 * interval))),
        method="bounded",
        options={"xatol": 0.02},
    )
    return math.exp(float(found.x))


def _tilted_tail(parts: Sequence[LossPart], interval: float, theta: float, least: float) -> Tail | None:
    """Bound the probabilities of total losses >= `least` with the tilt theta; return None if it needs too many
    points."""
    from scipy.fft import irfft, rfft

    tilted = [_tilted(part, interval, theta) for part in parts]
    log_m = sum(part.times * each[1] for part, each in zip(parts, tilted, strict=True))
    mean = variance = 0.0  # of the tilted sum, in intervals
    for part, (q, _) in zip(parts, tilted, strict=True):
        centre = float((q * part.index).sum())
        mean += part.times * centre
        variance += part.times * float((q * (part.index - centre) ** 2).sum())
    deviation = math.sqrt(variance) + 4
    points = 2 ** math.ceil(math.log2(2 * REACH * deviation + 64))
    if points > LARGEST:
        return None
    # mass outside the window of these points wraps around, which can only make the bounds larger
    # the rounding error of each value in an FFT of probabilities (Higham 2002, 24.1)
    rounding = (10 * math.log2(points) + 20) * ROUNDING
    log_size, log_most, product = 0.0, 0.0, np.ones(points // 2 + 1, dtype=complex)
    for part, (q, _) in zip(parts, tilted, strict=True):
        circle = np.bincount(part.index % points, q, points)
        transform = rfft(circle)
        size = np.abs(transform)
        log_size = log_size + part.times * np.log(np.maximum(size, 1e-300))
        log_most = log_most + part.times * np.log(size + rounding)
        product = product * _power(transform, part.times)
    twice = np.full(points // 2 + 1, 2.0)
    twice[[0, -1]] = 1.0
    size, most = np.exp(log_size), np.exp(log_most)
    error = float((twice * (most - size + rounding * most)).sum()) / points
    bottom = round(mean) - points // 2
    index = bottom + np.arange(points)
    q = np.maximum(irfft(product, points)[index % points], 0.0) + error
    losses = interval * index
    first = max(int(np.searchsorted(losses, least)) - 1, 0)
    losses, q = losses[first:], q[first:]
    if len(losses) == 0:
        return None
    scale = np.exp(np.minimum(log_m - theta * losses, 700.0))  # the mass is at most 1 anyway
    top = float(losses[-1])
    above = min(
        _log_moment(parts, interval, theta + u) - (theta + u) * top
        for u in (x / (interval * deviation) for x in (0.0, 2.0, 5.0, REACH))
    )
    beyond = _lost(parts) + math.exp(min(above, 0.0))
    return Tail(losses, np.minimum(scale * q * (1 + SLACK), 1.0), np.minimum(scale * error, 1.0), beyond)


def _power(z: Complexes, count: int) -> Complexes:
    result, square = np.ones_like(z), z
    while count:
        if count & 1:
            result = result * square
        count >>= 1
        square = square * square
    return result

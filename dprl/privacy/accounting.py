"""Accounting: which (epsilon, delta) a composition of noise additions proves.

A *loss* is what one neighbouring change does to one kind of noise: so many counters, each shifted by so many
noise scales. A tuple of losses is their (adaptive) composition. The converters below answer, for a tuple,
`epsilon_of(losses, delta)` and `delta_of(losses, epsilon)`. They never guess: a loss they do not know is an error.

- Laplace at delta = 0: pure composition, the sum of shifts.
- Gaussian alone: exactly, by the analytic Gaussian mechanism (Balle, Wang 2018, Theorem 8).
- Everything else: privacy-loss distributions of the dp-accounting library, discretised upward (connect the dots,
  Doroshenko et al. 2022), so that the answer is never too small.

`calibrated` and `least_scale` turn this around: the least noise that proves (epsilon, delta), rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from dprl.fields import SpecError

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The grid of losses, as a share of the standard deviation of the total loss.
GRID = 2e-4
MAX_WINDOW = 4_000_000  # outcomes of a Binomial looked at one by one
SCALES = Context(prec=6, rounding=ROUND_CEILING)  # of the scales that calibration returns: see `rounded_up`


@dataclass(frozen=True)
class Laplace:
    """`count` counters with Laplace noise, each moved by at most `shift` times the noise scale."""

    count: int
    shift: float

    @property
    def spread(self) -> float:
        """About the standard deviation of the total privacy loss."""
        return math.sqrt(self.count) * self.shift


@dataclass(frozen=True)
class Gaussian:
    """Gaussian noise on a vector moved by at most `shift` standard deviations in Euclidean norm (mu of GDP)."""

    shift: float

    @property
    def spread(self) -> float:
        """The standard deviation of the privacy loss."""
        return self.shift


@dataclass(frozen=True)
class Binomial:
    """Counters with Binomial(trials, probability) noise: `up` of them are one higher, `down` one lower."""

    trials: int
    probability: float
    up: int
    down: int

    @property
    def spread(self) -> float:
        """About the standard deviation of the total privacy loss."""
        variance = self.trials * self.probability * (1 - self.probability)
        return math.sqrt((self.up + self.down) / variance)


Loss = Laplace | Gaussian | Binomial
Losses = tuple[Loss, ...]


def scaled(losses: Losses, factor: float) -> Losses:
    """The same losses under noise whose standard deviation is `factor` times as large."""
    result: list[Loss] = []
    for loss in losses:
        if isinstance(loss, Binomial):
            result.append(replace(loss, trials=math.ceil(loss.trials * factor**2)))
        else:
            result.append(replace(loss, shift=loss.shift / factor))
    return tuple(result)


def separation_of(losses: Losses) -> float:
    """By how many of its standard deviations the best attacker's score moves from one data set to the other.

    The mu of Gaussian noise, exactly; of Laplace noise from the first two moments of the loss, of Binomial noise as if
    it were Gaussian.
    """
    mean = variance = 0.0
    for loss in losses:
        if isinstance(loss, Laplace):
            t = loss.shift
            one = t - 1 + math.exp(-t) if t > 1e-4 else t * t / 2  # E[L], which is E of -L under the other
            square = t * t * (1 + math.exp(-t)) / 2
            # (t - 2x)^2 over the Laplace density between the two centres
            square += (t * t - 4 * t + 8 - (t * t + 4 * t + 8) * math.exp(-t)) / 2 if t > 1e-2 else t**3 / 6
            mean += loss.count * one
            variance += loss.count * (square - one * one)
        else:
            mean += loss.spread**2 / 2
            variance += loss.spread**2
    return 2 * mean / math.sqrt(variance) if variance > 0 else 0.0


def zcdp_of(losses: Losses) -> float | None:
    """The rho for which the composition is rho-zCDP; None where no such bound is known here (Binomial noise).

    Gaussian noise: mu^2 / 2. Laplace noise, of pure shift t: t^2 / 2 each (Bun, Steinke 2016, Propositions 1.6, 1.4).
    """
    total = 0.0
    for loss in losses:
        if isinstance(loss, Binomial):
            return None
        total += (loss.count if isinstance(loss, Laplace) else 1) * loss.shift**2 / 2
    return total


@lru_cache(maxsize=4096)
def epsilon_of(losses: Losses, delta: float) -> float:
    """The least epsilon for which the composition of `losses` is (epsilon, delta)-DP; inf if there is none.

    delta: in [0, 1). At delta = 0 only Laplace noise has an answer. Upper bounds, tight to about 0.1%.
    """
    if not losses:
        return 0.0
    pure = sum(x.count * x.shift for x in losses if isinstance(x, Laplace))
    if not all(isinstance(x, Laplace) for x in losses):
        pure = math.inf
    if delta <= 0 or pure == 0:
        return pure
    gaussian = _all_gaussian(losses)
    if gaussian is not None:
        return gaussian_epsilon(gaussian, delta)
    return min(pure, float(_distribution(losses).get_epsilon_for_delta(delta)))


def delta_of(losses: Losses, epsilon: float) -> float:
    """The least delta for which the composition of `losses` is (epsilon, delta)-DP. epsilon: >= 0."""
    if not losses:
        return 0.0
    if all(isinstance(x, Laplace) for x in losses) and epsilon >= epsilon_of(losses, 0.0):
        return 0.0
    gaussian = _all_gaussian(losses)
    if gaussian is not None:
        return gaussian_delta(gaussian, epsilon)
    return float(_distribution(losses).get_delta_for_epsilon(epsilon))


def gaussian_delta(mu: float, epsilon: float) -> float:
    """delta(epsilon) of Gaussian noise: Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu).

    mu: sensitivity over standard deviation, > 0. (Balle, Wang 2018, Theorem 8)
    """
    from scipy.special import log_ndtr

    high = float(log_ndtr(mu / 2 - epsilon / mu))
    low = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    return math.exp(high) * -math.expm1(low - high) if low < high else 0.0


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The least epsilon >= 0 with gaussian_delta(mu, epsilon) <= delta. mu > 0, delta in (0, 1)."""
    from scipy.optimize import brentq

    if gaussian_delta(mu, 0.0) <= delta:
        return 0.0
    high = mu * mu / 2 + mu * math.sqrt(2 * math.log(1 / delta))  # concentrated-DP bound: always enough
    return float(brentq(lambda e: gaussian_delta(mu, e) - delta, 0.0, high, xtol=1e-12, rtol=1e-12))


def gaussian_mu(epsilon: float, delta: float) -> float:
    """The largest mu for which Gaussian noise is (epsilon, delta)-DP. epsilon > 0, delta in (0, 1)."""
    from scipy.optimize import brentq

    high = 1.0
    while gaussian_delta(high, epsilon) < delta:
        high *= 2
    low = high
    while gaussian_delta(low, epsilon) > delta:
        low /= 2
    if low == high:
        return high
    mu = float(brentq(lambda m: gaussian_delta(m, epsilon) - delta, low, high, xtol=1e-14, rtol=1e-13))
    return mu * (1 - 1e-12)


def rounded_up(scale: float) -> float:
    """`scale` with six significant digits, never less.

    What a search or an FFT finds differs in its last digits from CPU to CPU; what they round to is the same. More
    noise proves whatever less noise proves.
    """
    return float(SCALES.create_decimal(repr(float(scale))))


def least_scale(losses_at: Callable[[float], Losses], epsilon: float, delta: float, guess: float) -> float:
    """The least noise scale s, within 0.01%, for which `losses_at(s)` proves (epsilon, delta), rounded up.

    losses_at: from a scale to the losses under it, fewer as s grows. The result is on the safe side.
    """
    target = math.log(epsilon)

    def excess(log_scale: float) -> float:
        # infinite where too little noise proves nothing at this delta
        value = min(epsilon_of(losses_at(math.exp(log_scale)), delta), 20 * epsilon)
        return (math.log(value) if value > 0 else -50.0) - target

    # epsilon falls about like 1 / s, so a secant in logarithms arrives in a few steps; where it does not (infinite
    # epsilon, whole numbers of bits) every third step halves the bracket
    low = high = None
    x = math.log(guess)
    for step in range(60):
        y = excess(x)
        if y <= 0:
            high = (x, y)
            if y > -3e-5:
                break
        else:
            low = (x, y)
        if low and high:
            if high[0] - low[0] < 2e-5:
                break
            width = high[0] - low[0]
            slow = step % 3 == 2 or math.isinf(low[1])
            cut = low[0] + width * (0.5 if slow else low[1] / (low[1] - high[1]))
            x = min(max(cut + 1e-5, low[0] + 0.02 * width), high[0] - 0.02 * width)
        else:
            x += max(min(y, 3.0), -3.0) + (1e-5 if y > 0 else -1e-5)
    if high is None:
        raise SpecError(
            "epsilon", f"{epsilon:g} cannot be proved at delta {delta:g} by any noise of this kind."
        )
    return rounded_up(math.exp(high[0]))


def calibrated(
    losses_at: Callable[[float], Losses], epsilon: float, delta: float, *, exact: bool = True
) -> float:
    """The least noise scale for which `losses_at(scale)` proves (epsilon, delta), rounded up.

    Shifts must be in proportion to 1 / scale. With exact=False, where that would take a numerical search, the
    answer of the central limit theorem (within a few percent, for a preview only, proving nothing).
    """
    unit = losses_at(1.0)
    pure = math.inf
    if all(isinstance(x, Laplace) for x in unit):
        pure = rounded_up(epsilon_of(unit, 0.0) / epsilon)
    if delta <= 0:
        return pure
    guess = math.sqrt(sum(x.spread**2 for x in unit)) / gaussian_mu(epsilon, delta)
    if _all_gaussian(unit) is not None:
        return rounded_up(guess)
    if not exact:
        return min(guess, pure)
    return min(least_scale(losses_at, epsilon, delta, guess), pure)


def _all_gaussian(losses: Losses) -> float | None:
    """The mu of a composition of Gaussians alone, else None."""
    shifts = [x.shift for x in losses if isinstance(x, Gaussian)]
    return math.sqrt(sum(s * s for s in shifts)) if len(shifts) == len(losses) else None


@lru_cache(maxsize=8)  # some hold megabytes
def _distribution(losses: Losses) -> Any:
    """The privacy-loss distribution of the composition, from the dp-accounting library."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    interval = GRID * math.sqrt(sum(x.spread**2 for x in losses))
    total: Any = None
    for loss in losses:
        if isinstance(loss, Laplace):
            one = pld.from_laplace_mechanism(
                1 / loss.shift, value_discretization_interval=interval, use_connect_dots=True
            )
            part = one.self_compose(loss.count)
        elif isinstance(loss, Gaussian):
            part = pld.from_gaussian_mechanism(
                1 / loss.shift, value_discretization_interval=interval, use_connect_dots=True
            )
        elif isinstance(loss, Binomial):
            part = _binomial(loss, interval)
        else:
            raise TypeError(f"no accounting for {loss!r}")
        total = part if total is None else total.compose(part)
    return total


def _binomial(loss: Binomial, interval: float) -> Any:
    """The privacy-loss distribution of Binomial noise under shifts by one."""
    from dp_accounting.pld import pld_pmf
    from dp_accounting.pld import privacy_loss_distribution as pld

    first, b, outside = _binomial_window(loss.trials, loss.probability)
    x = np.arange(first, first + len(b) + 1)  # outcomes of b, and of b moved up by one
    here, below = np.append(b, 0.0), np.append(0.0, b)  # P[noise = x], P[noise + 1 = x]
    log_odds = math.log(loss.probability) - math.log1p(-loss.probability)
    inner = slice(1, -1)
    log_ratio = (
        np.log(x[inner] / (loss.trials - x[inner] + 1.0)) - log_odds
    )  # ln P[noise + 1 = x] / P[noise = x]

    def compose(up: int, down: int) -> Any:
        parts = []
        for count, mass, losses, lost in (
            (up, below[inner], log_ratio, below[-1]),
            (down, here[inner], -log_ratio, here[0]),
        ):
            if count:
                lowest, pmf = _connect_dots(losses, mass, interval)
                parts.append(
                    pld_pmf.DensePLDPmf(interval, lowest, pmf, float(lost) + outside, True).self_compose(
                        count
                    )
                )
        return parts[0] if len(parts) == 1 else parts[0].compose(parts[1])

    # exchanging the two data sets exchanges up and down
    forward = compose(loss.up, loss.down)
    return pld.PrivacyLossDistribution(forward, None if loss.up == loss.down else compose(loss.down, loss.up))


def _binomial_window(trials: int, probability: float) -> tuple[int, NDArray[np.float64], float]:
    """First outcome, probabilities of a run of outcomes, and a bound on the mass outside it.

    Probabilities are built outward from the mode by their ratios, so that no digits are lost for any number
    of trials (differences of log-gammas lose all of them near 10^15). Outside: Bernstein's inequality.
    """
    mean = trials * probability
    sigma = math.sqrt(mean * (1 - probability))
    reach = 12 * sigma + 30
    first, last = max(0, math.floor(mean - reach)), min(trials, math.ceil(mean + reach))
    if last - first > MAX_WINDOW:
        raise SpecError(
            "epsilon", "the privacy of this much Binomial noise is not computed; give a larger epsilon."
        )
    mode = min(max(math.floor(mean), first), last)
    x = np.arange(first, last)
    step = np.log((trials - x) / (x + 1.0)) + (math.log(probability) - math.log1p(-probability))
    log_b = np.concatenate([[0.0], np.cumsum(step)])
    log_b -= log_b[mode - first]
    b = np.exp(log_b)
    whole = first == 0 and last == trials
    outside = 0.0 if whole else 2 * math.exp(-(reach**2) / (2 * (sigma**2 + reach / 3)))
    return first, b / b.sum(), outside


def _connect_dots(
    losses: NDArray[np.float64], mass: NDArray[np.float64], interval: float
) -> tuple[int, NDArray[Any]]:
    """Move each atom of privacy loss to the two grid points around it, keeping its mass under both data sets.

    That is a spread of the likelihood ratio, so the result is at least as revealing. Returns the lowest grid
    index and the mass on each grid point from there on.
    """
    floor = np.floor(losses / interval)
    rest = losses - floor * interval
    # share on the upper point: keeps sum of mass * exp(-loss)
    upper = np.expm1(-rest) / math.expm1(-interval)
    index = floor.astype(np.int64)
    lowest = int(index.min())
    size = int(index.max()) - lowest + 2
    result = np.bincount(index - lowest, mass * (1 - upper), size)
    result += np.bincount(index - lowest + 1, mass * upper, size)
    return lowest, result

"""Privacy accounting: compute the (epsilon, delta) that we can prove for several noisy releases together.

A *loss* describes the effect of one neighbouring change on one kind of noise: how many counters shift, and by how many
noise scales. A tuple of losses is their (adaptive) composition, which we compute in one of three ways:

- Laplace noise and flipped bits (Response) at delta = 0: pure composition, the sum of shifts.
- Gaussian noise alone: the exact formula of the analytic Gaussian mechanism (Balle, Wang 2018, Theorem 8).
- All other cases: privacy-loss distributions on a grid (losses.py, composition.py), rounded upward and with a bound on
  the error of their composition, so that the result is never too small.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_CEILING, Context
from functools import lru_cache

from dprl.fields import reject
from dprl.privacy.composition import delta_at, epsilon_at
from dprl.privacy.losses import (
    SAID,
    Binomial,
    Gaussian,
    Laplace,
    Loss,
    Losses,
    LossPart,
    Pure,
    one_way,
    parts_of,
)

GRID = 2e-4  # the interval of the grid, as a share of the standard deviation of the total loss
SCALES = Context(prec=6, rounding=ROUND_CEILING)  # for scales that calibration returns (`rounded_up`)


def scaled(losses: Losses, factor: float) -> Losses:
    """Return the privacy losses of the noise after its standard deviation is multiplied by `factor`."""
    return tuple(
        replace(loss, trials=math.ceil(loss.trials * factor**2))
        if isinstance(loss, Binomial)
        else replace(loss, shift=loss.shift / factor)
        for loss in losses
    )


def separation_of(losses: Losses) -> float:
    """Return the distance between the best attacker's mean scores on neighbouring data sets, in standard deviations.

    This is mu for Gaussian noise, and Binomial noise is treated as Gaussian. For other noise, it follows from the first
    two moments of the loss.
    """
    mean = variance = 0.0
    for loss in losses:
        if isinstance(loss, Laplace):
            t = loss.shift
            one = t - 1 + math.exp(-t) if t > 1e-4 else t * t / 2  # E[L] = E[-L] under the other data
            square = t * t * (1 + math.exp(-t)) / 2
            # the integral of (t - 2x)^2 times the Laplace density between the two centres
            square += (t * t - 4 * t + 8 - (t * t + 4 * t + 8) * math.exp(-t)) / 2 if t > 1e-2 else t**3 / 6
            mean += loss.count * one
            variance += loss.count * (square - one * one)
        elif isinstance(loss, Pure):
            half = math.tanh(loss.shift / 2)
            mean += loss.count * loss.shift * half
            variance += loss.count * loss.shift**2 * (1 - half * half)
        else:
            mean += loss.spread**2 / 2
            variance += loss.spread**2
    return 2 * mean / math.sqrt(variance) if variance > 0 else 0.0


def zcdp_of(losses: Losses) -> float:
    """Return the rho for which the composition is rho-zCDP; inf for Binomial noise, for which no bound is known.

    Each Gaussian, Laplace or flipped-bit shift of t adds t^2 / 2 (Bun, Steinke 2016, Propositions 1.6, 1.4).
    """
    total = 0.0
    for loss in losses:
        if isinstance(loss, Binomial):
            return math.inf
        total += (1 if isinstance(loss, Gaussian) else loss.count) * loss.shift**2 / 2
    return total


@lru_cache(maxsize=4096)
def epsilon_of(losses: Losses, delta: float) -> float:
    """Return the least epsilon for which the composition of `losses` is (epsilon, delta)-DP; inf if there is none.

    delta: in [0, 1). At 0, only Laplace noise and flipped bits have an epsilon. The result is at most 0.1% too large.
    """
    if not losses:
        return 0.0
    pure = _pure(losses)
    if delta <= 0 or pure == 0:
        return pure
    gaussian = _all_gaussian(losses)
    if gaussian is not None:
        return gaussian_epsilon(gaussian, delta)
    interval, directions = _on_grid(losses)
    return min(pure, max(epsilon_at(parts, interval, delta) for parts in directions))


def delta_of(losses: Losses, epsilon: float) -> float:
    """Return the least delta for which the composition of `losses` is (epsilon, delta)-DP. epsilon must be >= 0."""
    if not losses:
        return 0.0
    if epsilon >= _pure(losses):
        return 0.0
    gaussian = _all_gaussian(losses)
    if gaussian is not None:
        return gaussian_delta(gaussian, epsilon)
    interval, directions = _on_grid(losses)
    return max(delta_at(parts, interval, epsilon) for parts in directions)


def repeated(losses: Losses, times: int) -> Losses:
    """Return the joint privacy losses of `times` independent releases, each of which has these losses."""
    result: list[Loss] = []
    for x in losses:
        if isinstance(x, Pure):
            result.append(replace(x, count=times * x.count))
        elif isinstance(x, Gaussian):
            result.append(replace(x, shift=math.sqrt(times) * x.shift))
        else:
            result.append(replace(x, up=times * x.up, down=times * x.down))
    return tuple(result)


@lru_cache(maxsize=256)
def group_epsilon(losses: Losses, size: int, delta: float) -> float:
    """Return an epsilon for which `size` joint changes are (epsilon, delta)-DP; inf if there is none.

    `losses` are those of one change. For Gaussian noise the result is exact, because joint changes are at most `size`
    times as long. For other noise, if one change is (e, d)-DP, `size` changes are (size e, d (e^(size e) - 1)/(e^e -
    1))-DP (Vadhan 2017, Lemma 2.2). We raise e until it is proved, which overshoots by at most 0.2%, and then lower it
    as long as it is proved. So noise calibrated to a budget never exceeds that budget.
    """
    if size == 1:
        return epsilon_of(losses, delta)
    gaussian = _all_gaussian(losses)
    if gaussian is not None:
        return gaussian_epsilon(size * gaussian, delta) if delta > 0 else math.inf
    one = epsilon_of(losses, delta)
    pure = size * epsilon_of(losses, 0.0)

    def left(e: float) -> float:  # the delta left for each change
        return delta * math.exp(-(size - 1) * e) * -math.expm1(-e) / -math.expm1(-size * e)

    for _ in range(40):
        if not 0 < one < math.inf or delta <= 0 or left(one) < 1e-200:
            return pure
        enough = one * 1.002
        one = epsilon_of(losses, left(enough))
        if one <= enough:
            break
    else:
        return pure
    for _ in range(60):  # epsilon_of(losses, left(enough)) = one <= enough, so `one` is proved too
        enough, one = one, epsilon_of(losses, left(one))
        if one >= enough * (1 - 1e-9):
            break
    return min(size * enough, pure)


def group_delta(losses: Losses, size: int, epsilon: float) -> float:
    """Return a delta for which `size` joint changes are (epsilon, delta)-DP, by the lemma in `group_epsilon`."""
    if size == 1:
        return delta_of(losses, epsilon)
    gaussian = _all_gaussian(losses)
    if gaussian is not None:
        return gaussian_delta(size * gaussian, epsilon)
    one = epsilon / size
    each = delta_of(losses, one)
    if each == 0 or one < 1e-9:
        return min(1.0, size * each * math.exp(epsilon))
    times = epsilon - one + math.log(math.expm1(-epsilon) / math.expm1(-one))
    return math.exp(min(0.0, math.log(each) + times))


def for_each(epsilon: float, delta: float, size: int) -> tuple[float, float]:
    """Return (e, d), rounded down, such that `size` changes are (epsilon, delta)-DP if each of them is (e, d)-DP. See
    Vadhan (2017), Lemma 2.2."""
    if size == 1:
        return epsilon, delta
    one = epsilon / size * (1 - 1e-12)
    return one, delta * math.exp(one - epsilon) * math.expm1(-one) / math.expm1(-epsilon) * (1 - 1e-9)


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Return delta(epsilon) for Gaussian noise: Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu).

    mu: the sensitivity divided by the standard deviation, > 0. Source: Balle, Wang 2018, Theorem 8.
    """
    from scipy.special import log_ndtr

    high = float(log_ndtr(mu / 2 - epsilon / mu))
    low = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    return math.exp(high) * -math.expm1(low - high) if low < high else 0.0


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Return the least epsilon >= 0 with gaussian_delta(mu, epsilon) <= delta. mu > 0, delta in (0, 1)."""
    from scipy.optimize import brentq

    if gaussian_delta(mu, 0.0) <= delta:
        return 0.0
    high = mu * mu / 2 + mu * math.sqrt(2 * math.log(1 / delta))  # the bound for concentrated DP
    return float(brentq(lambda e: gaussian_delta(mu, e) - delta, 0.0, high, xtol=1e-12, rtol=1e-12))


def gaussian_mu(epsilon: float, delta: float) -> float:
    """Return the largest mu for which Gaussian noise is (epsilon, delta)-DP. epsilon > 0, delta in (0, 1)."""
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
    """Return `scale` rounded up to six digits, because the last digits of a search or an FFT differ between CPUs."""
    return float(SCALES.create_decimal(repr(float(scale))))


def least_scale(losses_at: Callable[[float], Losses], epsilon: float, delta: float, guess: float) -> float:
    """Return the least noise scale, within 0.01%, for which `losses_at(scale)` is (epsilon, delta)-DP, rounded up.

    losses_at: returns the losses at a scale, which fall as the scale grows. guess: the first scale to try.
    """
    target = math.log(epsilon)

    def excess(log_scale: float) -> float:
        # epsilon is infinite if there is too little noise for this delta
        value = min(epsilon_of(losses_at(math.exp(log_scale)), delta), 20 * epsilon)
        return (math.log(value) if value > 0 else -50.0) - target

    # epsilon falls roughly as 1 / scale, so secants in logarithms need few steps; every third step halves the bracket,
    # in case they fail (infinite epsilon, whole numbers of bits)
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
        raise reject("epsilon", SAID["unproved"], epsilon=epsilon, delta=delta)
    return rounded_up(math.exp(high[0]))


def calibrated(losses_at: Callable[[float], Losses], epsilon: float, delta: float) -> float:
    """Return the least noise scale, rounded up, for (epsilon, delta)-DP. Shifts must be proportional to 1 / scale."""
    unit = losses_at(1.0)
    pure = math.inf
    if all(isinstance(x, Laplace) for x in unit):
        pure = rounded_up(epsilon_of(unit, 0.0) / epsilon)
    if delta <= 0:
        return pure
    guess = math.sqrt(sum(x.spread**2 for x in unit)) / gaussian_mu(epsilon, delta)
    if _all_gaussian(unit) is not None:
        return rounded_up(guess)
    return min(least_scale(losses_at, epsilon, delta, guess), pure)


def _pure(losses: Losses) -> float:
    """Return the epsilon from pure composition, the sum of the shifts; inf if some noise has no pure guarantee."""
    pure = [x.count * x.shift for x in losses if isinstance(x, Pure)]
    return sum(pure) if len(pure) == len(losses) else math.inf


def _all_gaussian(losses: Losses) -> float | None:
    shifts = [x.shift for x in losses if isinstance(x, Gaussian)]
    return math.sqrt(sum(s * s for s in shifts)) if len(shifts) == len(losses) else None


@lru_cache(maxsize=16)
def _on_grid(losses: Losses) -> tuple[float, list[list[LossPart]]]:
    """Return a grid interval and the losses rounded to the grid, in both orders of the data sets if they differ."""
    interval = GRID * math.sqrt(sum(x.spread**2 for x in losses))
    ways = (False, True) if one_way(losses) else (False,)
    return interval, [parts_of(losses, interval, exchanged=way) for way in ways]

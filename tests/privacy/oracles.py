"""What the accountant is compared with: sums, integrals and inversions that share no code with it."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld
from numpy.typing import NDArray
from scipy import optimize, stats

from dprl.mdp.tabular import Array
from dprl.privacy.losses import Binomial

Complex = NDArray[Any]  # complex128
Curve = Callable[[float], float]


def inverted(moment: Callable[[Complex], Complex], infinite: float = 0.0, accuracy: float = 1e-4) -> Curve:
    """delta(epsilon) from ln M(z), whose L is finite but with probability `infinite`."""

    def curve(epsilon: float) -> float:
        def height(log_a: float) -> float:
            a = math.exp(log_a)
            return float(moment(np.array([a + 0j]))[0].real) - a * epsilon - math.log(a * (a + 1))

        # the line through the saddle point: nothing cancels on it
        a = math.exp(float(optimize.minimize_scalar(height, bounds=(-12.0, 12.0), method="bounded").x))
        top = height(math.log(a))
        step, total, begin, size = a / 8, 0.0, 0, 64  # trapezoid: error exp(-2 pi * 8)
        while True:
            u = step * np.arange(begin, begin + size)
            z = a + 1j * u
            values = np.exp(moment(z) - z * epsilon - np.log(z) - np.log(z + 1) - top)
            total += float(values.real.sum()) - (0.5 * float(values[0].real) if begin == 0 else 0.0)
            begin += size
            # what is left is below |value| times u, as the integrand falls at least like 1 / u^2
            if np.abs(values[size // 2 :]).max() * begin < accuracy * abs(total):
                break
            assert begin < 2**25, "the integrand does not fall"
            size = min(2 * size, 2**16)
        return infinite + math.exp(top) * total * step / math.pi

    return curve


def laplace_moment(count: int, shift: float) -> Callable[[Complex], Complex]:
    """ln M of one draw: atoms of mass 1/2 at shift and e^-shift/2 at -shift, density e^((l - shift)/2)/4 between."""

    def moment(z: Complex) -> Complex:
        # divided by e^(z shift), the largest of the terms
        between = 0.25 * -np.expm1(-(2 * z + 1) * shift) / (z + 0.5)
        return count * (z * shift + np.log(0.5 + between + 0.5 * np.exp(-(2 * z + 1) * shift)))

    return moment


def precise_binomial(trials: int, p: float, reach: float = 13.0) -> tuple[NDArray[np.int64], Array]:
    """Outcomes within `reach` standard deviations of the mean and their probabilities, by mpmath at 60 digits."""
    with mpmath.workdps(60):
        q, n = mpmath.mpf(p), mpmath.mpf(trials)
        spread = reach * math.sqrt(trials * p * (1 - p)) + 20
        x = np.arange(
            max(0, math.floor(trials * p - spread)), min(trials, math.ceil(trials * p + spread)) + 1
        )
        log_n = mpmath.loggamma(n + 1)
        pmf = [
            mpmath.exp(
                log_n
                - mpmath.loggamma(mpmath.mpf(int(k)) + 1)
                - mpmath.loggamma(n - int(k) + 1)
                + int(k) * mpmath.log(q)
                + (n - int(k)) * mpmath.log1p(-q)
            )
            for k in x
        ]
        return x, np.array([float(b) for b in pmf])


def binomial_curve(loss: Binomial, accuracy: float = 1e-4) -> Curve:
    """The worse of both directions, by inversion over mpmath's probabilities."""
    _, b = precise_binomial(loss.trials, loss.probability)
    here, below = np.append(b, 0.0), np.append(0.0, b)  # at x, and moved up by one
    both = (here > 0) & (below > 0)
    ratio = np.log(below[both] / here[both])

    def one(up: int, down: int) -> Curve:
        def moment(z: Complex) -> Complex:
            total = np.zeros_like(z)
            for count, mass, losses in ((up, below[both], ratio), (down, here[both], -ratio)):
                if count:
                    # in ln, relative to the largest: no overflow
                    exponent = np.log(mass) + z[:, None] * losses
                    high = exponent.real.max(1)
                    total += count * (high + np.log(np.exp(exponent - high[:, None]).sum(1)))
            return total

        # an outcome beyond the support gives the shift away: up shows trials + 1, down shows 0
        lost_up = loss.probability**loss.trials
        lost_down = (1 - loss.probability) ** loss.trials
        return inverted(moment, 1 - (1 - lost_up) ** up * (1 - lost_down) ** down, accuracy)

    forward, backward = one(loss.up, loss.down), one(loss.down, loss.up)
    return lambda epsilon: max(forward(epsilon), backward(epsilon))


def enumerated(trials: int, p: Fraction, up: int, down: int) -> Curve:
    """Every outcome of every counter, under both data sets: no privacy-loss distribution at all."""
    pmf = [math.comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(trials + 1)]
    here, above = [*pmf, Fraction(0)], [Fraction(0), *pmf]  # outcomes 0 .. trials + 1
    first = np.array([1.0])
    second = np.array([1.0])
    for moved in [True] * up + [False] * down:
        a, b = (above, here) if moved else (here, above)
        first = np.multiply.outer(first, np.array(a, dtype=float)).ravel()
        second = np.multiply.outer(second, np.array(b, dtype=float)).ravel()

    def curve(epsilon: float) -> float:
        grown = math.exp(epsilon)
        return max(
            float(np.maximum(first - grown * second, 0).sum()),
            float(np.maximum(second - grown * first, 0).sum()),
        )

    return curve


def composed(parts: list[tuple[Any, int]], delta: float) -> float:
    """The epsilon of a composition of privacy-loss distributions of dp-accounting, each so many times."""
    whole: Any = None
    for one, times in parts:
        several = one.self_compose(times)
        whole = several if whole is None else whole.compose(several)
    return float(whole.get_epsilon_for_delta(delta))


def gaussian_loss(scale: float, length: float) -> Any:
    return pld.from_gaussian_mechanism(scale / length, value_discretization_interval=1e-4)


def laplace_loss(scale: float, size: float) -> Any:
    return pld.from_laplace_mechanism(scale / size, value_discretization_interval=1e-4)


def bits_loss(trials: int, by: int) -> Any:
    """Of fair bits in a counter that moves by so much, from their probabilities."""
    k = np.arange(trials + 1)
    log = stats.binom.logpmf(k, trials, 0.5)
    here, moved = ({int(i) + far: float(log[i]) for i in k if log[i] > -200} for far in (0, by))
    return pld.from_two_probability_mass_functions(here, moved, value_discretization_interval=1e-4)

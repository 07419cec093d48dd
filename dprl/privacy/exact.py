"""Noise for real data: multiples of a public grid step, drawn exactly from the system's cryptographic generator.

We draw discrete Gaussian and Laplace noise by Algorithms 1 to 3 of Canonne, Kamath, Steinke (2020), in integer
arithmetic only. Rounded floats would reveal low bits of the private sums (Mironov 2012), and a few outputs of an
ordinary random generator reveal its state. The proofs are in docs/report/privacy.md.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

BITS = 30
STEPS = 2**BITS  # steps per unit; in float64, sums of up to 2^23 grid numbers from 0 to 1 are exact
SPACING = 1 / STEPS

Below = Callable[[int], int]  # maps n to a uniform draw from 0, ..., n - 1


def happens(numerator: int, denominator: int, below: Below) -> bool:
    """Return True with probability exp(-numerator/denominator), for integers numerator >= 0, denominator > 0."""
    while numerator > denominator:
        if not happens(1, 1, below):
            return False
        numerator -= denominator
    k = 1
    while numerator >= k * denominator or below(k * denominator) < numerator:
        k += 1
    return k % 2 == 1


def discrete_laplace(scale: Fraction, below: Below = secrets.randbelow) -> int:
    """Draw an integer z with probability proportional to exp(-|z|/scale), for scale > 0 (Algorithm 2)."""
    t, s = scale.numerator, scale.denominator
    while True:
        u = below(t)
        if not happens(u, t, below):
            continue
        v = 0
        while happens(1, 1, below):
            v += 1
        z = (u + t * v) // s
        negative = below(2)
        if z or not negative:  # otherwise 0 would come twice as often
            return -z if negative else z


def discrete_gaussian(scale: Fraction, below: Below = secrets.randbelow) -> int:
    """Draw an integer z with probability proportional to exp(-z^2/(2 scale^2)), for scale > 0 (Algorithm 3)."""
    p, q = scale.numerator**2, scale.denominator**2  # scale^2 = p/q
    t = scale.numerator // scale.denominator + 1
    of_t = Fraction(t)
    while True:
        z = discrete_laplace(of_t, below)
        # (|z| - scale^2/t)^2 / (2 scale^2)
        if happens((abs(z) * t * q - p) ** 2, 2 * p * q * t * t, below):
            return z


class Apart(NamedTuple):
    """The distance between discrete noise and continuous noise of the same scale.

    Except for outcomes of probability below 10^-2000, the probability of a grid point is at most e^up times, and at
    least e^-down times, the probability that continuous noise falls into the cell around it.
    """

    up: float
    down: float

    def epsilon(self, of: Callable[[float], float], delta: float) -> float:
        """Return an epsilon for which discrete noise is (epsilon, delta)-DP. `of` maps a delta to the epsilon of
        continuous noise; of(0) is also valid for discrete noise."""
        return min(of(0.0), of(self.delta(delta)) + self.up + self.down)

    def delta(self, delta: float) -> float:
        """Return the delta, slightly below the given one, at which `epsilon` must evaluate continuous noise."""
        return delta * math.exp(-self.up) * (1 - 1e-12)


def gaussian_apart(scale: float, shift: float) -> Apart:
    """Return how far discrete Gaussian noise is from continuous noise if a counter moves by `shift` grid steps."""
    q = math.exp(-2 * (math.pi * scale) ** 2)
    wrapped = 2 * q / (1 - q) if q < 1 else math.inf
    return Apart(1 / (24 * scale**2), (100 + shift / scale) ** 2 / (8 * scale**2) + wrapped)


def laplace_apart(scale: float, shift: float) -> Apart:
    """Return how far discrete Laplace noise is from continuous noise. `scale` is in grid steps; `shift` is unused."""
    return Apart(1 / (4 * scale), 1 / (8 * scale**2))


@dataclass(frozen=True)
class Exact:
    """A sampler of discrete noise, with its distance from continuous noise."""

    # draw(scale): draws one number; the number and the scale are in grid steps
    draw: Callable[[Fraction], int]
    # apart(scale, shift): returns the distance of the noise in one counter from continuous noise
    apart: Callable[[float, float], Apart]


EXACT = {  # keys: the mechanisms that draw the same noise in floating point
    "gaussian": Exact(discrete_gaussian, gaussian_apart),
    "laplace": Exact(discrete_laplace, laplace_apart),
}

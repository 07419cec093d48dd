"""Privacy losses: how much one change in the data reveals through each kind of noise, as distributions on a grid.

The loss of an outcome is the logarithm of the ratio of its probabilities under the two data sets. A distribution of
losses is stored on multiples of an `interval`: each atom is split between the two nearest multiples so that its mass
under both data sets stays the same ("connect the dots", Doroshenko et al. 2022). Splitting spreads the likelihood
ratio, so the stored distribution reveals at least as much as the true one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dprl.fields import reject
from dprl.mdp.tabular import Array
from dprl.messages import messages

SAID = messages("refusals")["noise"]
MAX_WINDOW = 4_000_000  # the most Binomial outcomes that are computed one by one


@dataclass(frozen=True)
class Pure:
    """A bounded privacy loss: there are `count` counters, and each adds at most `shift`."""

    count: int
    shift: float

    @property
    def spread(self) -> float:
        """Estimate the standard deviation of the total privacy loss."""
        return math.sqrt(self.count) * self.shift


class Laplace(Pure):
    """The privacy loss of `count` counters with Laplace noise, each moved by at most `shift` times the noise scale."""


class Response(Pure):
    """The privacy loss of `count` bits, `shift` or -`shift` for each, if a bit flips w.p. 1 / (e^shift + 1)."""


@dataclass(frozen=True)
class Gaussian:
    """The privacy loss of Gaussian noise on a vector that moves by at most `shift` standard deviations (mu-GDP)."""

    shift: float

    @property
    def spread(self) -> float:
        return self.shift


@dataclass(frozen=True)
class Binomial:
    """The privacy loss of counters with Binomial(trials, probability) noise, if `up` rise by 1 and `down` fall by 1."""

    trials: int
    probability: float
    up: int
    down: int

    @property
    def spread(self) -> float:
        variance = self.trials * self.probability * (1 - self.probability)
        return math.sqrt((self.up + self.down) / variance)


Loss = Laplace | Gaussian | Binomial | Response
Losses = tuple[Loss, ...]


@dataclass(frozen=True, eq=False)
class LossPart:
    """The distribution of each of `times` losses: lowest + i grid intervals w.p. pmf[i], or infinite w.p. `lost`."""

    lowest: int
    pmf: Array
    times: int
    lost: float

    @cached_property
    def index(self) -> NDArray[np.int64]:
        """Return the possible finite losses [N], as multiples of the grid interval."""
        return self.lowest + np.arange(len(self.pmf))

    @cached_property
    def log_pmf(self) -> Array:
        """Return the logarithms of the probabilities [N]."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.pmf))


def parts_of(losses: Losses, interval: float, *, exchanged: bool = False) -> list[LossPart]:
    """Return the distributions of the losses on multiples of `interval`. If `exchanged`, the data sets swap roles.
    Raises TypeError for an unknown kind of loss."""
    parts = []
    for loss in losses:
        if isinstance(loss, Laplace):
            parts.append(_laplace(loss, interval))
        elif isinstance(loss, Response):
            mass = np.array([1.0, math.exp(-loss.shift)]) / (1 + math.exp(-loss.shift))
            lowest, pmf = _connect_dots(np.array([loss.shift, -loss.shift]), mass, interval)
            parts.append(LossPart(lowest, pmf, loss.count, 0.0))
        elif isinstance(loss, Binomial):
            parts += _binomial(loss, interval, exchanged)
        else:
            raise TypeError(f"the accountant cannot handle the loss {loss!r} in a composition")
    return parts


def one_way(losses: Losses) -> bool:
    """Return whether the distribution of the privacy loss changes when the two data sets swap roles."""
    return any(isinstance(x, Binomial) and x.up != x.down for x in losses)


def _laplace(loss: Laplace, interval: float) -> LossPart:
    """Return the distribution of the loss of Laplace noise: atoms at the shift s and at -s, and a density between them.

    The atoms are 1/2 and e^-s/2, and the density is e^((l - s)/2)/4. Between two grid points, an atom halfway replaces
    the density; its mass under both data sets is the same.
    """
    s = loss.shift
    inside = np.arange(math.floor(-s / interval) + 1, math.ceil(s / interval)) * interval
    edges = np.concatenate([[-s], inside[(inside > -s) & (inside < s)], [s]])
    between = np.exp((edges[:-1] - s) / 2) * np.expm1(np.diff(edges) / 2) / 2
    at = np.concatenate([[-s], (edges[:-1] + edges[1:]) / 2, [s]])
    lowest, pmf = _connect_dots(at, np.concatenate([[math.exp(-s) / 2], between, [0.5]]), interval)
    return LossPart(lowest, pmf, loss.count, 0.0)


def _binomial(loss: Binomial, interval: float, exchanged: bool) -> list[LossPart]:
    """Return the losses of the rising and of the falling counters. If `exchanged`, the data sets swap roles."""
    first, b, outside = binomial_window(loss.trials, loss.probability)
    x = np.arange(first, first + len(b) + 1)  # the outcomes of the noise, and of the noise plus one
    here, below = np.append(b, 0.0), np.append(0.0, b)  # P[noise = x], P[noise + 1 = x]
    log_odds = math.log(loss.probability) - math.log1p(-loss.probability)
    inner = slice(1, -1)
    # ln P[noise + 1 = x] / P[noise = x]
    log_ratio = np.log(x[inner] / (loss.trials - x[inner] + 1.0)) - log_odds
    up, down = (loss.down, loss.up) if exchanged else (loss.up, loss.down)
    parts = []
    for count, mass, losses, lost in (
        (up, below[inner], log_ratio, below[-1]),
        (down, here[inner], -log_ratio, here[0]),
    ):
        if count:
            lowest, pmf = _connect_dots(losses, mass, interval)
            parts.append(LossPart(lowest, pmf, count, float(lost) + outside))
    return parts


def binomial_window(trials: int, probability: float) -> tuple[int, Array, float]:
    """Return the first relevant outcome, the probabilities from there on, and a bound on the probability left out.

    Ratios of neighbouring probabilities keep all digits, while differences of log-gammas lose them near 10^15 trials.
    The bound is Bernstein's inequality. Raises SpecError if there are too many outcomes.
    """
    mean = trials * probability
    sigma = math.sqrt(mean * (1 - probability))
    reach = 12 * sigma + 30
    first, last = max(0, math.floor(mean - reach)), min(trials, math.ceil(mean + reach))
    if last - first > MAX_WINDOW:
        raise reject("epsilon", SAID["binomial"])
    mode = min(max(math.floor(mean), first), last)
    x = np.arange(first, last)
    step = np.log((trials - x) / (x + 1.0)) + (math.log(probability) - math.log1p(-probability))
    log_b = np.concatenate([[0.0], np.cumsum(step)])
    log_b -= log_b[mode - first]
    b = np.exp(log_b)
    whole = first == 0 and last == trials
    outside = 0.0 if whole else 2 * math.exp(-(reach**2) / (2 * (sigma**2 + reach / 3)))
    return first, b / b.sum(), outside


def _connect_dots(losses: Array, mass: Array, interval: float) -> tuple[int, Array]:
    """Round losses to a grid without understating them. Return the lowest grid index, and the mass from there on."""
    floor = np.floor(losses / interval)
    rest = losses - floor * interval
    # the share on the upper point that keeps the sum of mass * exp(-loss)
    upper = np.expm1(-rest) / math.expm1(-interval)
    index: NDArray[np.int64] = floor.astype(np.int64)
    lowest = int(index.min())
    size = int(index.max()) - lowest + 2
    result: Array = np.bincount(index - lowest, mass * (1 - upper), size).astype(float)
    result += np.bincount(index - lowest + 1, mass * upper, size)
    return lowest, np.maximum(result, 0.0)  # rounding may give tiny negative masses next to an atom

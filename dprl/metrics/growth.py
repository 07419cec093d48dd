"""Growth exponents: the powers with which regret, the privacy cost, and other quantities grow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from dprl.metrics.curves import BANDS, Array, Integers, Statistic

FLAT = 0.1  # the largest exponent that counts as flat
LINEAR = 0.9  # an exponent of regret above it counts as growth in proportion to the users


def growth_exponent(
    episodes: Integers, regret: Array, from_k: float, to_k: float, statistic: Statistic = "mean"
) -> tuple[float, float, float]:
    """Fit the exponent x for which cumulative regret grows like K^x between two numbers of episodes.

    For each seed of regret [seeds, C], x is the slope of a least-squares line through log regret at 32 log-spaced
    points of [from_k, to_k] (so that densely recorded stretches do not weigh more). Returns the mean (or median) over
    seeds with its 95% interval, or NaN if a regret in the window is missing or not above zero.
    """
    return center_of(_slopes(episodes, regret, from_k, to_k), statistic)


def center_of(slopes: Array, statistic: Statistic = "mean") -> tuple[float, float, float]:
    """Return the mean (or median) of slopes [seeds], with its interval."""
    center, low, high = BANDS[statistic](slopes.reshape(-1, 1))
    return float(center[0]), float(low[0]), float(high[0])


def _slopes(episodes: Integers, regret: Array, from_k: float, to_k: float) -> Array:
    """Fit the exponent of each seed, [seeds], as `growth_exponent` does; NaN if there is none."""
    at = np.asarray(episodes, float)
    slopes = np.full(len(regret), np.nan)
    if not 0 < from_k < to_k or len(at) < 2 or from_k < at[0] or to_k > at[-1]:
        return slopes
    log_k = np.linspace(np.log(from_k), np.log(to_k), 32)
    values = np.array([np.interp(np.exp(log_k), at, row) for row in regret]).reshape(-1, 32)
    usable = np.isfinite(values).all(axis=1) & (values > 0).all(axis=1)
    if usable.any():
        slopes[usable] = np.polyfit(log_k, np.log(values[usable]).T, 1)[0]
    return slopes


def unsettled(episodes: Integers, regret: Array) -> int:
    """Count the seeds that learn nothing: their regret grows faster than K^0.9 in the last tenfold range of K."""
    K = float(episodes[-1]) if len(episodes) else 0.0
    return int(np.sum(_slopes(episodes, regret, K / 10, K) > LINEAR))


@dataclass(frozen=True)
class Growth:
    """The mean exponent with which a privacy cost grows between from_k and to_k episodes, with its 95% t interval. It
    uses the `seeds` (out of `of`) whose cost was always above zero. The interval is NaN for fewer than two seeds."""

    from_k: float
    to_k: float
    mean: float
    low: float
    high: float
    seeds: int
    of: int

    @property
    def known(self) -> bool:
        """Return whether there is an interval and it comes from more than half of the seeds."""
        return bool(np.isfinite(self.low)) and 2 * self.seeds > self.of


def growth_by_decade(episodes: Integers, price: Array) -> list[Growth]:
    """Fit the growth exponent of a privacy cost [seeds, C] in each tenfold range of episodes, from the last one back.

    Ranges that begin before 1,000 episodes are left out. So are seeds with a negative cost in a range, which occurs if
    the run without privacy makes a rare late mistake.
    """
    decades: list[Growth] = []
    to_k = float(episodes[-1]) if len(episodes) else 0.0
    while to_k / 10 >= 1e3 * (1 - 1e-9) and to_k / 10 >= episodes[0]:
        decades.append(_growth(to_k / 10, to_k, _slopes(episodes, price, to_k / 10, to_k)))
        to_k /= 10
    return decades[::-1]


def growth_between(users: Array, price: Array) -> list[Growth]:
    """Fit the growth exponent of a cost [seeds, P] between neighbouring numbers of users. Costs must be above 0."""
    slopes = np.diff(np.log(np.where(price > 0, price, np.nan)), axis=1) / np.diff(np.log(users))
    return [_growth(users[i], users[i + 1], column) for i, column in enumerate(slopes.T)]


def _growth(from_k: float, to_k: float, slopes: Array) -> Growth:
    known = slopes[np.isfinite(slopes)]
    return Growth(float(from_k), float(to_k), *center_of(known), len(known), len(slopes))


def flat_from(decades: Sequence[Growth]) -> float | None:
    """Return the number of episodes from which all exponents have intervals at or below FLAT, or None."""
    flat = list(takewhile(lambda one: one.known and one.high <= FLAT, reversed(decades)))
    return flat[-1].from_k if flat else None


def power_law(x: Array, values: Array, statistic: Statistic = "mean") -> tuple[float, float, float]:
    """Fit the exponent with which values [seeds, P] grow in x [P], by least squares on logarithms for each seed. Return
    the mean (or median) with its 95% interval. All are NaN for fewer than two points or any value not above zero."""
    rows = np.asarray(values, float)
    if len(x) < 2 or not (np.isfinite(rows).all() and (rows > 0).all()):
        return (np.nan, np.nan, np.nan)
    slopes = np.polyfit(np.log(np.asarray(x, float)), np.log(rows).T, 1)[0]
    return center_of(np.asarray(slopes, float), statistic)


def late_share(episodes: Integers, values: Array, k: float) -> float:
    """Return the share of a curve's value at k that was added after k / 10, or NaN if either value is not above 0."""
    whole, tenth = (float(np.interp(at, episodes, values)) for at in (k, k / 10))
    return 1 - tenth / whole if np.isfinite(tenth) and tenth > 0 and whole > 0 else np.nan

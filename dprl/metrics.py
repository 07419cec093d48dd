"""Numbers that pages read off traces: bands over seeds, the price of privacy, growth exponents, PAC counts.

Pure: arrays in, arrays out. C is the number of checkpoints; a seed that has not got to one is NaN there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

Array = NDArray[np.float64]
Integers = NDArray[Any]

LEVEL = 0.95


def align(seeds: Sequence[tuple[Integers, Array]]) -> tuple[Integers, Array]:
    """Curves of one spec's seeds, each (episodes [c], values [c]) and as far as it has got, as one table.

    Seeds of one spec share their checkpoints, so each is a beginning of the longest. Returns (episodes [C],
    values [seeds, C]), with NaN after a seed's end. Raises ValueError if the checkpoints disagree.
    """
    longest = max((episodes for episodes, _ in seeds), key=len, default=np.zeros(0, np.int64))
    table = np.full((len(seeds), len(longest)), np.nan)
    for row, (episodes, values) in zip(table, seeds, strict=True):
        if not np.array_equal(episodes, longest[: len(episodes)]):
            raise ValueError("these seeds do not share their checkpoints, so they are not of one spec")
        row[: len(values)] = values
    return longest, table


def regret_band(regret: Array) -> tuple[Array, Array, Array]:
    """Mean over seeds and its 95% t interval: (mean, low, high), each [C], of regret [seeds, C].

    Any other measurement [seeds, C] will do. The interval is NaN with one seed; all three are NaN
    where a seed is NaN, for a mean over fewer and fewer seeds would jump.
    """
    count, points = regret.shape
    if count == 0:
        nothing = np.full(points, np.nan)
        return nothing, nothing.copy(), nothing.copy()
    mean = regret.mean(axis=0)
    if count == 1:
        return mean, np.full(points, np.nan), np.full(points, np.nan)
    half = stdtrit(count - 1, (1 + LEVEL) / 2) * regret.std(axis=0, ddof=1) / np.sqrt(count)
    return mean, mean - half, mean + half


def per_episode(episodes: Integers, regret: Array) -> Array:
    """Average regret per episode so far, [..., C], of cumulative regret [..., C] at episodes [C]."""
    average: Array = regret / np.asarray(episodes, float)
    return average


def extra_regret(
    episodes: Integers, regret: Array, twin_episodes: Integers, twin_regret: Array
) -> tuple[Integers, Array]:
    """What privacy cost: cumulative regret [seeds, C] less that of the non-private twin, seed by seed.

    Seed i is paired with the twin's seed i (they share the environment's stream); where one has more seeds
    the rest are left out. At other checkpoints than its own the twin is interpolated linearly from (0, 0):
    between two releases the policy is fixed and regret is linear. NaN past the twin's end.
    Returns (episodes [C], extra [pairs, C]).
    """
    pairs = min(len(regret), len(twin_regret))
    extra = np.empty((pairs, len(episodes)))
    for seed in range(pairs):
        known = np.isfinite(twin_regret[seed])
        twin = np.interp(
            np.asarray(episodes, float),
            np.concatenate([[0.0], np.asarray(twin_episodes, float)[known]]),
            np.concatenate([[0.0], twin_regret[seed][known]]),
            right=np.nan,
        )
        extra[seed] = regret[seed] - twin
    return episodes, extra


def growth_exponent(
    episodes: Integers, regret: Array, from_k: float, to_k: float
) -> tuple[float, float, float]:
    """The x for which cumulative regret grows like K^x between two numbers of episodes.

    Slope of a least-squares line through log regret at 32 log-spaced points of [from_k, to_k] (so that
    densely recorded stretches do not weigh more), for each seed of regret [seeds, C]; then (mean, low, high)
    over seeds, a 95% t interval. NaN if a regret in the window is missing, zero, negative or not recorded.
    """
    at = np.asarray(episodes, float)
    if not 0 < from_k < to_k or len(at) < 2 or from_k < at[0] or to_k > at[-1]:
        return (np.nan, np.nan, np.nan)
    log_k = np.linspace(np.log(from_k), np.log(to_k), 32)
    slopes = []
    for row in regret:
        values = np.interp(np.exp(log_k), at, row)
        usable = np.isfinite(values).all() and (values > 0).all()
        slopes.append(np.polyfit(log_k, np.log(values), 1)[0] if usable else np.nan)
    mean, low, high = regret_band(np.array(slopes, float).reshape(-1, 1))
    return float(mean[0]), float(low[0]), float(high[0])


def pac_curve(pac_count: NDArray[Any]) -> tuple[Array, Array, Array]:
    """Episodes more than alpha suboptimal by the end: (mean, low, high) over seeds, each [P].

    pac_count [seeds, C, P] counts them up to each checkpoint, for each of P values of alpha.
    """
    return regret_band(np.asarray(pac_count, float)[:, -1, :])


def fewest_pulls(epsilon: float, gap: float, beta: float) -> float:
    """How often an (epsilon, 0)-private bandit learner must pull one bad arm, at least, in expectation.

    ln(1/(4 beta)) / (48 epsilon gap), for an arm that pays `gap` less than the best. It holds for learners that name
    the best arm with probability at least 1 - beta on every instance, 0 < beta < 1/4 (V20 Lemma 8). The paper prints
    24 for 48; its proof exchanges two arms, but its Lemma 7 lets only one change. Raising the bad arm alone, to as
    much above the best as it was below, moves it by 2 gap, and the same steps then give 48.

    Raises ValueError outside these ranges.
    """
    if not (epsilon > 0 and gap > 0 and 0 < beta < 0.25):
        raise ValueError("give epsilon and gap above 0, and beta between 0 and 1/4")
    return float(np.log(1 / (4 * beta)) / (48 * epsilon * gap))


def growth_of_mean(
    x: Array, samples: Array, *, statistic: str = "mean", draws: int = 2000, seed: int = 0
) -> tuple[float, float, float]:
    """The p for which the mean over seeds grows like x^p: (estimate, low, high).

    Slope of a least-squares line through the logarithm of the mean (or median) of samples [N, seeds] against that of
    x [N]; the interval is a 95% percentile bootstrap over seeds, with its own random numbers.
    """
    if statistic not in ("mean", "median"):
        raise ValueError("statistic is mean or median")
    log_x = np.log(np.asarray(x, float))
    rng = np.random.default_rng(seed)

    def slope(values: Array) -> float:
        center = values.mean(axis=1) if statistic == "mean" else np.median(values, axis=1)
        return float(np.polyfit(log_x, np.log(center), 1)[0])

    rows = np.arange(len(samples))[:, None]
    again = [slope(samples[rows, rng.integers(samples.shape[1], size=samples.shape)]) for _ in range(draws)]
    low, high = np.percentile(again, [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    return slope(samples), float(low), float(high)

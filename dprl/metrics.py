"""Numbers that pages read off traces: bands over seeds, the price of privacy, growth exponents, PAC counts.

Pure: arrays in, arrays out. C is the number of checkpoints; a seed that has not got to one is NaN there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, stdtr, stdtrit

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


def at_common_points(seeds: Sequence[tuple[Integers, Array]]) -> tuple[Integers, Array]:
    """Running totals of several seeds, each (episodes [D], totals [D, ...]), at the episodes of the first of them.

    Where a schedule follows the counts, a seed's releases fall at times of its own. There its totals are interpolated
    linearly, from 0 before any user: between two releases the policy is fixed. Seeds must end at the same episode.
    Returns (episodes [D], totals [seeds, D, ...]).
    """
    at = np.asarray(seeds[0][0])
    found = np.empty((len(seeds), *seeds[0][1].shape))
    for table, (episodes, totals) in zip(found, seeds, strict=True):
        known = np.concatenate([[0.0], np.asarray(episodes, float)])
        for cell in np.ndindex(totals.shape[1:]):
            column = (slice(None), *cell)
            table[column] = np.interp(np.asarray(at, float), known, np.concatenate([[0.0], totals[column]]))
    return at, found


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
    slopes = _slopes(episodes, regret, from_k, to_k)
    mean, low, high = regret_band(slopes.reshape(-1, 1))
    return float(mean[0]), float(low[0]), float(high[0])


def _slopes(episodes: Integers, regret: Array, from_k: float, to_k: float) -> Array:
    """The exponent of each seed, [seeds], as `growth_exponent` says; NaN where there is none."""
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


@dataclass(frozen=True)
class Growth:
    """How a price grew between two numbers of episodes: like K^mean. low, high: 95% t interval over `seeds` of `of`
    seeds, those whose price was above zero all the while; NaN with fewer than two."""

    from_k: float
    to_k: float
    mean: float
    low: float
    high: float
    seeds: int
    of: int

    @property
    def known(self) -> bool:
        """Whether there is an interval, and from more than half of the seeds."""
        return bool(np.isfinite(self.low)) and 2 * self.seeds > self.of


def growth_by_decade(episodes: Integers, price: Array, first: float = 1e3) -> list[Growth]:
    """The growth exponent of a price [seeds, C] in each tenfold of episodes, counted back from the last.

    Tenfolds that begin before `first` are left out. A price may be negative (a run without privacy that makes a rare
    late mistake loses more than its private twin): seeds with one at or below zero in a tenfold do not count in it.
    """
    decades: list[Growth] = []
    to_k = float(episodes[-1]) if len(episodes) else 0.0
    while to_k / 10 >= first * (1 - 1e-9) and to_k / 10 >= episodes[0]:
        slopes = _slopes(episodes, price, to_k / 10, to_k)
        slopes = slopes[np.isfinite(slopes)]
        mean, low, high = (float(value[0]) for value in regret_band(slopes.reshape(-1, 1)))
        decades.append(Growth(to_k / 10, to_k, mean, low, high, len(slopes), len(price)))
        to_k /= 10
    return decades[::-1]


def flat_from(decades: Sequence[Growth], most: float = 0.1) -> float | None:
    """The number of episodes from which a price is flat: the beginning of the first tenfold such that in it and in
    every later one the exponent is known and its whole interval at or below `most`. None if the last tenfold is not."""
    found = None
    for decade in reversed(decades):
        if not (decade.known and decade.high <= most):
            break
        found = decade.from_k
    return found


def median_band(values: Array) -> tuple[Array, Array, Array]:
    """Median over seeds and a 95% interval of it: (median, low, high), each [C], of values [seeds, C].

    Where one seed in twenty may lose a thousand times what the others do, a mean says little. The interval lies
    between two of the ordered seeds and supposes nothing of their distribution (the number of seeds below the
    median is binomial); it is NaN with fewer than six seeds, of which even the extremes cover less than 95%.
    All three are NaN where a seed is NaN.
    """
    count, points = values.shape
    nothing = np.full(points, np.nan)
    if count == 0:
        return nothing, nothing.copy(), nothing.copy()
    ordered = np.sort(values, axis=0)  # NaN last
    ordered[:, np.isnan(ordered[-1])] = np.nan
    # The largest rank j with P(fewer than j of `count` seeds lie below the median) at most half of what is left out.
    below = bdtr(np.arange(count), count, 0.5)
    rank = int(np.sum(below <= (1 - LEVEL) / 2))
    median: Array = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    if rank == 0:
        return median, nothing, nothing.copy()
    return median, ordered[rank - 1], ordered[count - rank]


def pac_curve(pac_count: NDArray[Any]) -> tuple[Array, Array, Array]:
    """Episodes more than alpha suboptimal by the end: (mean, low, high) over seeds, each [P].

    pac_count [seeds, C, P] counts them up to each checkpoint, for each of P values of alpha.
    """
    return regret_band(np.asarray(pac_count, float)[:, -1, :])


def power_law(x: Array, values: Array) -> tuple[float, float, float]:
    """The p for which values grow like x^p: (mean, low, high) over seeds, a 95% t interval.

    x: [P] positive; values: [seeds, P]. Slope of a least-squares line through logarithms, for each seed. NaN if there
    are fewer than two points, or any value is missing, zero or negative.
    """
    rows = np.asarray(values, float)
    if len(x) < 2 or not (np.isfinite(rows).all() and (rows > 0).all()):
        return (np.nan, np.nan, np.nan)
    slopes = np.polyfit(np.log(np.asarray(x, float)), np.log(rows).T, 1)[0]
    mean, low, high = regret_band(np.asarray(slopes, float).reshape(-1, 1))
    return float(mean[0]), float(low[0]), float(high[0])


@dataclass(frozen=True)
class Reversal:
    """Two points of a sweep in the wrong order: at the larger x the mean is larger by `excess`; p: Holm-corrected."""

    group: str
    smaller: float
    larger: float
    excess: float
    p: float


def reversals(groups: Mapping[str, tuple[Array, Array]], level: float = 0.05) -> tuple[int, list[Reversal]]:
    """Where a larger x gives a significantly larger value, although it should give less.

    groups: name to (x [P] ascending, values [seeds, P]). Every pair of points of a group is compared by a one-sided
    t test, paired by seed (they share the environment's stream), and all tests together are corrected as Holm (1979)
    does, so that with probability 1 - level none is found where there is none. Returns how many pairs were compared,
    and those found. Points that miss a seed are left out, and with one seed nothing can be compared.
    """
    tests = []
    for name, (x, values) in groups.items():
        known = np.flatnonzero(np.isfinite(values).all(axis=0))
        for i, small in enumerate(known):
            for large in known[i + 1 :]:
                difference = values[:, large] - values[:, small]
                if len(difference) < 2:
                    continue
                mean, spread = difference.mean(), difference.std(ddof=1) / np.sqrt(len(difference))
                with np.errstate(divide="ignore", invalid="ignore"):
                    p = float(np.nan_to_num(stdtr(len(difference) - 1, -mean / spread), nan=1.0))
                tests.append(Reversal(name, float(x[small]), float(x[large]), float(mean), p))
    found, corrected = [], 0.0
    for rank, test in enumerate(sorted(tests, key=lambda t: t.p)):
        corrected = max(corrected, min(1.0, test.p * (len(tests) - rank)))
        if corrected > level:
            break
        found.append(replace(test, p=corrected))
    return len(tests), found


def fewest_pulls(epsilon: float, gap: float, beta: float) -> float:
    """How often an (epsilon, 0)-private bandit learner must pull one bad arm, at least, in expectation.

    ln(1/(4 beta)) / (24 epsilon gap), for an arm that pays `gap` less than the best. It holds for learners that name
    the best arm with probability at least 1 - beta on every instance, however small its gap, 0 < beta < 1/4 (V20
    Lemma 8). The paper's proof exchanges two arms, but its Lemma 7 lets only one change. Raising the bad arm alone,
    to just above the best, moves it by gap + eta, and the same steps with eta -> 0 give the same 24.

    Raises ValueError outside these ranges.
    """
    if not (epsilon > 0 and gap > 0 and 0 < beta < 0.25):
        raise ValueError("give epsilon and gap above 0, and beta between 0 and 1/4")
    return float(np.log(1 / (4 * beta)) / (24 * epsilon * gap))


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

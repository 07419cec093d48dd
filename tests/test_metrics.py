"""Metrics against closed forms, SciPy's own intervals, small cases worked by hand, and normal scores of attacks."""

from __future__ import annotations

import math
from dataclasses import astuple

import numpy as np
import pytest
from scipy import stats

from dprl.metrics import regions, search
from dprl.metrics.attack import (
    Measured,
    best_guess,
    epsilon_of_separation,
    guessed_right,
    histogram,
    posterior,
    roc,
    separation,
    surely,
)
from dprl.metrics.curves import Array, RunCurves, align, median_band, regret_band
from dprl.metrics.growth import (
    Growth,
    flat_from,
    growth_between,
    growth_by_decade,
    growth_exponent,
    late_share,
    power_law,
    unsettled,
)
from dprl.metrics.policies import count_noise, optimism, time_shared
from dprl.metrics.regions import Region, half_widths
from dprl.metrics.verdicts import fewest_pulls, least


def test_band_is_scipys_t_interval() -> None:
    regret = np.random.default_rng(0).gamma(2.0, size=(5, 7)).cumsum(axis=1)
    mean, low, high = regret_band(regret)
    expected = stats.t.interval(0.95, 4, loc=regret.mean(0), scale=stats.sem(regret, axis=0))
    np.testing.assert_allclose(mean, regret.mean(0))
    np.testing.assert_allclose((low, high), expected)


def test_exponents_are_means_or_medians_over_seeds() -> None:
    x, powers = np.array([1e3, 1e4, 1e5]), np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.9])
    values = x[None, :] ** powers[:, None]
    assert power_law(x, values)[0] == pytest.approx(powers.mean())
    assert power_law(x, values, "median") == pytest.approx((0.4, 0.1, 0.9))  # of 7 seeds the extremes
    assert growth_exponent(x, values, 1e4, 1e5, "median")[0] == pytest.approx(0.4, abs=0.02)


def test_mean_ends_where_the_slowest_seed_is() -> None:
    mean, low, _ = regret_band(np.array([[1.0, 2.0, 3.0], [3.0, 4.0, np.nan]]))
    np.testing.assert_array_equal(mean, [2.0, 3.0, np.nan])
    assert np.isnan(low[2])


def test_seeds_under_way_are_aligned_and_with_other_checkpoints_refused() -> None:
    at = np.array([1, 10, 100])
    episodes, values = align([(at[:1], np.array([3.0])), (at, np.array([1.0, 2.0, 3.0]))])
    assert episodes.tolist() == [1, 10, 100]
    np.testing.assert_array_equal(values, [[3.0, np.nan, np.nan], [1.0, 2.0, 3.0]])
    assert align([])[1].shape == (0, 0)
    with pytest.raises(ValueError, match="checkpoints"):
        align([(np.array([1, 5]), np.zeros(2)), (at, np.zeros(3))])


def test_extra_regret_is_paired_by_seed_and_interpolates_a_baseline_with_other_checkpoints() -> None:
    episodes = np.array([1, 5, 10, 20])
    run = RunCurves(episodes, 2.0 * np.outer([1, 10, 7], episodes))
    for at, extra in (
        (episodes, [[1, 5, 10, 20], [10, 50, 100, 200]]),  # of the third seed there is no baseline
        (np.array([2, 10]), [[1, 5, 10, np.nan], [10, 50, 100, np.nan]]),  # nothing is known past its end
    ):
        np.testing.assert_allclose(run.beyond(RunCurves(at, 1.0 * np.outer([1, 10], at))), extra)


@pytest.mark.parametrize("exponent", [0.3, 0.5, 1.0])
def test_growth_exponent_of_a_power_law(exponent: float) -> None:
    episodes = np.union1d(np.geomspace(1, 1e9, 200).astype(int), np.linspace(1, 1e9, 100).astype(int))
    regret = np.array([[1.0], [2.0], [5.0]]) * episodes.astype(float) ** exponent
    assert growth_exponent(episodes, regret, 1e6, 1e9) == pytest.approx([exponent] * 3, abs=2e-3)


def test_growth_exponent_weighs_decades_alike_however_dense_the_record() -> None:
    """Kinked growth recorded mostly at the end: the slope is of the window, not of the dense stretch."""
    sparse = np.geomspace(1e3, 1e9, 61)
    dense = np.union1d(sparse, np.linspace(1e8, 1e9, 2000))

    def kinked(k: np.ndarray) -> np.ndarray:
        return np.where(k < 1e6, k, 1e6 * (k / 1e6) ** 0.2)[None, :]

    a = growth_exponent(sparse, kinked(sparse), 1e3, 1e9)[0]
    b = growth_exponent(dense, kinked(dense), 1e3, 1e9)[0]
    assert a == pytest.approx(b, abs=0.01)
    assert 0.4 < a < 0.8


@pytest.mark.parametrize(
    ("regret", "window"),
    [
        ([0.0, 0.0, 1.0], (1, 100)),
        ([1.0, -1.0, 1.0], (1, 100)),
        ([1.0, 2.0, np.nan], (1, 100)),
        ([1.0, 2.0, 3.0], (1, 1000)),
        ([1.0, 2.0, 3.0], (100, 100)),
    ],
)
def test_growth_exponent_that_does_not_exist_is_nan(regret: list[float], window: tuple[int, int]) -> None:
    result = growth_exponent(np.array([1, 10, 100]), np.array([regret]), *window)
    assert np.isnan(result).all()


def test_power_law_finds_the_exponent() -> None:
    x = np.array([0.1, 1.0, 10.0])
    rows = np.array([3 * x**-1.0, 5 * x**-1.2])
    mean, low, high = power_law(x, rows)
    assert mean == pytest.approx(-1.1)
    half = 12.7062 * 0.1  # t quantile with one degree of freedom, standard error of two slopes 0.2 apart
    assert (low, high) == pytest.approx((-1.1 - half, -1.1 + half), rel=1e-4)
    assert np.isnan(power_law(x, np.array([[1.0, 0.0, 2.0]]))[0])
    assert np.isnan(power_law(x[:1], rows[:, :1])[0])


def test_growth_between_runs_is_exact_and_leaves_out_seeds_without_a_price() -> None:
    users = np.array([1e3, 1e5, 1e6])
    price = np.array([users**0.5, 2 * users**0.5, [1.0, -1.0, 1.0]])
    for step, ends in zip(growth_between(users, price), ((1e3, 1e5), (1e5, 1e6)), strict=True):
        assert astuple(step) == pytest.approx((*ends, 0.5, 0.5, 0.5, 2, 3))


def test_growth_by_decade_is_counted_back_from_the_end() -> None:
    at = np.geomspace(10, 3e7, 400)
    kinked = np.where(at < 3e5, at, 3e5**0.8 * at**0.2)  # K, and K^0.2 from 3e5 on
    decades = growth_by_decade(at, np.array([kinked, 2 * kinked]))
    np.testing.assert_allclose([d.from_k for d in decades], [3e3, 3e4, 3e5, 3e6])
    np.testing.assert_allclose([d.to_k for d in decades], [3e4, 3e5, 3e6, 3e7])
    np.testing.assert_allclose([d.mean for d in decades], [1, 1, 0.2, 0.2], atol=2e-3)
    assert all(d.seeds == 2 and d.low == pytest.approx(d.high) for d in decades)
    assert growth_by_decade(np.zeros(0), np.zeros((2, 0))) == []
    assert growth_by_decade(np.array([500.0, 5000.0]), np.ones((1, 2))) == []


def test_a_decade_counts_only_seeds_whose_price_is_above_zero() -> None:
    at = np.geomspace(10, 1e5, 300)
    below = at.copy()
    below[at > 2e4] = -1.0  # the baseline made a late mistake
    early, late = growth_by_decade(at, np.array([at, at**0.9, below]))
    assert (early.seeds, early.of, late.seeds, late.of) == (3, 3, 2, 3)
    expected = stats.t.interval(0.95, 1, loc=0.95, scale=stats.sem([1.0, 0.9]))
    assert (late.mean, late.low, late.high) == pytest.approx((0.95, *expected), abs=2e-3)
    (none,) = growth_by_decade(at[at > 9e3], -np.ones((2, (at > 9e3).sum())))
    assert none.seeds == 0
    assert np.isnan(none.mean)


def decade(number: int, exponent: float, half: float, seeds: float = 20) -> Growth:
    between = 10.0**number, 10.0 ** (number + 1)
    return Growth(*between, exponent, exponent - half, exponent + half, int(seeds), 20)


@pytest.mark.parametrize(
    ("decades", "flat"),
    [
        ([(1.0, 0.0), (0.2, 0.0), (0.05, 0.01), (0.0, 0.0)], 1e5),
        ([(1.0, 0.0), (0.05, 0.01), (0.2, 0.0), (0.0, 0.0)], 1e6),  # it must stay
        ([(0.0, 0.0), (0.05, 0.06)], None),  # the interval straddles 0.1
        ([(0.0, 0.0), (np.nan, np.nan)], None),  # and nothing is known
        ([(0.1, 0.0), (-0.3, 0.2)], 1e3),
        ([], None),
        ([(0.0, 0.0, 10)], None),  # half of the 20 seeds do not show it
        ([(0.0, 0.0, 11)], 1e3),
    ],
)
def test_flat_is_at_most_a_tenth_and_stays(decades: list[tuple[float, ...]], flat: float | None) -> None:
    assert flat_from([decade(3 + i, *one) for i, one in enumerate(decades)]) == flat


def test_the_median_band_is_two_of_the_seeds() -> None:
    values = np.random.default_rng(5).permutation(20.0 + np.arange(20)).reshape(20, 1)
    median, low, high = median_band(values)
    # Of 20 fair coins at most 5 fall heads with probability 0.0207, at most 6 with 0.0577: the 6th and the 15th.
    assert (median[0], low[0], high[0]) == (29.5, 25.0, 34.0)
    assert median_band(np.array([[3.0], [1.0], [2.0]]))[0].tolist() == [2.0]


def test_too_few_seeds_have_a_median_and_no_band_and_a_median_of_what_is_not_there_is_nothing() -> None:
    for seeds, low, high in ((1, np.nan, np.nan), (5, np.nan, np.nan), (6, 0, 5)):
        band = median_band(np.arange(float(seeds)).reshape(-1, 1))
        np.testing.assert_array_equal(np.ravel(band), [(seeds - 1) / 2, low, high])
    np.testing.assert_array_equal(median_band(np.array([[1.0, np.nan]] * 8)), [[1.0, np.nan]] * 3)
    assert np.isnan(median_band(np.zeros((0, 2)))).all()


def test_the_fewest_pulls_by_hand() -> None:
    # ln(1/0.4) = ln 2.5 = 0.916291; 24 * 0.1 * 0.2 = 0.48
    assert fewest_pulls(0.1, 0.2, 0.1) == pytest.approx(0.916291 / 0.48, rel=1e-6)
    assert fewest_pulls(0.05, 0.2, 0.1) == pytest.approx(2 * fewest_pulls(0.1, 0.2, 0.1))
    assert fewest_pulls(0.1, 0.1, 0.1) == pytest.approx(2 * fewest_pulls(0.1, 0.2, 0.1))


def test_noise_is_measured_by_its_root_mean_square() -> None:
    true = np.array([[0.0, 10_000.0], [50.0, 200.0]])
    found = count_noise(true, true + np.array([[100.0, -100.0], [-100.0, 100.0]]))
    assert (found.typical, found.largest, found.most) == (100.0, 100.0, 10_000.0)
    assert (found.drowned, found.negative) == (0.5, 0.25)
    assert count_noise(true, true).largest == 0
    partly = count_noise(np.array([1.0, np.nan]), np.array([4.0, np.nan]))
    assert partly.typical == 3.0
    assert count_noise(np.zeros(0), np.zeros(0)).typical == 0


def test_policies_against_the_optimal_one() -> None:
    occupancy = np.array([[1.0, 0.0], [0.5, 0.5]])
    assert time_shared(occupancy, occupancy) == 1
    assert time_shared(occupancy, occupancy[:, ::-1]) == 0.25 + 0.25
    estimate, optimal = np.array([[2.0, 3.0], [1.0, 0.0]]), np.array([[1.0, 1.0], [1.0, 1.0]])
    assert optimism(estimate, optimal) == (0.75, 1.5)


def test_what_came_late_of_a_curve() -> None:
    k = np.array([10, 100, 1000])
    assert late_share(k, np.array([1.0, 8.0, 10.0]), 1000) == pytest.approx(0.2)
    assert late_share(k, np.array([1.0, 8.0, np.nan]), 100) == pytest.approx(0.875)
    assert np.isnan(late_share(k, np.array([1.0, -8.0, 10.0]), 1000))
    assert np.isnan(late_share(k, np.array([1.0, 8.0, -10.0]), 1000))


def test_shares_of_all_there_is_to_lose() -> None:
    shares = np.array([0.5, np.nan, np.nan])
    assert least([shares, np.array([0.7])]) == 0.5
    assert least([np.array([np.nan])]) == np.inf
    assert least([]) == np.inf


def test_seeds_that_lose_in_proportion_to_the_users_are_counted() -> None:
    episodes = np.array([1, 10, 100, 1000, 10_000])
    flat = np.array([1.0, 5.0, 9.0, 9.0, 9.0])
    relapsed = flat + np.array([0.0, 0.0, 0.0, 1e3, 1e4])
    assert unsettled(episodes, np.array([flat, relapsed, episodes / 2])) == 2
    assert unsettled(episodes, np.array([np.zeros(5), np.sqrt(episodes)])) == 0
    assert unsettled(np.zeros(0, np.int64), np.zeros((2, 0))) == 0


# The search for the number of users.

GRID = tuple(round(10 ** (j / 8)) for j in range(16, 121))


@pytest.mark.parametrize("power", [-1.0, -0.5, -2.0])
@pytest.mark.parametrize("scale", [1e3, 1e6, 1e11])
@pytest.mark.parametrize("start", [100, 10**6, 10**15])
def test_the_search_finds_the_users(power: float, scale: float, start: int) -> None:
    looked = []

    def look(k: int) -> Array:
        looked.append(k)
        price: Array = min(3.0, (k / scale) ** power) * np.array([0.9, 1.0, 1.1])
        return price

    found = search.search_users(look, 0.5, GRID, start, search.bootstrap(3))
    right = scale * 0.5 ** (1 / power)
    assert found.pending is None
    assert len(looked) <= 12
    if right > 10**15:
        assert np.isnan(found.needed)
    else:
        assert found.needed == pytest.approx(right, rel=0.02)
        assert found.low <= found.needed <= found.high


def test_the_search_waits_for_what_is_not_known_and_ends_at_the_ends_of_the_grid() -> None:
    high, low = np.array([2.0, 2.0]), np.array([-1.0, 0.0])
    unknown, never, always = (
        search.search_users(look, 0.1, GRID, 10**6, search.bootstrap(2))
        for look in ({10**6: high}.get, lambda k: high, lambda k: low)
    )
    assert unknown.pending is not None
    assert unknown.pending > 10**6
    assert np.isnan([unknown.needed, never.needed]).all()
    assert (never.pending, never.high, always.needed) == (None, np.inf, GRID[0])


# Where weights are held possible: projections against points of the region itself.


def lies_in(one: Region, w: Array) -> bool:
    """Whether w is in the region, by its definition, in many directions x."""
    x = np.random.default_rng(1).normal(size=(20_000, len(w)))
    Y = x @ np.linalg.inv(one.G + one.ridge * np.eye(len(w)))
    square = (Y**2).sum(-1)
    most = one.beta * np.sqrt((x * Y).sum(-1) + one.slack * square) + one.pull * np.sqrt(square)
    return bool((x @ (w - one.center) <= most * (1 + 1e-9)).all())


@pytest.mark.parametrize("pull", [0.0, 3.0])
@pytest.mark.parametrize("slack", [0.0, 4.0])
def test_an_outline_is_the_projection_of_the_region(slack: float, pull: float) -> None:
    """Its ends are the half widths, and in a direction it reaches as far as the region does, no less and no further."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(3, 3))
    one = Region(rng.normal(size=3), root @ root.T, 0.5, 2.0, slack, pull)
    outline, center, wide = regions.outline(one, 0, 2), one.center[[0, 2]], half_widths(one)[[0, 2]]
    np.testing.assert_allclose(outline[0], outline[-1])
    np.testing.assert_allclose([outline.max(0) - center, center - outline.min(0)], [wide, wide], rtol=1e-3)
    # a point of the region beyond which there is none in direction x: the gradient of its right-hand side
    x = np.array([0.6, 0.0, -0.8])
    M = np.linalg.inv(one.G + one.ridge * np.eye(3))
    A, B = M + one.slack * M @ M, M @ M
    furthest = one.center + one.beta * A @ x / np.sqrt(x @ A @ x) + one.pull * B @ x / np.sqrt(x @ B @ x)
    assert lies_in(one, one.center + 0.999 * (furthest - one.center))
    assert not lies_in(one, one.center + 1.05 * (furthest - one.center))
    reached = (outline - center) @ x[[0, 2]]
    assert reached.max() == pytest.approx(float((furthest - one.center) @ x), rel=1e-3)
    unknown = one._replace(center=np.full(3, np.nan))
    assert not unknown.known
    assert np.isnan(half_widths(unknown)).all()


MU = 0.5
N = 3000


def scores(seed: int, mu: float = MU, n: int = N) -> tuple[np.ndarray, np.ndarray]:
    """Log-likelihood ratios of N(mu, 1) against N(0, 1)."""
    x = np.random.default_rng(seed).normal(size=(2, n))
    return mu * (x[0] + mu) - mu**2 / 2, mu * x[1] - mu**2 / 2


def test_the_interval_of_a_separation_covers_as_often_as_it_says() -> None:
    found = [separation(*scores(seed)) for seed in range(400)]
    covered = sum(f.low <= MU <= f.high for f in found)
    assert stats.binomtest(covered, 400, 0.95).pvalue > 1e-4
    assert np.mean([f.value for f in found]) == pytest.approx(MU, abs=0.005)


def test_a_separation_of_too_few_or_equal_scores() -> None:
    assert np.isnan(separation(np.ones(1), np.ones(5)).value)
    assert separation(np.zeros(5), np.zeros(5)) == (0, 0, 0)


def test_an_epsilon_follows_a_power_of_the_separation_between_and_beyond() -> None:
    table = np.array([0.1, 0.2, 0.4]), np.array([1.0, 2.0, 4.0])
    found = epsilon_of_separation(Measured(0.3, 0.05, 0.8), *table)
    assert found == pytest.approx((3.0, 0.5, 8.0))
    assert epsilon_of_separation(Measured(0.1, -0.1, 0.2), *table) == pytest.approx((1, 0, 2))
    assert np.isnan(epsilon_of_separation(Measured(np.nan, np.nan, np.nan), *table).value)


def test_what_is_sure_of_any_noise_is_rarely_above_the_truth() -> None:
    """Randomised response of epsilon = 1: no test does better than that, at delta = 0."""
    keep = math.e / (1 + math.e)
    rng = np.random.default_rng(1)
    above, found = 0, []
    for _ in range(200):
        first = np.where(rng.random(N) < keep, 1.0, -1.0)
        second = np.where(rng.random(N) < keep, -1.0, 1.0)
        found.append(surely(first, second, 0.0))
        above += found[-1] > 1
    assert stats.binomtest(above, 200, 0.05, alternative="greater").pvalue > 1e-4
    assert np.mean(found) > 0.7  # and not empty words
    assert surely(np.zeros(5), np.zeros(5), 0.0) == 0
    assert surely(np.zeros(500), np.zeros(500), 0.0) == 0


def test_the_executions_that_choose_a_threshold_do_not_count_for_it() -> None:
    first, second = np.zeros(400), np.zeros(400)
    first[::2], second[::2] = 1.0, -1.0
    assert surely(first, second, 0.0) == 0


def test_shares_of_right_and_wrong() -> None:
    first, second = scores(2)
    curve = roc(first, second)
    assert (curve.false[0], curve.false[-1], curve.true[-1]) == (0, 1, 1)
    assert np.all(np.diff(curve.false) >= 0)
    assert np.all(np.diff(curve.true) >= 0)
    best = stats.norm.sf(stats.norm.isf(curve.false) - MU)
    assert np.max(np.abs(curve.true - best)) < 0.06
    right = guessed_right(first, second)
    assert right.low < stats.norm.cdf(MU / 2) < right.high
    _, one, other = histogram(first, second)
    assert one.sum() == other.sum() == N


def test_beliefs() -> None:
    assert (posterior(0.5, 1.0), posterior(0.1, 0.0)) == pytest.approx((math.e / (1 + math.e), 0.1))
    false = np.linspace(0, 1, 1001)
    missed = stats.norm.cdf(stats.norm.isf(false) - MU)
    assert best_guess(0.5, false, missed) == pytest.approx(stats.norm.cdf(MU / 2), abs=1e-4)
    assert best_guess(0.99, false, missed) == pytest.approx(0.99, abs=1e-3)

"""Calibration: the noise of a request proves what was asked for, no less would, and it stays within its bounds."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

from dprl.fields import SpecError
from dprl.mdp.tabular import Array
from dprl.privacy import MECHANISMS, accounting
from dprl.privacy.accounting import (
    calibrated,
    delta_of,
    epsilon_of,
    gaussian_epsilon,
    least_scale,
    rounded_up,
)
from dprl.privacy.errors import bits_length, chi_tail, laplace_length, laplace_tail, length_tail, per_event
from dprl.privacy.guarantee import Guarantee
from dprl.privacy.losses import Binomial, Gaussian, Laplace, Losses
from dprl.privacy.privatizers.privatizer import proved
from dprl.privacy.privatizers.shuffle import calibrated_bits, least_bits
from dprl.simulation import schedules
from dprl.statistics import BLANK_ONE, REPLACE_ONE
from tests.compare import LEVEL
from tests.privacy.draws import TRIPLES, prepared, replaced, unit_noise
from tests.problems import first

CALIBRATED = [(p, m) for p, m, c in TRIPLES if c == "calibrated"]
SCALED = [(p, m) for p, m in CALIBRATED if p != "shuffle"]
TIMES = schedules.times("geometric:0.01", 50_000)
GRID = list(itertools.product((0.05, 0.3, 1.0, 5.0, 20.0), (1e-9, 1e-6, 1e-2), (1, 4, 20)))


# --- the numbers of issue 3, RiverSwim, H = 20, K = 50,000


def riverswim(privacy: str, mechanism: str, calibration: str, **rest: float) -> tuple[float, Guarantee]:
    """Worst-time standard deviation of one counter n, and the card."""
    noise = prepared(privacy, mechanism, calibration, TIMES, H=20, S=6, A=2, **rest)
    return float(noise.std.max()), noise.guarantee()


def reading(card: Guarantee, adjacency: str, delta: float) -> float:
    return next(r.epsilon for r in card.readings if (r.adjacency, r.delta) == (adjacency, delta))


def test_paper_tree() -> None:
    std, card = riverswim("central", "laplace-tree", "paper")
    assert std == pytest.approx(5258, rel=0.01)
    # L = 16 levels, and at most 15 nodes in a prefix below 50,000
    assert std == pytest.approx(3 * 20 * 16 * math.sqrt(2 * 15))
    assert (card.claimed_epsilon, card.claimed_delta) == (1.0, 0.0)
    assert card.proved_epsilon == pytest.approx(2.0, rel=1e-9)
    assert card.proved_delta == 0.0
    assert reading(card, REPLACE_ONE, 1e-6) == pytest.approx(0.172, rel=0.01)
    assert reading(card, BLANK_ONE, 0.0) == pytest.approx(1.0, rel=1e-9)
    nearly = gaussian_epsilon(math.sqrt(1920) / 960, 1e-6)  # of 1,920 small losses: mu^2 = 1920 / 960^2
    assert reading(card, REPLACE_ONE, 1e-6) == pytest.approx(nearly, rel=0.01)


def test_ladder() -> None:
    """Plain sensitivity (squared L2 of 6H) on the way; the last steps release r as r/4 (4.125H)."""
    _, card = riverswim("central", "laplace-tree", "paper")
    stds = [s.std for s in card.ladder]
    assert stds == pytest.approx([5258, 10516, 1013, 619, 439, 147, 122, 110.5, 110.4], rel=0.01)
    assert [(s.epsilon, s.delta) for s in card.ladder] == [(2.0, 0.0), (1.0, 0.0), *[(1.0, 1e-6)] * 7]
    assert stds[5] / stds[6] == pytest.approx(math.sqrt(6 / 4.125), rel=1e-3)
    assert card.ladder[-2].idea == "the optimal factorisation"
    assert card.ladder[-1].idea == ""
    assert 1.0 < stds[-2] / stds[-1] < 1.001


@pytest.mark.parametrize(
    ("mechanism", "plain", "used"),
    [
        ("laplace-tree", 619, 513),
        ("gaussian-tree", 439, 364),
        ("gaussian-blt", 147, 122),
        ("gaussian-toeplitz", 147, 122),
        ("gaussian-optimal", 133.3, 110.5),
    ],
)
def test_calibrated_central(mechanism: str, plain: float, used: float) -> None:
    """What runs use is below the issue's figure, which is for the plain sensitivity."""
    std, card = riverswim("central", mechanism, "calibrated", epsilon=1.0, delta=1e-6)
    assert std == pytest.approx(used, rel=0.01)
    assert std < plain
    assert (card.claimed_epsilon, card.claimed_delta) == (1.0, 1e-6)
    assert 0.999 < (card.proved_epsilon or 0) <= 1.0001
    assert card.proved_delta == 1e-6


def test_paper_local_and_shuffle() -> None:
    std, card = riverswim("local", "laplace", "paper")
    assert std == pytest.approx(3 * 20 * math.sqrt(2 * 50_000))
    assert card.proved_epsilon == pytest.approx(2.0, rel=1e-9)
    assert reading(card, REPLACE_ONE, 1e-6) == pytest.approx(0.745, rel=0.01)
    _, card = riverswim("shuffle", "binomial-sum", "paper")
    assert card.proved_epsilon == pytest.approx(0.033, rel=0.02)
    assert card.proved_delta == 1e-6


@pytest.mark.parametrize(
    ("privacy", "mechanism", "releases"),
    [(p, m, M) for p, m in SCALED for M in ((1,) if p == "local" else (1, 30, 782))],
)
def test_calibrated_noise_proves_what_was_asked(privacy: str, mechanism: str, releases: int) -> None:
    for epsilon, delta, H in GRID[:: 4 if releases == 1 else 7]:
        times = np.arange(1, releases + 1)
        noise = prepared(privacy, mechanism, "calibrated", times, H=H, epsilon=epsilon, delta=delta)
        value = proved(MECHANISMS[mechanism], replaced(H, 0.25), float(noise.scales[0]), noise.stream, delta)
        assert 0.995 * epsilon <= value <= 1.0001 * epsilon, (epsilon, delta, H)


@pytest.mark.parametrize(
    ("epsilon", "delta", "H"),
    first([(0.05, 1e-6, 20), (5.0, 1e-2, 1), (1.0, 1e-6, 20), (20.0, 1e-9, 4)], lambda given: given[2] == 1),
)
def test_calibrated_bits_prove_what_was_asked(epsilon: float, delta: float, H: int) -> None:
    """From above for every budget; from below where bits are many enough for one more not to matter."""
    moved = 3 * H
    fair, variance = least_bits(moved, epsilon, delta)
    value = epsilon_of((Binomial(fair, 0.5, moved, moved),), delta)
    assert value <= 1.0001 * epsilon
    assert value >= 0.995 * epsilon or fair < 400
    assert epsilon_of((Binomial(fair - 1, 0.5, moved, moved),), delta) > epsilon * (1 - 1e-4)
    assert epsilon_of((Binomial(10**15, variance / 10**15, moved, moved),), delta) <= 1.0001 * epsilon


@pytest.mark.parametrize(
    ("epsilon", "delta", "H", "sizes"),
    first(
        [(1.0, 1e-6, 20, 16), (0.1, 1e-9, 5, 8), (6.0, 1e-6, 20, 8), (20.0, 1e-3, 6, 8)],
        lambda given: given[0] > 1,
    ),
)
def test_bits_of_every_batch_prove_it(epsilon: float, delta: float, H: int, sizes: int) -> None:
    """At random sizes of a batch from 1 to 10^15, and around the change from fair bits to rare ones."""
    moved = 3 * H
    fair, variance = least_bits(moved, epsilon, delta)
    rng = np.random.default_rng(0)
    switch = math.ceil(max(4 * variance, fair))
    drawn = np.exp(rng.uniform(0, math.log(1e15), sizes)).astype(np.int64)
    users = np.unique([*drawn, 1, switch - 1, switch, 10**15])
    for trials, p in np.unique(calibrated_bits(users, fair, variance), axis=0):
        if p == 0.5:
            assert trials >= fair  # and more fair bits are more noise
            continue
        loss = Binomial(int(trials), float(p), moved, moved)
        assert delta_of((loss,), epsilon * 1.001) <= delta  # cheaper than epsilon at delta, and says the same
    for trials in (fair, fair + 1, 2 * fair, 5 * fair + 3):
        assert delta_of((Binomial(trials, 0.5, moved, moved),), epsilon * 1.001) <= delta, trials


def test_fewer_steps_or_larger_budgets_need_less_noise() -> None:
    for privacy, mechanism in CALIBRATED:

        def std(privacy: str = privacy, mechanism: str = mechanism, **rest: float) -> float:
            given = {"H": 5, "epsilon": 0.3, "delta": 1e-6} | rest
            return float(prepared(privacy, mechanism, "calibrated", [10, 100, 1000], **given).std.max())

        assert std() < std(epsilon=0.15)
        assert std() < std(delta=1e-8)
        assert std() < std(H=6)


# --- rounding: the same noise on every CPU


def test_rounding_is_to_six_digits_and_never_down() -> None:
    for low, high in ((1882.426432085515, 1882.43), (1.0000000000000002, 1.00001), (0.0123456789, 0.0123457)):
        assert rounded_up(low) == high
    for kept in (45.0, 7.2, 128.572, 1e-3, 30_000.0, 12_261_900.0, math.inf):
        assert rounded_up(kept) == kept
    for scale in np.exp(np.random.default_rng(0).uniform(-20, 40, 1000)):
        assert scale <= rounded_up(scale) <= scale * (1 + 1.0001e-5)
        assert rounded_up(rounded_up(scale)) == rounded_up(scale) == float(f"{rounded_up(scale):.6g}")


def test_an_accountant_that_differs_in_its_last_digits_gives_the_same_noise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As that of another CPU does: by about 10^-9 at delta 10^-6."""
    found = []
    for other in (1.0, 1 - 3e-10, 1 + 3e-10):
        monkeypatch.setattr(
            accounting, "epsilon_of", lambda losses, delta, by=other: by * epsilon_of(losses, delta)
        )
        least_bits.cache_clear()
        found.append([calibrated(laplaces, 1.0, 1e-6), *least_bits(60, 1.0, 1e-6)])
    assert found[0] == found[1] == found[2]
    least_bits.cache_clear()


def laplaces(scale: float) -> Losses:
    return (Laplace(80, 1 / scale), Laplace(40, 0.25 / scale))


def test_what_no_noise_proves_is_refused() -> None:
    with pytest.raises(SpecError, match="cannot be proved"):
        least_scale(lambda s: (Gaussian(2.0),), 0.5, 1e-6, 1.0)


def test_calibrated_takes_the_better_of_pure_and_approximate() -> None:
    """At tiny delta or huge epsilon pure composition may need less."""
    for epsilon, delta in ((1.0, 0.0), (1.0, 1e-6), (30.0, 1e-6), (300.0, 1e-12), (0.001, 1e-9)):
        scale = calibrated(laplaces, epsilon, delta)
        assert scale <= 90 / epsilon * (1 + 1e-12)
        assert epsilon_of(laplaces(scale), delta) <= epsilon * 1.0001
        if delta and epsilon < 10:
            assert scale < 0.5 * 90 / epsilon
            assert epsilon_of(laplaces(scale * 0.995), delta) > epsilon
    assert calibrated(laplaces, 2.0, 0.0) == pytest.approx(45.0)
    assert calibrated(lambda s: (Gaussian(1 / s),), 1.0, 0.0) == math.inf


def test_bits_that_nobody_could_account_for_are_refused() -> None:
    for calibration, epsilon, delta, word in (
        ("calibrated", 0.0003, 1e-12, "larger"),
        ("paper", 0.001, 1e-6, "larger"),
        ("calibrated", 1.0, 1e-19, "at least 1e-18"),
        ("paper", 1.0, 1e-19, "at least 1e-18"),
    ):
        with pytest.raises(SpecError, match=word):
            prepared("shuffle", "binomial-sum", calibration, [1, 2], H=20, epsilon=epsilon, delta=delta)


# --- bounds on the noise

RUNS_AT_ONCE = 250


def covered(ratio: Array, beta: float) -> bool:
    """Whether so many failures happen with probability LEVEL or more when each run fails with beta/3."""
    failed = int((ratio > 1).sum())
    return bool(stats.binomtest(failed, len(ratio), beta / 3, alternative="greater").pvalue > LEVEL)


@pytest.mark.parametrize("contribution", [1, 3])
@pytest.mark.parametrize(("privacy", "mechanism", "calibration"), first(TRIPLES, lambda triple: triple[0]))
def test_coverage_and_no_needless_slack(
    privacy: str, mechanism: str, calibration: str, contribution: int
) -> None:
    """E_{eps,beta}: |n^ - n|, |m^ - m| <= E/4 and |r^ - r| <= E, everywhere, at all times, in 1 - beta/3 of the runs.

    Few counters, many runs: the (1 - beta) quantile of the largest error of each is at least half of what is allowed.
    """
    beta, runs, cells = 0.1, 1000, 8  # of H = 1, S = 2, A = 1
    given: dict[str, Any] = {"S": 2, "beta": beta, "contribution": contribution}
    noise = prepared(privacy, mechanism, calibration, TIMES, **given)
    assert noise.mechanism is not None
    # by how much a unit of noise in each counter counts: n and m against E/4, r against E
    weight = np.tile(noise.scales * np.array([4.0, 4.0, 4.0, 1.0]), 2)
    ratio = np.empty(0)
    for seed in range(0, runs, RUNS_AT_ONCE):
        unit = np.abs(unit_noise(noise.mechanism, noise.stream, RUNS_AT_ONCE * cells, seed))
        unit = unit.reshape(len(TIMES), RUNS_AT_ONCE, cells) * weight
        ratio = np.append(ratio, (unit.max(2) / noise.bound[:, None]).max(0))
    assert covered(ratio, beta)
    assert np.quantile(ratio, 1 - beta) >= 0.5


def exact_tail(j: int, x: float) -> float:
    """P(|Y| > x), Y a sum of j Laplace(1), that is Gamma(j) - Gamma(j), in closed form.

    P(Y > x) = E P(Gamma(j) > x + G) = sum over i < j of E[e^-(x+G) (x+G)^i / i!], expanded by the binomial theorem with
    E[G^k e^-G] = Gamma(j + k) / Gamma(j) 2^-(j+k). Every term is positive: nothing cancels.
    """
    total = 0.0
    for i in range(j):
        for k in range(i + 1):
            log_moment = math.lgamma(j + k) - math.lgamma(j) - (j + k) * math.log(2)
            log_term = -math.lgamma(k + 1) - math.lgamma(i - k + 1) + log_moment - x
            if i > k:
                log_term += (i - k) * math.log(x)
            total += math.exp(log_term)
    return 2 * total


def exact_quantile(j: int, failure: float) -> float:
    start = stats.norm.isf(failure / 2) * math.sqrt(2 * j)
    return float(
        optimize.brentq(lambda x: math.log(exact_tail(j, x) / failure), 0.05 * start, 10 * start + 60)
    )


@pytest.mark.parametrize("failure", [1e-3, 1e-4, 1e-6, 1e-9, 1e-12, 1e-16])
@pytest.mark.parametrize("j", [1, 2, 3, 5, 10, 20, 40])
def test_bound_holds_and_is_not_loose(j: int, failure: float) -> None:
    bound = float(laplace_tail(np.array(j), failure))
    assert exact_tail(j, bound) <= failure
    assert bound <= 1.6 * exact_quantile(j, failure)


@pytest.mark.parametrize("failure", [1e-4, 1e-9, 1e-16])
@pytest.mark.parametrize("j", [10**6, 10**10, 10**15])
def test_bound_of_a_long_sum_is_that_of_a_normal(j: int, failure: float) -> None:
    quantile = stats.norm.isf(failure / 2) * math.sqrt(2 * j)
    bound = float(laplace_tail(np.array(j), failure))
    assert quantile < bound < 1.25 * quantile


def test_bound_is_the_best_chernoff_bound() -> None:
    """min over u of (ln(2/failure) - j ln(1 - u^2)) / u, by search."""
    u = np.linspace(1e-4, 1 - 1e-4, 200_000)
    for j, failure in ((1, 1e-3), (7, 1e-8), (50, 1e-5), (3000, 1e-9)):
        searched = np.min((math.log(2 / failure) - j * np.log1p(-u * u)) / u)
        assert float(laplace_tail(np.array(j), failure)) == pytest.approx(searched, rel=1e-6)


def test_union_over_all_counters_and_releases() -> None:
    assert per_event(0.3, 100, 50) * 100 * 50 == pytest.approx(0.1)


@pytest.mark.parametrize("cells", [2, 3, 8, 51])
@pytest.mark.parametrize("failure", [0.01, 1e-7, 1e-12])
def test_the_length_of_gaussian_noise_is_exact_and_its_bound_close(cells: int, failure: float) -> None:
    std = np.array([1.0, 3.0, 250.0])
    exact = chi_tail(std, cells, failure)
    assert stats.chi2.sf((exact / std) ** 2, cells) == pytest.approx(failure)
    bound = length_tail(lambda y: y * y * std**2 / 2, std, cells, failure)
    assert (exact < bound).all()
    assert (bound < 1.25 * exact).all()


@pytest.mark.parametrize("cells", [2, 8])
def test_the_length_of_laplace_noise_stays_below_its_bound(cells: int) -> None:
    """Sums of j Laplace draws in each coordinate, at a failure that can be seen."""
    for j in (1, 4):
        draws = np.random.default_rng(j).laplace(size=(j, 200_000, cells)).sum(0)
        lengths = np.sqrt((draws**2).sum(-1))
        for failure in (0.1, 0.01, 1e-3):
            (bound,) = laplace_length(np.array([j]), cells, failure)
            assert (lengths > bound).mean() <= failure
            assert bound <= 2 * np.quantile(lengths, 1 - failure)


@pytest.mark.parametrize("share", [0.5, 0.01, 1e-4])
def test_the_length_of_bits_stays_below_its_bound(share: float) -> None:
    """Batches of fair or rare bits of variance 25 in each coordinate, one after the other."""
    trials = round(25 / (share * (1 - share)))
    rng = np.random.default_rng(7)
    drawn = rng.binomial(trials, share, size=(2, 100_000, 5)) - trials * share
    sums = np.sqrt((np.cumsum(drawn, axis=0) ** 2).sum(-1))
    for failure in (0.1, 1e-3):
        bounds = bits_length(np.array([25.0, 50.0]), 5, failure)
        assert ((sums > bounds[:, None]).mean(-1) <= failure).all()
        assert (bounds <= 1.5 * np.quantile(sums, 1 - failure, axis=-1)).all()

"""Noise on a grid: drawn with the chances that it should have, and private as is claimed of it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp, ndtr

from dprl.mdp.tabular import Array
from dprl.privacy import exact
from dprl.privacy.accounting import delta_of, epsilon_of
from dprl.privacy.curator import PROMISES, Budget, calibrated_scales, prepare
from dprl.privacy.exact import (
    STEPS,
    Apart,
    discrete_gaussian,
    discrete_laplace,
    gaussian_apart,
    happens,
    laplace_apart,
)
from dprl.privacy.guarantee import DRAWN
from dprl.privacy.losses import Gaussian, Laplace
from dprl.privacy.mechanisms import MECHANISMS
from dprl.statistics import Change
from dprl.statistics.family import Family
from tests.compare import LEVEL, chi_square

DRAWS = 12_000
Sampler = Callable[..., int]


def log_chances(draw: Sampler, scale: float, z: Array) -> Array:
    """ln P(z) by the definition, without the constant."""
    return -np.abs(z) / scale if draw is discrete_laplace else -(z**2) / (2 * scale**2)


def chances(draw: Sampler, scale: float, reach: int) -> tuple[Array, Array]:
    """-reach to reach, and their exact chances; what is further out must be nothing to a float."""
    z = np.arange(-reach, reach + 1).astype(float)
    logs = log_chances(draw, scale, z)
    return z, np.exp(logs - logsumexp(logs))


@pytest.mark.parametrize(
    ("numerator", "denominator"), [(0, 1), (1, 3), (1, 1), (5, 2), (10**30 + 1, 3 * 10**30)]
)
def test_something_happens_with_its_chance(numerator: int, denominator: int) -> None:
    below = random.Random(numerator).randrange
    found = sum(happens(numerator, denominator, below) for _ in range(DRAWS))
    chance = math.exp(-numerator / denominator)
    assert stats.binomtest(found, DRAWS, chance).pvalue > LEVEL / 5


@pytest.mark.parametrize("draw", [discrete_laplace, discrete_gaussian])
@pytest.mark.parametrize(
    "scale", [Fraction(1, 3), Fraction(9, 4), Fraction(3), Fraction(2.7), Fraction(41, 2)]
)
def test_draws_have_the_chances_of_the_definition(draw: Sampler, scale: Fraction) -> None:
    """Chi-square of the frequencies, and of the squares of the draws; scales that are no whole numbers among them."""
    below = random.Random(str(scale)).randrange
    drawn = np.array([draw(scale, below) for _ in range(DRAWS)])
    z, p = chances(draw, float(scale), 1000)
    assert abs(drawn).max() <= 1000
    counts = np.bincount(drawn + 1000, minlength=len(z))
    assert chi_square(counts, DRAWS * p) > LEVEL / 20
    assert (DRAWS * p >= 10).sum() > (2 if scale < 1 else 8)
    second, fourth = float(p @ z**2), float(p @ z**4)
    spread = math.sqrt((fourth - second**2) / DRAWS)
    assert abs((drawn**2.0).mean() - second) < 5 * spread
    assert abs(drawn.mean()) < 5 * math.sqrt(second / DRAWS)


@pytest.mark.parametrize(
    ("draw", "law"), [(discrete_laplace, stats.laplace), (discrete_gaussian, stats.norm)]
)
def test_on_the_fine_grid_it_looks_like_the_continuous_law(draw: Sampler, law: Any) -> None:
    scale = Fraction(2.8284271247461903) * STEPS
    below = random.Random(1).randrange
    drawn = np.array([draw(scale, below) for _ in range(DRAWS)]) / float(scale)
    assert stats.kstest(drawn, law.cdf).pvalue > LEVEL


@pytest.mark.real_draws
def test_draws_come_from_the_operating_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """The generator of the standard library that asks it for each bit; nothing is kept between two draws."""
    asked, urandom = [0], random._urandom  # type: ignore[attr-defined]

    def counted(size: int) -> bytes:
        asked[0] += size
        return bytes(urandom(size))

    monkeypatch.setattr(random, "_urandom", counted)
    for one in exact.EXACT.values():
        before = asked[0]
        one.draw(Fraction(2 * STEPS))
        assert asked[0] >= before + 4  # 31 bits at least
    assert "cryptographic source" in DRAWN
    assert "2⁻³⁰" in DRAWN
    assert exact.BITS == 30


@pytest.mark.parametrize("scale", [0.4, 1.0, 2.5, 7.3])
@pytest.mark.parametrize("shift", [1, 2, 5])
def test_discrete_gaussian_noise_is_concentrated_private_as_claimed(scale: float, shift: int) -> None:
    """Divergences by summation are never above shift^2/(2 scale^2) times their order, and reach it."""
    reached = 0.0
    for order in (1.001, 1.5, 2.0, 3.7, 10.0, 60.0):
        reach = int(shift * order + 60 * scale) + 60
        z = np.arange(-reach, reach + 1).astype(float)
        there, here = (log_chances(discrete_gaussian, scale, z - by) for by in (shift, 0))
        there, here = there - logsumexp(there), here - logsumexp(here)
        divergence = float(logsumexp(order * there + (1 - order) * here)) / (order - 1)
        claimed = order * shift**2 / (2 * scale**2)
        assert divergence <= claimed * (1 + 1e-9)
        reached = max(reached, divergence / claimed)
    assert reached > 0.999


@pytest.mark.parametrize("scale", [0.7, 2.5, 9.0])
def test_discrete_gaussian_noise_is_as_near_to_continuous_noise_as_claimed(scale: float) -> None:
    for shift in (0.0, 4.0):
        apart, reach = gaussian_apart(scale, shift), int(100 * scale + shift)
        z = np.arange(-reach, reach + 1).astype(float)
        logs = log_chances(discrete_gaussian, scale, z)
        inner, outer = (stats.norm.logsf(np.abs(z) + by, scale=scale) for by in (-0.5, 0.5))
        with np.errstate(divide="ignore"):
            cells = inner + np.log1p(-np.exp(outer - inner))
        ratio = logs - logsumexp(logs) - cells
        assert ratio.max() <= apart.up + 1e-9
        assert -ratio.min() <= apart.down + 1e-9
    assert ratio.max() > 0.9 * apart.up  # the bound is no larger than it needs to be


@pytest.mark.parametrize("scale", [0.7, 2.5, 9.0, 400.0])
def test_discrete_laplace_noise_is_as_near_to_continuous_noise_as_claimed(scale: float) -> None:
    apart = laplace_apart(scale, 0.0)
    z, p = chances(discrete_laplace, scale, int(40 * scale))
    cells = np.where(z == 0, -math.expm1(-0.5 / scale), np.exp(-np.abs(z) / scale) * math.sinh(0.5 / scale))
    ratio = np.log(p) - np.log(cells)
    assert 0.5 * apart.up < ratio.max() <= apart.up + 1e-9
    assert 0.9 * apart.down < -ratio.min() <= apart.down + 1e-9


def hockey_stick(p: Array, shift: int, epsilon: float) -> float:
    """The least delta, by summation, for noise with chances p on whole numbers, moved by `shift`."""
    there, here = np.append(np.zeros(shift), p), np.append(p, np.zeros(shift))
    return float(np.maximum(there - math.exp(epsilon) * here, 0).sum())


@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize(("scale", "count"), [(300.0, 1), (500.5, 2)])
def test_a_delta_claimed_of_discrete_gaussian_noise_is_that_of_the_noise_that_is_drawn(
    scale: float, count: int, delta: float
) -> None:
    """`count` numbers moved alike: what tells the data sets apart is the sum of the draws, whose chances are exact."""
    shift = int(scale / 2)
    one = gaussian_apart(scale, shift)
    apart = Apart(count * one.up, count * one.down)
    loss = (Gaussian(math.sqrt(count) * shift / scale),)
    claimed = apart.epsilon(partial(epsilon_of, loss), delta)
    _, p = chances(discrete_gaussian, scale, int(8 * scale))
    total = p
    for _ in range(count - 1):
        total = np.convolve(total, p)
    assert hockey_stick(total, count * shift, claimed) <= delta * (1 + 1e-6)
    assert hockey_stick(total, count * shift, 0.97 * claimed) > delta  # hardly more is claimed than is needed


def test_what_continuous_laplace_noise_proves_is_not_true_of_discrete_noise_but_with_what_is_added() -> None:
    """Half of the chance has the greatest loss with continuous noise, and more than half with discrete noise."""
    scale, shift = 5.0, 5
    _, p = chances(discrete_laplace, scale, 400)
    apart, loss = laplace_apart(scale, shift), (Laplace(1, shift / scale),)
    beyond = 0
    for epsilon in (0.2, 0.5, 0.8, 0.95):
        truth = hockey_stick(p, shift, epsilon)
        beyond += truth > delta_of(loss, epsilon)
        assert apart.epsilon(partial(epsilon_of, loss), truth) >= epsilon
    assert beyond > 2
    assert hockey_stick(p, shift, shift / scale) < 1e-12  # pure privacy is exact
    assert apart.epsilon(partial(epsilon_of, loss), 0.0) == shift / scale


@pytest.mark.parametrize("delta", [1e-8, 1e-4])
def test_claims_against_dp_accounting(delta: float) -> None:
    """Its own losses of both discrete laws, composed over eight numbers."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    count, scale, shift = 8, 1500.0, 450
    how, normal = {"value_discretization_interval": 1e-3}, Gaussian(math.sqrt(count) * shift / scale)
    gaussian = pld.from_discrete_gaussian_mechanism(scale, shift, **how)
    laplace = pld.from_discrete_laplace_mechanism(1 / scale, shift, **how)
    for theirs, one, loss in (
        (gaussian, gaussian_apart(scale, shift), normal),
        (laplace, laplace_apart(scale, shift), Laplace(count, shift / scale)),
    ):
        claimed = Apart(count * one.up, count * one.down).epsilon(partial(epsilon_of, (loss,)), delta)
        bound = theirs.self_compose(count).get_epsilon_for_delta(delta)  # rounded up, as ours is
        assert claimed == pytest.approx(bound, rel=0.02)
        assert claimed > 0.99 * bound


@pytest.mark.parametrize("draw", [discrete_laplace, discrete_gaussian])
@pytest.mark.parametrize("scale", [0.3, 1.0, 4.7, 60.0])
def test_one_step_more_covers_what_a_bound_on_continuous_noise_covers(draw: Sampler, scale: float) -> None:
    z, p = chances(draw, scale, int(45 * scale) + 10)
    for reach in np.linspace(0, 8, 50) * scale:
        beyond = p[np.abs(z) > reach + 1].sum()
        allowed = math.exp(-reach / scale) if draw is discrete_laplace else 2 * ndtr(-reach / scale)
        assert beyond <= allowed * (1 + 1e-9)


def test_what_a_card_claims_on_the_grid_holds_what_is_added() -> None:
    """And calibrated noise proves what was asked for."""
    change = Change(((16, 1.0),))
    family = Family("counts", "counts", change, change)
    for asked in (
        Budget(PROMISES["approximate"], epsilon=0.7, delta=1e-7),
        Budget(PROMISES["pure"], epsilon=0.7),
    ):
        mechanism = MECHANISMS[asked.promise.mechanism]
        scales = calibrated_scales(mechanism, (family,), asked, exact=True)
        words: dict[str, Any] = {"formula": "", "where": "", "sources": (), "public": (), "assumptions": ()}
        made = [prepare((family,), asked, scales, n=1, **words, exact=on) for on in (True, False)]
        card, continuous = (noise.guarantee for noise in made)
        assert 0.6999 < (card.proved_epsilon or 0) <= 0.7
        assert card.mechanism == f"Discrete {continuous.mechanism}"
        assert card.noise_formula.endswith("drawn as a multiple of 2⁻³⁰")
        for reading, other in zip(card.readings, continuous.readings, strict=True):
            assert other.epsilon <= reading.epsilon < other.epsilon + 1e-6
            assert reading.delta == 0 or reading.epsilon > other.epsilon

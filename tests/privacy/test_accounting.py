"""The accountant against oracles that share no code with it.

Where L is the privacy loss of a composition under the first data set, delta(epsilon) = E (1 - e^(epsilon - L))^+.
Small cases are enumerated or integrated by mpmath. For large ones, with M(z) = E e^(zL), Laplace inversion gives
    delta(epsilon) = 1/(2 pi) * integral over u of M(z) e^(-z epsilon) / (z (z + 1)),  z = a + iu, any a > 0,
exactly, and M of a composition is a product of elementary functions (Gaussian, Laplace) or of short sums. The public
accountant is compared with dp-accounting.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from scipy import linalg

from dprl import privacy
from dprl.fields import SpecError
from dprl.privacy import Account, account
from dprl.privacy.accounting import (
    _on_grid,
    delta_of,
    epsilon_of,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_mu,
)
from dprl.privacy.composition import _tilted_tail, delta_at
from dprl.privacy.losses import Binomial, Gaussian, Laplace, Losses, binomial_window
from tests.privacy.draws import prepared
from tests.privacy.oracles import (
    Complex,
    Curve,
    binomial_curve,
    bits_loss,
    composed,
    enumerated,
    gaussian_loss,
    inverted,
    laplace_loss,
    laplace_moment,
    precise_binomial,
)
from tests.problems import first, refused

DELTAS = (1e-9, 1e-6, 1e-4, 1e-2)
OVER, UNDER = 0.01, 0.001  # the accountant may be this much above an oracle, relatively, and this much below


def agrees(losses: Losses, oracle: Curve, deltas: tuple[float, ...] = DELTAS) -> None:
    """epsilon_of is within 1% above and 0.1% below the epsilon at which the (falling) oracle passes delta.

    3e-4 for the oracle's own error: delta moves by about as much as epsilon does, relatively, or by more.
    """
    for delta in deltas:
        if oracle(0.0) <= delta:
            assert epsilon_of(losses, delta) <= 1e-6
            continue
        epsilon = epsilon_of(losses, delta)
        assert 0 < epsilon < math.inf
        assert oracle(epsilon / (1 - UNDER)) <= delta * (1 + 3e-4), (losses, delta, epsilon)
        assert oracle(epsilon / (1 + OVER)) >= delta * (1 - 3e-4), (losses, delta, epsilon)


@pytest.mark.parametrize("delta", [1e-12, *DELTAS])
@pytest.mark.parametrize("epsilon", [1e-3, 0.05, 1.0, 20.0, 1e4])
def test_gaussian_mu_is_the_largest(epsilon: float, delta: float) -> None:
    mu = gaussian_mu(epsilon, delta)
    assert gaussian_delta(mu, epsilon) <= delta * (1 + 1e-9)  # to rounding
    assert gaussian_delta(mu * 1.0001, epsilon) > delta
    assert gaussian_epsilon(mu, delta) == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize("shift", [0.02, 0.3, 1.0, 5.0])
def test_one_laplace_in_closed_form(shift: float) -> None:
    """delta(epsilon) = 1 - e^((epsilon - shift)/2)."""
    agrees((Laplace(1, shift),), lambda e: max(0.0, -math.expm1((e - shift) / 2)))
    for epsilon in (0.0, 0.25 * shift, 0.8 * shift):
        truth = -math.expm1((epsilon - shift) / 2)
        assert delta_of((Laplace(1, shift),), epsilon) == pytest.approx(truth, rel=OVER)
    assert delta_of((Laplace(1, shift),), shift) == 0.0


@pytest.mark.parametrize("shift", [0.05, 0.7, 4.0])
def test_two_laplaces_by_integration(shift: float) -> None:
    """delta of two = E over the loss of the second of the delta of one."""

    def one(e: Any) -> Any:
        if e >= shift:
            return mpmath.mpf(0)
        return -mpmath.expm1((e - shift) / 2) if e > -shift else -mpmath.expm1(e)

    def two(epsilon: float) -> float:
        inner = (x for x in (epsilon - shift, epsilon + shift) if -shift < x < shift)
        kinks = sorted({-shift, shift, *inner})
        inside = mpmath.quad(lambda x: mpmath.exp((x - shift) / 2) / 4 * one(epsilon - x), kinks)
        return float(one(epsilon - shift) / 2 + mpmath.exp(-shift) / 2 * one(epsilon + shift) + inside)

    agrees((Laplace(2, shift),), two)
    # the oracle of the large cases passes the small one
    curve = inverted(laplace_moment(2, shift), accuracy=3e-4)
    for share in (0.0, 0.5, 1.2):
        assert curve(share * shift) == pytest.approx(two(share * shift), rel=3e-4)


@pytest.mark.parametrize(
    ("losses", "name"),
    [
        ((Laplace(40, 0.1),), "few"),
        ((Laplace(120, 1 / 60),), "paper local"),
        ((Laplace(1920, 1 / 960),), "paper central"),
        ((Laplace(120, 0.3),), "strong"),
        ((Laplace(80, 0.02), Laplace(40, 0.005)), "r as r/4"),
        ((Laplace(800, 0.0093), Laplace(400, 0.0093 / 4)), "a tree, r as r/4"),
        ((Laplace(800, 0.1), Laplace(400, 0.025)), "a tree at large epsilon"),
    ],
)
def test_composed_laplace_by_inversion(losses: Losses, name: str) -> None:
    def moment(z: Complex) -> Complex:
        total = np.zeros_like(z)
        for x in losses:
            assert isinstance(x, Laplace)
            total += laplace_moment(x.count, x.shift)(z)
        return total

    # on the line through the saddle point the oracle has no rounding to speak of at any delta
    tiny = () if name == "few" else (1e-15, 1e-12)  # nor does it take long, but for a few draws
    agrees(losses, inverted(moment), (*tiny, *DELTAS))


def test_what_calibrated_laplace_noise_proves_at_tiny_deltas() -> None:
    """Rounding once hid 0.6e-14 of 1.6e-14, at H = 60."""
    for delta in (1e-12, 1e-14, 1e-15):
        noise = prepared("local", "laplace", "calibrated", [1], H=60, epsilon=1.0, delta=delta)
        shift = 1 / float(noise.scales[0])
        n_and_m, r = laplace_moment(4 * 60, shift), laplace_moment(2 * 60, shift / 4)
        truth = inverted(lambda z, n_and_m=n_and_m, r=r: n_and_m(z) + r(z))(1.0)  # type: ignore[misc]
        assert 0.99 * delta < truth <= delta * (1 + 2e-3)


@pytest.mark.parametrize("losses", [(Laplace(600, 0.01),), (Binomial(3000, 0.5, 60, 59),)], ids=str)
def test_the_bound_on_rounding_is_a_small_share_at_every_delta(losses: Losses) -> None:
    """Whatever the tilt: half of what is best (about epsilon over the variance), or twice that."""
    interval, directions = _on_grid(losses)
    best = 1 / sum(x.spread for x in losses) ** 2
    for parts in directions:
        for epsilon in (0.5, 1.0, 2.0, 3.0):
            truth = delta_at(parts, interval, epsilon)
            for tilt in (0.7 * best * epsilon, 1.4 * best * epsilon):
                tail = _tilted_tail(parts, interval, tilt, epsilon)
                assert tail is not None
                assert not tail.rough(epsilon)
                assert tail.delta(epsilon) == pytest.approx(truth, rel=1e-4)
                assert tail.beyond < 1e-9 * truth


def test_a_loss_on_the_grid_but_for_rounding_has_no_negative_chance() -> None:
    """Tight pure noise of epsilon 0.7 where H is 4: a chance below 0 by rounding had no logarithm."""
    count, scale = 16, 22.8572
    found = epsilon_of((Laplace(count, 1 / scale),), 1e-6)
    near = epsilon_of((Laplace(count, 1 / (scale * 1.001)),), 1e-6)
    assert near < found < near * 1.002


def test_pure_composition() -> None:
    losses = (Laplace(80, 0.01), Laplace(40, 0.0025))
    assert epsilon_of(losses, 0.0) == pytest.approx(0.9)
    assert epsilon_of(losses, 1e-300) <= epsilon_of(losses, 0.0)
    assert delta_of(losses, 0.9 + 1e-12) == 0.0
    assert epsilon_of((), 0.0) == delta_of((), 0.0) == 0.0


@pytest.mark.parametrize(("up", "down"), [(1, 0), (0, 1), (1, 1), (2, 1), (3, 0), (2, 2)])
@pytest.mark.parametrize(
    ("trials", "p"), first([(10, Fraction(1, 5)), (9, Fraction(1, 2)), (4, Fraction(1, 2))])
)
def test_binomial_by_enumeration(trials: int, p: Fraction, up: int, down: int) -> None:
    losses, curve = (Binomial(trials, float(p), up, down),), enumerated(trials, p, up, down)
    for epsilon in (0.0, 0.1, 0.5, 1.0, 2.0, 4.0):
        truth = curve(epsilon)
        # upward by the grid (0.02% of the spread of the loss) only
        assert truth * (1 - 1e-9) <= delta_of(losses, epsilon) <= truth * (1 + OVER)
    lowest = curve(50.0)  # mass that gives the shift away, whatever epsilon
    for delta in (0.05, 0.2, 0.4):
        if delta > lowest * 1.01:
            agrees(losses, curve, (delta,))
        elif delta < lowest:
            assert epsilon_of(losses, delta) == math.inf


BATCHES = [
    Binomial(3000, 0.5, 60, 60),
    Binomial(1_700_000, 0.5, 60, 60),
    Binomial(10_000, 0.1, 6, 6),
    Binomial(10**12, 4e-9, 6, 6),
    Binomial(10**15, 4e-13, 9, 9),
    Binomial(10**15, 2e-12, 3, 0),
    Binomial(50_000, 0.02, 12, 0),
]


@pytest.mark.thorough
@pytest.mark.parametrize("loss", BATCHES, ids=str)
def test_large_binomial_by_inversion(loss: Binomial) -> None:
    agrees((loss,), binomial_curve(loss))


@pytest.mark.parametrize(
    ("trials", "p"), [(7, 0.5), (2001, 0.5), (10**6, 0.003), (10**12, 4e-9), (10**15, 1.3e-11)]
)
def test_probabilities_of_outcomes(trials: int, p: float) -> None:
    first, b, outside = binomial_window(trials, p)
    x, truth = precise_binomial(trials, p, reach=10.0)
    np.testing.assert_allclose(b[x - first], truth, rtol=1e-9)
    assert 0 <= outside < 1e-20


def test_too_many_outcomes_are_refused() -> None:
    with pytest.raises(SpecError, match="larger epsilon"):
        epsilon_of((Binomial(10**15, 0.5, 1, 1),), 1e-6)


@pytest.mark.parametrize(
    "losses",
    [
        (Gaussian(0.3),),
        (Laplace(120, 1 / 60),),
        (Laplace(80, 0.02), Laplace(40, 0.005)),
        (Binomial(3000, 0.5, 60, 60),),
        (Binomial(10**15, 4e-13, 9, 9),),
        (Laplace(10, 0.05), Binomial(10_000, 0.1, 2, 2)),
    ],
    ids=str,
)
def test_delta_and_epsilon_are_inverse(losses: Losses) -> None:
    last = math.inf
    for delta in (1e-15, 1e-9, 1e-6, 1e-3, 1e-2):
        epsilon = epsilon_of(losses, delta)
        assert 0 < epsilon < last
        last = epsilon
        assert delta_of(losses, epsilon) == pytest.approx(delta, rel=1e-3)


def test_more_noise_or_fewer_counters_prove_more() -> None:
    for many, few in (
        ((Laplace(120, 0.02),), (Laplace(119, 0.02),)),
        ((Laplace(120, 0.02),), (Laplace(120, 0.0199),)),
        ((Gaussian(0.3),), (Gaussian(0.299),)),
        ((Binomial(3000, 0.5, 60, 60),), (Binomial(3000, 0.5, 60, 59),)),
        ((Binomial(3000, 0.5, 60, 60),), (Binomial(3030, 0.5, 60, 60),)),
    ):
        assert epsilon_of(few, 1e-6) < epsilon_of(many, 1e-6)
        assert delta_of(few, 0.3) < delta_of(many, 0.3)


def test_a_loss_nobody_knows_is_an_error() -> None:
    class Cauchy:
        spread = 1.0

    with pytest.raises(TypeError, match="cannot handle the loss"):
        epsilon_of((Cauchy(),), 1e-6)
    with pytest.raises(TypeError, match="cannot handle the loss"):
        epsilon_of((Laplace(10, 0.05), Gaussian(0.2)), 1e-6)  # none that rounds upward


def test_delta_zero_proves_nothing_without_laplace() -> None:
    assert epsilon_of((Gaussian(0.1),), 0.0) == math.inf
    assert epsilon_of((Binomial(100, 0.5, 1, 1),), 0.0) == math.inf
    assert epsilon_of((Laplace(1, 0.1), Gaussian(0.1)), 0.0) == math.inf


DELTA = 1e-6
BOTH: dict[str, Any] = {  # enough of each kind of noise, at several sizes
    "gaussian-tree": {"releases": 10, "counters": 3, "size": 0.5},
    "gaussian-toeplitz": {"releases": 10},
    "gaussian-optimal": {"releases": 50, "contribution": 4},
    "gaussian-blt": {"releases": 5000, "counters": 2},
    "laplace-tree": {"releases": 10, "counters": 2},
    "gaussian": {"counters": 4, "contribution": 3},
    "laplace": {"counters": 4, "contribution": 3},
    "binomial-sum": {"releases": 10, "counters": 2},
    "binomial-tree": {"releases": 10, "counters": 1, "contribution": 2},
}


@pytest.mark.parametrize(
    ("mechanism", "epsilon"),
    first(
        [(key, epsilon) for key in BOTH for epsilon in (0.3, 1.0)],
        lambda one: one[0] if "bin" in one[0] else one,
    ),
)
def test_the_noise_needed_proves_the_epsilon_and_hardly_less(mechanism: str, epsilon: float) -> None:
    needed = account(mechanism, epsilon=epsilon, delta=DELTA, **BOTH[mechanism])
    assert 0.97 * epsilon <= needed.epsilon <= epsilon
    again = account(mechanism, scale=needed.scale, delta=DELTA, **BOTH[mechanism])
    assert (again.epsilon, again.scale) == (needed.epsilon, needed.scale)
    more = account(mechanism, scale=2 * needed.scale, delta=DELTA, **BOTH[mechanism])
    assert more.epsilon < needed.epsilon
    assert (more.std > needed.std).all()


@pytest.mark.parametrize("m", [1, 3])
def test_noise_proves_what_dp_accounting_composes(m: int) -> None:
    root = linalg.sqrtm(np.tril(np.ones((10, 10)))).real  # C with C C = prefix sums
    column = float(np.linalg.norm(root[:, 0]))
    given: dict[str, Any] = {"contribution": m, "counters": 4}
    tree = account("laplace-tree", releases=10, scale=30, **given)
    toeplitz = account("gaussian-toeplitz", releases=10, scale=20, contribution=m)
    for found, part in (
        (account("gaussian-tree", releases=10, scale=20, size=0.5, **given), (gaussian_loss(20, m), 4)),
        (toeplitz, (gaussian_loss(20, m * column), 1)),
        (account("laplace-tree", scale=12, size=0.5, **given), (laplace_loss(12, m * 0.5), 4)),
        (tree, (laplace_loss(30, m), 16)),
        (account("gaussian", scale=15, **given), (gaussian_loss(15, 2), m)),
        (account("laplace", scale=15, **given), (laplace_loss(15, 1), 4 * m)),
    ):
        assert found.epsilon == pytest.approx(composed([part], DELTA), rel=0.01)
    np.testing.assert_allclose(toeplitz.std, 20 * np.linalg.norm(root, axis=1), rtol=1e-6)
    pure = account("laplace-tree", releases=10, scale=30, delta=0, **given)
    assert pure.epsilon == pytest.approx(16 * m / 30)
    assert account("laplace-tree", releases=10, epsilon=1, delta=0, **given).scale == 16 * m


def test_the_std_is_that_of_the_worst_release() -> None:
    tree = account("gaussian-tree", releases=10, epsilon=1)
    assert tree.std == pytest.approx(8.44936 * math.sqrt(3))  # 7 = 4 + 2 + 1
    assert account("laplace", scale=15, counters=4).std.tolist() == [15 * math.sqrt(2)]


def test_shuffled_bits() -> None:
    for found, part in (
        (account("binomial-sum", scale=2000), (bits_loss(2000, 1), 1)),
        (account("binomial-sum", scale=2000, counters=2), (bits_loss(2000, 1), 2)),
        (account("binomial-tree", releases=10, scale=2000, counters=2), (bits_loss(2000, 1), 8)),
    ):
        assert found.epsilon == pytest.approx(composed([part], DELTA), rel=0.01)
    for m in (
        2,
        3,
    ):  # in the same counters, or in several batches; dp-accounting rounds up by an interval for each
        several = account("binomial-sum", scale=6000, counters=2, contribution=m)
        assert composed([(bits_loss(6000, m), 2)], DELTA) <= several.epsilon + 2e-4
        assert composed([(bits_loss(6000, 1), 2 * m)], DELTA) <= several.epsilon + 2e-4 * m


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"epsilon": None},
            "epsilon: give either epsilon, to compute the noise, or scale, to compute epsilon.",
        ),
        ({"scale": 1}, "epsilon: give either epsilon, to compute the noise, or scale"),
        ({"epsilon": 0}, "epsilon: 0 is not allowed; give a number from 0.001 to 1000."),
        ({"delta": 0}, "delta: gaussian-optimal needs a delta above 0; give one, or mechanism laplace-tree"),
        ({"mechanism": "gausian"}, "mechanism: gausian is not allowed (did you mean gaussian?); give"),
        ({"mechanism": "unary"}, "mechanism: unary is not allowed; give gaussian-toeplitz, "),
        (
            {"mechanism": "gaussian", "releases": 2},
            "releases: 2 is not allowed; each report has its own noise",
        ),
        ({"mechanism": "binomial-sum", "size": 2}, "size: 2 is not allowed; shuffled bits are for"),
        ({"releases": 5000}, "releases: 5,000 are too many for"),
    ],
)
def test_a_wrong_argument_gets_a_sentence(given: dict[str, Any], sentence: str) -> None:
    with refused(sentence):
        account(**{"epsilon": 1} | given)


def test_an_account_prints_briefly() -> None:
    found = privacy.account(scale=10)
    assert isinstance(found, Account)
    assert repr(found).startswith("Account(mechanism='gaussian-optimal', epsilon=")
    with pytest.raises(ValueError, match="read-only"):
        found.std[0] = 0

"""The public accountant against dp-accounting: what noise proves, and the noise that an epsilon needs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import linalg, stats

from dprl import SpecError, privacy
from dprl.privacy import Account, account

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


def composed(parts: list[tuple[Any, int]]) -> float:
    """The epsilon of a composition of distributions of dp-accounting, each so many times."""
    whole: Any = None
    for one, times in parts:
        several = one.self_compose(times)
        whole = several if whole is None else whole.compose(several)
    return float(whole.get_epsilon_for_delta(DELTA))


def gaussian(scale: float, length: float) -> Any:
    from dp_accounting.pld import privacy_loss_distribution as pld

    return pld.from_gaussian_mechanism(scale / length, value_discretization_interval=1e-4)


def laplace(scale: float, size: float) -> Any:
    from dp_accounting.pld import privacy_loss_distribution as pld

    return pld.from_laplace_mechanism(scale / size, value_discretization_interval=1e-4)


def bits(trials: int, by: int) -> Any:
    from dp_accounting.pld import privacy_loss_distribution as pld

    k = np.arange(trials + 1)
    log = stats.binom.logpmf(k, trials, 0.5)
    here, moved = ({int(i) + far: float(log[i]) for i in k} for far in (0, by))
    return pld.from_two_probability_mass_functions(here, moved, value_discretization_interval=1e-4)


@pytest.mark.parametrize("mechanism", BOTH)
@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_the_noise_needed_proves_the_epsilon_and_hardly_less(mechanism: str, epsilon: float) -> None:
    needed = account(mechanism, epsilon=epsilon, delta=DELTA, **BOTH[mechanism])
    assert 0.97 * epsilon <= needed.epsilon <= epsilon
    again = account(mechanism, scale=needed.scale, delta=DELTA, **BOTH[mechanism])
    assert (again.epsilon, again.scale) == (needed.epsilon, needed.scale)
    more = account(mechanism, scale=2 * needed.scale, delta=DELTA, **BOTH[mechanism])
    assert more.epsilon < needed.epsilon
    assert (more.std > needed.std).all()


def test_continual_counting_by_gaussian_noise() -> None:
    for m in (1, 4):
        tree = account("gaussian-tree", releases=10, scale=20, counters=3, size=0.5, contribution=m)
        length = m * 0.5 * math.sqrt(3)
        assert tree.epsilon == pytest.approx(composed([(gaussian(20, length), 4)]), rel=0.01)
        root = linalg.sqrtm(np.tril(np.ones((10, 10)))).real  # C with C C = prefix sums
        toeplitz = account("gaussian-toeplitz", releases=10, scale=20, contribution=m)
        column = float(np.linalg.norm(root[:, 0]))
        assert toeplitz.epsilon == pytest.approx(composed([(gaussian(20, m * column), 1)]), rel=0.01)
        np.testing.assert_allclose(toeplitz.std, 20 * np.linalg.norm(root, axis=1), rtol=1e-6)
    assert account("gaussian-tree", releases=10, epsilon=1).std == pytest.approx(
        8.44936 * math.sqrt(3)
    )  # 7 = 4 + 2 + 1


@pytest.mark.parametrize("m", [1, 3])
def test_sums_and_counting_by_laplace_noise(m: int) -> None:
    once = account("laplace-tree", scale=12, counters=4, size=0.5, contribution=m)
    assert once.epsilon == pytest.approx(composed([(laplace(12, m * 0.5), 4)]), rel=0.01)
    tree = account("laplace-tree", releases=10, scale=30, counters=4, contribution=m)
    assert tree.epsilon == pytest.approx(composed([(laplace(30, m), 16)]), rel=0.01)
    pure = account("laplace-tree", releases=10, scale=30, counters=4, contribution=m, delta=0)
    assert pure.epsilon == pytest.approx(16 * m / 30)
    assert (
        account("laplace-tree", releases=10, epsilon=1, counters=4, contribution=m, delta=0).scale == 16 * m
    )


@pytest.mark.parametrize("m", [1, 3])
def test_reports_with_noise_of_their_own(m: int) -> None:
    report = account("gaussian", scale=15, counters=4, contribution=m)
    assert report.epsilon == pytest.approx(composed([(gaussian(15, 2), m)]), rel=0.01)
    report = account("laplace", scale=15, counters=4, contribution=m)
    assert report.epsilon == pytest.approx(composed([(laplace(15, 1), 4 * m)]), rel=0.01)
    assert report.std.tolist() == [15 * math.sqrt(2)]


def test_shuffled_bits() -> None:
    one = account("binomial-sum", scale=2000, counters=2)
    assert one.epsilon == pytest.approx(composed([(bits(2000, 1), 2)]), rel=0.01)
    tree = account("binomial-tree", releases=10, scale=2000, counters=2)
    assert tree.epsilon == pytest.approx(composed([(bits(2000, 1), 8)]), rel=0.01)
    single = account("binomial-sum", scale=2000)
    assert single.epsilon == pytest.approx(composed([(bits(2000, 1), 1)]), rel=0.01)
    for m in (
        2,
        3,
    ):  # in the same counters, or in several batches; dp-accounting rounds up by an interval for each
        several = account("binomial-sum", scale=20_000, counters=2, contribution=m)
        assert composed([(bits(20_000, m), 2)]) <= several.epsilon + 2e-4
        assert composed([(bits(20_000, 1), 2 * m)]) <= several.epsilon + 2e-4 * m


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "epsilon: give either epsilon, to compute the noise, or scale, to compute the epsilon."),
        ({"epsilon": 1, "scale": 1}, "epsilon: give either epsilon, to compute the noise, or scale"),
        ({"epsilon": 0}, "epsilon: 0 is not allowed; give a number from 0.001 to 1000."),
        (
            {"epsilon": 1, "delta": 0},
            "delta: gaussian-optimal needs a delta above 0; give one, or mechanism laplace-tree",
        ),
        (
            {"epsilon": 1, "mechanism": "gausian"},
            "mechanism: gausian is not allowed (did you mean gaussian?); give",
        ),
        ({"epsilon": 1, "mechanism": "unary"}, "mechanism: unary is not allowed; give gaussian-toeplitz, "),
        (
            {"epsilon": 1, "mechanism": "gaussian", "releases": 2},
            "releases: 2 is not allowed; each report has its own noise",
        ),
        (
            {"epsilon": 1, "mechanism": "binomial-sum", "size": 2},
            "size: 2 is not allowed; shuffled bits are for",
        ),
        (
            {"epsilon": 1, "mechanism": "gaussian-optimal", "releases": 5000},
            "releases: 5,000 are too many for",
        ),
    ],
)
def test_a_wrong_argument_gets_a_sentence(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SpecError) as error:
        account(**given)
    assert str(error.value).startswith(sentence)


def test_an_account_prints_briefly() -> None:
    found = privacy.account(scale=10)
    assert isinstance(found, Account)
    assert repr(found).startswith("Account(mechanism='gaussian-optimal', epsilon=")
    with pytest.raises(ValueError, match="read-only"):
        found.std[0] = 0

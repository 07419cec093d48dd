"""The public accountant against dp-accounting: what noise proves, and the noise that an epsilon needs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import linalg

from dprl import privacy
from dprl.privacy import Account, account
from tests.privacy.oracles import bits_loss, composed, gaussian_loss, laplace_loss
from tests.problems import first, refused

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

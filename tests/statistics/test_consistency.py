"""The closed form of post-processing against the linear program it solves.

minimise max |x - m^| subject to x >= 0 and |sum x - n^| <= slack, and when n^ + slack < 0, so that nothing is
feasible, x = 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dprl.mdp.tabular import Array
from dprl.statistics.consistency import consistent, nearest_counts
from tests.problems import few


class Case(NamedTuple):
    m: Array
    n: float
    slack: float

    @property
    def scale(self) -> float:
        return max(1e-300, float(np.abs(self.m).max()), abs(self.n), self.slack)

    @property
    def feasible(self) -> bool:
        return self.n + self.slack >= 0


def nearest(case: Case) -> Array:
    """x, and a check that the sum returned is that of x and nothing else was written."""
    S = len(case.m)
    noisy, out = np.zeros((1, 2, 1, S + 2)), np.full((1, 2, 1, S + 2), np.nan)
    noisy[0, 1, 0] = [*case.m, case.n, 0.0]
    before = noisy.copy()
    total = nearest_counts(noisy, 0, 1, 0, case.slack, 0.0, out)
    x = out[0, 1, 0, :S]
    assert total == pytest.approx(x.sum(), rel=1e-12, abs=1e-12 * case.scale)
    assert np.isnan(out[0, 0]).all()
    assert np.isnan(out[0, 1, 0, S:]).all()
    np.testing.assert_array_equal(noisy, before)
    return np.array(x)


def least_distance(case: Case) -> float:
    """t*: the smallest t for which some x with |x - m^| <= t is feasible, by bisection.

    The sums such x >= 0 can have are the interval from sum max(m^ - t, 0) to sum (m^ + t), if no m^ + t is negative.
    """
    low, high = 0.0, 4 * case.scale
    for _ in range(90):
        t = (low + high) / 2
        least, most = np.maximum(case.m - t, 0).sum(), (case.m + t).sum()
        fits = (case.m + t).min() >= 0 and least <= case.n + case.slack and most >= case.n - case.slack
        low, high = (low, t) if fits else (t, high)
    return high


def canonical(case: Case, t: float) -> Array:
    """From max(m^, 0) in a straight line toward the extreme of the box within t, until the sum meets the bound."""
    start = np.maximum(case.m, 0)
    lo, hi = case.n - case.slack, case.n + case.slack
    bound, end = (hi, np.maximum(case.m - t, 0)) if start.sum() > hi else (lo, case.m + t)
    if lo <= start.sum() <= hi or start.sum() == end.sum():
        return start
    share = min(1.0, (bound - start.sum()) / (end.sum() - start.sum()))
    return np.asarray(start + share * (end - start))


numbers = st.floats(-1e9, 1e9, allow_subnormal=False) | st.floats(-3, 3, allow_subnormal=False) | st.just(0.0)
slacks = st.floats(0, 1e9, allow_subnormal=False) | st.floats(0, 3, allow_subnormal=False) | st.just(0.0)


@settings(max_examples=few(600))
@given(st.lists(numbers, min_size=1, max_size=10), numbers, slacks)
@example([0.0], 0.0, 0.0)
@example([30.0, 0.0, 12.0], 42.0, 0.0)
@example([-1e6, 2.0, 1e-3], -3.0, 2.0)
@example([1.0, 1.0, 1.0], 0.0, 0.0)
@example([-1.0, -2.0], -1.0, 1.0)
@example([1e9, 1.0, -1e9], 1.0, 0.0)
@example([1e9, 1e-9], 0.0, 0.0)
def test_least_distance_by_the_canonical_minimiser(m: list[float], n: float, slack: float) -> None:
    case = Case(np.array(m), n, slack)
    x, tiny = nearest(case), 1e-12 * len(m) * case.scale  # rounding
    assert (x >= 0).all()
    if not case.feasible:
        assert (x <= tiny).all()
        return
    assert abs(x.sum() - n) <= slack + tiny
    tiny *= 10
    t = least_distance(case)
    assert np.abs(x - case.m).max() <= t + tiny
    np.testing.assert_allclose(x, canonical(case, t), rtol=0, atol=tiny)
    # starts from max(m^, 0) and moves no further than the sum requires
    start = np.maximum(case.m, 0).sum()
    assert x.sum() == pytest.approx(np.clip(start, n - slack, max(n + slack, 0)), rel=0, abs=tiny)
    if abs(start - n) <= slack:
        np.testing.assert_array_equal(x, np.maximum(case.m, 0))
    # counts that were larger stay larger
    assert (np.diff(x[np.argsort(case.m, kind="stable")]) >= -tiny).all()


def test_released_counts_are_consistent_and_never_too_small_on_the_good_event() -> None:
    """With |m^ - m|, |n^ - n| <= E/4: n <= n~ <= n + E (QW23-online section 5.1) and |m~ - m| <= E."""
    rng, (H, S, A) = np.random.default_rng(4), (3, 4, 2)
    for _ in range(50):
        E = float(rng.choice([0.5, 20.0, 400.0]))
        true = np.zeros((H, S, A, S + 2))
        true[..., :S] = rng.multinomial(50, rng.dirichlet(np.ones(S), size=(H, S, A)))
        true[..., S] = true[..., :S].sum(-1)
        true[..., S + 1] = rng.random((H, S, A)) * true[..., S]
        noisy = true + E / 4 * rng.uniform(-1, 1, size=true.shape)
        released = np.full_like(noisy, np.nan)
        consistent(noisy, np.full(noisy.shape[:3], E), np.ones(len(noisy)), released)
        n, n_released = true[..., S], released[..., S]
        assert (released[..., :S] >= E / (2 * S)).all()
        np.testing.assert_allclose(released[..., :S].sum(-1), n_released, rtol=1e-12)
        assert (n_released >= n - 1e-9).all()
        assert (n_released <= n + E + 1e-9).all()
        # the minimiser is within E/4 of m^ (the true m is feasible), m^ within E/4 of m, and the shift is E/(2S)
        assert (np.abs(released[..., :S] - true[..., :S]) <= E / 2 + E / (2 * S) + 1e-9).all()
        np.testing.assert_array_equal(released[..., S + 1], noisy[..., S + 1])

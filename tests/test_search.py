"""The search for the number of users."""

from __future__ import annotations

import numpy as np
import pytest

from dprl.metrics import Array, search

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


def test_the_search_waits_for_what_is_not_known() -> None:
    known = {10**6: np.array([2.0, 2.0])}
    found = search.search_users(known.get, 0.1, GRID, 10**6, search.bootstrap(2))
    assert found.pending is not None
    assert found.pending > 10**6
    assert np.isnan(found.needed)


def test_a_price_that_never_falls_needs_more_than_the_grid() -> None:
    found = search.search_users(lambda k: np.array([2.0, 2.0]), 0.1, GRID, 10**6, search.bootstrap(2))
    assert found.pending is None
    assert np.isnan(found.needed)
    assert np.isinf(found.high)


def test_a_price_below_the_target_from_the_start() -> None:
    found = search.search_users(lambda k: np.array([-1.0, 0.0]), 0.1, GRID, 10**6, search.bootstrap(2))
    assert found.needed == GRID[0]

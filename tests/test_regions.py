"""Where weights are held possible: widths against points of the region itself."""

from __future__ import annotations

import numpy as np
import pytest

from dprl import metrics
from dprl.metrics import Array, Region


def lies_in(one: Region, w: Array) -> bool:
    """Whether w is in the region, by its definition, in many directions x."""
    x = np.random.default_rng(1).normal(size=(20_000, len(w)))
    Y = x @ np.linalg.inv(one.G + one.ridge * np.eye(len(w)))
    square = (Y**2).sum(-1)
    most = one.beta * np.sqrt((x * Y).sum(-1) + one.slack * square) + one.pull * np.sqrt(square)
    return bool((x @ (w - one.center) <= most * (1 + 1e-9)).all())


def made(spread: float, slack: float, pull: float) -> Region:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(3, 3)) * np.array([1.0, spread, 1.0])
    return Region(rng.normal(size=3), root @ root.T, 0.5, 2.0, slack, pull)


@pytest.mark.parametrize("pull", [0.0, 3.0])
@pytest.mark.parametrize("slack", [0.0, 4.0])
def test_a_half_width_is_the_furthest_that_the_region_reaches(slack: float, pull: float) -> None:
    one = made(1.0, slack, pull)
    M = np.linalg.inv(one.G + one.ridge * np.eye(3))
    A, B = M + one.slack * M @ M, M @ M
    for k, wide in enumerate(metrics.half_widths(one)):
        # the point beyond which there is none along coordinate k: the gradient of the right-hand side
        x = np.eye(3)[k]
        furthest = one.center + one.beta * A @ x / np.sqrt(x @ A @ x) + one.pull * B @ x / np.sqrt(x @ B @ x)
        assert furthest[k] - one.center[k] == pytest.approx(wide)
        assert lies_in(one, one.center + 0.999 * (furthest - one.center))
        assert not lies_in(one, one.center + 1.05 * (furthest - one.center))


def test_what_is_not_known_has_no_width() -> None:
    one = made(1.0, 0.0, 0.0)._replace(center=np.full(3, np.nan))
    assert not one.known
    assert np.isnan(metrics.half_widths(one)).all()

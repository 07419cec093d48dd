"""Where weights are held possible: projections against points of the region itself."""

from __future__ import annotations

import numpy as np
import pytest

from dprl import metrics
from dprl.metrics import Array
from dprl.metrics.regions import Region


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
def test_an_outline_is_the_projection_of_the_region(slack: float, pull: float) -> None:
    """Its ends are the half widths, and in a direction it reaches as far as the region does, no less and no further."""
    one = made(1.0, slack, pull)
    outline, wide = metrics.outline(one, 0, 2), metrics.half_widths(one)
    assert np.allclose(outline[0], outline[-1])
    for k, coordinate in enumerate((0, 2)):
        assert outline[:, k].max() - one.center[coordinate] == pytest.approx(wide[coordinate], rel=1e-3)
        assert one.center[coordinate] - outline[:, k].min() == pytest.approx(wide[coordinate], rel=1e-3)
    # a point of the region beyond which there is none in direction x: the gradient of its right-hand side
    x = np.array([0.6, 0.0, -0.8])
    M = np.linalg.inv(one.G + one.ridge * np.eye(3))
    A, B = M + one.slack * M @ M, M @ M
    furthest = one.center + one.beta * A @ x / np.sqrt(x @ A @ x) + one.pull * B @ x / np.sqrt(x @ B @ x)
    assert lies_in(one, one.center + 0.999 * (furthest - one.center))
    assert not lies_in(one, one.center + 1.05 * (furthest - one.center))
    reached = (outline - one.center[[0, 2]]) @ x[[0, 2]]
    assert reached.max() == pytest.approx(float((furthest - one.center) @ x), rel=1e-3)


def test_what_is_not_known_has_no_width() -> None:
    one = made(1.0, 0.0, 0.0)._replace(center=np.full(3, np.nan))
    assert not one.known
    assert np.isnan(metrics.half_widths(one)).all()

"""The confidence set of learners of linear models."""

from __future__ import annotations

import numpy as np
import pytest

from dprl.figures import linear

CIRCLE = np.column_stack([np.cos(np.linspace(0, 6.28, 50)), np.sin(np.linspace(0, 6.28, 50))])


@pytest.mark.parametrize("near", [False, True])
def test_axes_show_all_that_is_possible_or_are_filled(near: bool) -> None:
    picture = linear.ellipsoid(
        1e-3 * CIRCLE,
        1e-4 * CIRCLE,
        estimate=np.zeros(2),
        quiet_estimate=np.zeros(2),
        truth=np.zeros(2),
        bound=2.0,
        names=("weight 0", "weight 1"),
        label="a run",
        near=near,
    )
    low, high = picture.figure.layout.xaxis.range
    assert (high - low < 3e-3) == near
    assert near or low < -2 < 2 < high
    assert len(picture.table) == 10

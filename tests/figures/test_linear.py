"""Charts of learners of linear models: what is drawn, and what is left out."""

from __future__ import annotations

import numpy as np
import pytest

from dprl.figures import linear
from dprl.sentences import linear as sentences

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


@pytest.mark.parametrize(
    ("widths", "quiet", "said"),
    [
        ([0.4, 0.4], [0.1, 0.4], "would give a confidence set 2 times narrower"),
        (
            [6.0, 6.0],
            [20.0, 20.0],
            "These radii show nothing new",
        ),  # the paper's constants: noise has more ridge
        ([0.3, 0.4], [0.6, 0.4], "the true error 0.1."),
        ([np.nan, np.nan], [1.0, 1.0], sentences.INDEFINITE),
    ],
)
def test_what_is_said_of_a_region_is_so(widths: list[float], quiet: list[float], said: str) -> None:
    found = sentences.region(
        np.array(widths),
        np.array(quiet),
        np.array([0.2, -0.1]),
        bound=2.0,
        names=("weight 0", "weight 1"),
        step=3,
        users=1000,
        private=True,
    )
    assert said in found

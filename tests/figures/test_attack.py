"""Pictures of attacks: both worlds, and every test's errors."""

from __future__ import annotations

import numpy as np
import pytest

from dprl.figures import attack, style
from dprl.metrics.attack import histogram
from tests.figures.eyes import contrast

RNG = np.random.default_rng(0)
FIRST, SECOND = RNG.normal(0.5, 1, 4000), RNG.normal(-0.5, 1, 4000)


@pytest.mark.parametrize("dark", [False, True])
def test_histograms_hold_every_execution_and_are_told_apart_by_dash_too(dark: bool) -> None:
    drawn = histogram(FIRST, SECOND)
    picture = attack.score_histograms(*drawn, see="so", dark=dark)
    first, second = picture.figure.data
    assert picture.table["first episode"].sum() == picture.table["second episode"].sum() == 4000
    assert max(first.y) == drawn[1].max()
    assert (first.line.dash, second.line.dash) == ("solid", "dash")
    assert contrast(first.line.color, style.theme(dark).background) >= 3
    assert "4,000 simulated releases" in picture.figure.layout.title.text
    assert picture.see == "so"

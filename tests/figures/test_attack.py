"""Pictures of attacks: both worlds, and every test's errors."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dprl import metrics
from dprl.figures import attack, style
from tests.figures.eyes import contrast

RNG = np.random.default_rng(0)
FIRST, SECOND = RNG.normal(0.5, 1, 4000), RNG.normal(-0.5, 1, 4000)
FALSE = np.linspace(0, 1, 21)


@pytest.mark.parametrize("dark", [False, True])
def test_histograms_hold_every_execution_and_are_told_apart_by_dash_too(dark: bool) -> None:
    drawn = metrics.histogram(FIRST, SECOND)
    picture = attack.score_histograms(*drawn, see="so", dark=dark)
    first, second = picture.figure.data
    assert picture.table["first episode"].sum() == picture.table["second episode"].sum() == 4000
    assert max(first.y) == drawn[1].max()
    assert (first.line.dash, second.line.dash) == ("solid", "dash")
    assert contrast(first.line.color, style.theme(dark).background) >= 3
    assert "4,000 simulated releases" in picture.figure.layout.title.text
    assert picture.see == "so"


def test_what_is_proved_is_dotted_and_what_is_measured_is_not() -> None:
    picture = attack.error_curves((FALSE, np.sqrt(FALSE)), metrics.roc(FIRST, SECOND), claimed=(1.0, 0.0))
    looks = {trace.name: trace.line.dash for trace in picture.figure.data}
    assert looks == {
        "guessing": None,
        "proved maximum": style.BOUND_DASH,
        "maximum under (1, 0)": style.BOUND_DASH,
        "the attack": None,
    }
    claimed = next(t for t in picture.figure.data if "under" in t.name)
    assert claimed.y[2] == pytest.approx(math.e * 0.1)
    assert np.all(np.diff(claimed.y) >= 0)
    assert max(claimed.y) == 1
    assert set(picture.table["curve"]) == set(looks)

"""How fast the privacy cost grows, drawn: exponents with intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from dprl.figures import style
from dprl.figures.growth import Decades, growth_exponents
from dprl.figures.looks import CurveStyle


def decades(label: str = "Trusted curator", model: str = "central", **other: Any) -> Decades:
    from_k = np.array([1e3, 1e4, 1e5])
    given: dict[str, Any] = {
        "mean": np.array([1.0, 0.5, 0.02]),
        "low": np.array([0.9, 0.4, -0.01]),
        "high": np.array([1.1, 0.6, 0.05]),
        "seeds": np.array([20, 20, 18]),
        "of": 20,
    }
    return Decades(label, CurveStyle(model), from_k, 10 * from_k, **(given | other))


def test_exponents_have_their_intervals_and_stand_in_the_middle_of_their_tenfold() -> None:
    picture = growth_exponents([decades()])
    points = picture.figure.data[0]
    np.testing.assert_allclose(points.x, [10**3.5, 10**4.5, 10**5.5])
    np.testing.assert_allclose(points.error_y.array, [0.1, 0.1, 0.03])
    np.testing.assert_allclose(points.error_y.arrayminus, [0.1, 0.1, 0.03])
    assert "18 of 20 seeds" in points.customdata[-1]
    assert list(picture.table["exponent"]) == [1.0, 0.5, 0.02]
    lines = {
        trace.name.partition(":")[0]: trace for trace in picture.figure.data if trace.hoverinfo == "skip"
    }
    assert set(lines) == {"1", "0.5", "0.1"}
    assert lines["0.5"].line.dash == style.BOUND_DASH  # theory
    assert lines["1"].line.dash == lines["0.1"].line.dash == "solid"


def test_tenfolds_without_an_exponent_are_left_out() -> None:
    nan = np.array([np.nan, 0.5, 0.02])
    picture = growth_exponents([decades(mean=nan), decades("No trusted party", "local")])
    assert len(picture.figure.data[0].x) == 2
    assert len(picture.table) == 6


def test_intervals_end_within_the_axis() -> None:
    wide = growth_exponents([decades(low=np.array([0.9, 0.4, -0.6]), high=np.array([1.0, 0.6, 1.7]))])
    bottom, top = wide.figure.layout.yaxis.range
    assert bottom < -0.6
    assert top > 1.7


def test_models_stand_beside_each_other_in_a_tenfold() -> None:
    first, second = growth_exponents([decades(), decades("No trusted party", "local")]).figure.data[:2]
    assert (np.asarray(first.x) < np.asarray(second.x)).all()
    assert (np.asarray(second.x) < 10 * np.asarray(first.x)).all()

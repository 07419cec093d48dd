"""Charts of learners of linear models: what is drawn, and what is left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dprl.figures import difficulty, linear
from dprl.figures.lines import Series
from dprl.figures.looks import CurveStyle
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


def test_what_nobody_has_shown_is_not_drawn_as_an_eigenvalue() -> None:
    users = np.array([1, 10, 100])
    quiet = np.array([[1e-17, 1.0], [1e-16, 10.0], [5.0, 100.0]])
    picture = linear.eigenvalues(users, quiet, None, shift=np.zeros(3), ridge=np.full(3, 0.25), label="a run")
    least = picture.figure.data[0]
    assert np.isnan(least.y).tolist() == [True, True, False]
    assert [t.name for t in picture.figure.data if t.showlegend is not False] == [
        "eigenvalues without noise, 2 of them",
        "ridge, added by the algorithm",
    ]


@pytest.mark.parametrize("d", [2, 3, 10])
def test_each_weight_has_a_panel(d: int) -> None:
    truth = np.full((4, d), 0.3)
    widths = np.full((4, d), np.inf)
    picture = linear.weights_over_steps(truth + 1.0, widths, truth, bound=1.0, label="a run", private=True)
    assert len({t.xaxis for t in picture.figure.data}) == d
    stripes = [t for t in picture.figure.data if t.mode == "lines"]
    assert all(np.nanmax(np.abs(np.array(t.y, float))) <= 1 for t in stripes)  # never beyond what is possible
    layout: Any = picture.figure.layout
    assert layout.yaxis.domain[1] == 1.0
    assert layout[f"yaxis{d}"].domain[0] >= 0.0


def test_slopes_of_theory_are_dotted_and_reach_over_all_users() -> None:
    users = np.array([10**6, 10**9])
    rows = np.array([[1e3, 1e5], [2e3, 2e5]])
    curve = Series("a run", CurveStyle("none"), users, rows, rows.mean(0), rows.min(0), rows.max(0))
    picture = difficulty.harder([curve], [(0.5, "0.50: at most")])
    (line,) = (t for t in picture.figure.data if t.name == "0.50: at most")
    assert line.line.dash == "dot"
    assert line.y[1] / line.y[0] == pytest.approx(1000**0.5)
    assert list(line.x) == [10**6, 10**9]
    assert "users" in picture.table.columns


@pytest.mark.parametrize(
    ("widths", "quiet", "said"),
    [
        ([0.4, 0.4], [0.1, 0.4], "would give a confidence set 2 times narrower"),
        (
            [6.0, 6.0],
            [20.0, 20.0],
            "These radii say nothing new",
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


def test_eigenvalues_are_counted_against_noise() -> None:
    quiet = np.array([1.0, 5.0, 100.0])
    assert "no eigenvalue stands" in sentences.eigenvalues(quiet, 1e3, 10, True)
    assert "1 of 3 eigenvalues stands" in sentences.eigenvalues(quiet, 10.0, 10, True)
    assert "The smallest is 2 times the most that noise can move it" in sentences.eigenvalues(
        quiet, 0.5, 10, True
    )
    assert "100 times" in sentences.eigenvalues(quiet, 0.0, 10, False)

"""Exploration noise beside calibrated noise, drawn: two parts over one axis, a star, and the numbers in a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dprl.figures import style
from dprl.figures.exploration import Beside, costs
from dprl.figures.lines import Series
from dprl.figures.looks import CurveStyle

UNKNOWN = (np.nan, np.nan, np.nan)
USERS = np.array([100, 1000, 10_000])


def beside(first: int | None = 1) -> Beside:
    ratio = np.array([0.9, 2.0, 4.0])
    return Beside(USERS, np.array([3.0, 10.0, 50.0]), ratio, 0.9 * ratio, 1.1 * ratio, first, UNKNOWN)


def curve(label: str, kind: CurveStyle, scale: float) -> Series:
    rows = np.array([[0.9], [1.0], [1.1]]) * scale * USERS
    return Series(label, kind, USERS, rows, rows[1], rows[0], rows[2], v_star=3.4)


def drawn(found: Beside, scale: float = 1.0, **how: Any) -> Any:
    return costs(
        curve("RLSVI", CurveStyle("none"), 2.0 * scale),
        curve("DP-UCBVI", CurveStyle("central"), 1.0),
        found,
        **how,
    )


def test_regret_stands_above_the_budget_over_one_axis_of_users() -> None:
    picture = drawn(beside(), see="See.")
    layout = picture.figure.layout
    assert layout.yaxis.domain[0] > layout.yaxis2.domain[1]
    assert (layout.xaxis.type, layout.yaxis.type, layout.yaxis2.type) == ("log",) * 3
    assert layout.xaxis.anchor == "y2"
    assert layout.yaxis2.title.text == "Budget ε"
    (budget,) = [trace for trace in picture.figure.data if trace.yaxis == "y2"]
    assert budget.line.dash == style.BOUND_DASH  # a formula, no measurement
    assert list(budget.y) == [3, 10, 50]
    assert picture.see == "See."


@pytest.mark.parametrize("first", [0, 1, None])
def test_a_star_marks_from_where_on_calibrated_noise_costs_less(first: int | None) -> None:
    stars = [t for t in drawn(beside(first)).figure.data if t.marker.symbol == "star"]
    assert [list(star.x) for star in stars] == ([] if first is None else [[USERS[first]]])
    assert [list(star.y) for star in stars] == ([] if first is None else [[2.0 * USERS[first]]])


def test_the_table_has_a_row_for_each_number_of_users() -> None:
    table = drawn(beside(), dark=True).table
    assert table["users"].tolist() == USERS.tolist()
    assert table["RLSVI: mean"].tolist() == (2.0 * USERS).tolist()
    assert table["DP-UCBVI: high (95%)"].tolist() == pytest.approx((1.1 * USERS).tolist())
    assert table["RLSVI over DP-UCBVI"].tolist() == [0.9, 2.0, 4.0]
    assert set(table["seeds"]) == {3}

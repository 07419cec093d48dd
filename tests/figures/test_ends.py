"""Names at the ends of lines: beside them, readable, none over another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dprl.figures import ends, regret
from dprl.figures.lines import Series
from dprl.figures.looks import CurveStyle

EPISODES = np.geomspace(1, 1e6, 30)


def curve(label: str, last: float, **how: Any) -> Series:
    center = np.linspace(100, last, 30)
    return Series(
        label, CurveStyle("central", 1.0), EPISODES, np.array([center] * 2), center, center, center, **how
    )


def names(figure: Any) -> dict[str, float]:
    """What stands beside the plot, and at which share of its height."""
    return {
        trace.name: figure.layout[trace.legend].y
        for trace in figure.data
        if trace.legend is not None and trace.showlegend
    }


def test_names_stand_at_the_ends_in_the_order_of_the_lines_and_leave_the_legend_to_references() -> None:
    lasts = {"low": 1.0, "high": 30.0, "near high": 29.5}
    curves = [curve(label, last, v_star=120.0) for label, last in lasts.items()]
    figure = regret.comparison(curves, view="per-episode", wide=True).figure
    assert set(names(figure)) == set(lasts)
    low, high = figure.layout.yaxis.range
    plot = figure.layout.height - ends.AROUND
    heights = {label: place * plot for label, place in names(figure).items()}
    for label, last in lasts.items():
        there = (np.log10(last) - low) / (high - low) * plot
        assert heights[label] == pytest.approx(there, abs=0.01 if label == "low" else ends.ROW)
    assert heights["low"] + ends.ROW <= heights["near high"] + 1e-6
    assert heights["near high"] + ends.ROW <= heights["high"] + 1e-6
    legend = [trace.name for trace in figure.data if trace.showlegend is not False and trace.legend is None]
    assert not set(legend) & set(lasts)
    assert any(name.startswith("V* = ") for name in legend)


def test_hidden_curves_have_no_name_and_while_one_goes_on_there_is_a_legend() -> None:
    curves = [curve("a", 1.0, shown=False), curve("b", 2.0)]
    figure = regret.comparison(curves, wide=True).figure
    assert list(names(figure)) == ["b"]
    assert not [trace for trace in figure.data if trace.legendgroup == "a" and trace.showlegend is not False]
    going = [*curves, curve("c", 50.0, complete=False, note="1 of 5 seeds")]
    assert not names(regret.comparison(going, wide=True).figure)


def test_names_of_lines_that_end_at_one_height_stand_in_the_legend() -> None:
    """Beside each other they would not say which line is whose."""
    curves = [curve(f"{i}", 1.0 + i / 1000) for i in range(5)]
    figure = regret.comparison(curves, wide=True).figure
    assert not names(figure)
    assert [c.label for c in curves] == [t.name for t in figure.data if t.showlegend is not False][:5]


@example([270.0, 300.0, 300.0])
@given(st.lists(st.floats(0, 300), min_size=1, max_size=8))
def test_names_never_overlap_and_move_no_more_than_they_must(at: list[float]) -> None:
    found = ends.spread_apart(np.array(at), 300.0)
    order = np.argsort(at, kind="stable")
    assert (np.diff(found[order]) >= ends.ROW - 1e-6).all()
    assert found.min() >= 0
    assert found.max() <= 300 + 1e-6
    if (np.diff(np.array(at)[order]) >= ends.ROW).all():
        assert found == pytest.approx(at)

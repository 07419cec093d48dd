"""Panels of learners: names that do not lie on each other, one axis, and what is drawn of a median."""

from __future__ import annotations

import numpy as np
import pytest

from dprl.figures import landscape as figures
from dprl.figures.lines import Series
from dprl.figures.looks import CurveStyle


def curve(name: str, learner: int, exponent: float) -> Series:
    at = np.asarray(10.0 ** np.arange(3, 16), np.float64)
    center = np.asarray(at**exponent, np.float64)
    return Series(
        name, CurveStyle("central", 1.0, 0, learner), at, center[None], center, center * 0.8, center * 1.2
    )


@pytest.mark.parametrize("view", ["regret", "share"])
def test_each_learner_has_a_line_with_its_dash_a_band_and_a_name(view: figures.View) -> None:
    curves = [curve("A", 0, 0.3), curve("B", 1, 0.3), curve("C", 2, 0.9)]
    ends = figures.span(curves, view, 2.0)
    picture = figures.regret_by_users(
        "Central", curves, view=view, v_star=2.0, target=0.1, ends=ends, dark=False
    )
    lines = [trace for trace in picture.figure.data if trace.mode == "lines+markers"]
    assert [line.name for line in lines] == ["A", "B", "C"]
    assert len({line.line.dash for line in lines}) == 3
    assert sum(trace.fill == "toself" for trace in picture.figure.data) == 3
    dotted = [trace for trace in picture.figure.data if trace.line.dash == "dot"]
    assert len(dotted) == 2
    assert all(trace.fill is None for trace in dotted)
    names = {note.text: note.ay for note in picture.figure.layout.annotations if note.ay is not None}
    low, first, second, high = (
        ends[0],
        *sorted((names["A"], names["B"])),
        names["C"],
    )  # A and B end at one height
    assert low < first <= second - figures.APART * (ends[1] - ends[0]) + 1e-9 < second < high < ends[1]
    seen = np.concatenate([np.asarray(line.y, float) for line in lines])
    assert ends[0] <= np.log10(seen.min())
    assert np.log10(seen.max()) <= ends[1]
    unit = 1.0 if view == "regret" else 2.0 * curves[0].x
    assert np.allclose(lines[0].y, curves[0].center / unit)
    assert len(picture.table) == 3 * 13


def test_an_axis_of_shares_ends_at_all_there_is_to_lose() -> None:
    curves = [curve("A", 0, 0.3), curve("B", 1, 0.95)]
    low, high = figures.span(curves, "share", 2.0)
    assert high == 0  # 100%
    axis = figures.regret_by_users(
        "Central", curves, view="share", v_star=2.0, target=0.1, ends=(low, high), dark=False
    ).figure.layout.yaxis
    assert axis.ticktext[-1] == "100%"
    assert max(axis.tickvals) == 1
    assert 0 <= axis.range[1] < np.log10(1.5)


def test_both_axes_write_powers_of_ten_alike() -> None:
    curves = [curve("A", 0, 0.3)]
    ends = figures.span(curves, "regret", 2.0)
    axes = figures.regret_by_users(
        "Central", curves, view="regret", v_star=2.0, target=0.1, ends=ends, dark=False
    ).figure.layout
    for axis in (axes.xaxis, axes.yaxis):
        assert {"10⁶", "10¹²"} <= set(axis.ticktext)

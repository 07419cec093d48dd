"""The comparison of curves: titles, bands, zeros on a log axis, unfinished curves, names at the ends of lines."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from dprl.figures import ends, lines, looks, regret, style
from dprl.figures.lines import Series
from dprl.figures.looks import CurveStyle
from dprl.figures.regret import Measure
from dprl.metrics.curves import BANDS
from dprl.sentences import regret as sentences
from dprl.words import human, rough
from tests.figures.captioned import comparison

K = 10**9
EPISODES = np.unique(np.geomspace(1, K, 150).astype(np.int64))


def curve(
    label: str = "DP-UCBVI, central", model: str = "central", scale: float = 1.0, **other: Any
) -> Series:
    """Regret scale * K^0.7 with a spread of 10% over three seeds."""
    rows = scale * np.array([[0.9], [1.0], [1.1]]) * EPISODES.astype(float) ** 0.7
    mean = rows.mean(axis=0)
    band = {"center": mean, "low": 0.8 * mean, "high": 1.2 * mean}
    given: dict[str, Any] = {"x": EPISODES, "rows": rows, **band}
    kind = CurveStyle(model, **{k: other.pop(k) for k in ("epsilon", "number", "draft") if k in other})
    return Series(label, kind, **(given | other))


def measured(label: str, rows: np.ndarray, spread: float = 0.0, **other: Any) -> Series:
    """A curve with these rows, and a band of this width around their mean."""
    mean = rows.mean(axis=0)
    return curve(label, rows=rows, center=mean, low=mean - spread, high=mean + spread, **other)


def named(figure: go.Figure, name: str) -> Any:
    return [trace for trace in figure.data if trace.name == name]


def legend(figure: go.Figure) -> list[str]:
    return [trace.name for trace in figure.data if trace.showlegend is not False]


def test_axes_are_what_was_asked() -> None:
    for log_x, log_y in product((False, True), repeat=2):
        layout = comparison([curve()], log_x=log_x, log_y=log_y).figure.layout
        assert layout.xaxis.type == ("log" if log_x else "linear")
        assert layout.yaxis.type == ("log" if log_y else "linear")
        assert layout.yaxis.rangemode == (None if log_y else "tozero")


def test_no_trace_has_more_than_500_points() -> None:
    episodes = np.arange(1, 20_001)
    rows = np.tile(np.sqrt(episodes), (3, 1))
    picture = comparison([measured("long", rows, x=episodes)], show_seeds=True)
    assert max(len(trace.x) for trace in picture.figure.data) <= style.MOST_POINTS
    line = named(picture.figure, "long")[0]
    assert (line.x[0], line.x[-1]) == (1, 20_000)
    assert len(picture.table) == 20_000


def test_curves_that_look_the_same_are_numbered_on_their_markers_and_in_the_legend() -> None:
    figure = comparison([curve("K 10"), curve("K 20", number=2)]).figure
    first, second = named(figure, "K 10")[-1], named(figure, "2: K 20")[0]
    assert "markers" in first.mode
    assert first.marker.color == second.marker.color
    (digits,) = [trace for trace in figure.data if trace.mode == "text"]
    assert set(digits.text) == {"2"}
    assert digits.legendgroup == second.legendgroup
    assert second.marker.size > first.marker.size
    assert set(digits.x) == {x for x in second.x if np.isfinite(x)}


def test_two_curves_of_one_name_stay_two() -> None:
    figure = comparison([curve("same"), curve("same", "local")]).figure
    assert {"same", "same (2)"} <= set(legend(figure))
    assert len({trace.legendgroup for trace in figure.data if trace.legendgroup}) == 2


def test_one_seed_has_no_band_and_no_legend_for_one_and_seeds_are_drawn_on_demand() -> None:
    figure = comparison([measured("a", curve().rows, spread=np.nan)]).figure
    assert not [trace for trace in figure.data if trace.fill == "toself"]
    assert not [name for name in legend(figure) if "interval" in name]
    assert len(named(figure, "a: one seed")) == 0
    assert len(named(comparison([curve("a")], show_seeds=True).figure, "a: one seed")) == 3


def test_zeros_on_a_log_axis_are_drawn_at_the_edge_and_mentioned() -> None:
    mean = EPISODES.astype(float).copy()
    mean[:4] = [0.0, -1.0, 0.0, 0.0]
    given = measured("a", mean[None, :], spread=5)
    picture = comparison([given])
    edge = named(picture.figure, "a: zero or less")[0]
    assert len(edge.x) == 4
    low = 10 ** picture.figure.layout.yaxis.range[0]
    assert (np.asarray(edge.y) >= low).all()
    assert (np.asarray(edge.y) < mean[4]).all()
    assert "Open triangles on the bottom edge are values at or below zero" in picture.see
    assert any("zero or less" in name for name in legend(picture.figure))
    band = next(trace for trace in picture.figure.data if trace.fill == "toself")
    assert (np.asarray(band.y) > 0).all()
    # On a linear axis there is nothing to excuse.
    linear = comparison([given], log_y=False)
    assert "at or below zero" not in linear.see
    assert not named(linear.figure, "a: zero or less")


def test_where_nothing_is_positive_the_axis_turns_linear_and_says_so() -> None:
    picture = comparison([measured("a", -np.ones((1, len(EPISODES))), spread=1)], view="extra")
    assert picture.figure.layout.yaxis.type == "linear"
    assert "linear" in picture.see


def test_a_live_curve_is_the_same_colour_but_visibly_unfinished() -> None:
    rows = curve().rows.copy()
    rows[0, 60:] = np.nan
    live = measured("a", rows, complete=False, note="running, 43%")
    figure, done = comparison([live]).figure, comparison([curve("a")]).figure
    line, whole = named(figure, "a")[0], named(done, "a")[0]
    assert line.line.color == whole.line.color
    assert line.line.width < whole.line.width
    assert line.opacity < whole.opacity
    assert len(line.x) == 60
    tip = named(figure, "a: so far")[0]
    assert tip.x[0] == EPISODES[59]
    assert "a (running, 43%)" in legend(figure)
    # Seeds that have run ahead of the mean go on alone.
    ahead = named(figure, "a: one seed")
    assert len(ahead) == 2
    assert (ahead[0].x[0], ahead[0].x[-1]) == (EPISODES[59], K)
    assert f"After {human(EPISODES[59])} episodes, **a** has lost " in comparison([live]).see


def test_a_live_curve_with_nothing_yet_keeps_its_place_in_the_legend() -> None:
    picture = comparison([measured("a", np.zeros((1, 0)), x=np.zeros(0, np.int64), complete=False)])
    assert "a (unfinished)" in legend(picture.figure)
    assert picture.see == "There is nothing to draw yet."
    assert comparison([]).see == "There is nothing to draw yet."


def test_a_hidden_curve_keeps_its_look_and_leaves_the_sentence() -> None:
    curves = [curve("a", shown=False), curve("b", epsilon=0.3)]
    picture = comparison(curves)
    assert {trace.visible for trace in named(picture.figure, "a")} == {"legendonly"}
    assert named(picture.figure, "b")[0].line.color == looks.color("central", 0.3, dark=False)
    assert "**a**" not in picture.see


def test_zoom_outlives_a_live_update_but_not_a_change_of_view() -> None:
    def revision(**how: Any) -> str:
        return str(comparison([curve()], **how).figure.layout.uirevision)

    assert revision() == revision()
    assert len({revision(), revision(view="extra"), revision(log_y=False)}) == 3


PLACES = st.integers(2, len(EPISODES))


def stopped(
    label: str, length: int, lost: float, until: float = np.inf, view: Measure = "cumulative", every: int = 1
) -> Series:
    """A run that was computed as far as that, which loses `lost` an episode until it has learned all."""
    episodes = EPISODES[:length][::-every][::-1].astype(float)
    total = lost * np.minimum(episodes, until)
    rows = (total / episodes if view == "per-episode" else total)[None, :]
    return measured(label, rows, x=episodes.astype(np.int64), complete=length == len(EPISODES))


@given(PLACES, PLACES, PLACES, st.sampled_from(("cumulative", "per-episode", "extra")))
def test_two_runs_of_any_lengths_are_compared_where_both_were_computed(
    first: int, second: int, learned: int, view: Measure
) -> None:
    """Averages are compared once one of the runs is finished."""
    if view == "per-episode":
        going = [stopped(label, min(first, len(EPISODES) - 1), 3.0, view=view) for label in "ab"]
        said = sentences.about_regret(going, view)
        assert said.startswith(
            "These curves have fewer episodes or are not finished, so they are not compared: **a** and"
        )
        first = len(EPISODES)
    K, until = float(EPISODES[min(first, second) - 1]), float(EPISODES[learned - 1])
    soon, late = 8.0 * min(K, until) / K, 3.0
    times = max(soon / late, late / soon)
    assume(not np.isclose(times, [1.0, 1.5]).any())
    every = 1 if view == "extra" else 3  # checkpoints of its own
    curves = [stopped("soon", first, 8.0, until, view), stopped("late", second, 3.0, np.inf, view, every)]
    see = sentences.about_regret(curves, view)
    when = f"Only one curve has more than {human(K)} episodes so far, so we compare all curves at that"
    assert see.startswith(when if first != second else f"After {human(K)} episodes, ")
    assert (see.index("**soon**") < see.index("**late**")) == (soon < late)
    if view == "extra":
        assert f"of **soon** is {human(8.0 * min(K, until))} ({human(soon)} an episode)" in see
        assert f"of **late** is {human(late * K)} ({human(late)} an episode)" in see
    else:
        assert all(f"{human(loss)} an episode" in see for loss in (soon, late))
        assert (f"{rough(times)} times as much" in see) == (times >= 1.5)


def test_equal_settings_are_compared_across_environments_first() -> None:
    needed = {"A: Local": 100.0, "Draft: B: Local": 400.0, "B: Central": 50.0, "A: Central": np.nan}
    needed |= {"A: None": 20.0, "B: None": 10.0}
    curves = []
    for k, v in needed.items():
        model, place = k.split(": ")[-1].lower(), "AB"["B:" in k]
        curves.append(curve(k, model, place=place, v_star=1e9, needed=v, draft="Draft" in k))
    see = sentences.about_regret(curves, "share")
    assert see.startswith(r"**Draft\: B\: Local** needs 4 times as many episodes as **A\: Local**.")
    assert see.index(r"**B\: Central** needs") < see.index(r"**A\: Local** needs")
    assert r"as many episodes as **B\: Central**" not in see  # the number that the other needs is unknown
    assert see.index(r"as many episodes as **B\: None**") > see.index(r"**A\: Local** needs")


def test_a_run_that_is_not_finished_is_not_compared_with_finished_ones() -> None:
    finished = [curve(label, v_star=1e9, needed=needed) for label, needed in (("a", 50.0), ("b", 100.0))]
    see = sentences.about_regret([*finished, curve("c", v_star=1e9)], "share")
    assert "**b** needs 2 times as many" in see
    assert see.count("**c**") == see.count("not compared: **c**") == 1


def test_medians_are_drawn_named_and_in_the_table() -> None:
    rows = np.random.default_rng(3).gamma(2.0, size=(20, len(EPISODES))).cumsum(axis=1)
    rows[0] *= 1000  # one seed that would carry the mean
    center, low, high = BANDS["median"](rows)
    picture = comparison([curve("a", rows=rows, center=center, low=low, high=high)], statistic="median")
    line = named(picture.figure, "a")[0]
    np.testing.assert_allclose(line.y, np.median(rows, axis=0))
    band = next(trace for trace in picture.figure.data if trace.fill == "toself")
    ordered = np.sort(rows, axis=0)  # of 20 seeds the 6th and the 15th
    np.testing.assert_allclose(band.y, np.concatenate([ordered[14], ordered[5][::-1]]))
    assert any(name.startswith("95% interval of the median over seeds") for name in legend(picture.figure))
    assert "median over 20 seeds" in picture.figure.layout.title.text
    assert picture.see.endswith("Numbers are medians over seeds.")
    np.testing.assert_allclose(picture.table["median"], np.median(rows, axis=0))
    assert "mean" not in picture.table


@pytest.mark.parametrize(
    ("low", "high", "named"),
    [
        (1e3, 1e9, "dtick"),
        (2.0, 5e3, "dtick"),
        (0.04, 0.9, ["0.05", "0.1", "0.2", "0.5"]),
        (3e5, 2e6, ["500,000", "1 million", "2 million"]),
    ],
)
def test_a_log_axis_names_decades_or_one_two_and_five(low: float, high: float, named: Any) -> None:
    axis = lines.log_ticks(low, high)
    if named == "dtick":
        assert 2 <= np.log10(high / low) / axis["dtick"] <= lines.DECADES
    else:
        seen = zip(axis["tickvals"], axis["ticktext"], strict=True)
        assert [text for value, text in seen if low <= value <= 1.001 * high] == named


def ending(label: str, last: float, **how: Any) -> Series:
    return measured(label, np.tile(np.linspace(100, last, 30), (2, 1)), x=np.geomspace(1, 1e6, 30), **how)


def beside(figure: Any) -> dict[str, float]:
    """What stands beside the plot, and at which share of its height."""
    return {
        trace.name: figure.layout[trace.legend].y
        for trace in figure.data
        if trace.legend is not None and trace.showlegend
    }


def test_names_stand_at_the_ends_in_the_order_of_the_lines_and_leave_the_legend_to_references() -> None:
    lasts = {"low": 1.0, "high": 30.0, "near high": 29.5}
    curves = [ending(label, last, v_star=120.0) for label, last in lasts.items()]
    figure = regret.comparison(curves, view="per-episode", wide=True).figure
    assert set(beside(figure)) == set(lasts)
    low, high = figure.layout.yaxis.range
    plot = figure.layout.height - ends.AROUND
    heights = {label: place * plot for label, place in beside(figure).items()}
    for label, last in lasts.items():
        there = (np.log10(last) - low) / (high - low) * plot
        assert heights[label] == pytest.approx(there, abs=0.01 if label == "low" else ends.ROW)
    assert heights["low"] + ends.ROW <= heights["near high"] + 1e-6
    assert heights["near high"] + ends.ROW <= heights["high"] + 1e-6
    legend = [trace.name for trace in figure.data if trace.showlegend is not False and trace.legend is None]
    assert not set(legend) & set(lasts)
    assert any(name.startswith("V* = ") for name in legend)


def test_hidden_curves_have_no_name_and_while_one_goes_on_there_is_a_legend() -> None:
    curves = [ending("a", 1.0, shown=False), ending("b", 2.0)]
    figure = regret.comparison(curves, wide=True).figure
    assert list(beside(figure)) == ["b"]
    assert not [trace for trace in figure.data if trace.legendgroup == "a" and trace.showlegend is not False]
    going = [*curves, ending("c", 50.0, complete=False, note="1 of 5 seeds")]
    assert not beside(regret.comparison(going, wide=True).figure)


def test_names_of_lines_that_end_at_one_height_stand_in_the_legend() -> None:
    """Beside each other they would not say which line is whose."""
    curves = [ending(f"{i}", 1.0 + i / 1000) for i in range(5)]
    figure = regret.comparison(curves, wide=True).figure
    assert not beside(figure)
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

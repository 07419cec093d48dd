"""Counts: panels and their shared colours, the corridor, one cell, coverage."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dprl import metrics
from dprl.figures import counts, looks, style
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from tests.figures import captioned


def heat_names(picture: Picture) -> list[str]:
    return [trace.name for trace in picture.figure.data if trace.type == "heatmap"]


@pytest.mark.parametrize("step", [None, 2])
def test_three_panels_hold_the_numbers(chain: Any, step: int | None) -> None:
    picture = captioned.heatmaps(chain.true, chain.noisy, episode=10**6, step=step, **chain.labels)
    assert heat_names(picture) == ["True", "Noisy", "Difference, noisy − true"]
    true, noisy, difference = (t for t in picture.figure.data if t.type == "heatmap")
    H, S, A = chain.true.shape
    expected = chain.true.reshape(H, S * A).T if step is None else chain.true[step].T
    np.testing.assert_array_equal(true.customdata, expected)
    np.testing.assert_allclose(np.asarray(noisy.customdata) - true.customdata, difference.customdata)
    # One colour means one count in both panels, and no colour no error.
    assert (true.zmin, true.zmax, true.colorscale) == (noisy.zmin, noisy.zmax, noisy.colorscale)
    assert difference.zmin == -difference.zmax


def test_heatmaps_name_their_axes(chain: Any) -> None:
    whole = captioned.heatmaps(chain.true, chain.noisy, episode=10**6, **chain.labels).figure.layout
    assert whole.xaxis3.title.text == "Step h (0 to 4)"
    assert whole.yaxis.title.text == "State · action"
    assert "0 · left" in whole.yaxis.ticktext
    assert (whole.xaxis3.showticklabels, whole.xaxis.showticklabels) == (True, False)
    # Whole cells to the edges, and zooming one panel zooms all.
    assert (whole.xaxis.range, whole.yaxis.range) == ((-0.5, 4.5), (-0.5, 7.5))
    assert (whole.xaxis2.matches, whole.yaxis3.matches) == ("x", "y")
    one = captioned.heatmaps(chain.true, chain.noisy, episode=10**6, step=1, **chain.labels).figure.layout
    assert one.xaxis3.title.text == "State"
    assert list(one.yaxis.ticktext) == ["left", "right"]
    assert "Visits at step 1" in one.title.text
    assert "after 1 million episodes" in one.title.text


def test_zero_has_the_pale_middle_colour_and_negatives_another() -> None:
    true = np.array([[[0.0, 4000.0]]])
    noisy = np.array([[[-1000.0, 4100.0]]])
    labels: dict[str, Any] = {"state_labels": ["s"], "action_labels": ["a", "b"]}
    trace = captioned.heatmaps(true, noisy, episode=10, **labels).figure.data[0]
    stops = tuple((float(p), str(c)) for p, c in trace.colorscale)
    zero = (0 - trace.zmin) / (trace.zmax - trace.zmin)
    assert style.mix(stops, zero) == style.mix(style.LIGHT.counts, 0.5)
    assert stops[0][1] not in {c for _, c in style.LIGHT.amount}
    assert stops[-1][1] == style.LIGHT.counts[-1][1]


def test_without_noise_there_is_one_panel_and_the_sentence_says_so(chain: Any) -> None:
    picture = captioned.heatmaps(chain.true, chain.true, episode=10, step=0, **chain.labels)
    assert heat_names(picture) == ["True"]
    assert picture.see == "There is no noise: the planner sees the true counts."


def test_few_cells_show_their_numbers_and_many_do_not(chain: Any) -> None:
    few = captioned.heatmaps(chain.true, chain.noisy, episode=10, step=0, **chain.labels)
    assert any(trace.mode == "text" for trace in few.figure.data if trace.type == "scatter")
    big = np.arange(200 * 24 * 2, dtype=float).reshape(200, 24, 2)
    labels: dict[str, Any] = {
        "state_labels": [f"state {s}" for s in range(24)],
        "action_labels": ["left", "right"],
    }
    many = captioned.heatmaps(big, big + 1, episode=10, **labels)
    assert not [trace for trace in many.figure.data if trace.type == "scatter"]
    layout = many.figure.layout
    assert len(layout.yaxis.ticktext) <= 16
    assert layout.yaxis.title.text == "State"
    assert 200 / layout.xaxis.dtick <= 8
    assert layout.height < 1000


def test_the_sentence_says_how_large_the_noise_is_and_how_near_its_bound() -> None:
    true = np.array([[[0.0, 10_000.0]]])
    noisy = true + np.array([100.0, -100.0])
    see = captioned.heatmaps(
        true, noisy, episode=10, bound=800.0, state_labels=["s"], action_labels=["a", "b"]
    ).see
    assert see == (
        "A typical error of a cell here is 100 visits (root mean square). For comparison, the most visited "
        "cell here has 10,000. In 50% of the cells the true value is smaller than that error. The noise "
        "bound E/4 allows an error of 200, and the largest here is 50% of it."
    )


def test_the_corridor_is_dotted_unfilled_and_a_quarter_of_e_wide(chain: Any) -> None:
    figure = captioned.scatter(chain.true, chain.noisy, episode=10, bound=4000.0, **chain.labels).figure
    bounds = [trace for trace in figure.data if trace.legendgroup == "bound"]
    assert len(bounds) == 2
    linear = metrics.count_noise(chain.true, chain.noisy).typical
    for trace, side in zip(bounds, (1, -1), strict=True):
        assert trace.line.dash == style.BOUND_DASH
        assert trace.line.color == style.LIGHT.roles["bound"]
        assert trace.fill is None
        assert "interval" not in trace.name
        true, limit = (np.sinh(np.asarray(values)) * linear for values in (trace.x, trace.y))
        np.testing.assert_allclose(limit - true, side * 1000.0, atol=1e-6)
    assert bounds[0].name == "bound E/4 = 1,000"


def test_cells_outside_the_corridor_are_marked(chain: Any) -> None:
    inside = captioned.scatter(chain.true, chain.noisy, episode=10, bound=1e9, **chain.labels).figure
    outside = captioned.scatter(chain.true, chain.noisy, episode=10, bound=400.0, **chain.labels).figure
    assert "outside the bound" not in {trace.name for trace in inside.data}
    marked = next(trace for trace in outside.data if trace.name == "outside the bound")
    assert len(marked.x) == (np.abs(chain.noisy - chain.true) > 100).sum()
    assert marked.marker.symbol == "x"


def test_a_scatter_of_many_cells_draws_500_with_the_largest_error_and_says_so() -> None:
    true = np.arange(40 * 50 * 2, dtype=float).reshape(40, 50, 2)
    noisy = true + 1
    noisy[7, 7, 1] -= 12_345
    labels: dict[str, Any] = {
        "state_labels": [f"state {s}" for s in range(50)],
        "action_labels": ["left", "right"],
    }
    picture = captioned.scatter(true, noisy, episode=10, **labels)
    cells = next(trace for trace in picture.figure.data if trace.name == "cells, noisy count")
    assert len(cells.x) <= style.MOST_POINTS
    assert any(row[0] == "step 7, state 7, right" for row in cells.customdata)
    assert "of 4,000 cells are drawn" in picture.see
    assert len(picture.table) == 4000


def test_true_and_noisy_keep_their_colours_across_figures(chain: Any) -> None:
    for dark in (False, True):
        roles = style.theme(dark).roles
        points = captioned.scatter(chain.true, chain.noisy, episode=1, dark=dark, **chain.labels).figure
        assert {t.marker.color for t in points.data if t.mode == "markers"} == {roles["noisy"]}
        k = np.array([1, 10, 100])
        cell = captioned.cell_over_time(k, k * 1.0, k + 5.0, cell="c", dark=dark).figure
        colors = {trace.name: trace.line.color for trace in cell.data}
        assert colors == {"true": roles["true"], "noisy": roles["noisy"]}


def test_one_cell_over_time() -> None:
    k = np.array([1, 10, 100, 1000])
    picture = captioned.cell_over_time(
        k, k / 2, k / 2 - 50, cell="step 3, state 5, right", bound=np.full(4, 400.0)
    )
    layout = picture.figure.layout
    assert (layout.xaxis.title.text, layout.yaxis.title.text) == (
        "Episodes (one user each by default)",
        "Visits",
    )
    assert "step 3, state 5, right" in layout.title.text
    assert "0" in layout.yaxis.ticktext
    assert picture.see == (
        "After 1,000 episodes this cell was visited 500 times. The planner receives 450, 10% too few."
    )
    assert picture.table["bound E/4"].tolist() == [100.0] * 4
    bounds = [trace for trace in picture.figure.data if trace.legendgroup == "bound"]
    assert {trace.line.dash for trace in bounds} == {style.BOUND_DASH}


def test_coverage_is_each_seed_against_a_dotted_bound() -> None:
    k = np.array([1, 10, 100])
    ratio = np.array([[0.1, 0.2, 0.5], [0.1, 0.9, 1.2], [0.3, np.nan, np.nan]])
    picture = captioned.bound(k, ratio, look=CurveStyle("local", 0.3), label="run", promise=1 - 0.1 / 3)
    seeds = [trace for trace in picture.figure.data if trace.legendgroup == "seeds"]
    assert len(seeds) == 3
    assert {trace.line.color for trace in seeds} == {looks.color("local", 0.3, dark=False)}
    assert [trace.showlegend for trace in seeds] == [True, False, False]
    bound = next(trace for trace in picture.figure.data if trace.name.startswith("the bound"))
    assert (bound.line.dash, bound.fill) == (style.BOUND_DASH, None)
    assert "≥ 0.967" in bound.name
    assert "held in 2 of 3 seeds" in picture.see
    assert "120% of the bound" in picture.see
    assert picture.figure.layout.yaxis.range[1] > 1.2
    assert len(picture.table) == 7


def test_coverage_without_noise() -> None:
    see = captioned.bound(np.array([1, 2]), np.zeros((2, 2)), look=CurveStyle("none"), label="run").see
    assert see == "There is no noise: the planner sees the true counts."


def test_rewards_have_a_bound_four_times_as_wide_as_visits(chain: Any) -> None:
    kinds: dict[str, Any] = {"episode": 10, "bound": 4000.0, **chain.labels}
    visits = captioned.scatter(chain.true, chain.noisy, **kinds)
    rewards = captioned.scatter(chain.true, chain.noisy, family=counts.REWARDS, **kinds)
    assert "bound E/4 = 1,000" in [trace.name for trace in visits.figure.data]
    assert "bound E = 4,000" in [trace.name for trace in rewards.figure.data]
    assert "the cell that paid most" in rewards.see
    over = np.array([5.0, 50.0]), np.array([6.0, 51.0])
    picture = captioned.cell_over_time(
        np.array([1, 2]), *over, cell="x", bound=np.array([8.0, 8.0]), family=counts.REWARDS
    )
    assert list(picture.table["bound E"]) == [8.0, 8.0]
    assert "has paid 50" in picture.see

"""Counts: panels and their shared colours, and the corridor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dprl import metrics
from dprl.figures import counts, style
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


def test_without_noise_there_is_one_panel_and_the_sentence_says_so(chain: Any) -> None:
    picture = captioned.heatmaps(chain.true, chain.true, episode=10, step=0, **chain.labels)
    assert heat_names(picture) == ["True"]
    assert picture.see == "There is no noise: the planner sees the true counts."


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

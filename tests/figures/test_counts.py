"""Counts: panels and their shared colours; and the confidence set of learners of linear models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dprl.figures import counts
from dprl.figures.picture import Picture
from tests.figures import captioned


def heat_names(picture: Picture) -> list[str]:
    return [trace.name for trace in picture.figure.data if trace.type == "heatmap"]


@pytest.mark.parametrize("step", [None, 2])
def test_three_panels_hold_the_numbers(chain: Any, step: int | None) -> None:
    picture = captioned.heatmaps(
        chain.true, chain.noisy, when="after 1 million episodes", step=step, **chain.labels
    )
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
    picture = captioned.heatmaps(chain.true, chain.true, when="after 10 episodes", step=0, **chain.labels)
    assert heat_names(picture) == ["True"]
    assert picture.see == "There is no noise, so the planner sees the true counts."


def test_rewards_have_a_bound_four_times_as_wide_as_visits(chain: Any) -> None:
    kinds: dict[str, Any] = {"when": "after 10 episodes", "bound": 4000.0, **chain.labels}
    visits = captioned.heatmaps(chain.true, chain.noisy, **kinds).see
    rewards = captioned.heatmaps(chain.true, chain.noisy, family=counts.REWARDS, **kinds).see
    assert "The noise bound E/4 allows an error of 1,000" in visits
    assert "The noise bound E allows an error of 4,000" in rewards
    assert "the largest true sum" in rewards


CIRCLE = np.column_stack([np.cos(np.linspace(0, 6.28, 50)), np.sin(np.linspace(0, 6.28, 50))])


@pytest.mark.parametrize("near", [False, True])
def test_axes_show_all_that_is_possible_or_are_filled(near: bool) -> None:
    picture = counts.ellipsoid(
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

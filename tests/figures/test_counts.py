"""Counts: panels and their shared colours, and what the sentence says of the noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

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


def test_rewards_have_a_bound_four_times_as_wide_as_visits(chain: Any) -> None:
    kinds: dict[str, Any] = {"episode": 10, "bound": 4000.0, **chain.labels}
    visits = captioned.heatmaps(chain.true, chain.noisy, **kinds).see
    rewards = captioned.heatmaps(chain.true, chain.noisy, family=counts.REWARDS, **kinds).see
    assert "The noise bound E/4 allows an error of 1,000" in visits
    assert "The noise bound E allows an error of 4,000" in rewards
    assert "the cell that paid most" in rewards

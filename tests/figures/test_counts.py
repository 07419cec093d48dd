"""Counts and the ladder of their noise; confidence sets of linear models; and the diagrams of who sees what."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest

from dprl.figures import counts, looks
from dprl.figures.guarantee import who_sees_what
from dprl.figures.picture import Picture
from dprl.privacy import PRIVATIZERS
from dprl.privacy.guarantee import LadderStep
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


STEPS = [
    LadderStep("as in the paper: <b>tree</b>", 5258.0, 2.0, 0.0),
    LadderStep("scaled", 10516.0, 1.0, 0.0),
    LadderStep("better", 147.0, 1.0, 1e-6, "a better tree"),
    LadderStep("best", 122.0, 1.0, 1e-6, "releasing r/4"),
]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("own", [None, 0, 3])
def test_ladder_shows_every_step_in_order_and_marks_the_runs_own(own: int | None, dark: bool) -> None:
    picture = captioned.ladder(STEPS, own=own, epsilon=3.0, dark=dark)
    (bars,) = picture.figure.data
    assert list(bars.x) == [step.std for step in STEPS]
    assert picture.figure.layout.xaxis.type == "log"
    top, bottom = picture.figure.layout.yaxis.range
    assert top > bottom  # the first step stands on top
    strong = looks.color("central", 3.0, dark)
    assert [i for i, color in enumerate(bars.marker.color) if color == strong] == (
        [] if own is None else [own]
    )
    assert ["this run" in text for text in bars.text] == [i == own for i in range(len(STEPS))]
    assert list(picture.table["std of one counter"]) == [step.std for step in STEPS]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("model", PRIVATIZERS)
def test_diagrams_are_well_formed_and_say_what_they_show(model: str, dark: bool) -> None:
    way = PRIVATIZERS[model].words
    sketch = who_sees_what(way, model, dark=dark)
    tree = ET.fromstring(sketch.svg)
    words = [element.text for element in tree.iter() if element.tag.endswith("text")]
    assert all(station in words for station in way.stations)
    noise = way.noise
    expected = "no noise" if noise is None else f"noise added by the {way.stations[noise]}"
    assert expected in words
    assert ("trusted" in words) == (model in ("central", "shuffle"))
    assert ("private" in words) == (model != "none")
    assert len(sketch.alt) > 40


def test_raw_data_go_no_further_than_the_model_says() -> None:
    assert PRIVATIZERS["none"].words.raw == len(PRIVATIZERS["none"].words.stations)
    assert PRIVATIZERS["central"].words.stations[: PRIVATIZERS["central"].words.raw] == ("users", "curator")
    for model in ("shuffle", "local"):
        assert PRIVATIZERS[model].words.stations[: PRIVATIZERS[model].words.raw] == ("users",)

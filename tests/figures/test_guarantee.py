"""The ladder of noise, and the diagrams of who sees what."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from dprl.figures import looks
from dprl.figures.guarantee import who_sees_what
from dprl.privacy import PRIVATIZERS
from dprl.privacy.guarantee import LadderStep
from tests.figures import captioned

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

"""Predictions: which answers there are, their texts, and how far they are from the truth."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from dprl.fields import SpecError
from dprl.figures import lessons as figures
from dprl.lessons import LESSONS, Marker, Order, Slope
from pages.shared.lessons.known import evidence

ORDER = Order("Which is which?", ("one", "two", "three"))
MARKER = Marker("Where?", 10.0, 1e6)
SHARE = Marker("Where?", 0.0, 10.0, "{} visits", log=False)
SLOPE = Slope("How fast?", ((0.0, "not at all"), (0.5, "like √K"), (1.0, "like K")), 1e3, 1e6)


def test_an_answer_survives_as_text() -> None:
    for prediction, answer in ((ORDER, (1, 0, 2)), (MARKER, 3e4), (SHARE, 2.0), (SLOPE, 0.5)):
        assert prediction.parse(prediction.write(answer)) == answer  # type: ignore[arg-type]
    assert [ORDER.write((1, 0, 2)), MARKER.write(1e5), SLOPE.write(0.5)] == ["bac", "1e5", "0.5"]


@pytest.mark.parametrize(
    ("prediction", "text"),
    [
        *((ORDER, text) for text in ("", "ab", "aab", "abcd", "ab-", "<b>")),
        *((MARKER, text) for text in ("", "nan", "1", "1e7", "many")),
        *((SLOPE, text) for text in ("", "0.4", "1e9")),
    ],
)
def test_what_is_no_answer_is_said(prediction: Order | Marker | Slope, text: str) -> None:
    with pytest.raises(SpecError, match=r"^guess: .* is not allowed; give "):
        prediction.parse(text)


def test_names_are_put_at_curves_one_by_one_and_taken_away() -> None:
    text = ORDER.put("", 1)
    assert text == "b--"
    assert ORDER.put(text, 0, curve=2) == "b-a"
    assert ORDER.put("b-a", 2) == "bca"
    assert ORDER.put("b--", 1) == ""  # the same again
    assert ORDER.put("bca", 0, curve=0) == "ac-"  # moved: what was there has to be put elsewhere


def test_wherever_a_slider_stops_is_an_answer() -> None:
    markers = [step.prediction for lesson in LESSONS.values() for step in lesson.steps]
    for marker in [one for one in markers if isinstance(one, Marker)]:
        assert [marker.parse(marker.write(mark)) for mark in marker.marks] == list(marker.marks)
        assert list(marker.marks) == sorted(set(marker.marks), reverse=marker.inverse)


def test_a_marker_never_waits_where_it_is_measured() -> None:
    """A slider that nobody has moved would be the answer, or give it away."""
    steps = [step for lesson in LESSONS.values() for step in lesson.steps]
    markers = [(step, step.prediction) for step in steps if isinstance(step.prediction, Marker)]
    assert len(markers) > 5
    for step, marker in markers:
        assert marker.untouched in marker.marks
        verdict = marker.verdict(marker.untouched, step.truth(evidence()))
        assert "just right" not in verdict, step.title
        assert "within a factor" not in verdict, step.title


def test_no_answer_says_what_is_asked_later_in_its_lesson() -> None:
    """Neither the number that a marker is to find, nor how many times another one it is."""
    told = 0
    for lesson in LESSONS.values():
        for place, step in enumerate(lesson.steps):
            if not isinstance(step.prediction, Marker):
                continue
            later = step.found(evidence())
            numbers = {
                step.prediction.said(step.truth(evidence())),
                *re.findall(r"\S+(?: \w+illion)? times", later),
            }
            told += len(numbers)
            for before in lesson.steps[:place]:
                found = before.found(evidence())
                assert not [one for one in numbers if re.search(rf"(?<![\w.]){re.escape(one)}", found)], (
                    step.title
                )
    assert told > 10


def test_an_answer_that_tells_a_noise_says_of_what_it_is() -> None:
    """As standard deviation, of a count of visits, and after how many users; Explore and Home tell others."""
    told = 0
    for lesson in LESSONS.values():
        for step in lesson.steps:
            for before, after in itertools.pairwise(
                re.split(r"noise in a visit count", step.found(evidence()))
            ):
                assert re.match(r" has standard deviation [\d.]", after), step.title
                assert re.search(r"\d\S*( \w+illion)? users", before + after), step.title
                assert "±" not in before + after
                told += 1
    assert told == 3


def test_how_far_off_the_beginning_of_an_order_is() -> None:
    step = LESSONS["trust"].steps[0]
    assert step.off("bdca", evidence()) == "All 4 are named rightly."
    assert step.off("bd-a", evidence()) == "3 of 4 right: 1 curve without a name."
    assert step.off("db-a", evidence()) == "1 of 4 right: 2 curves wrongly named, 1 curve without a name."
    assert step.off("b---", evidence()) == "1 of 4 right: 3 curves without a name."
    for wrong in ("----", "b--", "bb--", "b--x", "b--->", "", "b----"):
        with pytest.raises(SpecError, match=r"^guess: .* is not allowed; give "):
            step.off(wrong, evidence())


def test_how_far_off_a_guess_is() -> None:
    assert ORDER.distance((0, 1, 2), (0, 1, 2)) == 0
    assert ORDER.distance((2, 1, 0), (0, 1, 2)) == 3
    assert ORDER.verdict((1, 0, 2), (0, 1, 2)) == "1 of 3 are named rightly; 1 pair of 3 the wrong way round."
    assert MARKER.distance(1e3, 1e5) == pytest.approx(2)
    assert MARKER.verdict(1e3, 1.2e5) == "You said 1,000 users, measured 120,000 users: 120 times too few."
    assert MARKER.verdict(1e5, 1.2e5).endswith("within a factor of 2.")
    assert SHARE.verdict(7.0, 0.0) == "You said 7 visits, measured 0 visits: too many."
    assert SLOPE.verdict(1.0, 0.44) == "You said “like K”, measured K⁰·⁴⁴: “like √K” is nearer."
    assert SLOPE.verdict(0.5, 0.44).endswith("no choice is nearer.")


def test_a_marker_at_the_very_end_of_a_log_axis_is_within_it() -> None:
    chart = figures.AskedChart("", "", "", (5.0, 1e10), (0.0, 1.0))
    low, high = figures.open_chart(chart, shown=False, dark=False).layout["xaxis"]["range"]
    assert 10**low < 5.0 < 1e10 < 10**high
    assert (low, high) == pytest.approx((np.log10(5), 10))

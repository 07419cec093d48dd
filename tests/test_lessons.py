"""Predictions: which answers there are, their texts, and how far they are from the truth."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pytest

from dprl.fields import SpecError
from dprl.lessons import LESSONS, Choice, Marker, Order, charts
from dprl.lessons.kinds import ATTACK
from dprl.lessons.lesson import Lesson, read_lesson
from dprl.metrics.attack import guessed_right
from dprl.simulation.online import promise
from pages.shared.lessons import evidence
from tests.problems import refused

ORDER = Order(("one", "two", "three"), ("a", "b", "c"))
MARKER = Marker(10.0, 1e6)
SHARE = Marker(0.0, 10.0, "{} visits", log=False)
SLOPE = Choice(((0.0, "not at all"), (0.5, "like √K"), (1.0, "like K")), "K", 1e3, 1e6)
CHOICE = Choice(((0.0, "yes"), (1.0, "no")))
EPISODE, TRUST = LESSONS["episode"], LESSONS["trust"]
STEPS = [step for lesson in LESSONS.values() for step in lesson.steps]
MARKERS = [(step, step.prediction) for step in STEPS if isinstance(step.prediction, Marker)]
AT = ", question 1, "


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
def test_what_is_no_answer_is_said(prediction: Order | Marker | Choice, text: str) -> None:
    with pytest.raises(SpecError, match=r"^guess: .* is not allowed.*; give "):
        prediction.parse(text)


def test_names_are_put_at_curves_one_by_one_and_taken_away() -> None:
    text = ORDER.put("", 1)
    assert text == "b--"
    assert ORDER.put(text, 0, curve=2) == "b-a"
    assert ORDER.put("b-a", 2) == "bca"
    assert ORDER.put("b--", 1) == ""  # the same again
    assert ORDER.put("bca", 0, curve=0) == "ac-"  # moved: what was there has to be put elsewhere


def test_wherever_a_slider_stops_is_an_answer_but_it_never_waits_where_it_is_measured() -> None:
    """A slider that nobody has moved would be the answer, or give it away."""
    assert len(MARKERS) > 5
    for step, marker in MARKERS:
        assert [marker.parse(marker.write(mark)) for mark in marker.marks] == list(marker.marks)
        assert list(marker.marks) == sorted(set(marker.marks), reverse=marker.inverse)
        assert marker.untouched in marker.marks
        verdict = marker.verdict(marker.untouched, step.truth(evidence()))
        assert "just right" not in verdict, step.title
        assert "within a factor" not in verdict, step.title


def test_how_far_off_a_guess_is() -> None:
    assert ORDER.verdict((1, 0, 2), (0, 1, 2)) == "You named 1 of 3 curves correctly."
    assert MARKER.distance(1e3, 1e5) == pytest.approx(2)
    assert MARKER.verdict(1e3, 1.2e5).endswith("users, which is 120 times too few. Measured: 120,000 users.")
    assert "within a factor of 2." in MARKER.verdict(1e5, 1.2e5)
    assert SHARE.verdict(7.0, 0.0) == "You predicted 7 visits, which is too many. Measured: 0 visits."
    assert SLOPE.verdict(1.0, 0.44) == "You chose “like K”. We measured K^0.44, so “like √K” is closer."
    assert SLOPE.verdict(0.5, 0.44).endswith("no other choice is closer.")
    assert CHOICE.verdict(0.0, 1.0) == "You chose “yes”. The correct answer is “no”."
    assert CHOICE.verdict(1.0, 1.0) == "You chose “no”, which is correct."


def test_what_a_class_predicts_is_held_against_the_truth() -> None:
    assert ORDER.together([(0, 1, 2)], (0, 1, 2)) == "1 of 1 prediction names all 3 curves correctly."
    assert ORDER.together([(0, 1, 2), (0, 2, 1), (2, 1, 0)], (0, 1, 2)) == (
        "1 of 3 predictions names all 3 curves correctly. Wrong most often: curve 3 (2 of 3 times)."
    )
    assert MARKER.together([1e5, 1e2, 1e3, 1e3, 1e2], 1.5e4) == (
        "At least half of the 5 predictions are 1,000 users or fewer, which is 15 times too few. "
        "Measured: 15,000 users."
    )
    assert MARKER.together([1e4], 1.5e4).startswith("The only prediction is 10,000 users, which is within")
    assert SHARE.together([7.0, 7.0], 0.0).endswith("or fewer, which is too many. Measured: 0 visits.")
    assert SLOPE.together([0.0, 0.5, 1.0, 1.0], 0.44) == (
        "1 of 4 predictions is “like √K”. We measured K^0.44. The most frequent answer is “like K”."
    )


def test_the_middle_of_a_class_is_a_median_in_every_lesson_with_a_marker() -> None:
    """Half of it says no more and half no less, whichever way the axis goes; order of arrival is nothing."""
    rng = np.random.default_rng(7)
    for step, prediction in MARKERS:
        says = (lambda x: 1 / x) if prediction.inverse else (lambda x: x)
        for n in (1, 2, 3, 10, 41):
            answers = [float(x) for x in rng.choice(prediction.marks, n)]
            for middle in (typical := prediction.typical(answers)):
                assert middle in answers
                assert sum(says(x) <= says(middle) for x in answers) >= n / 2
                assert sum(says(x) >= says(middle) for x in answers) >= n / 2
            assert prediction.typical(answers[::-1]) == typical
            assert step.together([prediction.write(x) for x in answers], evidence())


def test_a_prediction_scores_a_point_or_a_part_of_one() -> None:
    named = [ORDER.score(guess, (0, 1, 2)) for guess in ((0, 1, 2), (0, 2, 1), (2, 0, 1))]
    assert named == pytest.approx([1, 1 / 3, 0])
    marked = [MARKER.score(guess, 1e4) for guess in (1e4, 1.9e4, 5e3 + 1, 1e5, 1e3, 1.1e5)]
    assert marked == [1, 1, 1, 0.5, 0.5, 0]
    assert [SHARE.score(guess, 5.0) for guess in (5.0, 5.9, 7.0, 7.1)] == [1, 1, 0.5, 0]
    assert [SLOPE.score(guess, 0.44) for guess in (0.5, 0.0, 1.0)] == [1, 0, 0]


def reading(lesson: Lesson, at: int, text: str) -> float:
    """A number that a text of a question may use."""
    return charts.first_of(lesson.steps[at].drawn(evidence()).read(text))


def test_what_the_first_lesson_says_is_what_noise_proves() -> None:
    """Each number against a second way to it: the definition, and the attack on the same noise."""
    lesson = LESSONS["epsilon"]
    bare, noisy, belief, noise, _ = lesson.steps
    assert bare.truth(evidence()) == 100
    for epsilon in (0.1, 1.0, 10.0):
        most, believed = (reading(lesson, 1, f"{name}({epsilon})") for name in ("right", "belief"))
        assert 50 < most <= 100 * believed  # the likeliest outcome makes surer than all on average
        again = promise(ATTACK.run.replace(epsilon=epsilon))
        assert again is not None
        assert most == pytest.approx(100 * again["right"], rel=1e-4)
        assert believed == pytest.approx(math.exp(epsilon) / (1 + math.exp(epsilon)))
    scores = evidence().answers["scores", ATTACK]
    played = guessed_right(np.array(scores["first"]), np.array(scores["second"]))
    assert 100 * played.low <= noisy.truth(evidence())
    assert belief.truth(evidence()) == pytest.approx(0.731, abs=1e-3)
    assert "1,500" in noise.found(evidence())
    assert 0.75 < noise.truth(evidence()) < 1.5  # "like 1/ε" is nearest


def test_what_the_lessons_say_is_what_their_runs_say() -> None:
    """The sentences of the recaps, and those in replies that name no number."""
    deviations = [reading(EPISODE, 2, f"noise({key})") for key in ("weak", "middle", "strong")]
    assert deviations == sorted(deviations)  # a smaller epsilon needs more noise
    needs = [reading(EPISODE, 3, f"needed({key})") for key in ("none", "weak", "middle", "strong")]
    assert needs == sorted(needs)
    assert needs[0] < 1e5 < needs[1]  # the clinic
    for name in ("needed", "noise"):
        found = [reading(TRUST, 2, f"{name}({key})") for key in ("none", "central", "shuffle", "local")]
        assert found == sorted(found)
    assert reading(TRUST, 3, "needed(shuffle)") < 1e8 < reading(TRUST, 3, "needed(local)")
    one, tree, *_ = LESSONS["one-draw"].steps
    assert one.truth(evidence()) == 0 < tree.truth(evidence())
    assert reading(LESSONS["one-draw"], 2, "needed(tree) / needed(optimal)") > 2
    once, again, shuffled, _ = LESSONS["price"].steps
    assert once.score("0", evidence()) == shuffled.score("0", evidence()) == 1
    assert 0.2 < again.truth(evidence()) < 0.5  # it grows, more slowly than √K
    stated = LESSONS["proved"]
    assert stated.steps[0].truth(evidence()) < 0.5  # the paper states 1
    assert reading(stated, 3, "noise(tree) / noise(best)") == pytest.approx(5, abs=0.5)
    assert reading(stated, 1, "needed(paper) / needed(tree)") > 1
    offline = LESSONS["pessimism"]
    assert 5 < reading(offline, 1, "needed(small) / needed(large)") < 20
    assert reading(offline, 0, "needed(none)") < reading(offline, 0, "needed(large)")
    assert reading(offline, 2, "promised()") > 2 * reading(offline, 2, "earned()")
    linear = LESSONS["weights"]
    assert reading(linear, 2, "needed(local)") > reading(linear, 2, "needed(weak)") > 1e8
    central, local, *_ = LESSONS["users"].steps
    assert central.score("1", evidence()) == local.score("2", evidence()) == 1
    assert 3.5 < reading(LESSONS["users"], 3, "at(local, 0.1) / at(local, 0.2)") < 4.5


LESSON = """
title = "Mine"
about = "One question."
needs = "Nothing."
recap = ["One."]
[runs]
environment = "riverswim"
episodes = 1e7
[curves.none]
privacy = "none"
[curves.mine]
epsilon = 1.0
[[questions]]
title = "Learning"
ask = "After how many users has it learned?"
chart = "loss"
curves = ["none", "mine"]
until.mine = 0
frame.x_range = [10, 1e7]
guess.kind = "number"
guess.answer = "needed(mine)"
found = "It needs {needed(mine):users} users, {needed(mine) / needed(none)} times as many."
why = "Noise."
"""


def test_a_teacher_s_lesson_is_read_again_when_its_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPRL_LESSONS", str(tmp_path))
    file = tmp_path / "mine.toml"
    file.write_text(LESSON)
    assert list(LESSONS)[-1] == "mine"
    assert LESSONS["mine"].steps[0].found(evidence()).startswith("It needs 1.8 million users, ")
    file.write_text(LESSON.replace("Mine", "Yours"))
    os.utime(file, (0, 0))
    assert LESSONS["mine"].title == "Yours"
    (tmp_path / "trust.toml").write_text(LESSON)
    assert LESSONS["trust"] is TRUST
    assert LESSONS.faults == ["trust.toml: A lesson that comes with dprl has this name; give another name."]
    monkeypatch.setenv("DPRL_LESSONS", str(file))
    assert LESSONS.faults == [f"DPRL_LESSONS: {file} is not a folder; give the folder with your lessons."]


@pytest.mark.parametrize(
    ("was", "now", "sentence"),
    [
        ('title = "Mine"\n', "", ", title: is missing; give a text in quotes."),
        ('chart = "loss"', 'chart = "los"', f"{AT}chart: los is not allowed (did you mean loss?)"),
        ('environment = "riverswim"', 'environment = "river"', ", runs: environment: river is not"),
        ('answer = "needed(mine)"', 'answer = "neded(mine)"', f"{AT}reading: neded(mine) is not"),
        ("until.mine = 0", 'replies.lo = "Too low."', f"{AT}replies: lo is not known; give right"),
        ("frame.x_range", "frame.x_rang", f"{AT}frame: x_rang is not known (did you mean x_range?)"),
        ('why = "', 'setup = "V* is {best(mine)}."\nwhy = "', f"{AT}setup: has a number in braces"),
        (
            "episodes = 1e7",
            'episodes = 1e7\nenvironment_params = "S=6"',
            ", curves.none, environment_params: S=6 is not allowed; write a table, such as { S = 6 }.",
        ),
        ("episodes = 1e7", "episodes = ", ": This file cannot be read as TOML: "),
        ("until.mine = 0", "guess.low = 0", f"{AT}guess, low: 0 is not allowed; give less than"),
        (
            "[runs]",
            '[try]\nsay = "x"\nlink = "/x"\n[runs]',
            ", try, link: /x is not a page; give a link such",
        ),
    ],
)
def test_a_fault_in_a_lesson_is_one_sentence_that_names_the_field(
    tmp_path: Path, was: str, now: str, sentence: str
) -> None:
    assert was in LESSON
    file = tmp_path / "mine.toml"
    file.write_text(LESSON.replace(was, now))
    with refused(f"mine.toml{sentence}"):
        read_lesson(file)


def test_the_lesson_in_the_document_is_a_lesson(tmp_path: Path) -> None:
    page = (Path(__file__).parents[1] / "docs/how-to/lessons.md").read_text("utf-8")
    file = tmp_path / "my-clinic.toml"
    file.write_text(page.partition("```toml\n")[2].partition("```")[0], "utf-8")
    first, second = read_lesson(file).steps
    assert first.environment[0] == "clinic"
    assert isinstance(second.prediction, Choice)

"""Predictions: which answers there are, their texts, and how far they are from the truth."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest

from dprl import metrics
from dprl.fields import SpecError
from dprl.figures import lessons as figures
from dprl.lessons import LESSONS, Marker, Order, Slope, one_draw, pessimism, proved, regret, weights
from dprl.lessons.episode import BY_BUDGET
from dprl.lessons.epsilon import ATTACK, most_believed, right
from dprl.lessons.regret import MODELS
from dprl.lessons.trust import CENTRAL, LOCAL, SHUFFLE
from dprl.messages import messages
from dprl.privacy import PRIVATIZERS
from dprl.sentences.promise import ENDS
from dprl.simulation.online import promise
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
    with pytest.raises(SpecError, match=r"^guess: .* is not allowed.*; give "):
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
    assert told == 4


def test_how_far_off_the_beginning_of_an_order_is() -> None:
    step = LESSONS["trust"].steps[0]
    assert step.off("bdca", evidence()) == "All 4 are named rightly."
    assert step.off("bd-a", evidence()) == "3 of 4 right: 1 curve without a name."
    assert step.off("db-a", evidence()) == "1 of 4 right: 2 curves wrongly named, 1 curve without a name."
    assert step.off("b---", evidence()) == "1 of 4 right: 3 curves without a name."
    for wrong in ("----", "b--", "bb--", "b--x", "b--->", "", "b----"):
        with pytest.raises(SpecError, match=r"^guess: .* is not allowed.*; give "):
            step.off(wrong, evidence())


def test_how_far_off_a_guess_is() -> None:
    assert ORDER.distance((0, 1, 2), (0, 1, 2)) == 0
    assert ORDER.distance((2, 1, 0), (0, 1, 2)) == 3
    assert ORDER.verdict((1, 0, 2), (0, 1, 2)) == "1 of 3 are named rightly; 1 pair of 3 the wrong way round."
    assert MARKER.distance(1e3, 1e5) == pytest.approx(2)
    assert MARKER.verdict(1e3, 1.2e5) == "You said 1,000 users, measured 120,000 users: 120 times too few."
    assert MARKER.verdict(1e5, 1.2e5).endswith("within a factor of 2.")
    assert SHARE.verdict(7.0, 0.0) == "You said 7 visits, measured 0 visits: too many."
    assert SLOPE.verdict(1.0, 0.44) == "You said “like K”, measured K^0.44: “like √K” is nearer."
    assert SLOPE.verdict(0.5, 0.44).endswith("no choice is nearer.")


def test_what_a_class_predicts_is_held_against_the_truth() -> None:
    assert ORDER.together([(0, 1, 2)], (0, 1, 2)) == "1 of 1 prediction names all 3 curves rightly."
    assert ORDER.together([(0, 1, 2), (0, 2, 1), (2, 1, 0)], (0, 1, 2)) == (
        "1 of 3 predictions names all 3 curves rightly. Predictions miss curve 3 most often, 2 of 3 times."
    )
    many = [1e5, 1e2, 1e3, 1e3, 1e2]
    assert MARKER.together(many, 1.5e4) == (
        "At least half of 5 predictions say 1,000 users or fewer, measured 15,000 users: 15 times too few."
    )
    assert MARKER.together([1e4], 1.5e4).startswith("The only prediction says 10,000 users, measured 15,000")
    assert SHARE.together([7.0, 7.0], 0.0).endswith("say 7 visits or fewer, measured 0 visits: too many.")
    assert SLOPE.together([0.0, 0.5, 1.0, 1.0], 0.44) == (
        "1 of 4 predictions says “like √K”, measured K^0.44. The most frequent answer is “like K”."
    )


def test_answers_that_tie_are_all_shown() -> None:
    assert ORDER.together([(0, 2, 1)], (0, 1, 2)).endswith(
        "miss curve 2 and curve 3 most often, 1 of 1 times."
    )
    assert MARKER.together([1e2, 1e4], 1.5e4) == (
        "The two middle ones of 2 predictions say 100 users and 10,000 users, measured 15,000 users."
    )
    assert SLOPE.together([0.0, 0.5, 1.0, 1.0, 0.5], 0.44).endswith(
        "The most frequent answer is “like √K” and “like K”."
    )
    assert SHARE.typical([7.0, 9.0]) == [7.0, 9.0]
    assert SHARE.typical([7.0, 7.0]) == [7.0]


def test_the_middle_of_a_class_is_a_median_in_every_lesson_with_a_marker() -> None:
    """Half of it says no more and half no less, whichever way the axis goes; order of arrival is nothing."""
    rng = np.random.default_rng(7)
    for step in (step for lesson in LESSONS.values() for step in lesson.steps):
        prediction = step.prediction
        if not isinstance(prediction, Marker):
            continue
        says = (lambda x: 1 / x) if prediction.inverse else (lambda x: x)
        for n in (1, 2, 3, 10, 41):
            answers = [float(x) for x in rng.choice(prediction.marks, n)]
            for middle in (typical := prediction.typical(answers)):
                assert middle in answers
                assert sum(says(x) <= says(middle) for x in answers) >= n / 2
                assert sum(says(x) >= says(middle) for x in answers) >= n / 2
            assert prediction.typical(answers[::-1]) == typical
            assert step.together([prediction.write(x) for x in answers], evidence())


def test_a_marker_at_the_very_end_of_a_log_axis_is_within_it() -> None:
    chart = figures.AskedChart("", "", "", (5.0, 1e10), (0.0, 1.0))
    low, high = figures.open_chart(chart, shown=False, dark=False).layout["xaxis"]["range"]
    assert 10**low < 5.0 < 1e10 < 10**high
    assert (low, high) == pytest.approx((np.log10(5), 10))


def test_a_prediction_scores_a_point_or_a_part_of_one() -> None:
    assert [ORDER.score(guess, (0, 1, 2)) for guess in ((0, 1, 2), (0, 2, 1), (2, None, None))] == [
        1,
        pytest.approx(1 / 3),
        0,
    ]
    assert [MARKER.score(guess, 1e4) for guess in (1e4, 1.9e4, 5e3 + 1, 1e5, 1e3, 1.1e5)] == [
        1, 1, 1, 0.5, 0.5, 0,
    ]  # fmt: skip
    assert [SHARE.score(guess, 5.0) for guess in (5.0, 5.9, 7.0, 7.1)] == [1, 1, 0.5, 0]
    assert [SLOPE.score(guess, 0.44) for guess in (0.5, 0.0, 1.0)] == [1, 0, 0]


def test_a_score_grows_as_a_guess_comes_nearer_in_every_lesson() -> None:
    for step in (step for lesson in LESSONS.values() for step in lesson.steps):
        prediction, truth = step.prediction, step.truth(evidence())
        if isinstance(prediction, Marker):
            by_distance = sorted(prediction.marks, key=lambda mark: prediction.distance(mark, truth))
            scores = [step.score(prediction.write(mark), evidence()) for mark in by_distance]
        elif isinstance(prediction, Slope):
            powers = sorted((power for power, _ in prediction.choices), key=lambda p: abs(p - truth))
            scores = [step.score(prediction.write(power), evidence()) for power in powers]
        else:
            whole = list(truth)
            swapped = [whole[1], whole[0], *whole[2:]]
            scores = [step.score(prediction.write(one), evidence()) for one in (whole, swapped, whole[::-1])]
            assert 0 < scores[1] < 1
        assert scores[0] == 1
        assert scores == sorted(scores, reverse=True)
        assert scores[-1] < 1
    assert LESSONS["trust"].steps[0].score("bd--", evidence()) == 0.5


def test_what_the_first_lesson_says_is_what_noise_proves() -> None:
    """Each number against a second way to it: the definition, and the attack on the same noise."""
    bare, noisy, belief, noise = LESSONS["epsilon"].steps
    assert bare.truth(evidence()) == 100
    for epsilon in (0.1, 1.0, 10.0):
        most = right(evidence(), epsilon)
        assert (
            50 < most <= 100 * most_believed(epsilon)
        )  # the likeliest outcome makes surer than all on average
        again = promise(ATTACK.run.replace(epsilon=epsilon))
        assert again is not None
        assert most == pytest.approx(100 * again["right"], rel=1e-4)
        assert most_believed(epsilon) == pytest.approx(math.exp(epsilon) / (1 + math.exp(epsilon)))
    scores = evidence().answers["scores", ATTACK]
    played = metrics.guessed_right(np.array(scores["first"]), np.array(scores["second"]))
    assert 100 * played.low <= noisy.truth(evidence())
    assert belief.truth(evidence()) == pytest.approx(0.731, abs=1e-3)
    assert "1,500 at ε = 0.1" in noise.found(evidence())
    assert 0.75 < noise.truth(evidence()) < 1.5  # "like 1/ε" is nearest


def test_what_recaps_say_is_what_their_runs_say() -> None:
    known = evidence()
    noise = {spec.epsilon: known.runs[spec].noise_std or 0.0 for spec in LESSONS["epsilon"].steps[3].specs}
    assert list(noise) == sorted(noise, reverse=True)
    assert list(noise.values()) == sorted(noise.values())  # a smaller epsilon takes more noise
    lost = {one.epsilon: regret.lost(known, one).mean(axis=0)[-1] for one in BY_BUDGET}
    assert lost[0.1] > lost[1.0] > lost[10.0]
    few = [regret.users_needed(known, spec) for spec in (CENTRAL, SHUFFLE, LOCAL)]
    assert few == sorted(few)
    one, tree, _ = LESSONS["one-draw"].steps
    assert one.truth(known) == 0 < tree.truth(known)
    assert regret.users_needed(known, one_draw.TREE) != regret.users_needed(known, one_draw.BASE)
    once, again, shuffled = LESSONS["price"].steps
    assert once.score("0", known) == shuffled.score("0", known) == 1
    assert again.truth(known) > 0.2  # it grows
    assert LESSONS["proved"].steps[0].truth(known) < 0.5  # where the paper states 1
    assert regret.users_needed(known, proved.AS_IN_PAPER) > regret.users_needed(known, proved.TREE)
    strong, weak = (pessimism._needed(known, pessimism.CLINIC.replace(rho=rho)) for rho in (0.01, 1.0))
    assert 5 < strong / weak < 20
    assert pessimism._needed(known, pessimism.FREE) < weak < pessimism._believed(known)
    needs = [regret.users_needed(known, spec) for spec in weights.NAMES]
    assert max(needs) == regret.users_needed(known, weights.LOCAL[1.0])
    central, local, _ = LESSONS["users"].steps
    assert central.score("1", known) == local.score("2", known) == 1


def test_lessons_call_privacy_models_as_everything_else_does() -> None:
    for privacy, model in PRIVATIZERS.items():
        if privacy in MODELS:
            assert MODELS[privacy] == model.title
    for spec in (CENTRAL, SHUFFLE, LOCAL):
        assert regret.trusted_with(spec) == PRIVATIZERS[spec.privacy].words.given
    users = messages("questions")["users"]["mine"]
    assert (users["more"], users["less"]) == ENDS

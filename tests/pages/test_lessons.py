"""The page Lessons: links, predictions, and the answer, for every step of every lesson."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest

from dprl.lessons import LESSONS, Marker, Order, Step
from dprl.messages import messages
from dprl.runs.store import Store
from pages.shared import lessons as views
from pages.shared.lessons import evidence
from tests.pages.conftest import Visit, charts, names, press, warned, words
from tests.problems import first
from tests.test_lessons import LESSON

PAGE = "lessons"
RIGHT = ("named all", "a factor of 2.", "just right.", "no other choice is closer.", "is correct.")
STEPS = [step for lesson in LESSONS.values() for step in lesson.steps]


@pytest.mark.parametrize(
    "key", first(LESSONS, lambda key: frozenset(type(step.prediction) for step in LESSONS[key].steps))
)
def test_every_step_asks_and_then_answers(visit: Visit, store: Store, key: str) -> None:
    """The truth as a guess is right, and before the answer is shown the chart does not hold it."""
    for at, step in enumerate(LESSONS[key].steps, 1):
        truth, prediction = step.truth(evidence()), step.prediction
        before = json.loads(charts(visit(PAGE, lesson=key, step=str(at)))[0].spec)
        drawn = {trace.get("name") for trace in before["data"]}
        assert not {"measured", "proved"} & drawn
        if isinstance(prediction, Order):
            assert not drawn & set(prediction.items)
            guess = prediction.write(truth)
        elif isinstance(prediction, Marker):
            guess = prediction.write(prediction.nearest(truth))
        else:
            guess = prediction.write(min((p for p, _ in prediction.choices), key=lambda p: abs(p - truth)))
        app = visit(PAGE, lesson=key, step=str(at), guess=guess, shown="yes")
        said = words(app)
        verdict = step.off(guess, evidence())
        assert verdict in said
        assert any(good in verdict for good in RIGHT)
        assert step.score(guess, evidence()) == 1
        assert step.found(evidence()) in said
        assert step.why(evidence()) in said
        assert step.reply(guess, evidence()) in said
        assert step.ask in said
        layout = json.loads(charts(app)[0].spec)["layout"]
        assert layout["yaxis"]["range"] == before["layout"]["yaxis"]["range"]
        assert all(part["title"]["text"] for part in (layout, layout["xaxis"], layout["yaxis"]))
    assert store.activity().seeds_queued == 0


@pytest.mark.parametrize("key", LESSONS)
def test_what_to_try_opens_its_page_without_a_complaint(visit: Visit, key: str) -> None:
    attempt = LESSONS[key].attempt
    assert attempt is not None
    page, _, query = attempt[1].strip("/").partition("?")
    assert not visit(page, **parse_qs(query)).warning


def test_predictions_are_made_with_buttons_and_a_slider_and_stay(visit: Visit) -> None:
    app = visit(PAGE, lesson="trust")
    for key in ("item_1", "item_3", "item_2", "item_0"):
        press(app, key)
    assert app.query_params["guess"] == "bdca"
    press(app, "reveal")
    assert app.query_params["shown"] == "yes"
    press(app, "next")
    before = app.select_slider[0].key
    app.select_slider[0].set_value(1e6).run()
    assert app.select_slider[0].key == before  # the same slider, so it keeps the focus
    assert app.query_params["guess"] == "1e6"
    assert "your guess" in names(app)
    press(app, "previous")
    assert app.query_params["guess"] == "bdca"


@pytest.mark.parametrize("step", [step for step in STEPS if isinstance(step.prediction, Order)])
def test_the_answer_to_an_order_names_the_curves_in_that_order_and_tells_them_apart(step: Step) -> None:
    truth: Any = step.truth(evidence())
    own = [step.prediction.items[place] for place in truth]  # type: ignore[union-attr]
    text = step.prediction.write((truth[1], truth[0], *truth[2:]))  # type: ignore[arg-type]
    for guess, expected in (
        ("", [f"{number}. {name}" for number, name in enumerate(own, 1)]),
        (
            text,
            [f"1. {own[0]}<br>you said {own[1]}", f"2. {own[1]}<br>you said {own[0]}"]
            + [f"{number}. {name}: right" for number, name in enumerate(own[2:], 3)],
        ),
    ):
        traces = views.step_picture(step, guess, shown=True, dark=False).figure.data
        named = sorted((t for t in traces if t.showlegend is not False), key=lambda t: t.legendrank or 1000)
        assert [trace.name for trace in named[: len(own)]] == expected
        drawn = {
            (t.line.color, t.line.dash)
            for t in traces
            if t.legendgroup and t.mode == "lines" and t.line.width
        }
        assert len(drawn) == len(own)


def test_whom_two_users_read_is_said_in_as_many_words_as_it_takes() -> None:
    one, tree, *_ = LESSONS["one-draw"].steps
    assert one.found(evidence()) == "The two users' estimate is exact for 100% of the 180 users."
    assert tree.found(evidence()).startswith("The two users' estimate is exact for 0% of the 180 users. ")
    assert "For half of the users, it is off by at most" in tree.found(evidence())


def test_an_answer_is_shown_only_after_a_guess_or_to_who_does_not_know(visit: Visit) -> None:
    app = visit(PAGE, lesson="trust", step="3")
    assert [b.label for b in app.button if b.key == "reveal"] == ["I don't know"]
    app.radio[0].set_value("1").run()
    assert app.query_params["guess"] == "1"
    (show,) = [b for b in app.button if b.key == "reveal"]
    assert (show.label, show.proto.type) == ("Show the answer", "primary")
    show.click().run()
    assert "It only mixes" in words(app)


EPSILONS = [step for step in STEPS if getattr(step.prediction, "unit", "").startswith("ε")]


@pytest.mark.parametrize("step", EPSILONS, ids=lambda step: step.title)
def test_more_privacy_is_left_on_the_axis_and_on_the_slider_of_every_lesson(step: Step) -> None:
    marker = step.prediction
    assert isinstance(marker, Marker)
    assert [end.partition(",")[0] for end in marker.ends] == ["more privacy", "less privacy"]
    said = [1 / mark if marker.inverse else mark for mark in marker.marks]
    assert said == sorted(said)
    figure = views.step_picture(step, "", shown=False, asked=True, dark=False).figure
    axis = figure.layout.xaxis
    assert axis.title.text.startswith("ε (more private to the left)")
    place = np.log10 if axis.type == "log" else np.asarray
    left, right = axis.range
    across = (place(np.array(marker.marks)) - left) / (right - left)
    assert (np.diff(across) > 0).all()
    assert -1e-6 < across[0] < across[-1] < 1 + 1e-6


def test_a_lesson_ends_with_three_sentences_the_own_score_and_the_next_lesson(visit: Visit) -> None:
    """Only what was predicted before the answer was first shown counts."""
    recap = messages("lessons")["score"]
    lesson = LESSONS["trust"]
    app = visit(PAGE, lesson="trust")
    # two of four; then an answer without a prediction
    for key in ("item_1", "item_3", "item_0", "item_2", "reveal", "next", "reveal", "next"):
        press(app, key)
    app.radio[0].set_value("0").run()
    for key in ("reveal", "next", "next"):  # the summary, one answer too early
        press(app, key)
    assert recap["waiting"] in words(app)
    assert not any(one in words(app) for one in lesson.recap)
    (early,) = [b for b in app.button if (b.key or "").startswith("unanswered_")]
    early.click().run()
    for key in ("reveal", "next"):
        press(app, key)
    said = words(app)
    assert all(one[:20] in said for one in lesson.recap)
    assert "You scored 1.5 of 4." in said
    assert "**Four curves: 0.5.**" in said
    assert recap["without"] in said
    assert app.query_params["step"] == "5"
    press(app, "next_lesson")
    assert app.query_params["lesson"] == "one-draw"
    press(app, "all_lessons")
    assert "You scored 1.5 of 4." in words(app)
    press(app, "open_trust")
    assert app.query_params.get("shown") == "yes"  # the first question, as it was left
    for key in (*["next"] * 4, "begin_again"):
        press(app, key)
    assert "shown" not in app.query_params
    press(app, "all_lessons")
    assert "You scored" not in words(app)


def test_a_score_survives_a_reload(visit: Visit) -> None:
    """The address holds the guesses at other questions; one that is no guess counts nothing."""
    app = visit(PAGE, lesson="trust")
    for key in ("item_1", "item_3", "item_2", "item_0", "reveal", "next", "reveal", "next"):
        press(app, key)
    assert app.query_params["before"] == "bdca,none,open"
    again = visit(PAGE, lesson="trust", step="3", before="bdca,none,open")
    press(again, "all_lessons")
    assert "You scored 1 of 4." in words(again)
    press(again, "open_trust")
    assert "You named all 4 curves correctly." in words(again)
    whole = visit(PAGE, lesson="trust", step="5", before="bdca,1e9,0,1")
    assert "You scored 4 of 4." in words(whole)
    for wrong in ("zzzz", "open~-5", "~nan~9", "<b>", "bdca" * 99, "~" * 99):
        listed = visit(PAGE, lesson="trust", step="3", before=wrong)
        press(listed, "all_lessons")
        assert "You scored" not in words(listed)


def test_a_lesson_whose_runs_are_not_known_offers_to_compute_them(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.toml").write_text(LESSON.replace("episodes = 1e7", "episodes = 1e3"))
    (tmp_path / "broken.toml").write_text("title = 7")
    monkeypatch.setenv("DPRL_LESSONS", str(tmp_path))
    app = visit(PAGE)
    assert "broken.toml, title: 7 is not allowed; give a text in quotes." in warned(app)
    press(app, "open_mine")
    assert messages("lessons")["page"]["compute"] in words(app)
    assert [b.label for b in app.button if b.key == "begin"] == ["Compute the missing runs"]


@pytest.mark.parametrize(
    ("was", "now", "sentence"),
    [
        ("loss", "deltas", "Question 1, chart: these runs cannot be drawn as deltas"),
        ("episodes = 1e7", "episodes = 1e15", ""),
        (
            "[questions]]",
            "[questions]]\nlevel = 0.0001",
            "Question 1, guess.answer: the curve never comes down",
        ),
    ],
)
def test_a_lesson_that_cannot_be_played_gets_a_sentence(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, was: str, now: str, sentence: str
) -> None:
    (tmp_path / "mine.toml").write_text(LESSON.replace(was, now))
    monkeypatch.setenv("DPRL_LESSONS", str(tmp_path))
    app = visit(PAGE, lesson="mine")
    assert sentence in warned(app)
    assert bool(app.warning) == bool(sentence)


def test_a_chart_whose_numbers_are_asked_next_does_not_tell_them() -> None:
    """The order of four curves; how many users two of them take is what the next two questions ask."""
    step = LESSONS["trust"].steps[0]
    found = views.step_picture(step, "bdca", shown=True, dark=False)
    assert found.figure.layout.xaxis.showticklabels is False
    assert "x" not in found.table
    for trace in found.figure.data:
        assert "%{x" not in str(trace.hovertemplate)
        assert trace.hoverinfo == "skip" or not str(trace.hovertemplate or "").count("at ")


def test_as_many_circles_are_full_as_the_answer_says() -> None:
    for at, filled in ((0, 100), (1, 55)):
        step = LESSONS["epsilon"].steps[at]
        for guess, shown, full in (("", False, 0), ("70", False, 70), ("70", True, filled)):
            figure = views.step_picture(step, guess, shown=shown, asked=not shown, dark=False).figure
            counts = {
                trace.marker.symbol: len(trace.x)
                for trace in figure.data
                if trace.mode == "markers"
                and str(trace.marker.symbol).startswith("circle")
                and trace.y is not None
                and trace.hoverinfo == "skip"
            }
            assert counts.get("circle", 0) == full
            assert counts.get("circle-open", 0) == 100 - full

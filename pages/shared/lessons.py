"""Runs, answers, charts and prediction fields that the Lessons page and the room share.

Predictions come from widgets, from a click on the chart, or from a marker that is dragged over it. They are passed on
as texts, which may still be incomplete.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields, replace
from functools import cache, partial
from typing import Any

import numpy as np
import streamlit as st

from dprl.environments import ENVIRONMENTS
from dprl.fields import SpecError
from dprl.figures import guesses
from dprl.figures import lessons as figures
from dprl.figures.guesses import HELD
from dprl.figures.lines import Series
from dprl.figures.picture import PackedPicture, Picture
from dprl.lessons import LESSONS, ORDER, Choice, Lesson, Marker, Order, Prediction, Step, cloud
from dprl.messages import filled, messages
from dprl.metrics.curves import Evidence, RunCurves, regret_band
from dprl.research.frontiers import looks_of
from dprl.research.one_user import best_content
from dprl.research.series import style_of
from dprl.simulation import RunSpec, spec_from_dict
from pages.shared.controls.panel import draw_environment
from pages.shared.controls.widgets import segments
from pages.shared.layout.browser import component, one_user
from pages.shared.layout.chart import draw, kept
from pages.shared.layout.frame import wide
from pages.shared.layout.terms import escape, explained
from pages.shared.results import answers
from pages.shared.results.data import asset, bundled_papers, bundled_scores, environment
from pages.shared.results.status import Runs
from pages.shared.visitor.callbacks import button, callback, keyed

# The fields of each answer in lessons.json; other answers come from the files of other pages.
OWN = {
    "promise": ("deltas", "epsilons", "false", "missed"),
    "guarantee": ("claimed_epsilon", "claimed_delta", "proved_epsilon", "proved_delta"),
    "widths": ("users", "rows"),
}
RUNS = Runs(("home", "examples", "offline"))
SAID, SCORE, ANSWER = (messages("lessons")[part] for part in ("page", "score", "answer"))


class KnownRuns(dict[Any, RunCurves]):
    """The curves of finished runs by spec, each with V*. Every access looks them up again."""

    def __missing__(self, spec: Any) -> RunCurves:
        run = RUNS.curves(spec)
        private = run.noise_std is None and spec != spec.baseline()
        if private and (card := answers.guarantee(spec)) is not None:
            run = replace(run, noise_std=card.noise_std)
        return replace(run, v_star=answers.v_star(spec) or math.nan)


def unknown(lesson: Lesson) -> list[Any]:
    """Return the runs of a lesson that have to be computed before it can be opened."""
    specs = dict.fromkeys(spec for step in lesson.steps for spec in step.specs)
    return [spec for spec in specs if RUNS.bundled(spec) is None and spec in RUNS.missing([spec])]


def fault(lesson: Lesson) -> str:
    """Explain why a teacher's lesson cannot be used with its finished runs, or return "" if it can."""
    for number, step in enumerate(lesson.steps if lesson.key not in ORDER else (), 1):
        try:
            truth = step.truth(evidence())
            step.found(evidence()), step.why(evidence())
            if isinstance(truth, float) and not math.isfinite(truth):
                return filled(SAID["no_answer"], number=number)
        except ValueError:  # NumPy's message would be about arrays
            return filled(SAID["no_curve"], number=number)
        except (LookupError, TypeError) as error:
            return filled(SAID["no_chart"], number=number, chart=step.chart.kind.key, error=error)
    return ""


@cache
def evidence() -> Evidence:
    """Return the runs and results from which lessons take their answers. Each file is read only once."""
    asked: dict[tuple[str, Any], Any] = dict(bundled_papers().evidence.answers)
    asked |= {
        ("scores", spec): {"first": scores.first, "second": scores.second}
        for spec, scores in bundled_scores().items()
    }
    for entry in asset("lessons"):
        asked[entry["question"], spec_from_dict(entry["spec"])] = entry["answer"]
    return Evidence(KnownRuns(), asked)


def valid(step: Step, text: str) -> bool:
    """Return whether a text is a complete answer to a question."""
    try:
        step.prediction.parse(text)
    except SpecError:
        return False
    return True


def chart(step: Step) -> figures.AskedChart:
    plot = step.drawn(evidence()).plot
    specs: list[Any] = [one.spec for one in plot.drawn]
    looks = looks_of(list(map(style_of, specs)), shaded=True)
    curves = []
    for given, look in zip(plot.drawn, looks, strict=True):
        band = regret_band(given.rows)
        curves.append(Series(given.label, look, np.asarray(given.x, float), given.rows, *band))
    frame = {each.name: getattr(plot, each.name) for each in fields(figures.Frame)}
    return figures.AskedChart(**frame, curves=tuple(curves), until=tuple(one.until for one in plot.drawn))


def step_picture(
    step: Step,
    guess: str,
    *,
    shown: bool,
    others: Sequence[str] = (),
    asked: bool = False,
    large: bool = False,
    wide: bool = True,
    dark: bool,
) -> Picture:
    """Draw the chart of a step with a guess, which may be incomplete, and with the guesses of others.

    shown: whether to show the answer. asked: whether the viewer is to predict. large: whether it is for a projector.
    wide: whether there is room next to it.
    """
    drawn, prediction = chart(step), step.prediction
    names = shown or not isinstance(prediction, Order)
    made = figures.open_chart(drawn, shown=shown, names=names, large=large, wide=wide, dark=dark)
    cloud(prediction, made, drawn, [prediction.parse(text) for text in others], shown)
    if asked and not guess and isinstance(prediction, Marker):
        guesses.waiting(made, drawn, prediction.untouched)
    prediction.draw(made, drawn, guess, step.truth(evidence()), shown)
    return figures.asked_picture(made, drawn, shown=shown, names=names)


def step_chart(
    place: Hashable,
    key: str,
    step: Step,
    text: str,
    *,
    shown: bool,
    others: Sequence[str] = (),
    pressed: Callable[[Any], None] | None = None,
    large: bool = False,
) -> PackedPicture:
    """Draw the chart of a step as a widget, and return it. `place` identifies the step, and `pressed` is called after a
    click if the viewer is to predict. See `step_picture` for the other arguments."""
    how = {"shown": shown, "asked": pressed is not None, "large": large, "wide": wide()}
    found = kept(
        ("lesson", place, text, tuple(others), *how.values(), LESSONS.stamps),
        lambda night: step_picture(step, text, others=others, dark=night, **how),
    )
    draw(found, key, pressed, "stretch" if large else "content")
    return found


def pictured(lesson: Lesson, at: int) -> None:
    """Draw the environment that first appears in a step, if any, in a collapsible section with simulated users."""
    met = lesson.met(at)
    if met is None:
        return
    world = ENVIRONMENTS[met[0]]
    name = filled(SAID["world"], environment=world.title)
    fold = st.expander(escape(name), icon=":material/directions_walk:", on_change="rerun", key="pictured")
    if not fold.open:
        return
    with fold:
        left, right = st.columns([2, 3], gap="medium", vertical_alignment="center")
        with left:
            draw_environment(*met, "environment")
        right.markdown(explained(escape(world.summary)))
        mdp = environment(RunSpec(environment=met[0], environment_params=met[1]))
        one_user(f"{met[0]}{sorted(met[1].items())}", lambda: best_content(mdp))


def question_beside_picture(lesson: Lesson, at: int, words: str) -> None:
    """Draw the question for a projector, next to a drawing of the environment if it first appears in this step."""
    met = lesson.met(at)
    if met is None:
        st.markdown(words, anchors=False)
        return
    with st.container(key="pictured"):
        left, right = st.columns([5, 3], gap="small", vertical_alignment="center")
        left.markdown(words, anchors=False)
        with right:
            draw_environment(*met, "environment")


def recap_sentences(lesson: Lesson) -> None:
    with st.container(key="recap_sentences"):
        st.markdown("\n".join(f"{n}. {explained(escape(one))}" for n, one in enumerate(lesson.recap, 1)))


def points(steps: Sequence[Step], texts: Sequence[str]) -> list[float]:
    """Return the points for the prediction in each step. A missing prediction is "" and gives 0 points."""
    pairs = zip(steps, texts, strict=True)
    return [step.score(text, evidence()) if text else 0.0 for step, text in pairs]


def own_score(steps: Sequence[Step], texts: Sequence[str]) -> str:
    """Write the visitor's points out of the possible total."""
    own = f"{round(sum(points(steps, texts)), 2):g}"
    return filled(SCORE["own"], points=own, most=len(steps))


def score_card(steps: Sequence[Step], texts: Sequence[str], below: str = "") -> None:
    """Draw the visitor's points and the result of each prediction. A missing prediction is an empty text."""
    rows = []
    for n, (step, text, own) in enumerate(zip(steps, texts, points(steps, texts), strict=True), 1):
        off = step.off(text, evidence()) if text else SCORE["without"]
        row = {"n": n, "title": escape(step.title), "points": f"{round(own, 2):g}", "off": escape(off)}
        rows.append(filled(SAID["points"], **row))
    with st.container(border=True, key="score"):
        st.markdown(f"### {own_score(steps, texts)}", anchors=False)
        st.markdown("\n".join(rows))
        if below:
            st.caption(below)


Said = Callable[[str], None]


def answer_field(prediction: Prediction, text: str, said: Said) -> None:
    """Draw the field for a prediction, for visitors who do not click on the chart itself."""
    hint = ""
    if isinstance(prediction, Order):
        hint = "order_hint"
        with st.container(horizontal=True, gap="small", key="items"):
            for item, words in enumerate(prediction.items):
                named = text.find(prediction.letters[item])
                label, kind = words, "secondary"
                if named >= 0:
                    label, kind = filled(ANSWER["named"], number=named + 1, name=words), "primary"
                put = partial(prediction.put, text, item)
                button(label, lambda put=put: said(put()), key=f"item_{item}", type=kind)
    elif isinstance(prediction, Marker):
        hint = "marker_hint"
        now = prediction.nearest(float(text)) if text else prediction.untouched
        moved = keyed("marker", lambda mark: said(prediction.write(mark)))
        st.select_slider(ANSWER["label"], prediction.marks, now, format_func=prediction.said, **moved)
        with st.container(horizontal=True, horizontal_alignment="distribute", key="ends_marker"):
            st.caption(prediction.ends[0], width="content")
            st.caption(prediction.ends[1], width="content")
    elif isinstance(prediction, Choice):
        choices = {prediction.write(value): words for value, words in prediction.choices}
        if prediction.of:
            hint = "slope_hint"
            segments(ANSWER["label"], "slope", choices, text or None, lambda chosen: said(chosen or ""))
        else:
            st.radio(
                ANSWER["label"],
                list(choices),
                list(choices).index(text) if text in choices else None,
                format_func=lambda value: choices.get(value, ""),
                label_visibility="collapsed",
                **keyed("choice", lambda chosen: said(chosen if chosen in choices else "")),
            )
    if hint:
        with st.container(key="hint"):
            st.caption(ANSWER[hint])


def chosen(prediction: Prediction, text: str, event: Any) -> str | None:
    """Return the new prediction after a click on the chart, or None if the click has no effect."""
    points = event["selection"]["points"]
    if not points:
        return None
    point = points[0]
    if isinstance(prediction, Marker):
        return prediction.write(prediction.nearest(float(point["x"])))
    custom = point.get("customdata")
    place = custom[0] if isinstance(custom, list) else custom
    if not isinstance(place, int) or (isinstance(prediction, Choice) and not prediction.of):
        return None
    if isinstance(prediction, Choice):
        return prediction.write(prediction.choices[place][0])
    free = [i for i, letter in enumerate(prediction.letters) if letter not in text]
    return prediction.put(text, free[0], place) if free else None


KEY = "drag"

_drag = component("drag")


def draggable(prediction: Prediction, text: str, chart: str, said: Said) -> None:
    """Let the visitor drag a chart's marker, if it has one. `said` receives the new position."""
    if not isinstance(prediction, Marker):
        return
    marks = prediction.marks

    def dropped() -> None:
        told = st.session_state.get(KEY)
        place = None if told is None else told.dropped
        if isinstance(place, int) and 0 <= place < len(marks):  # the browser may send anything
            said(prediction.write(marks[place]))

    with st.container(key="marker_drag"):
        _drag(
            data={
                "chart": f"st-key-{chart}",
                "held": HELD,
                "at": float(text) if text else prediction.untouched,
                "marks": marks,
                "words": [prediction.said(mark) for mark in marks],
            },
            key=KEY,
            height=1,
            on_dropped_change=callback(dropped),
        )

"""The chart of a step, with predictions on it, and the environment that a step is the first to be about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import streamlit as st

from dprl import metrics
from dprl.environments import ENVIRONMENTS
from dprl.figures import guesses
from dprl.figures import lessons as figures
from dprl.figures.lines import Series
from dprl.figures.looks import dashed, numbered
from dprl.figures.picture import Picture
from dprl.lessons import Lesson, Marker, Order, Step, cloud
from dprl.messages import filled, messages
from dprl.research.series import style_of, style_of_data
from dprl.simulation import OfflineSpec, RunSpec
from pages.shared.controls.panel import draw_environment
from pages.shared.layout.terms import explained
from pages.shared.lessons.known import evidence
from pages.shared.one_user import of_best
from pages.shared.results.data import environment
from pages.shared.text import escape


def chart(step: Step) -> figures.AskedChart:
    """Return the chart of a step's figure."""
    plot = step.plot(evidence())
    curves = []
    specs: list[Any] = [one.series.spec for one in plot.drawn]
    offline = all(spec.kind == OfflineSpec.kind for spec in specs)
    kinds = numbered(dashed([style_of_data(spec) if offline else style_of(spec) for spec in specs]))
    for one, kind in zip(plot.drawn, kinds, strict=True):
        center, low, high = metrics.regret_band(one.series.rows)
        x, rows = np.asarray(one.series.x, float), one.series.rows
        curves.append(Series(one.series.label, kind, x, rows, center, low, high))
    frame = {each.name: getattr(plot, each.name) for each in fields(figures.Frame)}
    until = tuple(one.until for one in plot.drawn)
    return figures.AskedChart(**frame, curves=tuple(curves), until=until)


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
    """Draw the chart of a step with a guess, perhaps not whole, and those of others.

    shown: with the answer. asked: whether who sees it is to predict, so that a marker waits to be dragged. large: for a
    projector, if there is room (wide).
    """
    drawn, prediction = chart(step), step.prediction
    names = shown or not isinstance(prediction, Order)
    made = figures.open_chart(drawn, shown=shown, names=names, large=large, wide=wide, dark=dark)
    cloud(prediction, made, drawn, [prediction.parse(text) for text in others], shown)
    if asked and not guess and isinstance(prediction, Marker):
        guesses.waiting(made, drawn, prediction.untouched)
    prediction.draw(made, drawn, guess, step.truth(evidence()), shown)
    return figures.asked_picture(made, drawn, shown=shown, names=names)


def pictured(lesson: Lesson, at: int) -> None:
    """Draw the environment that first appears at a step, counted from 0, behind a fold: its drawing, a sentence, and
    users who walk through it; else nothing."""
    met = lesson.met(at)
    if met is None:
        return
    key, params = met
    world = ENVIRONMENTS[key]
    name = filled(messages("lessons")["page"]["world"], environment=world.title)
    fold = st.expander(escape(name), icon=":material/directions_walk:", on_change="rerun", key="pictured")
    if not fold.open:
        return
    with fold:
        left, right = st.columns([2, 3], gap="medium", vertical_alignment="center")
        with left:
            draw_environment(*met, "environment")
        right.markdown(explained(escape(world.summary)))
        spec = RunSpec(environment=key, environment_params=params)
        of_best(f"{key}{sorted(params.items())}", environment(spec))


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
    """Draw the three sentences to remember."""
    with st.container(key="recap_sentences"):
        st.markdown("\n".join(f"{n}. {explained(escape(one))}" for n, one in enumerate(lesson.recap, 1)))


def own_score(scores: Sequence[float]) -> str:
    """Write the visitor's points out of all points."""
    return filled(messages("lessons")["score"]["own"], points=f"{round(sum(scores), 2):g}", most=len(scores))


def score_row(n: int, step: Step, text: str, points: float) -> str:
    """Write the result of the n-th prediction of a lesson; text: "" if there was none."""
    said = messages("lessons")
    off = step.off(text, evidence()) if text else said["score"]["without"]
    row = {"n": n, "title": escape(step.title), "points": f"{round(points, 2):g}", "off": escape(off)}
    return filled(said["page"]["points"], **row)

"""The end of a lesson in a room: the sentences to remember, and the scores of each student and the class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from dprl.lessons import LESSONS, Lesson
from dprl.messages import filled, messages
from dprl.rooms.steps import ClassStep, Guess, Recap
from pages.room.prediction import valid_texts
from pages.shared.lessons.known import evidence
from pages.shared.lessons.views import own_score, recap_sentences, score_row
from pages.shared.text import escape

SAID = messages("room")["lead"]


def steps_put(lesson: str, steps: Sequence[ClassStep]) -> dict[int, ClassStep]:
    """Return the steps of a lesson that were put to the class, by place; only the last of a repeated step."""
    return {
        step.content.step: step
        for step in steps
        if isinstance(step.content, Guess) and step.content.lesson == lesson
    }


def on_screen(content: Recap, steps: Sequence[ClassStep], level: str = "##") -> None:
    """Draw the recap on the teacher's screen. level: of its heading."""
    lesson = LESSONS.get(content.lesson)
    if lesson is None:
        return
    st.markdown(f"{level} {escape(filled(SAID['recap'], lesson=lesson.title))}", anchors=False)
    recap_sentences(lesson)
    put = steps_put(content.lesson, steps)
    means = [class_score(lesson, at, step) for at, step in put.items() if at < len(lesson.steps)]
    if means:
        said = filled(SAID["class"], points=f"{sum(means):.2g}", most=len(means))
        with st.container(key="together"):
            st.markdown(said)


def class_score(lesson: Lesson, at: int, step: ClassStep) -> float:
    """Return the average score of a step's predictions, from 0 to 1; 0 if there are none."""
    asked = lesson.steps[at]
    texts = valid_texts(asked, step.answers)
    return sum(asked.score(text, evidence()) for text in texts) / max(len(texts), 1)


def recap_on_phone(content: Recap, steps: Sequence[ClassStep], written: Mapping[int, str]) -> None:
    """Draw a student's recap: the sentences to remember, the points, and the result of each prediction."""
    lesson = LESSONS.get(content.lesson)
    if lesson is None:
        return
    st.markdown(f"## {escape(filled(SAID['recap'], lesson=lesson.title))}", anchors=False)
    recap_sentences(lesson)
    points, rows = [], []
    for at, step in sorted(steps_put(content.lesson, steps).items()):
        if at >= len(lesson.steps):
            continue
        asked = lesson.steps[at]
        mine = valid_texts(asked, [written.get(step.place, "")])
        points.append(asked.score(mine[0], evidence()) if mine else 0.0)
        rows.append(score_row(len(points), asked, mine[0] if mine else "", points[-1]))
    if points:
        with st.container(border=True, key="score"):
            st.markdown(f"### {own_score(points)}", anchors=False)
            st.markdown("\n".join(rows))

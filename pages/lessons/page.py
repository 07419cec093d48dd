"""Lessons: a question, a prediction made on the chart, what runs say, why, and what to try."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.lessons import LESSONS, Lesson
from dprl.words import plural
from pages.lessons import views
from pages.lessons.answer import answer, chosen
from pages.lessons.known import evidence
from pages.lessons.state import go, guess, lessons, reveal
from pages.lessons.ways import way
from pages.shared.layout.browser import copy_link
from pages.shared.layout.chart import draw, explain, kept
from pages.shared.layout.frame import dark
from pages.shared.layout.head import head
from pages.shared.layout.reading import words_and_papers
from pages.shared.text import escape
from pages.shared.visitor.callbacks import callback
from pages.shared.visitor.state import read_address


def main() -> None:
    here = lessons()
    read_address(here)
    corner = head("Lessons", here.problems, settings=False)
    if not here.key:
        listed(corner)
    else:
        opened(corner)
    words_and_papers()


def listed(corner: DeltaGenerator) -> None:
    """All lessons."""
    st.markdown(
        "Five minutes each: a question, your prediction on the chart, what runs say, and why. Nothing has to be "
        "computed first."
    )
    keys = list(LESSONS)
    for first in range(0, len(keys), 2):  # row by row, so that a telephone has them in order
        for column, key in zip(st.columns(2, gap="medium"), keys[first : first + 2], strict=False):
            with column, st.container(border=True, height="stretch", gap="xsmall"):
                card(LESSONS[key], keys.index(key) + 1)
    with corner:
        copy_link(lessons().query)


def card(lesson: Lesson, number: int) -> None:
    """One of them."""
    st.button(
        f"**{number}. {escape(lesson.title)}**",
        key=f"open_{lesson.key}",
        type="tertiary",
        icon=":material/arrow_forward:",
        icon_position="right",
        on_click=callback(go),
        args=(lesson.key,),
    )
    st.markdown(escape(lesson.say))
    st.caption(escape(f"{plural(len(lesson.steps), 'question')}. Needs: {lesson.needs}"))


def opened(corner: DeltaGenerator) -> None:
    """One step of a lesson."""
    here = lessons()
    lesson, step = here.lesson, here.step
    with st.container(horizontal=True, gap="small", key="lesson_ways"):
        st.button(
            "All lessons", icon=":material/arrow_back:", key="all_lessons", on_click=callback(go), args=("",)
        )
        if here.at:
            press("Previous", ":material/chevron_left:", "previous", here.at - 1)
        if here.at + 1 < len(lesson.steps):
            press("Next", ":material/chevron_right:", "next", here.at + 1)
    number = list(LESSONS).index(lesson.key) + 1
    st.caption(escape(f"Lesson {number}, {lesson.title} · question {here.at + 1} of {len(lesson.steps)}"))
    st.markdown(f"#### {escape(step.prediction.ask)}", anchors=False)
    question()
    with corner:
        copy_link(here.query)


def press(label: str, icon: str, key: str, at: int) -> None:
    """A button to another step of the lesson."""
    st.button(label, icon=icon, key=key, on_click=callback(go), args=(lessons().key, at))


def question() -> None:
    """The chart, what can be predicted, and the answer."""
    here = lessons()
    step, night = here.step, dark()
    if not here.shown:
        answer(step.prediction, here.guess, guess)
    found = kept(
        ("lesson", *here.place, here.guess, here.shown, here.present, night),
        partial(views.picture, step, here.guess, shown=here.shown, large=here.present, dark=night),
    )
    draw(found, f"chart_{here.key}_{here.at}", None if here.shown else pressed)
    if not here.shown:
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.button(
                "Show the answer",
                icon=":material/visibility:",
                key="reveal",
                type="primary" if here.whole else "secondary",
                on_click=callback(reveal),
            )
            if not here.whole:
                st.caption("Predict first: it is what makes the answer stay.")
        return
    off = f"**{escape(step.off(here.guess, evidence()))}** " if here.whole else ""
    explain(off + step.found(evidence()), lambda: found.table, f"step_{here.key}_{here.at}")
    st.markdown(f":material/lightbulb: {escape(step.why)}")
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="ways_on"):
        page, query = way(step.attempt)
        st.page_link(page, label=step.attempt.say, icon=":material/science:", query_params=query)
        st.button(
            "Hide the answer",
            icon=":material/visibility_off:",
            key="hide",
            on_click=callback(reveal),
            args=(False,),
        )


def pressed(event: Any) -> None:
    """The chart was pressed."""
    here = lessons()
    if (text := chosen(here.step.prediction, here.guess, event)) is not None:
        guess(text)


main()

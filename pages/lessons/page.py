"""Lessons: a question, a prediction made on the chart, what runs say, why, and what to try."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.figures.picture import PackedPicture
from dprl.lessons import LESSONS, Lesson
from dprl.sitemap import PAGES
from dprl.words import plural
from pages.lessons.handed import handed_in
from pages.lessons.kept import keep
from pages.lessons.recap import SAID, own_score, recap
from pages.lessons.state import go, guess, lessons, reveal
from pages.lessons.ways import way
from pages.shared.layout.cards import card_list, opener
from pages.shared.layout.chart import draw, explain, kept
from pages.shared.layout.frame import dark, wide
from pages.shared.layout.head import common, head
from pages.shared.layout.menu import page_link
from pages.shared.layout.reading import words_and_papers
from pages.shared.layout.share import share
from pages.shared.layout.terms import explained
from pages.shared.lessons import views
from pages.shared.lessons.answer import answer, chosen
from pages.shared.lessons.drag import draggable
from pages.shared.lessons.keys import keys
from pages.shared.lessons.known import evidence
from pages.shared.lessons.pictured import pictured, question_beside_picture
from pages.shared.results.again import save_citations
from pages.shared.text import escape
from pages.shared.visitor.callbacks import callback
from pages.shared.visitor.state import read_address


def main() -> None:
    here = lessons()
    read_address(here)
    keep()
    if here.key:  # so that tabs of several lessons are told apart
        st.set_page_config(page_title=PAGES["lessons"].of(here.lesson.title))
    if here.present:
        with st.container(key="present"):
            presented()
        return
    corner = head(here)
    if not here.key:
        list_lessons(corner)
    elif here.handed:
        handed_in(here)
    else:
        opened(corner)
    words_and_papers()


def list_lessons(corner: DeltaGenerator) -> None:
    """All lessons."""
    st.markdown(
        explained(
            "Five minutes each: a question, your prediction on the chart, what runs say, and why. Nothing has to be "
            "computed first."
        )
    )
    card_list(list(LESSONS.values()), lesson_card)
    with corner:
        share(lessons())


def lesson_card(lesson: Lesson, number: int) -> None:
    """One of them."""
    opener(number - 1, escape(lesson.title), lesson.key, go)
    st.markdown(explained(escape(lesson.say)))
    st.caption(explained(escape(f"{plural(len(lesson.steps), 'question')}. Needs: {lesson.needs}")))
    here = lessons()
    if any(here.first.get((lesson.key, at)) for at in range(len(lesson.steps))):
        st.caption(f":material/check: {own_score(here.score(lesson.key))}")


def opened(corner: DeltaGenerator) -> None:
    """One step of a lesson."""
    here = lessons()
    lesson, every = here.lesson, list(LESSONS)
    number = every.index(here.key)  # the first is for beginners, and has number 0
    with st.container(horizontal=True, gap="small", key="lesson_ways"):
        press("Previous", "chevron_left", "previous", go, here.key, max(here.at - 1, 0), disabled=not here.at)
        if not here.ended:
            last = here.at + 1 == len(lesson.steps)
            press("Recap" if last else "Next", "chevron_right", "next", go, here.key, here.at + 1)
        elif number + 1 < len(every):
            press("Next lesson", "chevron_right", "next_lesson", go, every[number + 1])
        else:
            press("Next", "chevron_right", "next", go, here.key, here.at, disabled=True)
        press("All lessons", "list", "all_lessons", go, "")
        press("Present", "slideshow", "to_present", go, here.key, here.at, True)
    where = "recap" if here.ended else f"question {here.at + 1} of {len(lesson.steps)}"
    common(f"Lesson {number}, {lesson.title} · {where}")
    if here.ended:
        recap()
        with corner:
            share(here)
        return
    pictured(lesson, here.at)
    st.markdown(explained(f"## {escape(here.step.prediction.ask)}"), anchors=False)
    found = question()
    if here.shown:
        said(found)
    else:
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            press("Show the answer", "visibility", "reveal", reveal, primary=here.whole)
            if not here.whole:
                st.caption("Predict first: you will remember the answer better.")
    save_citations([*here.step.specs, *(spec for _, spec in here.step.questions)])
    with corner:
        share(here)


def presented() -> None:
    """The same for a projector: one chart, and nothing that is not about it."""
    here = lessons()
    steps = here.lesson.steps
    if here.problems:
        st.warning(" ".join(map(escape, here.problems)), icon=":material/link_off:")
    if here.ended:
        recap()
    else:
        presented_question()
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="present_bar"):
        before, after = max(here.at - 1, 0), min(here.at + 1, len(steps))
        press(
            "Previous", "chevron_left", "present_previous", go, here.key, before, disabled=before == here.at
        )
        press("Next", "chevron_right", "present_next", go, here.key, after, disabled=here.ended)
        if here.ended and not here.shown:
            press(SAID["anyway"], "visibility", "present_answer_show", reveal)
        elif here.ended:
            pass
        elif here.shown:
            press("Hide the answer", "visibility_off", "present_answer_hide", reveal, False)
        else:
            press("Show the answer", "visibility", "present_answer_show", reveal, primary=True)
        press("Leave", "close", "present_leave", go, here.key, here.at, False)
        where = "Recap" if here.ended else f"{here.at + 1} of {len(steps)}"
        st.caption(f"{where} · keys: ← → questions, space the answer, Esc leaves")
    keys()


def presented_question() -> None:
    """The question, large, its chart, and its answer."""
    here = lessons()
    question_beside_picture(here.lesson, here.at, explained(f"# {escape(here.step.prediction.ask)}"))
    question()
    if here.shown:
        off = f"**{escape(here.step.off(here.guess, evidence()))}** " if here.guess else ""
        st.markdown(explained(off + here.step.found(evidence())))
        st.markdown(explained(escape(here.step.why)))


def press(
    label: str,
    icon: str,
    key: str,
    action: Callable[..., object],
    *arguments: Any,
    primary: bool = False,
    disabled: bool = False,
) -> None:
    """A button; one that leads nowhere here is disabled, so that those beside it stay where they are."""
    st.button(
        label,
        icon=f":material/{icon}:",
        key=key,
        type="primary" if primary else "secondary",
        disabled=disabled,
        on_click=callback(action),
        args=arguments,
    )


def question() -> PackedPicture:
    """What can be predicted, and the chart."""
    here = lessons()
    step, night, room = here.step, dark(), wide() or not here.present
    if not here.shown:
        answer(step.prediction, here.guess, guess)
    found = kept(
        ("lesson", *here.place, here.guess, here.shown, here.present, night, room),
        partial(
            views.step_picture,
            step,
            here.guess,
            shown=here.shown,
            asked=not here.shown,
            large=here.present,
            wide=room,
            dark=night,
        ),
    )
    key = f"chart_{here.key}_{here.at}_{here.present}"
    draw(found, key, None if here.shown else pressed, "stretch" if here.present else "content")
    if not here.shown:
        draggable(step.prediction, here.guess, key, guess)
    return found


def said(found: PackedPicture) -> None:
    """The answer: how far off, what was measured, why, and what to try."""
    here = lessons()
    step = here.step
    off = f"**{escape(step.off(here.guess, evidence()))}** " if here.guess else ""
    explain(off + step.found(evidence()), lambda: found.table, f"step_{here.key}_{here.at}")
    st.markdown(explained(f":material/lightbulb: {escape(step.why)}"))
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="ways_on"):
        page_link(step.attempt.page, step.attempt.say, way(step.attempt), icon="science")
        press("Hide the answer", "visibility_off", "hide", reveal, False)


def pressed(event: Any) -> None:
    """The chart was pressed."""
    here = lessons()
    if (text := chosen(here.step.prediction, here.guess, event)) is not None:
        guess(text)


main()

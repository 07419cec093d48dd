"""Lessons: a question, a prediction made on the chart, what runs say, why, and what to try."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.figures.picture import PackedPicture
from dprl.lessons import LESSONS, Lesson
from dprl.messages import counted, filled, messages
from dprl.sitemap import PAGES
from pages.lessons.kept import keep_scores
from pages.lessons.recap import SAID as SCORE
from pages.lessons.recap import own_score, recap
from pages.lessons.state import go, guess, lessons, reveal
from pages.lessons.ways import way
from pages.shared.layout.browser import from_top
from pages.shared.layout.cards import card_list, opener
from pages.shared.layout.chart import draw, explain, kept
from pages.shared.layout.frame import dark, wide
from pages.shared.layout.head import common, head
from pages.shared.layout.menu import page_link
from pages.shared.layout.share import share
from pages.shared.layout.terms import explained
from pages.shared.lessons import views
from pages.shared.lessons.answer import answer_field, chosen
from pages.shared.lessons.drag import draggable
from pages.shared.lessons.keys import keys
from pages.shared.lessons.known import evidence
from pages.shared.lessons.pictured import pictured, question_beside_picture
from pages.shared.results.again import save_citations
from pages.shared.text import escape
from pages.shared.visitor.callbacks import callback
from pages.shared.visitor.state import read_address

SAID = messages("lessons")["page"]


def main() -> None:
    here = lessons()
    read_address(here)
    keep_scores()
    if here.key:  # so that tabs of several lessons are told apart
        st.set_page_config(page_title=PAGES["lessons"].of(here.lesson.title))
    if here.present:
        with st.container(key="present"):
            presented()
        return
    asked = here.key and not here.ended
    corner = head(here, explained(escape(here.step.prediction.ask)) if asked else "")
    from_top(f"{here.key} {here.at}")
    if not here.key:
        list_lessons(corner)
        return
    opened()
    with corner:
        share(here)


def list_lessons(corner: DeltaGenerator) -> None:
    """All lessons."""
    st.markdown(explained(SAID["about"]))
    card_list(list(LESSONS.values()), lesson_card)
    with corner:
        share(lessons())


def lesson_card(lesson: Lesson, number: int) -> None:
    """One of them."""
    opener(number - 1, escape(lesson.title), lesson.key, go)
    st.markdown(explained(escape(lesson.say)))
    questions = counted(len(lesson.steps), "question")
    st.caption(explained(escape(filled(SAID["needs"], questions=questions, needs=lesson.needs))))
    here = lessons()
    if any(here.first.get((lesson.key, at)) for at in range(len(lesson.steps))):
        st.caption(f":material/check: {own_score(here.score(lesson.key))}")


def opened() -> None:
    """One step of a lesson, or its recap."""
    here = lessons()
    lesson = here.lesson
    number = list(LESSONS).index(here.key)  # the first is for beginners, and has number 0
    at = {"at": here.at + 1, "last": len(lesson.steps)}
    place = SAID["recap_here"] if here.ended else filled(SAID["question_here"], **at)
    common(filled(SAID["where"], number=number, title=lesson.title, place=place))
    if here.ended:
        recap()
        ways()
        return
    found = question()
    if here.shown:
        said(found)
    else:
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            press(SAID["show"], "visibility", "reveal", reveal, primary=here.whole)
            if not here.whole:
                st.caption(SAID["first"])
    ways()
    pictured(lesson, here.at)
    save_citations([*here.step.specs, *(spec for _, spec in here.step.questions)])


def ways() -> None:
    """The ways on, below what there is to read."""
    here = lessons()
    lesson, every = here.lesson, list(LESSONS)
    number = every.index(here.key)
    with st.container(horizontal=True, gap="small", key="lesson_ways"):
        press(
            SAID["previous"],
            "chevron_left",
            "previous",
            go,
            here.key,
            max(here.at - 1, 0),
            disabled=not here.at,
        )
        if not here.ended:
            last = here.at + 1 == len(lesson.steps)
            press(SAID["recap"] if last else SAID["next"], "chevron_right", "next", go, here.key, here.at + 1)
        elif number + 1 < len(every):
            press(SAID["next_lesson"], "chevron_right", "next_lesson", go, every[number + 1])
        else:
            press(SAID["next"], "chevron_right", "next", go, here.key, here.at, disabled=True)
        press(SAID["all"], "list", "all_lessons", go, "")
        press(SAID["present"], "slideshow", "to_present", go, here.key, here.at, True)


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
            SAID["previous"],
            "chevron_left",
            "present_previous",
            go,
            here.key,
            before,
            disabled=before == here.at,
        )
        press(SAID["next"], "chevron_right", "present_next", go, here.key, after, disabled=here.ended)
        if here.ended and not here.shown:
            press(SCORE["anyway"], "visibility", "present_answer_show", reveal)
        elif here.ended:
            pass
        elif here.shown:
            press(SAID["hide"], "visibility_off", "present_answer_hide", reveal, False)
        else:
            press(SAID["show"], "visibility", "present_answer_show", reveal, primary=True)
        press(SAID["leave"], "close", "present_leave", go, here.key, here.at, False)
        place = filled(SAID["bar_question"], at=here.at + 1, last=len(steps))
        st.caption(filled(SAID["bar"], place=SAID["bar_recap"] if here.ended else place))
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
        answer_field(step.prediction, here.guess, guess)
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
        press(SAID["hide"], "visibility_off", "hide", reveal, False)


def pressed(event: Any) -> None:
    """The chart was pressed."""
    here = lessons()
    if (text := chosen(here.step.prediction, here.guess, event)) is not None:
        guess(text)


main()

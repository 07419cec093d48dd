"""The Lessons page: a question with a chart and a guess, then the measured answer and its explanation."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import streamlit as st

from dprl.figures.picture import PackedPicture
from dprl.lessons import LESSONS, Lesson
from dprl.messages import counted, filled, messages
from dprl.sitemap import PAGES
from pages.lessons.state import begin_again, go, guess, lessons, reveal
from pages.shared import lessons as views
from pages.shared.layout.browser import from_top
from pages.shared.layout.chart import explain, save_citations
from pages.shared.layout.frame import page_link, redrawn
from pages.shared.layout.head import common, head, share
from pages.shared.layout.terms import escape, explained
from pages.shared.lessons import RUNS, answer_field, chosen, draggable, evidence, fault, unknown
from pages.shared.results.status import PACE
from pages.shared.visitor.callbacks import button
from pages.shared.visitor.state import read_address

SAID, SCORE = messages("lessons")["page"], messages("lessons")["score"]


def main() -> None:
    here = lessons()
    read_address(here)
    if here.key:  # each lesson has its own title in the browser's tab
        st.set_page_config(page_title=PAGES["lessons"].of(here.lesson.title))
    if here.key and unknown(here.lesson):
        head(here, escape(here.lesson.title))
        redrawn(partial(computing, here.lesson), PACE, "lesson_runs")
        return
    if here.key and (found := fault(here.lesson)):
        head(here, escape(here.lesson.title))
        st.warning(escape(filled(SAID["fault"], fault=found)), icon=":material/error:")
        return
    title = "" if not here.key else here.lesson.title if here.ended else here.step.ask
    corner = head(here, explained(escape(title)))
    from_top(f"{here.key} {here.at}")
    if here.key:
        opened()
    else:
        list_lessons()
    with corner:
        share(here)


def list_lessons() -> None:
    st.markdown(explained(SAID["about"]))
    for problem in LESSONS.faults:
        st.warning(escape(filled(SAID["fault"], fault=problem)), icon=":material/error:")
    lessons = list(LESSONS.values())
    for first in range(0, len(lessons), 2):  # row by row, so that a phone shows them in order
        for i, column in enumerate(st.columns(2, gap="small")[: len(lessons) - first], first):
            with column, st.container(border=True, height="stretch", gap="xsmall"):
                lesson_card(lessons[i], i)


def lesson_card(lesson: Lesson, number: int) -> None:
    label, key = f"**{number}. {escape(lesson.title)}**", f"open_{lesson.key}"
    button(label, go, lesson.key, icon="arrow_forward", key=key, type="tertiary", icon_position="right")
    st.markdown(explained(escape(lesson.say)))
    questions = counted(len(lesson.steps), "question")
    st.caption(explained(escape(filled(SAID["needs"], questions=questions, needs=lesson.needs))))
    if any(guesses := lessons().counted(lesson.key)):
        st.caption(f":material/check: {views.own_score(lesson.steps, guesses)}")


def computing(lesson: Lesson, live: bool) -> None:
    """Draw the progress of the runs that a teacher's own lesson needs before it can be opened."""
    if not unknown(lesson):
        st.rerun()
    st.markdown(SAID["compute"])
    RUNS.strip(RUNS.progress(list(dict.fromkeys(spec for step in lesson.steps for spec in step.specs))))


def opened() -> None:
    """Draw one question of the open lesson, or the lesson's summary."""
    here = lessons()
    lesson = here.lesson
    number = list(LESSONS).index(here.key)  # the lesson for beginners has number 0
    at = {"at": here.at + 1, "last": len(lesson.steps)}
    place = SAID["recap_here"] if here.ended else filled(SAID["question_here"], **at)
    common(filled(SAID["where"], number=number, title=lesson.title, place=place))
    if here.ended:
        recap()
        onward()
        ways()
        return
    if here.step.setup:
        st.markdown(explained(escape(here.step.setup)))
    picture, words = st.columns([3, 2], gap="medium")
    with picture:
        found = drawn_chart()
        if here.shown:
            explain(here.step.found(evidence()), lambda: found.table, f"step_{here.key}_{here.at}")
    with words:
        if here.shown:
            answered()
        else:
            answer_field(here.step.prediction, here.guess, guess)
            show, kind = (SAID["show"], "primary") if here.whole else (SAID["unknown"], "secondary")
            button(show, reveal, icon="visibility", key="reveal", type=kind)
            if not here.whole:
                st.caption(SAID["first"])
        onward()
    views.pictured(lesson, here.at)
    ways()


def answered() -> None:
    """Draw feedback on the visitor's guess, the usual reasoning behind it, and the explanation."""
    here = lessons()
    said = {SAID["why"]: here.step.why(evidence())}
    if here.whole:
        off, reply = here.step.off(here.guess, evidence()), here.step.reply(here.guess, evidence())
        if here.step.score(here.guess, evidence()) == 1:
            off, reply = f"{off} {reply}".strip(), ""  # a correct guess needs no reply about wrong reasoning
        said = {SAID["off"]: off, SAID["thinking"]: reply} | said
    for title, text in said.items():
        if text:
            st.markdown(f"**{title}**  \n{explained(escape(text))}")


def onward() -> None:
    """Draw the buttons to the previous question and to the next step."""
    here = lessons()
    every = list(LESSONS)
    following = every.index(here.key) + 1
    with st.container(horizontal=True, gap="small", key="onward"):
        before = max(here.at - 1, 0)
        button(
            SAID["previous"], go, here.key, before, icon="chevron_left", key="previous", disabled=not here.at
        )
        if not here.ended:
            name = SAID["recap"] if here.at + 1 == len(here.lesson.steps) else SAID["next"]
            kind = "primary" if here.shown else "secondary"
            button(name, go, here.key, here.at + 1, icon="chevron_right", key="next", type=kind)
        elif following < len(every):
            name = filled(SAID["next_lesson"], title=escape(LESSONS[every[following]].title))
            button(name, go, every[following], icon="chevron_right", key="next_lesson")


def ways() -> None:
    """Draw the downloads and the links to other pages."""
    here = lessons()
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="lesson_ways"):
        button(SAID["all"], go, "", icon="list", key="all_lessons")
        page_link("room", SAID["lead"])
        if not here.ended and here.shown:
            save_citations([*here.step.specs, *(spec for _, spec in here.step.questions)])


def recap() -> None:
    """Draw the sentences to remember once all questions of the lesson are answered."""
    here = lessons()
    st.markdown(f"## {SCORE['title']}", anchors=False)
    if here.open_questions:
        st.markdown(SCORE["waiting"])
        with st.container(horizontal=True, gap="small", key="unanswered"):
            for at in here.open_questions:
                name = f"{at + 1}. {escape(here.lesson.steps[at].title)}"
                button(name, go, here.key, at, icon="chevron_right", key=f"unanswered_{at}")
        return
    views.recap_sentences(here.lesson)
    if any(guesses := here.counted(here.key)):
        views.score_card(here.lesson.steps, guesses, SCORE["rule"])
    else:
        st.markdown(SCORE["none"])
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="after_lesson"):
        if attempt := here.lesson.attempt:
            link = urlsplit(attempt[1])
            page_link(link.path.strip("/"), attempt[0], parse_qsl(link.query), icon="science")
        button(SCORE["again"], begin_again, here.key, icon="restart_alt", key="begin_again")


def drawn_chart() -> PackedPicture:
    """Draw the chart, on which the visitor can guess until the answer is shown, and return it."""
    here = lessons()
    key, asked = f"chart_{here.key}_{here.at}", not here.shown
    on_press = pressed if asked else None
    found = views.step_chart(here.place, key, here.step, here.guess, shown=here.shown, pressed=on_press)
    if asked:
        draggable(here.step.prediction, here.guess, key, partial(guess, on_chart=True))
    return found


def pressed(event: Any) -> None:
    """Turn a click on the chart into a guess."""
    here = lessons()
    if (text := chosen(here.step.prediction, here.guess, event)) is not None:
        guess(text, on_chart=True)


main()

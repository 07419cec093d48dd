"""The end of a lesson: three sentences to remember, the own score, and the next lesson."""

from __future__ import annotations

import streamlit as st

from dprl.lessons import LESSONS, Lesson
from dprl.messages import filled, messages
from dprl.words import listed
from pages.lessons.state import Lessons, begin_again, go, lessons, reveal
from pages.shared.layout.terms import explained
from pages.shared.lessons.known import evidence
from pages.shared.text import escape
from pages.shared.visitor.callbacks import callback

SAID = messages("lessons")["score"]
POINTS = messages("lessons")["page"]["points"]


def recap() -> None:
    """What is remembered of the open lesson. It holds the answers, so it comes after them."""
    here = lessons()
    level = "#" if here.present else "##"
    st.markdown(f"{level} {SAID['title']}", anchors=False)
    if not here.shown:
        before_it(here)
        return
    sentences(here.lesson)
    scored(here)
    onward(here)


def sentences(lesson: Lesson) -> None:
    """The three to remember."""
    with st.container(key="recap_sentences"):
        st.markdown("\n".join(f"{n}. {explained(escape(one))}" for n, one in enumerate(lesson.recap, 1)))


def before_it(here: Lessons) -> None:
    """The questions that come first, each a way to it."""
    st.markdown(SAID["waiting"])
    with st.container(horizontal=True, gap="small", key="unanswered"):
        for at in here.unanswered:
            st.button(
                f"{at + 1}. {escape(here.lesson.steps[at].title)}",
                key=f"unanswered_{at}",
                on_click=callback(go),
                args=(here.key, at),
            )
    if not here.present:  # else it stands in the bar below
        st.button(SAID["anyway"], icon=":material/visibility:", key="reveal", on_click=callback(reveal))


def own_score(scores: list[float]) -> str:
    """How many points of how many."""
    return filled(SAID["own"], points=f"{round(sum(scores), 2):g}", most=len(scores))


def scored(here: Lessons) -> None:
    """The own score, and how each prediction did."""
    guesses = [here.first.get((here.key, at), "") for at in range(len(here.lesson.steps))]
    if not any(guesses):
        st.markdown(SAID["none"])
        return
    scores = here.score(here.key)
    with st.container(border=True, key="score"):
        level = "##" if here.present else "###"
        st.markdown(f"{level} {own_score(scores)}", anchors=False)
        rows = []
        for n, (step, text, points) in enumerate(zip(here.lesson.steps, guesses, scores, strict=True), 1):
            off = step.off(text, evidence()) if text else SAID["without"]
            rows.append(scored_row(n, step.title, points, off))
        st.markdown("\n".join(rows))
        st.caption(SAID["rule"])


def scored_row(n: int, title: str, points: float, off: str) -> str:
    """How a prediction did."""
    return filled(POINTS, n=n, title=escape(title), points=f"{round(points, 2):g}", off=escape(off))


def onward(here: Lessons) -> None:
    """The next lesson, as large as it deserves, and the way to begin again."""
    every = list(LESSONS)
    number = every.index(here.key) + 1
    with st.container(key="onward"):
        if number < len(every):
            following = LESSONS[every[number]]
            st.button(
                f"{SAID['next']}: **{number}. {escape(following.title)}**",
                key="onward_lesson",
                type="primary",
                icon=":material/arrow_forward:",
                icon_position="right",
                width="stretch",
                on_click=callback(go),
                args=(following.key, 0, here.present),
            )
            st.markdown(explained(escape(following.say)))
        else:
            names = listed([f"**{escape(lesson.title)}**" for lesson in list(LESSONS.values())[:2]])
            st.markdown(filled(SAID["last"], first=names))
    if not here.present:
        st.button(
            SAID["again"],
            icon=":material/restart_alt:",
            key="begin_again",
            type="tertiary",
            on_click=callback(begin_again),
            args=(here.key,),
        )

"""A student's view: the present step, and the student's answer."""

from __future__ import annotations

import streamlit as st

from dprl.messages import filled
from dprl.rooms.steps import ClassStep, Clinic, Content, Guess, Question, Recap, spends
from dprl.runs.database import StoreError
from dprl.runs.rooms import Room
from dprl.sentences import room as sentences
from pages.room import clinic, prediction, question, recap
from pages.room.entrance import visitor
from pages.room.state import group, leave
from pages.shared.layout.terms import explained
from pages.shared.results.data import store
from pages.shared.text import escape
from pages.shared.visitor.callbacks import button
from pages.shared.visitor.state import session


def arrive() -> Room | None:
    """Return the joined room; None if joining fails or the room is gone, with the reason shown at the entrance."""
    r = group()
    if r.drawn is not None and store().rooms.find(r.code) is None:
        leave(sentences.PHONE["gone"])
        return None
    try:
        return store().rooms.join(r.code, r.device, visitor())
    except StoreError as error:
        leave(str(error))
        return None


def student_stage(here: Room) -> None:
    """Draw the room's present step for a student."""
    r = group()
    steps, written = store().rooms.steps(r.code), store().rooms.written(r.code, r.device)
    if steps:
        turned(steps[-1], written)
    head(here)
    if r.told:
        st.warning(escape(r.told), icon=":material/info:")
    if here.closed:
        st.info(sentences.PHONE["closed"], icon=":material/lock:")
    elif not steps:
        st.info(sentences.PHONE["joined"], icon=":material/hourglass_empty:")
        st.caption(explained(sentences.held(here.total)))
    if not steps:
        return
    step = steps[-1]
    if isinstance(step.content, Recap):
        recap.recap_on_phone(step.content, steps, written)
    else:
        asked(step, step.content, written.get(step.place), here.total)
    if spent := [spends(one.content) for one in steps if one.place in written and spends(one.content)]:
        st.caption(explained(sentences.spent_on_phone(spent, here.total)))


def turned(step: ClassStep, written: dict[int, str]) -> None:
    """Prepare the phone for a new step: reset the widgets, and mention an unsent prediction."""
    r = group()
    (place, state), r.drawn = r.drawn or (-1, "revealed"), (step.place, step.state)
    if place != step.place:
        missed = state != "revealed" and r.guesses.get(place) and place not in written
        r.told = sentences.PHONE["missed"] if missed else ""
        session().version += 1


def head(here: Room) -> None:
    """Draw the room's code, and a button to leave."""
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", gap="small"
    ):
        st.markdown(filled(sentences.PHONE["room"], code=here.code), width="content")
        button(sentences.PHONE["leave"], leave, icon="logout", key="leave", type="tertiary")


def asked(step: ClassStep, content: Content, written: str | None, total: float) -> None:
    """Draw the present step, and this phone's recorded answer. total: the phone's budget epsilon in this room."""
    if isinstance(content, Question):
        st.header(escape(content.text), anchor=False)
        if step.state == "paused" and written is None:
            st.info(sentences.PHONE["paused_answers"], icon=":material/pause:")
        question.toss(step, content, written)
        if written is not None:
            said = filled(sentences.PHONE["written"], report=sentences.COIN[written].lower())
            st.success(said, icon=":material/edit_note:")
        if step.state == "revealed":
            question.show_results(group().code, step)
        elif written is not None:
            st.caption(sentences.PHONE["result"])
        elif step.state == "open":
            about(content, total)
    elif isinstance(content, Clinic):
        clinic.on_phone(step, content, written, total)
    elif isinstance(content, Guess):
        prediction.prediction_on_phone(step, content, written)


def about(content: Question, total: float) -> None:
    """Explain what happens after a tap."""
    st.markdown(explained(sentences.PHONE["tap"]))
    st.markdown(explained(sentences.coin(content.epsilon, content.flip)))
    st.markdown(explained(sentences.held(total)))
    st.caption(
        explained(f"{sentences.PHONE['script']} {sentences.PHONE['watched']} {sentences.PHONE['repeated']}")
    )

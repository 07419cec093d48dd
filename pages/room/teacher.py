"""The teacher's page with the steps and their answers, and the projector view of one step at a time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from dprl.lessons import LESSONS
from dprl.messages import counted, filled
from dprl.rooms.clinic import world
from dprl.rooms.response import flip
from dprl.rooms.steps import (
    EPSILON,
    MOST_LETTERS,
    ClassStep,
    Clinic,
    Content,
    Guess,
    Question,
    Recap,
    State,
    budget_left,
    spends,
)
from dprl.runs.rooms import HOURS, MOST_PEOPLE, SPENT, Room
from dprl.runs.store import Store
from dprl.sentences import room as sentences
from dprl.tables import csv
from dprl.words import human, percent
from pages.room.state import CLINIC, LEAD, group, leave, prediction_in_words, results, step_of_lesson
from pages.shared.controls.widgets import segments
from pages.shared.layout.browser import component, copy_link
from pages.shared.layout.chart import save
from pages.shared.layout.head import qr
from pages.shared.layout.terms import escape, explained
from pages.shared.lessons import question_beside_picture
from pages.shared.results.data import store
from pages.shared.visitor.address import query_of, whole_address
from pages.shared.visitor.callbacks import button, callback

SAID = sentences.TEACHER
DOUBLE_CLICK = 0.4  # seconds, more than most people leave between its clicks
EPSILONS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)


def way_in(here: Room) -> None:
    """Draw the code, the link and the QR code while the class can join, and the teacher's own link."""
    r = group()
    if here.closed:
        st.info(filled(SAID["closed"], code=r.code), icon=":material/lock:")
    else:
        st.html(code_in_letters())
        qr(whole_address(group().query), SAID["picture"])
        copy_link(r.query, SAID["copy_join"])
    copy_link(query_of([*r.link, ("key", r.key)]), SAID["copy_key"])
    st.caption(f"{SAID['key']} {filled(SAID['forgets'], hours=HOURS)}")


def code_in_letters() -> str:
    """Write the room's code in large letters as HTML, spelt out for screen readers."""
    code = group().code
    return f'<p class="dprl-code" aria-label="{filled(SAID["code"], code=" ".join(code))}">{code}</p>'


def stage(here: Room) -> None:
    """Draw the step that was put to the class last, with its answers so far."""
    standing(here)
    steps = store().rooms.steps(here.code)
    if not steps:
        st.info(SAID["empty"], icon=":material/groups:")
        return
    content = steps[-1].content
    if not isinstance(content, Recap):
        asked = title(content)
        if isinstance(content, Guess):
            st.caption(escape(said(content)))
            found = step_of_lesson(content)
            asked = found.ask if found else ""
        st.header(escape(asked), anchor=False)
        pacing(steps[-1], here)
    results(steps[-1], steps)


def standing(here: Room) -> None:
    """Draw the number of people, the room's remaining time, and buttons for the teacher's actions."""
    file, r = store(), group()
    code = r.code
    left = math.ceil(HOURS - (time.time() - here.opened_at) / 3600)
    said = SAID["standing_closed" if here.closed else "standing"]
    now = filled(said, people=here.people, most=MOST_PEOPLE, left=left)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(f":material/groups: {now}", width="content")
        with st.container(horizontal=True, gap="small", width="content"):
            button(LEAD["lead"], lead, icon="slideshow", key="lead")
            save(f"room-{code}.csv", SAID["csv"], lambda: answers_csv(file, code))
            if here.closed:
                button(SAID["leave"], leave, icon="logout", key="leave")
            else:
                close = partial(file.rooms.close, code, r.key)
                button(SAID["close"], close, icon="lock", key="close_room", help=SAID["closing"])
            answers = sum(len(step.answers) for step in file.rooms.steps(code))
            content = {"questions": counted(here.steps, "question"), "answers": counted(answers, "answer")}
            with st.popover(SAID["delete"], icon=":material/delete:"):
                st.markdown(filled(SAID["deletes"], code=code, **content))
                button(filled(SAID["delete_it"], code=code), forget_room, icon="delete", key="forget_room")


def pacing(step: ClassStep, here: Room) -> None:
    """Draw the number of answers, and the buttons to pause or reveal the step."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="pacing"):
        st.markdown(filled(SAID["answered"], some=len(step.answers), people=here.people), width="content")
        if step.state == "revealed":
            st.markdown(f":material/visibility: {SAID['revealed']}", width="content")
            return
        pause: tuple[State, str, str] = ("paused", "pause", SAID["pause"])
        if step.state == "paused":
            pause = ("open", "play_arrow", SAID["go_on"])
        reveal: tuple[State, str, str] = ("revealed", "visibility", SAID["reveal"])
        for state, icon, label in (pause, reveal):
            turn = partial(store().rooms.turn_step, group().code, group().key, step.place, state)
            button(label, turn, icon=icon, key=f"{state}_{step.place}")


def composer(here: Room) -> None:
    """Draw the form for the next step, unless the room is closed or the phones have no budget left."""
    if here.closed:
        return
    r = group()

    def kept(epsilon: float) -> str:  # with the share of people who report their true answer
        return filled(SAID["kept"], epsilon=human(epsilon), share=percent(1 - flip(epsilon)))

    with st.container(border=True):
        st.markdown(SAID["put"])
        segments(SAID["kind"], "put", SAID["kinds"], r.puts, choose)
        left = budget_left(here.total, [step.content for step in store().rooms.steps(r.code)])
        if r.puts != "prediction" and not left:
            st.info(explained(filled(SPENT, total=human(here.total))), icon=":material/savings:")
            return
        with st.form(f"{r.puts}_{r.asked}", border=False):
            if r.puts == "question":
                name = f"text_{r.asked}"
                st.text_input(SAID["text"], key=name, max_chars=MOST_LETTERS, placeholder=SAID["example"])
                epsilon_menu(SAID["epsilon"], left, here.total, kept, SAID["keeps"])
                label = SAID["ask"]
            elif r.puts == "clinic":
                st.markdown(filled(CLINIC["form"], steps=world().H))
                epsilon_menu(CLINIC["epsilon"], left, here.total, human)
                label = CLINIC["put"]
            else:
                step_menu()
                label = SAID["predict"]
            st.form_submit_button(label, icon=":material/send:", type="primary", on_click=callback(put))


def choose(kind: str) -> None:
    """Choose the kind of the next step: a question, a clinic, or a prediction."""
    group().puts = kind
    st.rerun()


def epsilon_menu(
    label: str, left: float, total: float, says: Callable[[float], str], help: str | None = None
) -> None:
    """Draw a menu of values of epsilon for one answer, up to a phone's remaining budget, and explain the chosen one."""
    offered = sorted({min(epsilon, left) for epsilon in EPSILONS})
    at = offered.index(min(EPSILON.default, left))
    key = f"epsilon_{group().asked}"
    st.selectbox(label, offered, at, key=key, format_func=says, filter_mode=None, help=help)
    st.caption(explained(sentences.left(left, total)))


def step_menu() -> None:
    """Draw the menu of lesson steps, by default the one after the class's last prediction."""
    r = group()
    steps = [Guess(key, at) for key, lesson in LESSONS.items() for at in range(len(lesson.steps))]
    put = [steps.index(step.content) for step in store().rooms.steps(r.code) if step.content in steps]
    following = min(put[-1] + 1, len(steps) - 1) if put else 0
    st.selectbox(SAID["step"], steps, following, key=f"step_{r.asked}", format_func=said, filter_mode=None)


def said(content: Content) -> str:
    """Describe a step that was put to the class."""
    if not isinstance(content, Guess):
        return title(content)
    found = step_of_lesson(content)
    if found is None:
        return filled(SAID["step_unknown"], lesson=content.lesson, at=content.step + 1)
    lesson = LESSONS[content.lesson].title
    return filled(SAID["step_said"], lesson=lesson, at=content.step + 1, title=found.title)


def put() -> None:
    """Put the step in the form to the class, reveal the previous step, and clear the form."""
    r = group()
    text, epsilon, step = (
        st.session_state.get(f"{field}_{r.asked}") for field in ("text", "epsilon", "step")
    )
    content: Content | None = step
    if r.puts != "prediction" and epsilon is not None:
        content = Question(str(text or ""), epsilon) if r.puts == "question" else Clinic(epsilon)
    if content is not None:
        store().rooms.put_step(r.code, r.key, content)
        r.asked += 1


def forget_room() -> None:
    r = group()
    store().rooms.delete(r.code, r.key)
    leave(SAID["deleted"])


def answers_csv(file: Store, code: str) -> str:
    """Return the results as CSV, one row for each recorded answer."""
    rows = [
        {
            "step": step.place + 1,
            "kind": step.content.kind,
            "asked": said(step.content),
            "epsilon": spends(step.content) or None,
            "written down": answer,
            "in words": prediction_in_words(step.content, answer),
        }
        for step in file.rooms.steps(code)
        for answer in step.answers
    ]
    return csv(pd.DataFrame(rows, columns=["step", "kind", "asked", "epsilon", "written down", "in words"]))


_keys = component("present_keys")


def upcoming(put: Sequence[Content]) -> Content | None:
    """Return what comes next in the lessons: a step, a recap, the first step of the next lesson, or None at the end."""
    order: list[Content] = []
    for key, lesson in LESSONS.items():
        order += [*(Guess(key, at) for at in range(len(lesson.steps))), Recap(key)]
    known = [order.index(content) for content in put if content in order]
    following = known[-1] + 1 if known else 0
    return order[following] if following < len(order) else None


def title(content: Content) -> str:
    if isinstance(content, Question):
        return content.text
    if isinstance(content, Clinic):
        return str(CLINIC["title"])
    if isinstance(content, Recap):
        return filled(LEAD["recap"], lesson=LESSONS[content.lesson].title)
    found = step_of_lesson(content)
    return found.title if found else content.lesson


def led_stage(here: Room) -> None:
    """Draw the projector view: the visible step and the button for the next one."""
    r = group()
    steps = store().rooms.steps(r.code)
    last = len(steps) - 1
    place = last if r.looked is None else min(r.looked, last)
    if place < 0:
        st.markdown(f"# {LEAD['begin']}", anchors=False)
        picture, code = st.columns([2, 3], vertical_alignment="center")
        with picture:
            qr(whole_address(group().query), SAID["picture"])
        code.html(code_in_letters())
    else:
        shown_step(steps[place], steps)
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="present_bar"):
        bar(here, steps, place)
    with st.container(key="present_keys"):  # pressing a key anywhere on the page clicks the buttons above
        _keys(key="keys", height=1)


def shown_step(step: ClassStep, steps: Sequence[ClassStep]) -> None:
    """Draw a step for the projector, as large as possible."""
    content = step.content
    if isinstance(content, Question | Clinic):
        st.markdown(f"# {escape(title(content))}", anchors=False)
    elif isinstance(content, Guess) and (found := step_of_lesson(content)):
        setup = "" if step.state == "revealed" else escape(found.setup)
        ask = explained(f"# {escape(found.ask)}\n\n{setup}")
        question_beside_picture(LESSONS[content.lesson], content.step, ask)
    results(step, steps, large=True)


def bar(here: Room, steps: Sequence[ClassStep], place: int) -> None:
    """Draw the Back and Next buttons. Next leads back to the last step, then to its answer, then to a new step."""
    r, last, state = group(), len(steps) - 1, steps[-1].state if steps else None
    if r.led != (last, state):
        r.led, r.since = (last, state), time.monotonic()
    button(LEAD["back"], look, place - 1, icon="chevron_left", key="present_previous", disabled=place <= 0)
    if place < last:
        button(LEAD["next"], look, place + 1, icon="chevron_right", key="present_next")
    elif state is not None and state != "revealed":
        with st.container(key="present_answer", width="content"):  # for keys that show an answer, too
            button(LEAD["reveal"], onward, icon="visibility", key="present_next", type="primary")
    elif (coming := upcoming([step.content for step in steps])) is not None and not here.closed:
        ahead = filled(LEAD["ahead"], title=title(coming))
        button(escape(ahead), onward, icon="chevron_right", key="present_next", type="primary")
    else:
        button(LEAD["next"], look, place, icon="chevron_right", key="present_next", disabled=True)
    button(LEAD["leave"], lead, False, icon="close", key="present_leave")
    if place < last:
        where = filled(LEAD["earlier"], code=here.code, place=place + 1, last=last + 1)
    elif steps and not isinstance(steps[-1].content, Recap):
        some = len(steps[-1].answers)
        where = filled(LEAD["answered"], code=here.code, some=some, people=here.people)
    else:
        where = filled(LEAD["joined"], code=here.code, people=here.people)
    st.caption(f"{where} · {LEAD['keys']}")


def lead(on: bool = True) -> None:
    """Open the projector view if `on` is true; otherwise, return to the teacher's page."""
    r = group()
    r.leading, r.looked = on, None


def look(place: int) -> None:
    """Show an earlier step on this screen only; phones stay at the last step."""
    r = group()
    r.looked = place if place < len(store().rooms.steps(r.code)) - 1 else None


def onward() -> None:
    """Reveal the last step or put the next one to the class, unless the step has changed since the page was drawn, or
    the page has just been drawn: then this is the second click of a double click."""
    r = group()
    steps = store().rooms.steps(r.code)
    last, state = len(steps) - 1, steps[-1].state if steps else None
    if r.led != (last, state) or time.monotonic() - r.since < DOUBLE_CLICK:
        return
    if steps and state != "revealed":
        store().rooms.turn_step(r.code, r.key, last, "revealed")
    elif (coming := upcoming([step.content for step in steps])) is not None:
        store().rooms.put_step(r.code, r.key, coming)

"""Leading a class from a projector: one step at a time, in large letters, controlled by keyboard or remote control."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dprl.lessons import LESSONS
from dprl.messages import filled, messages
from dprl.rooms.steps import ClassStep, Clinic, Content, Guess, Question, Recap, State
from dprl.runs.rooms import Room
from pages.room import clinic, prediction, question, recap
from pages.room.state import group, join_address
from pages.shared.layout.browser import component
from pages.shared.layout.share import qr
from pages.shared.layout.terms import explained
from pages.shared.lessons.answer import press
from pages.shared.lessons.views import question_beside_picture
from pages.shared.results.data import store
from pages.shared.text import escape

SAID = messages("room")["lead"]
TEACHER = messages("room")["teacher"]
_keys = component("present_keys")


def upcoming(put: Sequence[Content]) -> Content | None:
    """Return the next part after those put to the class: the lesson's next step, its recap, or the next lesson; None
    after the last lesson."""
    every = list(LESSONS)
    last = next((content for content in reversed(put) if isinstance(content, Guess | Recap)), None)
    if isinstance(last, Guess) and last.lesson in LESSONS:
        more = last.step + 1 < len(LESSONS[last.lesson].steps)
        return Guess(last.lesson, last.step + 1) if more else Recap(last.lesson)
    number = every.index(last.lesson) + 1 if last is not None and last.lesson in LESSONS else 0
    return Guess(every[number], 0) if number < len(every) else None


def title(content: Content) -> str:
    """Return a short title of a step's content."""
    if isinstance(content, Question):
        return content.text
    if isinstance(content, Clinic):
        return str(clinic.SAID["title"])
    if isinstance(content, Recap):
        return filled(SAID["recap"], lesson=LESSONS[content.lesson].title)
    found = prediction.step_of_lesson(content)
    return found.title if found else content.lesson


def stage(here: Room) -> None:
    """Draw the visible step, and the button to the next one."""
    r = group()
    steps = store().rooms.steps(r.code)
    last = len(steps) - 1
    place = last if r.looked is None else min(r.looked, last)
    if place < 0:
        st.markdown(f"# {SAID['begin']}", anchors=False)
        picture, code = st.columns([2, 3], vertical_alignment="center")
        with picture:
            qr(join_address(), TEACHER["picture"])
        code.html(
            f'<p class="dprl-code" aria-label="{filled(TEACHER["code"], code=" ".join(r.code))}">{r.code}</p>'
        )
    else:
        shown_step(steps[place], steps)
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="present_bar"):
        bar(here, steps, place)
    with st.container(key="present_keys"):  # key presses anywhere on the page click the buttons above
        _keys(key="keys", height=1)


def shown_step(step: ClassStep, steps: Sequence[ClassStep]) -> None:
    """Draw a step as large as possible."""
    content = step.content
    if isinstance(content, Question | Clinic):
        st.markdown(f"# {escape(title(content))}", anchors=False)
    elif isinstance(content, Guess) and (found := prediction.step_of_lesson(content)):
        setup = "" if step.state == "revealed" else escape(found.setup)
        ask = explained(f"# {escape(found.ask)}\n\n{setup}")
        question_beside_picture(LESSONS[content.lesson], content.step, ask)
    results(step, steps, large=True)


def results(step: ClassStep, steps: Sequence[ClassStep], large: bool = False) -> None:
    """Draw the class's results for a step. large: for a projector."""
    content = step.content
    if isinstance(content, Question):
        question.show_results(group().code, step, large=large)
    elif isinstance(content, Clinic):
        clinic.class_results(step, content, large=large)
    elif isinstance(content, Recap):
        recap.on_screen(content, steps, "#" if large else "##")
    else:
        prediction.on_screen(step, content, large=large)


def bar(here: Room, steps: Sequence[ClassStep], place: int) -> None:
    """Draw the buttons Back and Next: Next returns to the last step, shows the answer, or puts another step."""
    last, state = len(steps) - 1, steps[-1].state if steps else None
    press(SAID["back"], "chevron_left", "present_previous", look, place - 1, disabled=place <= 0)
    if place < last:
        press(SAID["next"], "chevron_right", "present_next", look, place + 1)
    elif state is not None and state != "revealed":
        with st.container(key="present_answer", width="content"):  # keys that show an answer use it, too
            press(SAID["reveal"], "visibility", "present_next", onward, last, state, primary=True)
    elif (coming := upcoming([step.content for step in steps])) is not None and not here.closed:
        ahead = filled(SAID["ahead"], title=title(coming))
        press(escape(ahead), "chevron_right", "present_next", onward, last, state, primary=True)
    else:
        press(SAID["next"], "chevron_right", "present_next", look, place, disabled=True)
    press(SAID["leave"], "close", "present_leave", lead, False)
    if place < last:
        where = filled(SAID["earlier"], code=here.code, place=place + 1, last=last + 1)
    elif steps and not isinstance(steps[-1].content, Recap):
        some = len(steps[-1].answers)
        where = filled(SAID["answered"], code=here.code, some=some, people=here.people)
    else:
        where = filled(SAID["joined"], code=here.code, people=here.people)
    st.caption(f"{where} · {SAID['keys']}")


def lead(on: bool = True) -> None:
    """Switch between the projector view and the teacher's page."""
    r = group()
    r.leading, r.looked = on, None


def look(place: int) -> None:
    """Show an earlier step on this screen only; phones stay with the last step."""
    r = group()
    r.looked = place if place < len(store().rooms.steps(r.code)) - 1 else None


def onward(last: int, state: State | None) -> None:
    """Reveal the last step, or put the next one to the class.

    last, state: the step and state when the page was drawn; a second click before it is redrawn does nothing.
    """
    r = group()
    steps = store().rooms.steps(r.code)
    if (last, state) != (len(steps) - 1, steps[-1].state if steps else None):
        return
    if steps and state != "revealed":
        store().rooms.turn_step(r.code, r.key, last, "revealed")
    elif (coming := upcoming([step.content for step in steps])) is not None:
        store().rooms.put_step(r.code, r.key, coming)

"""Room: a teacher puts questions to a class, who answer on their phones without giving a name.

Students enter with a code, and teachers with a button; a student sees the current step, and answers it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import streamlit as st

from dprl.messages import filled, messages
from dprl.rooms.steps import TOTAL, ClassStep, Clinic, Content, Guess, Question, Recap, spends
from dprl.runs.database import StoreError
from dprl.runs.limits import Lease
from dprl.runs.rooms import HOURS, MOST_PEOPLE, OFF, Room, read_code
from dprl.sentences import room as sentences
from dprl.words import human
from pages.room import prediction, question, teacher
from pages.room.state import enter, group, leave, teaches, wrong
from pages.shared.layout.browser import component
from pages.shared.layout.frame import redrawn
from pages.shared.layout.head import head
from pages.shared.layout.terms import escape, explained
from pages.shared.results.data import store
from pages.shared.visitor import address
from pages.shared.visitor.callbacks import button, callback, on_value
from pages.shared.visitor.presence import network_address
from pages.shared.visitor.state import read_address, session, write_address

PACE = 0.5  # seconds between two checks of the room
COST = 0.001  # maximum CPU seconds of a check
DEVICE = "device"
_device = component(DEVICE)


def main() -> None:
    r = group()
    read_address(r)
    if r.leading and store().rooms.allowed and led():
        return
    head(r)
    if not store().rooms.allowed:
        st.info(OFF, icon=":material/door_front:")
        return
    if r.code and address.here() != r.items:
        write_address(r)
    if not r.code:
        entrance()
        return
    meet()
    here = store().rooms.find(r.code)
    if here is not None and teaches():
        with st.container(key="teacher"):
            stage, door = st.columns([5, 2], gap="large")
        with stage:
            teacher.stage(here)
            teacher.composer(here)
        with door:
            teacher.way_in(here)
        watch(lambda now: now.version, here)
    elif not r.device:
        st.caption(sentences.PHONE["looks"])
    elif (here := arrive()) is None:
        entrance()
    else:
        student_stage(here)
        watch(lambda now: (now.closed, now.steps, now.state), here)  # all that the teacher changes


def led() -> bool:
    """Draw the room for a projector; return whether this visitor leads a room."""
    here = store().rooms.find(group().code)
    if here is None or not teaches():
        return False
    meet()
    with st.container(key="present"):
        teacher.led_stage(here)
    watch(lambda now: now.version, here)
    return True


def meet() -> None:
    """Ask the browser for its random name in this room, which differs in each room. The browser stores it for a day,
    with the key of a teacher. The page is redrawn afterwards."""
    r = group()
    with st.container(key="device_holder"):
        _device(
            data={"code": r.code, "key": r.key, "said": f"{r.code} {r.device} {r.key}"},
            key=DEVICE,
            height=1,
            on_said_change=callback(_heard),
        )


def _heard() -> None:
    """Store the browser's message if it concerns the current room."""
    r = group()
    said = getattr(st.session_state.get(DEVICE), "said", None) or ""
    found = re.fullmatch(r"(\w+) ([0-9a-f]{32}) ([0-9a-f]{32})?", str(said))
    if found and found[1] == r.code:
        r.device, r.key = found[2], r.key or found[3] or ""


def watch(what: Callable[[Room], object], drawn: Room) -> None:
    """Redraw the page after a change in the room. Forty phones check twice a second, so each check is one query."""
    file = store()

    def still() -> bool:
        now = file.rooms.find(drawn.code)
        return now is not None and what(now) == what(drawn)

    def look(_: bool) -> None:
        if not still():
            st.rerun()

    redrawn(look, PACE, "room", COST, still)


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
    """Draw the room's current step for a student."""
    r = group()
    steps, written = store().rooms.steps(r.code), store().rooms.written(r.code, r.device)
    if steps:
        turned(steps[-1], written)
    phone_head(here)
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
        prediction.recap_on_phone(step.content, steps, written)
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


def phone_head(here: Room) -> None:
    """Draw the room's code, and a button to leave."""
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", gap="small"
    ):
        st.markdown(filled(sentences.PHONE["room"], code=here.code), width="content")
        button(sentences.PHONE["leave"], leave, icon="logout", key="leave", type="tertiary")


def asked(step: ClassStep, content: Content, written: str | None, total: float) -> None:
    """Draw the current step, and this phone's recorded answer. total: the phone's budget epsilon in this room."""
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
        question.clinic_on_phone(step, content, written, total)
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


SAID = messages("room")["entrance"]
TOTALS = (1.0, 2.0, 3.0, 5.0, 10.0, 20.0)


def visitor() -> Lease:
    """Return the lease that limits a visitor's attempts with codes and rooms; it is stored for some minutes."""
    return Lease(session().visitor, network_address())


def entrance() -> None:
    """Draw both ways to enter: joining with a code, and opening a room."""
    r = group()
    if r.told:
        st.warning(escape(r.told), icon=":material/door_front:")
    join, teach = st.columns(2, gap="large")
    with join:
        st.header(SAID["join"], anchor=False)
        st.text_input(
            SAID["code"],
            key="room_code",
            max_chars=40,
            placeholder=SAID["letters"],
            on_change=on_value("room_code", typed),
        )
        button(SAID["join"], join_typed, icon="login", key="join", type="primary")
        st.caption(SAID["no_account"])
    with teach:
        st.header(SAID["teach"], anchor=False)
        st.select_slider(
            SAID["total"],
            TOTALS,
            TOTAL.default,
            key="room_total",
            format_func=human,
            help=SAID["adds_up"],
        )
        button(SAID["open"], open_room, icon="co_present", key="open_room")
        st.caption(filled(SAID["opens"], most=MOST_PEOPLE, hours=HOURS))


def typed(text: str) -> None:
    """Enter the room with a typed code, or explain what is wrong with it."""
    if code := read_code(text):
        enter(code)
    elif text.strip():
        group().told = wrong(text)


def join_typed() -> None:
    """Join the room of the typed code."""
    typed(st.session_state.get("room_code") or "")
    if not group().code:
        group().told = wrong(st.session_state.get("room_code") or "")


def open_room() -> None:
    """Open a new room for a teacher."""
    code, key = store().rooms.open(visitor(), float(st.session_state.get("room_total") or TOTAL.default))
    enter(code, key)


main()

"""Room: a teacher puts questions to a class, who answer on their phones without giving a name.

Students enter with a code, and teachers with a button; a student sees the current step, and answers it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from dprl.assets import module_with_imports
from dprl.fields import SpecError
from dprl.lessons import Step as Asked
from dprl.messages import filled, messages
from dprl.rooms import clinic as played
from dprl.rooms.response import flip, opposites
from dprl.rooms.steps import TOTAL, ClassStep, Clinic, Guess, Question, spends
from dprl.runs.database import StoreError
from dprl.runs.limits import Lease
from dprl.runs.rooms import HOURS, MOST_PEOPLE, OFF, Room, read_code
from dprl.sentences import room as sentences
from dprl.words import human
from pages.room import teacher
from pages.room.state import (
    CLINIC,
    class_results,
    enter,
    group,
    leave,
    predicted_chart,
    predictions_together,
    recap_on_phone,
    show_results,
    step_of_lesson,
    teaches,
    told,
    valid_texts,
    wrong,
)
from pages.shared.layout.browser import component
from pages.shared.layout.frame import redrawn
from pages.shared.layout.head import head
from pages.shared.layout.terms import escape, explained
from pages.shared.lessons import answer_field, chosen, draggable, evidence
from pages.shared.results.data import store
from pages.shared.visitor import address
from pages.shared.visitor.callbacks import button, callback, on_value
from pages.shared.visitor.presence import network_address
from pages.shared.visitor.state import read_address, session, write_address

PACE = 0.5  # seconds between two checks of the room
DEVICE = "device"
_device = component(DEVICE)
_coin = component("coin", js=module_with_imports("coin.js", "report.js"))
_patient = component("patient", js=module_with_imports("patient.js", "report.js"))


def main() -> None:
    r = group()
    read_address(r)
    rooms = store().rooms
    if r.leading and rooms.allowed and teaches() and (here := rooms.find(r.code)) is not None:
        meet()
        with st.container(key="present"):
            teacher.led_stage(here)
        watch(lambda now: now.version, here)
        return
    head(r)
    if not rooms.allowed:
        st.info(OFF, icon=":material/door_front:")
        return
    if r.code and address.here() != r.items:
        write_address(r)
    if not r.code:
        entrance()
        return
    meet()
    here = rooms.find(r.code)
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


def meet() -> None:
    """Ask the browser for its random name, which differs in each room. The browser stores the name for a day, together
    with a teacher's key. The page is redrawn once the name is here."""
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

    redrawn(look, PACE, "room", still)


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
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", gap="small"
    ):
        st.markdown(filled(sentences.PHONE["room"], code=here.code), width="content")
        button(sentences.PHONE["leave"], leave, icon="logout", key="leave", type="tertiary")
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
    content, mine = step.content, written.get(step.place)
    if isinstance(content, Question):
        question_on_phone(step, content, mine, here.total)
    elif isinstance(content, Clinic):
        clinic_on_phone(step, content, mine, here.total)
    elif isinstance(content, Guess):
        prediction_on_phone(step, content, mine)
    else:
        recap_on_phone(content, steps, written)
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


def script(
    draw: Callable[..., Any], name: str, step: ClassStep, written: str | None, **given: object
) -> None:
    """Run a script of assets/web/ that sends nothing but its report; record the report if the step is open, even if it
    arrived while the step was paused, or before the server forgot this session. given: the script's own data."""
    if step.state == "paused" and written is None:
        st.info(sentences.PHONE["paused_answers"], icon=":material/pause:")
    r = group()
    known = {"code": r.code, "place": step.place, "open": step.state == "open", "written": written}
    words = messages("room")[name]
    report = draw(data={**known, **given, "words": words}, key=f"{name}_{r.code}_{step.place}").get("report")
    if report and step.state == "open" and written is None:
        try:
            store().rooms.respond(r.code, r.device, step.place, str(report))
        except (StoreError, SpecError) as error:
            st.warning(escape(str(error)), icon=":material/info:")
        else:
            st.rerun()


def question_on_phone(step: ClassStep, content: Question, written: str | None, total: float) -> None:
    """Draw a question with its coin, and this phone's recorded answer. total: the phone's budget epsilon here."""
    st.header(escape(content.text), anchor=False)
    script(_coin, "coin", step, written, opposites=opposites(content.epsilon))
    if written is not None:
        said = filled(sentences.PHONE["written"], report=sentences.COIN[written].lower())
        st.success(said, icon=":material/edit_note:")
    if step.state == "revealed":
        show_results(step)
    elif written is not None:
        st.caption(sentences.PHONE["result"])
    elif step.state == "open":
        st.markdown(explained(sentences.PHONE["tap"]))
        st.markdown(explained(sentences.coin(content.epsilon, flip(content.epsilon))))
        st.markdown(explained(sentences.held(total)))
        names = ("script", "watched", "repeated")
        st.caption(explained(" ".join(sentences.PHONE[name] for name in names)))


def clinic_on_phone(step: ClassStep, content: Clinic, written: str | None, total: float) -> None:
    """Play an episode on a phone and show its true history there. total: the phone's budget epsilon in this room."""
    st.header(CLINIC["title"], anchor=False)
    script(_patient, "patient", step, written, law=played.on_phone(content.epsilon))
    if written is not None:
        st.success(CLINIC["written"], icon=":material/edit_note:")
        if step.state != "revealed":
            st.caption(sentences.PHONE["result"])
    elif step.state == "open":
        asked = played.asking_at(content.epsilon)
        steps = len(asked.steps(0, played.world().H))
        st.markdown(explained(sentences.about_clinic(played.world().H, steps)))
        st.markdown(explained(sentences.proof_of_bits(content.epsilon, asked.bit, steps)))
        st.markdown(explained(sentences.held(total)))
        st.caption(explained(f"{CLINIC['script']} {CLINIC['watched']} {sentences.PHONE['repeated']}"))
    if step.state == "revealed":
        class_results(step, content)


def prediction_on_phone(step: ClassStep, content: Guess, written: str | None) -> None:
    """Draw a lesson's step on a student's phone. written: the recorded prediction, or None before one is sent."""
    found = step_of_lesson(content)
    if found is None:
        st.info(sentences.PHONE["unknown"], icon=":material/info:")
        return
    r = group()
    prediction, text = found.prediction, written or r.guesses.get(step.place, "")
    st.markdown(explained(f"## {escape(found.ask)}"), anchors=False)
    if found.setup and step.state != "revealed":
        st.markdown(explained(escape(found.setup)))
    if step.state == "revealed":
        if text and written is None:
            st.warning(sentences.PHONE["unsent"], icon=":material/unsubscribe:")
        mine = text if valid_texts(found, [text]) else ""
        predicted_chart(step, found, mine, shown=True)
        off = ""
        if mine:
            off = f"**{escape(found.off(mine, evidence()))}** {escape(found.reply(mine, evidence()))} "
        predictions_together(step, found)
        told(step, found, off)
        return
    making = step.state == "open" and written is None
    if making:
        answer_field(prediction, text, partial(predict, step.place))
        how: dict[str, Any] = {"icon": "send", "type": "primary", "disabled": not valid_texts(found, [text])}
        # above the chart so that it never covers it
        with st.container(horizontal=True, gap="small", vertical_alignment="center", key="send_bar"):
            button(sentences.PHONE["send"], send, step.place, key=f"send_{step.place}", **how)
            if text:
                st.caption(sentences.PHONE["waits"])
    key = predicted_chart(step, found, text, pressed=partial(pressed, step.place, found) if making else None)
    if making:
        draggable(prediction, text, key, partial(predict, step.place, on_chart=True))
        st.caption(explained(sentences.PHONE["guesses"]))
    elif written is not None:
        st.success(sentences.PHONE["sent"], icon=":material/done:")
    else:
        st.info(sentences.PHONE["paused_predictions"], icon=":material/pause:")


def predict(place: int, text: str, on_chart: bool = False) -> None:
    """Store a prediction in this session until it is sent. on_chart: whether the field next to it must follow."""
    group().guesses[place] = text
    session().version += on_chart


def send(place: int) -> None:
    """Send the current prediction, which may have moved since the button was drawn, or show why it is refused."""
    r = group()
    r.told = ""
    try:
        store().rooms.respond(r.code, r.device, place, r.guesses.get(place, ""))
    except (StoreError, SpecError) as error:
        r.told = str(error)


def pressed(place: int, found: Asked, event: Any) -> None:
    """Apply a click on the chart."""
    text = chosen(found.prediction, group().guesses.get(place, ""), event)
    if text is not None:
        predict(place, text, on_chart=True)


SAID = messages("room")["entrance"]
TOTALS = (1.0, 2.0, 3.0, 5.0, 10.0, 20.0)


def visitor() -> Lease:
    """Return the lease by which a visitor's attempts with codes and rooms are counted, for some minutes."""
    return Lease(session().visitor, network_address())


def entrance() -> None:
    """Draw both ways to enter: joining with a code, and opening a room."""
    r = group()
    if r.told:
        st.warning(escape(r.told), icon=":material/door_front:")
    join, teach = st.columns(2, gap="large")
    with join:
        st.header(SAID["join"], anchor=False)
        key, letters = "room_code", SAID["letters"]
        st.text_input(
            SAID["code"], key=key, max_chars=40, placeholder=letters, on_change=on_value(key, entered)
        )
        said, icon = SAID["join"], ":material/login:"
        st.button(said, icon=icon, key="join", type="primary", on_click=on_value(key, typed))
        st.caption(SAID["no_account"])
    with teach:
        st.header(SAID["teach"], anchor=False)
        how = {"key": "room_total", "format_func": human, "help": SAID["adds_up"]}
        st.select_slider(SAID["total"], TOTALS, TOTAL.default, **how)
        button(SAID["open"], open_room, icon="co_present", key="open_room")
        st.caption(filled(SAID["opens"], most=MOST_PEOPLE, hours=HOURS))


def entered(text: str) -> None:
    """Enter the room with a typed code, unless the field is empty."""
    if text.strip():
        typed(text)


def typed(text: str) -> None:
    """Enter the room with a typed code, or explain what is wrong with it."""
    if code := read_code(text):
        enter(code)
    else:
        group().told = wrong(text)


def open_room() -> None:
    """Open a new room for a teacher."""
    code, key = store().rooms.open(visitor(), float(st.session_state.get("room_total") or TOTAL.default))
    enter(code, key)


main()

"""Room: a teacher puts questions to a class, who answer on their phones without giving a name."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from dprl.assets import ASSETS, module_with_imports
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
    enter,
    group,
    leave,
    predictions_together,
    recap,
    results,
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
from pages.shared.lessons import answer_field, chosen, draggable, evidence, step_chart
from pages.shared.results.data import store
from pages.shared.visitor import address
from pages.shared.visitor.callbacks import button, callback, on_value
from pages.shared.visitor.presence import network_address
from pages.shared.visitor.state import read_address, session, write_address

PACE = 0.5  # seconds between two checks of the room
SAID, PHONE = messages("room")["entrance"], sentences.PHONE
DEVICE = "device"
_device = component(DEVICE)
SCRIPTS = {of: component(of, js=module_with_imports(f"{of}.js", "report.js")) for of in ("coin", "patient")}


def main() -> None:
    r, rooms = group(), store().rooms
    read_address(r)
    here = rooms.find(r.code) if rooms.allowed and teaches() else None
    if r.leading and here is not None:
        meet()
        with st.container(key="present"):
            st.html(ASSETS / "present.css")
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
    if here is not None:
        with st.container(key="teacher"):
            stage, door = st.columns([5, 2], gap="large")
        with stage:
            teacher.stage(here)
            teacher.composer(here)
        with door:
            teacher.way_in(here)
        watch(lambda now: now.version, here)
    elif not r.device:
        st.caption(PHONE["looks"])
    elif (here := arrive()) is None:
        entrance()
    else:
        student_stage(here)
        watch(lambda now: (now.closed, now.steps, now.state), here)  # all that the teacher can change


def meet() -> None:
    """Ask the browser for the random name and the teacher's key that it stores for this room, and redraw the page."""
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
    """Redraw the page after a change in the room. Forty phones check twice a second, so a check is a single query."""
    file = store()

    def still() -> bool:
        now = file.rooms.find(drawn.code)
        return now is not None and what(now) == what(drawn)

    def look(_: bool) -> None:
        if not still():
            st.rerun()

    redrawn(look, PACE, "room", still)


def arrive() -> Room | None:
    """Return the joined room, or None if joining fails or the room is gone; the entrance then shows why."""
    r = group()
    if r.drawn is not None and store().rooms.find(r.code) is None:
        leave(PHONE["gone"])
        return None
    try:
        return store().rooms.join(r.code, r.device, visitor())
    except StoreError as error:
        leave(str(error))
        return None


def student_stage(here: Room) -> None:
    r = group()
    steps, written = store().rooms.steps(r.code), store().rooms.written(r.code, r.device)
    if steps:
        turned(steps[-1], written)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(filled(PHONE["room"], code=here.code), width="content")
        button(PHONE["leave"], leave, icon="logout", key="leave", type="tertiary")
    if r.told:
        st.warning(escape(r.told), icon=":material/info:")
    if here.closed:
        st.info(PHONE["closed"], icon=":material/lock:")
    elif not steps:
        st.info(PHONE["joined"], icon=":material/hourglass_empty:")
        st.caption(explained(sentences.held(here.total)))
    if not steps:
        return
    step = steps[-1]
    content, mine = step.content, written.get(step.place)
    if isinstance(content, Question | Clinic):
        report_on_phone(step, content, mine, here.total)
    elif isinstance(content, Guess):
        prediction_on_phone(step, content, mine)
    else:
        recap(content, steps, written=written)
    if spent := [spends(one.content) for one in steps if one.place in written and spends(one.content)]:
        st.caption(explained(sentences.spent_on_phone(spent, here.total)))


def turned(step: ClassStep, written: dict[int, str]) -> None:
    """Prepare the phone for a new step: reset the widgets, and mention an unsent prediction."""
    r = group()
    (place, state), r.drawn = r.drawn or (-1, "revealed"), (step.place, step.state)
    if place != step.place:
        missed = state != "revealed" and r.guesses.get(place) and place not in written
        r.told = PHONE["missed"] if missed else ""
        session().version += 1


def script(name: str, step: ClassStep, written: str | None, **given: object) -> None:
    """Run a step's script with the data in `given`, and record its report, even a late one."""
    if step.state == "paused" and written is None:
        st.info(PHONE["paused_answers"], icon=":material/pause:")
    r = group()
    given |= {"code": r.code, "place": step.place, "open": step.state == "open", "written": written}
    given["words"] = messages("room")[name]
    report = SCRIPTS[name](data=given, key=f"{name}_{r.code}_{step.place}").get("report")
    if report and step.state == "open" and written is None:
        try:
            store().rooms.respond(r.code, r.device, step.place, str(report))
        except (StoreError, SpecError) as error:
            st.warning(escape(str(error)), icon=":material/info:")
        else:
            st.rerun()


def report_on_phone(step: ClassStep, content: Question | Clinic, written: str | None, total: float) -> None:
    """Draw a question or a clinic episode, followed by the recorded report and the results."""
    if isinstance(content, Question):
        st.header(escape(content.text), anchor=False)
        script("coin", step, written, opposites=opposites(content.epsilon))
        recorded = "" if written is None else filled(PHONE["written"], report=sentences.COIN[written].lower())
        about = [PHONE["tap"], sentences.coin(content.epsilon, flip(content.epsilon))]
        notes = [PHONE["script"], PHONE["watched"]]
    else:
        st.header(CLINIC["title"], anchor=False)
        script("patient", step, written, law=played.on_phone(content.epsilon))
        recorded, asked, H = CLINIC["written"], played.asking_at(content.epsilon), played.world().H
        steps = len(asked.steps(0, H))
        about = [sentences.about_clinic(H, steps), sentences.proof_of_bits(content.epsilon, asked.bit, steps)]
        notes = [CLINIC["script"], CLINIC["watched"]]
    if written is not None:
        st.success(recorded, icon=":material/edit_note:")
    if step.state == "revealed":
        results(step, ())
    elif written is not None:
        st.caption(PHONE["result"])
    elif step.state == "open":
        for text in (*about, sentences.held(total)):
            st.markdown(explained(text))
        st.caption(explained(" ".join([*notes, PHONE["repeated"]])))


def prediction_on_phone(step: ClassStep, content: Guess, written: str | None) -> None:
    """Draw a lesson's step on a student's phone. `written` is None until a prediction has been recorded."""
    found = step_of_lesson(content)
    if found is None:
        st.info(PHONE["unknown"], icon=":material/info:")
        return
    r = group()
    prediction, text, key = (
        found.prediction,
        written or r.guesses.get(step.place, ""),
        f"room_{step.place}_False",
    )
    st.markdown(explained(f"## {escape(found.ask)}"), anchors=False)
    if found.setup and step.state != "revealed":
        st.markdown(explained(escape(found.setup)))
    if step.state == "revealed":
        if text and written is None:
            st.warning(PHONE["unsent"], icon=":material/unsubscribe:")
        mine = text if valid_texts(found, [text]) else ""
        step_chart(content, key, found, mine, shown=True)
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
        # above the chart, so that the button never covers it
        with st.container(horizontal=True, gap="small", vertical_alignment="center", key="send_bar"):
            button(PHONE["send"], send, step.place, key=f"send_{step.place}", **how)
            if text:
                st.caption(PHONE["waits"])
    on_press = partial(pressed, step.place, found) if making else None
    step_chart(content, key, found, text, shown=False, pressed=on_press)
    if making:
        draggable(prediction, text, key, partial(predict, step.place, on_chart=True))
        st.caption(explained(PHONE["guesses"]))
    elif written is not None:
        st.success(PHONE["sent"], icon=":material/done:")
    else:
        st.info(PHONE["paused_predictions"], icon=":material/pause:")


def predict(place: int, text: str, on_chart: bool = False) -> None:
    """Store an unsent prediction. If it was made on the chart, update the field next to the chart."""
    group().guesses[place] = text
    session().version += on_chart


def send(place: int) -> None:
    """Send the current prediction, which may have changed since the button was drawn, or show why it is refused."""
    r = group()
    r.told = ""
    try:
        store().rooms.respond(r.code, r.device, place, r.guesses.get(place, ""))
    except (StoreError, SpecError) as error:
        r.told = str(error)


def pressed(place: int, found: Asked, event: Any) -> None:
    text = chosen(found.prediction, group().guesses.get(place, ""), event)
    if text is not None:
        predict(place, text, on_chart=True)


TOTALS = (1.0, 2.0, 3.0, 5.0, 10.0, 20.0)


def visitor() -> Lease:
    """Return the lease that counts a visitor's attempts to enter or open rooms in the last few minutes."""
    return Lease(session().visitor, network_address())


def entrance() -> None:
    """Draw both ways to enter: joining with a code, and opening a room."""
    r = group()
    if r.told:
        st.warning(escape(r.told), icon=":material/door_front:")
    join, teach = st.columns(2, gap="large")
    with join:
        st.header(SAID["join"], anchor=False)
        how: dict[str, Any] = {"key": "room_code", "max_chars": 40, "placeholder": SAID["letters"]}
        st.text_input(SAID["code"], on_change=on_value("room_code", entered), **how)
        how = {"key": "join", "icon": ":material/login:", "type": "primary"}
        st.button(SAID["join"], on_click=on_value("room_code", typed), **how)
        st.caption(SAID["no_account"])
    with teach:
        st.header(SAID["teach"], anchor=False)
        how = {"key": "room_total", "format_func": human, "help": SAID["adds_up"]}
        st.select_slider(SAID["total"], TOTALS, TOTAL.default, **how)
        button(SAID["open"], open_room, icon="co_present", key="open_room")
        st.caption(filled(SAID["opens"], most=MOST_PEOPLE, hours=HOURS))


def entered(text: str) -> None:
    """Enter the room with the typed code, unless the field is empty."""
    if text.strip():
        typed(text)


def typed(text: str) -> None:
    """Enter the room with the typed code, or explain what is wrong with the code."""
    if code := read_code(text):
        enter(code)
    else:
        group().told = wrong(text)


def open_room() -> None:
    """Open a new room for a teacher."""
    code, key = store().rooms.open(visitor(), float(st.session_state.get("room_total") or TOTAL.default))
    enter(code, key)


main()

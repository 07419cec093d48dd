"""Room: a teacher puts questions to a class, who answer on their phones without giving a name."""

from __future__ import annotations

import re
from collections.abc import Callable

import streamlit as st

from dprl.runs.rooms import OFF, Room
from dprl.sentences.room import PHONE
from pages.room import lead, student, teacher
from pages.room.entrance import entrance
from pages.room.state import group, teaches
from pages.shared.layout.browser import component
from pages.shared.layout.frame import redrawn
from pages.shared.layout.head import head
from pages.shared.results.data import store
from pages.shared.visitor import address
from pages.shared.visitor.callbacks import callback
from pages.shared.visitor.state import read_address, write_address

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
        st.caption(PHONE["looks"])
    elif (here := student.arrive()) is None:
        entrance()
    else:
        student.student_stage(here)
        watch(lambda now: now.turn, here)


def led() -> bool:
    """Draw the room for a projector; return whether this visitor leads a room."""
    here = store().rooms.find(group().code)
    if here is None or not teaches():
        return False
    meet()
    with st.container(key="present"):
        lead.stage(here)
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
    """Store the browser's message if it concerns the present room."""
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


main()

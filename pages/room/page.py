"""Room: a teacher puts questions to a class, whose phones answer without a name."""

from __future__ import annotations

import streamlit as st

from dprl.jobs.rooms import OFF
from pages.room import device, student, teacher
from pages.room.entrance import entrance
from pages.room.state import group, teaches
from pages.shared.layout.frame import redrawn
from pages.shared.layout.head import head
from pages.shared.results.data import store
from pages.shared.visitor.state import read_address, write_address

PACE = 1.0  # seconds between two looks at the room


def main() -> None:
    r = group()
    read_address(r)
    head("Room", r.problems, settings=False)
    if not store().has_rooms:
        st.info(OFF, icon=":material/door_front:")
        return
    if "key" in st.query_params:
        write_address(r)
    if not r.code:
        entrance()
        return
    device.meet()
    if teaches():
        stage, door = st.columns([5, 2], gap="large")
        with stage:
            redrawn(teacher.live, PACE, "room")
            teacher.composer()
        with door:
            teacher.way_in()
    elif r.device:
        student.arrive()
        if group().code:
            redrawn(student.live, PACE, "room")
        else:
            entrance()
    else:
        st.caption("One moment: this browser looks up its place in the room.")


main()

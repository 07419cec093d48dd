"""The entrance to a room: a code for students, a button for teachers."""

from __future__ import annotations

import streamlit as st

from dprl.messages import filled, messages
from dprl.rooms.steps import TOTAL
from dprl.runs.limits import Lease
from dprl.runs.rooms import HOURS, MOST_PEOPLE, read_code
from dprl.words import human
from pages.room.state import enter, group, wrong
from pages.shared.results.data import store
from pages.shared.text import escape
from pages.shared.visitor.callbacks import button, on_value
from pages.shared.visitor.presence import network_address
from pages.shared.visitor.state import session

SAID = messages("room")["entrance"]
TOTALS = (1.0, 2.0, 3.0, 5.0, 10.0, 20.0)


def visitor() -> Lease:
    """Return the lease that limits how often a visitor tries codes and opens rooms; it is stored for some minutes."""
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

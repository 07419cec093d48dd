"""The way into a room: a code for students, a button for teachers."""

from __future__ import annotations

import streamlit as st

from dprl.jobs.rooms import HOURS, MOST_PEOPLE
from dprl.jobs.store import Lease
from dprl.rooms.steps import TOTAL
from dprl.words import human
from pages.room.state import cleaned, enter, group, wrong
from pages.shared.results.data import store
from pages.shared.text import escape
from pages.shared.visitor.callbacks import callback, on_value
from pages.shared.visitor.presence import network_address
from pages.shared.visitor.state import session

TOTALS = (1.0, 2.0, 3.0, 5.0, 10.0, 20.0)


def visitor() -> Lease:
    """Who tries codes and opens rooms: only counted, for some minutes."""
    return Lease(session().visitor, network_address())


def entrance() -> None:
    """Both ways in."""
    r = group()
    if r.told:
        st.warning(escape(r.told), icon=":material/door_front:")
    join, teach = st.columns(2, gap="large")
    with join:
        st.header("Join", anchor=False)
        st.text_input(
            "Code of the room",
            key="room_code",
            max_chars=12,
            placeholder="six letters, as your teacher shows them",
            on_change=on_value("room_code", typed),
        )
        st.button("Join", key="join", icon=":material/login:", type="primary", on_click=callback(join_typed))
        st.caption("No account and no name. A phone will do.")
    with teach:
        st.header("Teach", anchor=False)
        st.select_slider(
            "Total ε that a phone may spend",
            TOTALS,
            TOTAL.default,
            key="room_total",
            format_func=human,
            help="Budgets of questions add up. The room refuses a question that would take more. Left is more private.",
        )
        st.button("Open a room", key="open_room", icon=":material/co_present:", on_click=callback(open_room))
        st.caption(
            f"You get a code, a link and a QR picture for up to {MOST_PEOPLE} devices. A room is deleted {HOURS} hours "
            "after it was opened, with all that is in it."
        )


def typed(text: str) -> None:
    """A code was typed."""
    if code := cleaned(text):
        enter(code)
    elif text.strip():
        group().told = wrong(text)


def join_typed() -> None:
    """The Join button."""
    typed(st.session_state.get("room_code") or "")
    if not group().code:
        group().told = wrong(st.session_state.get("room_code") or "")


def open_room() -> None:
    """The button of a teacher."""
    code, key = store().rooms.open(visitor(), float(st.session_state.get("room_total") or TOTAL.default))
    enter(code, key)

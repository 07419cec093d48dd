"""This browser's name in a room: drawn at random, kept in the browser for a day, and different in each room.
A teacher's browser keeps the key of the room next to it."""

from __future__ import annotations

import re

import streamlit as st

from pages.room.state import group
from pages.shared.layout.component import component
from pages.shared.visitor.callbacks import callback

_device = component("device")
KEY = "device"


def meet() -> None:
    """Ask the browser for its name in the room; the page is drawn again afterwards."""
    r = group()
    with st.container(key="device_holder"):
        _device(
            data={"code": r.code, "key": r.key, "said": f"{r.code} {r.device} {r.key}"},
            key=KEY,
            height=1,
            on_said_change=callback(_heard),
        )


def _heard() -> None:
    """Store the browser's message, if it is about the present room."""
    r = group()
    said = getattr(st.session_state.get(KEY), "said", None) or ""
    found = re.fullmatch(r"(\w+) ([0-9a-f]{32}) ([0-9a-f]{32})?", str(said))
    if found and found[1] == r.code:
        r.device, r.key = found[2], r.key or found[3] or ""

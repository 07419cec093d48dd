"""Keys of a projector: what presses the buttons of a step from anywhere on the page."""

from __future__ import annotations

import streamlit as st

from pages.shared.layout.component import component

_keys = component("present_keys")


def keys() -> None:
    """Arrow and page keys turn from question to question, space shows and hides the answer, Escape leaves."""
    with st.container(key="present_keys"):
        _keys(key="keys", height=1)

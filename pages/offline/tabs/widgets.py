"""What the tabs share: widgets of the view, and what stands where a chart will be."""

from __future__ import annotations

import streamlit as st

from pages.offline.link import FIELDS
from pages.offline.state import offline
from pages.shared.controls.view import Widgets

widgets = Widgets(offline, FIELDS)


def empty(words: str) -> None:
    """What stands where a chart will be."""
    with st.container(border=True, height=300, horizontal_alignment="center", vertical_alignment="center"):
        st.markdown(words, text_alignment="center")

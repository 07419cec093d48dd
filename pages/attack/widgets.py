"""What the parts of the page share."""

from __future__ import annotations

import streamlit as st


def waiting(words: str) -> None:
    """What stands where a chart will be."""
    with st.container(border=True, height=300, horizontal_alignment="center", vertical_alignment="center"):
        st.markdown(words, text_alignment="center")

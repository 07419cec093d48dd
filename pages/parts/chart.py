"""The one way a figure is shown: chart, what to see in it, and its numbers."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import streamlit as st

from dprl.figures.style import CONFIG, Picture
from pages.parts.text import unlinked


@st.cache_resource(show_spinner=False, max_entries=500)
def kept(key: tuple[Hashable, ...], _draw: Callable[[], Picture]) -> Picture:
    """A figure drawn once for all visitors. key: everything it depends on."""
    return _draw()


def show(picture: Picture, key: str) -> None:
    """Shows a figure with its sentence; its numbers are sent only when asked for."""
    st.plotly_chart(picture.figure, key=key, theme=None, config=CONFIG, alt=picture.alt, width="stretch")
    st.markdown(f":material/visibility: {unlinked(picture.see)}")
    numbers = st.expander("The numbers drawn", on_change="rerun", key=f"{key}:numbers")
    if numbers.open:
        numbers.dataframe(picture.table, hide_index=True, width="stretch", height=280, key=f"{key}:table")

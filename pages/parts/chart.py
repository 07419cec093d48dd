"""The one way a figure is shown: chart, what to see in it, and its numbers."""

from __future__ import annotations

import base64
from collections.abc import Callable, Hashable
from html import escape

import streamlit as st

from dprl.figures.style import CONFIG, Picture, Sketch
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


def sketch(drawing: Sketch) -> None:
    """Shows a small drawing as wide as there is room, at most a fifth beyond its own width."""
    data = base64.b64encode(drawing.svg.encode()).decode()
    width = round(1.2 * drawing.width)
    st.html(
        f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(drawing.alt)}" '
        f'style="display:block;width:100%;max-width:{width}px;height:auto">'
    )

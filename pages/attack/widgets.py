"""What the parts of the page share."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from pages.shared.visitor.callbacks import on_value
from pages.shared.visitor.state import session


def segments(
    label: str, name: str, options: Mapping[str, str], value: str | None, chosen: Callable[[str], None]
) -> None:
    """One of a few words beside each other; none of them where the value is another."""
    key = f"{session().version}:attack:{name}"
    st.segmented_control(
        label,
        list(options),
        default=value,
        format_func=options.__getitem__,
        required=value is not None,
        key=key,
        on_change=on_value(key, chosen),
        label_visibility="collapsed",
        wrap=True,
    )


def waiting(words: str) -> None:
    """What stands where a chart will be."""
    with st.container(border=True, height=300, horizontal_alignment="center", vertical_alignment="center"):
        st.markdown(words, text_alignment="center")

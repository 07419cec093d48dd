"""The tabs of a page. Only the open one is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared.visitor.callbacks import on_value


def tab_bar(key: str, titles: Mapping[str, str], now: str, turn: Callable[[str], object]) -> DeltaGenerator:
    """Draws them; returns the open one. titles: by name; turn(name): opens another."""
    names = {title: name for name, title in titles.items()}
    # Not as its `default`, which would make another widget of it at every change and lose a quick second press.
    st.session_state[key] = titles[now]
    drawn = st.tabs(list(names), key=key, on_change=on_value(key, lambda title: turn(names[title])))
    return dict(zip(titles, drawn, strict=True))[now]

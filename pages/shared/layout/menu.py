"""The table of pages, made once."""

from __future__ import annotations

from copy import copy
from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from dprl.titles import TITLES

PAGES = Path(__file__).parents[2]


def pages() -> list[StreamlitPage]:
    """The pages for one run of the script. To find them among the files anew takes 2 ms; each is a copy, for Streamlit
    notes on it that it may be run."""
    return [copy(page) for page in _pages()]


@cache
def _pages() -> tuple[StreamlitPage, ...]:
    return tuple(
        st.Page(
            PAGES / (path or "home") / "page.py", title=title.name, url_path=path or None, default=not path
        )
        for path, title in TITLES.items()
    )

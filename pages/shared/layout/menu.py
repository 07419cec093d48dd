"""The pages as Streamlit knows them, made once, and links to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from dprl.sitemap import PAGES

ROOT = Path(__file__).parents[3]


def pages() -> list[StreamlitPage]:
    """The pages for one run of the script. To find them among the files anew takes 2 ms; each is a copy, for Streamlit
    notes on it that it may be run."""
    return [copy(page) for page in _pages()]


@cache
def _pages() -> tuple[StreamlitPage, ...]:
    return tuple(
        st.Page(ROOT / page.file, title=page.name, url_path=page.path or None, default=not page.path)
        for page in PAGES.values()
    )


def page_link(
    path: str,
    label: str,
    query: Mapping[str, str] | Sequence[tuple[str, str]] | None = None,
    *,
    icon: str = "",
) -> None:
    """A link to the page at a path, and there to what a query says. icon: in place of the page's own."""
    page = PAGES[path]
    st.page_link(page.file, label=label, icon=f":material/{icon or page.icon}:", query_params=query)

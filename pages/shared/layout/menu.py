"""The pages as Streamlit knows them, made once, and links to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from dprl.sitemap import MOVED, PAGES, SECTIONS, Page

ROOT = Path(__file__).parents[3]


def pages() -> dict[str, list[StreamlitPage]]:
    """Return the pages by section, for one run of the script. Searching the files again takes 2 ms; each page is a
    copy, because Streamlit notes on it that it may be run."""
    found: dict[str, list[StreamlitPage]] = {}
    for section, page in _pages():
        found.setdefault(section, []).append(copy(page))
    return found


@cache
def _pages() -> list[tuple[str, StreamlitPage]]:
    made = []
    for page in sorted(PAGES.values(), key=lambda page: SECTIONS.index(page.section)):
        how: Any = {"default": not page.path, "visibility": "hidden" if page.aside else "visible"}
        drawn = st.Page(ROOT / page.file, title=page.name, url_path=page.path or None, **how)
        made.append((page.section, drawn))
    for path in MOVED:
        made.append(("", st.Page(_nothing, title=path, url_path=path, visibility="hidden")))
    return made


def _nothing() -> None:
    """Draw nothing: app.py leads on from such an address."""


def corner(page: Page, going: int) -> None:
    """Draw what stands at the right end of the navigation: the runs, with how many go on, and the document about the
    page."""
    with st.container(horizontal=True, gap="small", width="content", key="corner"):
        page_link("runs", f"Runs ({going})" if going else "Runs")
        if st.get_option("server.enableStaticServing"):
            st.markdown(f":material/menu_book: [Docs](app/static/docs/{page.guide or 'index'}.html)")


def page_link(
    path: str,
    label: str,
    query: Mapping[str, str] | Sequence[tuple[str, str]] | None = None,
    *,
    icon: str = "",
) -> None:
    """Draw a link to the page at a path with a query. icon: instead of the page's own."""
    page = PAGES[path]
    st.page_link(page.file, label=label, icon=f":material/{icon or page.icon}:", query_params=query)

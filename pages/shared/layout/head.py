"""The top of a page: its title, its buttons, and the unusable parts of a link."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.sitemap import PAGES
from pages.shared.layout.browser import settings_button
from pages.shared.layout.terms import explained
from pages.shared.text import escape
from pages.shared.visitor.address import NOTHING, query_of
from pages.shared.visitor.callbacks import button, on_value
from pages.shared.visitor.locks import locked_in_words
from pages.shared.visitor.state import PageState, session, write_address

MOST_TOLD = 3  # problems of one link


def head(part: PageState, title: str = "") -> DeltaGenerator:
    """Draw the top of the page; return the corner for the link to the page.

    title: Markdown, if the heading is not the page's own.
    """
    page = PAGES[session().page or ""]
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", key="page_head"
    ):
        if title:
            with st.container(key="question"):
                st.title(title, anchor=False)
        else:
            st.title(page.heading or page.name, anchor=False, width="content")
        with st.container(horizontal=True, wrap=False, gap="xsmall", width="content"):
            if page.settings:
                settings_button()
            corner = st.container(width="content")
    if problems := part.problems:
        told = " ".join(escape(p) for p in problems[:MOST_TOLD])
        more = " The link has more problems than these." if len(problems) > MOST_TOLD else ""
        rest = "" if NOTHING in told else "Not all of this link could be used; the rest is shown. "
        st.warning(f"{rest}{told}{more}", icon=":material/link_off:")
    if page.settings and part.locked:
        opened = f"?{query_of(part.link)}"
        st.markdown(
            f":material/lock: Whoever made this link has locked {locked_in_words(part.locked)}. "
            f"[Open it without the lock]({opened})."
        )
    shared_with(part)
    return corner


def shared_with(part: PageState) -> None:
    """Show the sentence of the person who shared the link."""
    if not part.sentence:
        return

    def hide() -> None:
        s = session()
        part.sentence = ""
        s.version += 1  # the field that it is written in is emptied, too
        write_address(part)

    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="alone_sentence"):
        st.markdown(f"**A message with this link:** {escape(part.sentence)}", width="stretch")
        if not st.context.is_embedded:
            button("Hide it", hide, icon="close", type="tertiary", key="hide_sentence")


def common(text: str) -> None:
    """Draw the line with the common settings: on the page, and below every saved picture."""
    session().common = text
    st.caption(explained(escape(text)))


def tab_bar(key: str, titles: Mapping[str, str], now: str, turn: Callable[[str], object]) -> DeltaGenerator:
    """Draw the tabs of a page; return the open one, the only one that is drawn. titles: by name; turn(name): opens
    another."""
    names = {title: name for name, title in titles.items()}
    # Not as its `default`, which would make another widget of it at every change and lose a quick second press.
    st.session_state[key] = titles[now]
    drawn = st.tabs(list(names), key=key, on_change=on_value(key, lambda title: turn(names[title])))
    return dict(zip(titles, drawn, strict=True))[now]

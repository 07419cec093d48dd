"""The top of a page: its title, warnings about unusable parts of a link, and the buttons for sharing the view."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from html import escape as html
from urllib.parse import urlsplit

import segno
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.messages import filled, messages
from dprl.sitemap import PAGES
from pages.shared.controls.widgets import menu
from pages.shared.layout.browser import copy_link, settings_button
from pages.shared.layout.terms import escape, explained
from pages.shared.results.data import store
from pages.shared.visitor import address, presence
from pages.shared.visitor.address import NOTHING, query_of
from pages.shared.visitor.callbacks import button, into, keyed, on_value
from pages.shared.visitor.state import PageState, note_view, session, write_address

SAID = messages("pages")["share"]
MOST_TOLD = 3  # maximum number of problems shown for one link


def head(part: PageState, title: str = "") -> DeltaGenerator:
    """Draw the top of the page, and return the container for its link. `title` replaces the page's heading."""
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
        more = " The link has further problems." if len(problems) > MOST_TOLD else ""
        rest = "" if NOTHING in told else "Not all of this link could be used; the rest is shown. "
        st.warning(f"{rest}{told}{more}", icon=":material/link_off:")
    if page.settings and part.locked:
        settings = address.locked_in_words(part.locked)
        locked = filled(SAID["locked"], settings=settings, query=query_of(part.link))
        st.markdown(f":material/lock: {locked}")
    shared_with(part)
    return corner


def shared_with(part: PageState) -> None:
    """Show the message from the person who shared the link."""
    if not part.sentence:
        return

    def hide() -> None:
        s = session()
        part.sentence = ""
        s.version += 1  # this also empties the field in which the message was written
        write_address(part)

    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="alone_sentence"):
        st.markdown(f"**A message with this link:** {escape(part.sentence)}", width="stretch")
        if not st.context.is_embedded:
            button("Hide it", hide, icon="close", type="tertiary", key="hide_sentence")


def common(text: str) -> None:
    """Show the text about common settings, and keep it for the captions of saved pictures."""
    session().common = text
    st.caption(explained(escape(text)))


def tab_bar(key: str, titles: Mapping[str, str], now: str, turn: Callable[[str], object]) -> DeltaGenerator:
    """Draw the tabs, and return the open one. `turn` is called with the name of a newly opened tab."""
    names = {title: name for name, title in titles.items()}
    # `default` would make a new widget at every change and lose a quick second click.
    st.session_state[key] = titles[now]
    drawn = st.tabs(list(names), key=key, on_change=on_value(key, lambda title: turn(names[title])))
    return dict(zip(titles, drawn, strict=True))[now]


def share(part: PageState, more: Callable[[], None] | None = None) -> None:
    """Draw the button that copies the link to the current view, and the menu with other ways to share it."""
    s = session()
    with st.container(horizontal=True, wrap=False, gap="xsmall", width="content", key="share"):
        items = [*part.shared, *address.write_locks(part.locked), *address.saying(part.sentence)]
        if s.page:  # Home's slider writes its address itself
            note_view(part, part.items)
        copy_link(query_of(items), replace=part.query if part.moved and not st.context.is_embedded else "")
        popover = menu("Share", "share", ":material/qr_code_2:")
    if popover is None:
        return
    with popover:
        locked = part.locked
        if PAGES[s.page or ""].settings:
            change = on_value("locking", into(s, "locking"))
            st.toggle("Lock the settings", s.locking, "locking", SAID["lock"], change)
            locked = address.EVERYTHING if s.locking else locked
        items = [*part.shared, *address.write_locks(locked)]
        st.text_input(
            "A sentence for those who open the link",
            part.sentence,
            max_chars=address.MOST_LETTERS,
            placeholder="What should your readers see?",
            **keyed("sentence", partial(say, part)),
        )
        whole = query_of([*items, *address.saying(part.sentence)])
        if locked != part.locked:
            copy_link(whole, "Copy locked link")
        st.markdown(SAID["short"])
        if code := s.short.get((s.page or "", whole)):
            copy_link(f"s={code}", "Copy short link")
            qr(address.whole_address(f"s={code}"), "the short link")
        else:
            button("Make a short link", shorten, s.page or "", whole, icon="link", key="shorten")
        if more is not None:
            more()
        st.markdown("**To embed** the first chart with its sentence in your own page:")
        there = html(address.whole_address(query_of([*items, ("embed", "true")])))
        # no highlighting, because the colours of code are too faint for small text
        st.code(f'<iframe src="{there}" width="100%" height="640"></iframe>', language=None, wrap_lines=True)


def say(part: PageState, text: str) -> None:
    """Store a message for those who open the link."""
    part.sentence = address.one_line(text)
    write_address(part)
    st.rerun()


def shorten(page: str, query: str) -> None:
    """Make a short link to a page with a query, and store it in the session."""
    s = session()
    s.short[page, query] = store().links.shorten(page, query, presence.lease(s.visitor))


def qr(whole: str, of: str) -> None:
    """Draw an address as a QR code and as text. `of` describes where the address leads."""
    picture = segno.make(whole, error="m", micro=False).svg_data_uri(border=3, light="#fff", unit="")
    st.html(f'<img class="dprl-qr" src="{html(picture)}" alt="QR code of {html(of)}: {html(whole)}">')
    st.markdown(escape(whole))
    if urlsplit(st.context.url or "").hostname in ("localhost", "127.0.0.1", "::1"):
        st.warning(SAID["only_here"], icon=":material/wifi_off:")

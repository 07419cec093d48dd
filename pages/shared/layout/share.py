"""The corner of a page from which what is seen is handed on: as a link, a short one with its picture, or one that locks
the settings, and as a chart for another page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape as html

import segno
import streamlit as st

from dprl.sitemap import PAGES
from pages.shared.layout.browser import copy_link
from pages.shared.results.data import store
from pages.shared.text import escape
from pages.shared.visitor import address, locks, presence
from pages.shared.visitor.address import query_of
from pages.shared.visitor.callbacks import button, into, keyed, on_value
from pages.shared.visitor.state import PageState, attempt, session, write_address

ONLY_HERE = (
    "Phones cannot open this address: it is this computer's own. Serve on all addresses (make run HOST=0.0.0.0), and "
    "open this page by the computer's address in your network."
)
LOCK_HELP = (
    "Whoever opens the link sees the settings but cannot change them. To lock by hand, add `lock=all`, "
    "`lock=epsilon,seeds`, or `lock=all,-epsilon` for all but one."
)


def share(part: PageState, more: Callable[[], None] | None = None) -> None:
    """Draw buttons for the link to the present view. more: draws the page's other ways to share."""
    with st.container(horizontal=True, wrap=False, gap="xsmall", width="content", key="share"):
        link = part.link
        said = address.saying(part.sentence)
        copy_link(query_of([*link, *locks.encode(part.locked), *said]))
        with st.popover("Share", icon=":material/qr_code_2:", key="share_more"):
            query = for_others(part, link)
            if more is not None:
                more()
            in_a_page(query)


def for_others(part: PageState, link: list[tuple[str, str]]) -> str:
    """Describe a link to pass on, and its short form. link: part.link, which is slow. Returns the query of the link."""
    s = session()
    locked = part.locked
    if PAGES[s.page or ""].settings:
        st.toggle(
            "Lock the settings",
            s.locking,
            key="locking",
            on_change=on_value("locking", into(s, "locking")),
            help=LOCK_HELP,
        )
        locked = locks.EVERYTHING if s.locking else locked
    query = query_of([*link, *locks.encode(locked)])
    own_sentence(part)
    whole = query_of([*link, *locks.encode(locked), *address.saying(part.sentence)])
    if locked != part.locked:
        copy_link(whole, "Copy locked link")
    short_link(s.page or "", whole)
    return query


def own_sentence(part: PageState) -> None:
    """Draw the field for a message to those who open the link."""

    def say(text: str) -> None:
        part.sentence = address.one_line(text)
        write_address(part)
        st.rerun()

    st.text_input(
        "A sentence for those who open the link",
        part.sentence,
        max_chars=address.MOST_LETTERS,
        placeholder="What should your readers see?",
        **keyed("sentence", say),
    )


def in_a_page(query: str) -> None:
    """Draw the way to embed the chart of a link in another page."""
    st.markdown("**In your own page**, the first chart with its sentence:")
    there = address.whole_address("&".join(filter(None, [query, "embed=true"])))
    # in plain ink: the colours of code are too faint for so small a text
    st.code(
        f'<iframe src="{html(there)}" width="100%" height="640"></iframe>', language=None, wrap_lines=True
    )


def short_link(page: str, query: str) -> None:
    """Draw the short link to a page and a query, once requested."""
    s = session()
    st.markdown(
        "**A short link** works as long as this server keeps its store. The full link works on every server."
    )
    code = s.short.get((page, query))
    if code is None:
        make = partial(attempt, shorten, page, query)
        button("Make a short link", make, icon="link", key="shorten")
        return
    copy_link(f"s={code}", "Copy short link")
    qr(address.whole_address(f"s={code}"), "the short link")


def shorten(page: str, query: str) -> None:
    """Make the short link."""
    s = session()
    s.short[page, query] = store().links.shorten(page, query, presence.lease(s.visitor))


def qr(whole: str, of: str) -> None:
    """Draw an address as a picture, and in letters; of: its subject."""
    picture = segno.make(whole, error="m", micro=False).svg_data_uri(border=3, light="#fff", unit="")
    st.html(f'<img class="dprl-qr" src="{html(picture)}" alt="QR code of {html(of)}: {html(whole)}">')
    st.markdown(escape(whole))
    if address.on_this_computer_only():
        st.warning(ONLY_HERE, icon=":material/wifi_off:")

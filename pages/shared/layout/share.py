"""The corner of a page from which what is seen is handed on: the whole link, and a short one with its picture."""

from __future__ import annotations

from html import escape as html

import segno
import streamlit as st

from pages.shared.layout.browser import copy_link
from pages.shared.results.data import store
from pages.shared.text import escape
from pages.shared.visitor import address, presence
from pages.shared.visitor.callbacks import callback
from pages.shared.visitor.state import Part, attempt, session

ONLY_HERE = (
    "Phones cannot open this address: it is this computer's own. Serve on all addresses (make run HOST=0.0.0.0), and "
    "open this page by the computer's address in your network."
)


def share(part: Part) -> None:
    """Buttons for the link to what is seen."""
    with st.container(horizontal=True, wrap=False, gap="xsmall", width="content", key="share"):
        copy_link(part.query)
        with st.popover("Share", icon=":material/qr_code_2:", key="share_more"):
            short_link(part)


def short_link(part: Part) -> None:
    """The short link to what is seen, once it was asked for."""
    s = session()
    of = (s.page or "", part.query)
    st.markdown(
        "**A short link**, for as long as this server keeps its store. The whole one works on every server."
    )
    code = s.short.get(of)
    if code is None:
        st.button(
            "Make a short link", key="shorten", icon=":material/link:", on_click=callback(shorten), args=of
        )
        return
    query = f"s={code}"
    qr(address.whole(query), "the short link")
    copy_link(query, "Copy short link")


def shorten(page: str, query: str) -> None:
    """The button."""
    s = session()

    def make() -> None:
        s.short[page, query] = store().shorten(page, query, presence.lease(s.visitor))

    attempt(make)


def qr(whole: str, of: str) -> None:
    """An address as a picture, and in letters; of: what it is."""
    picture = segno.make(whole, error="m", micro=False).svg_data_uri(border=3, light="#fff", unit="")
    st.html(f'<img class="dprl-qr" src="{html(picture)}" alt="QR picture of {html(of)}: {html(whole)}">')
    st.markdown(escape(whole))
    if address.on_this_computer_only():
        st.warning(ONLY_HERE, icon=":material/wifi_off:")

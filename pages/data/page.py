"""Your data: a policy from a private data set of one's own."""

from __future__ import annotations

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.sentences.uploads import LIMITED, LINKED, OFF
from dprl.sitemap import PAGES
from dprl.uploads import readings
from pages.data.declare import declare
from pages.data.form import budgets, give
from pages.data.own import Own
from pages.data.receive import collect, show_reading
from pages.data.result import show_release
from pages.data.state import going, own_data
from pages.shared.layout.frame import redrawn
from pages.shared.layout.head import head
from pages.shared.layout.share import share
from pages.shared.results.together import PACE
from pages.shared.visitor.state import read_address


def main() -> None:
    part = own_data()
    read_address(part)
    corner = head(part)
    if part.own.leaving:
        part.own.leaving = False
        st.switch_page(PAGES["explore"].file)
    if readings.allowed():
        redrawn(partial(draw, part.own, corner), PACE if going() else None)
    else:
        st.info(OFF, icon=":material/lock:")


def draw(own: Own, corner: DeltaGenerator, live: bool) -> None:
    """Declare, give, spend, look. This part redraws itself while a file is read or a release computed."""
    if live != going():
        st.rerun()
    with corner:
        share(own_data())
    collect(own)
    if own.reading is not None:
        show_reading(own)
        return
    if own.data is None:
        if own.specs:
            show_release(own)
            st.info(LIMITED, icon=":material/restart_alt:")
        elif own.linked:
            st.info(LINKED, icon=":material/link:")
        declare(own)
    give(own)
    if own.data is not None:
        budgets(own)
        show_release(own)


main()

"""The tab Your data: a policy from a private data set of one's own."""

from __future__ import annotations

import streamlit as st

from dprl.sentences.uploads import LIMITED, LINKED, OFF
from dprl.sitemap import PAGES
from dprl.uploads import readings
from pages.offline.record import OFFLINE
from pages.offline.upload.declare import declare
from pages.offline.upload.form import budgets, give
from pages.offline.upload.receive import collect, show_reading
from pages.offline.upload.result import show_release


def tab() -> None:
    """Declare, give, spend, look. The settings beside it are those of simulated data."""
    own = OFFLINE.state.own
    if own.leaving:
        own.leaving = False
        st.switch_page(PAGES["explore"].file)
    if not readings.allowed():
        st.info(OFF, icon=":material/lock:")
        return
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

"""The tab Your data: a policy from a private data set of one's own."""

from __future__ import annotations

import streamlit as st

from dprl.sentences.uploads import LINKED
from dprl.sitemap import PAGES
from pages.offline.record import OFFLINE
from pages.offline.upload.form import budgets, declare, give
from pages.offline.upload.result import show_release


def tab() -> None:
    """Declare, give, spend, look. The settings beside it are those of simulated data."""
    own = OFFLINE.state.own
    if own.leaving:
        own.leaving = False
        st.switch_page(PAGES["explore"].file)
    if own.linked and own.data is None:
        st.info(LINKED, icon=":material/link:")
    if own.data is None:
        declare(own)
    give(own)
    if own.data is not None:
        budgets(own)
        show_release(own)

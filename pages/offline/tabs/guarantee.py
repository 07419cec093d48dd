"""The tab Guarantee: what each run promises to those whose data it learns from, and what its noise proves."""

from __future__ import annotations

import streamlit as st

from dprl.sentences import promise as said
from pages.offline.record import offline
from pages.shared.offline import names
from pages.shared.offline.guarantee import promised
from pages.shared.text import escape


def tab() -> None:
    """Draw a card for every run, next to each other. All of it follows from the specs."""
    specs = offline().specs
    with st.expander("What do (ε, δ) and ρ mean?", icon=":material/help:"):
        st.markdown(said.OFFLINE)
    grid = st.grid("auto", min_column_width=330)
    for i, (spec, title) in enumerate(zip(specs, names.titles(specs), strict=True)):
        with grid.cell(), st.container(border=True, height="stretch"):
            st.markdown(f"## {escape(title)}", anchors=False)
            promised(spec, i)

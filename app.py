"""The dashboard's frame: the table of pages, and what all of them share."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.parts import frame

PAGES = [
    st.Page("pages/home.py", title="Home", icon=":material/home:", default=True),
    st.Page("pages/explore.py", title="Explore", icon=":material/show_chart:"),
    st.Page("pages/tradeoffs.py", title="Trade-offs", icon=":material/balance:"),
    st.Page("pages/free.py", title="When is privacy free?", icon=":material/all_inclusive:"),
    st.Page("pages/runs.py", title="Runs", icon=":material/list:"),
]

st.set_page_config(
    page_title="Privacy in reinforcement learning", page_icon="📉", layout="wide", initial_sidebar_state=340
)
st.html(Path(__file__).parent / "assets" / "style.css")
page = st.navigation(PAGES, position="top")
frame.show(page)

"""The dashboard's frame: the table of pages, and what all of them share."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.shared.layout import frame

PAGES = [
    st.Page(frame.HOME, title="Home", default=True),
    st.Page("pages/explore/page.py", title="Explore", url_path="explore"),
    st.Page("pages/tradeoffs/page.py", title="Trade-offs", url_path="tradeoffs"),
    st.Page("pages/users/page.py", title="Users needed", url_path="users"),
    st.Page("pages/free/page.py", title="When is privacy free?", url_path="free"),
    st.Page("pages/offline/page.py", title="Offline", url_path="offline"),
    st.Page("pages/linear/page.py", title="Linear", url_path="linear"),
    st.Page("pages/lessons/page.py", title="Lessons", url_path="lessons"),
    st.Page("pages/claims/page.py", title="Claims", url_path="claims"),
    st.Page("pages/attack/page.py", title="Attack", url_path="attack"),
    st.Page("pages/room/page.py", title="Room", url_path="room"),
    st.Page("pages/runs/page.py", title="Runs", url_path="runs"),
]

st.set_page_config(
    page_title="Privacy in reinforcement learning", page_icon="📉", layout="wide", initial_sidebar_state=340
)
st.html(Path(__file__).parent / "assets" / "style.css")
page = st.navigation(PAGES, position="top")
frame.show(page)

"""The dashboard's frame: the table of pages, and what all of them share."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dprl.sitemap import PAGES
from pages.shared.layout import frame
from pages.shared.layout.menu import pages

page = st.navigation(pages(), position="top", expanded=True)  # on a phone none is behind "View more"
st.set_page_config(
    page_title=PAGES[page.url_path].whole, page_icon="📉", layout="wide", initial_sidebar_state=340
)
st.html(Path(__file__).parent / "assets" / "style.css")
frame.show_page(page)

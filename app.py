"""Show the chosen page inside the frame that all pages share."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dprl.sitemap import MOVED, PAGES
from pages.shared.layout import frame
from pages.shared.layout.frame import pages
from pages.shared.visitor.address import here

ASSETS = Path(__file__).parent / "assets"

page = st.navigation(pages(), position="top", expanded=True)  # on phones, hide no page in a menu
if page.url_path in MOVED:
    st.switch_page(PAGES[MOVED[page.url_path]].file, query_params=here())
st.set_page_config(
    page_title=PAGES[page.url_path].whole, page_icon="📉", layout="wide", initial_sidebar_state=340
)
st.logo(ASSETS / "logo.svg")
st.html(ASSETS / "style.css")
frame.show_page(page)

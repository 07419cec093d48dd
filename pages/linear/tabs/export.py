"""The tab Data: the numbers, and how to make them again without this page."""

from __future__ import annotations

import streamlit as st

from pages.linear.record import LINEAR
from pages.linear.tabs.regret import run_rows
from pages.shared.comparison.closely import chosen_spec
from pages.shared.online.files import downloads
from pages.shared.results.again import make_again


def tab() -> None:
    """Downloads for the whole comparison, then one run's spec, code and command."""
    part = LINEAR.state
    downloads(run_rows(), part.view.statistic, LINEAR.runs.curves)
    st.markdown("## Make it again without this page", anchors=False)
    make_again(part.specs[chosen_spec(LINEAR)])

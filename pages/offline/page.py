"""Offline: a policy learned from a private data set, and how large that data set has to be."""

from __future__ import annotations

import streamlit as st

from pages.offline.controls import controls, keep
from pages.offline.record import OFFLINE
from pages.offline.tabs import coverage, export, gap, guarantee, pessimism, policy
from pages.shared.comparison.parts import Tab, results, run_box
from pages.shared.controls.panel import sidebar
from pages.shared.layout.head import head
from pages.shared.layout.terms import explained
from pages.shared.visitor.state import read_address

TABS = {
    "gap": Tab("Suboptimality", gap.tab),
    "pessimism": Tab("Pessimism", pessimism.tab),
    "policy": Tab("Policy", policy.tab),
    "coverage": Tab("Coverage", coverage.tab),
    "guarantee": Tab("Guarantee", guarantee.tab),
    "data": Tab("Data", export.tab),
}


def main() -> None:
    read_address(OFFLINE.state)
    with st.sidebar:
        sidebar(controls, lambda found: run_box(OFFLINE, *found, beside=keep))
    corner = head(OFFLINE.state)
    st.markdown(
        explained(
            "Users were treated by a *behaviour policy*. A *curator* releases noisy sums of their records once. "
            "An algorithm learns a better policy from these sums."
        )
    )
    results(OFFLINE, TABS, corner)


main()

"""Offline: a policy learned from a private data set, and how large that data set has to be."""

from __future__ import annotations

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.words import count, plural
from pages.offline import names
from pages.offline.cells import coverage_tab, pessimism_tab, policy_tab
from pages.offline.controls import Described, controls, keep
from pages.offline.gap import data_tab, gap_tab, guarantee_tab
from pages.offline.record import EXAMPLES, RUNS, offline
from pages.shared.controls.launch import offer
from pages.shared.controls.panel import sidebar
from pages.shared.layout.frame import redrawn
from pages.shared.layout.head import common, head, tab_bar
from pages.shared.layout.share import share
from pages.shared.layout.terms import explained
from pages.shared.results.runs import PACE
from pages.shared.text import escape
from pages.shared.visitor.callbacks import button
from pages.shared.visitor.state import read_address, session

TABS = {
    "gap": ("Suboptimality", gap_tab),
    "pessimism": ("Pessimism", pessimism_tab),
    "policy": ("Policy", policy_tab),
    "coverage": ("Coverage", coverage_tab),
    "guarantee": ("Guarantee", guarantee_tab),
    "data": ("Data", data_tab),
}


def main() -> None:
    part = offline()
    read_address(part)
    with st.sidebar:
        sidebar(controls, run_box)
    corner = head(part)
    st.markdown(
        explained(
            "Users were treated under a *behaviour policy*. A *curator* releases noisy sums of their records once. "
            "An algorithm learns a better policy from these sums."
        )
    )
    examples()
    shared = names.in_common(part.specs)
    session().common = shared  # for images, which are drawn first
    redrawn(partial(results, corner), PACE if RUNS.progress(part.specs).active else None)
    common(shared)


def examples() -> None:
    """Draw a button for each ready-made comparison, and describe the one shown."""
    part = offline()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="examples"):
        for i, example in enumerate(EXAMPLES):
            button(
                example.title,
                part.take,
                example,
                key=f"example_{i}",
                help=escape(example.say),
                type="primary" if part.specs == example.specs else "secondary",
            )
    for example in EXAMPLES:
        if part.specs == example.specs:
            st.markdown(explained(f"**{escape(example.say)}**"))


def results(corner: DeltaGenerator, live: bool) -> None:
    """Draw the status of the runs, the open tab, and the link in the corner; redraw while runs are active."""
    part = offline()
    progress = RUNS.progress(part.specs)
    if live != bool(progress.active):
        st.rerun()
    RUNS.strip(progress)
    titles = {name: title for name, (title, _) in TABS.items()}
    with tab_bar("offline_tab", titles, part.view.tab, lambda name: part.change(tab=name)):
        TABS[part.view.tab][1]()
    with corner:
        share(part)


def run_box(found: Described) -> None:
    """Describe what Run will do, and draw the buttons. found: the return values of `controls`."""
    specs, refused = found
    part = offline()
    keep()
    offer(
        specs,
        part.compare,
        lambda: RUNS.missing(specs or ()),
        lambda lacking: (
            f"{plural(len(lacking), 'run')} on data sets of up to {count(lacking[0].n)} trajectories"
        ),
        refused,
        also=part.reset,
    )


main()

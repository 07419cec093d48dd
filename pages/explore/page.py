"""Explore, the main job: choose a run on the left, press Run, and watch what it learns and what privacy costs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.explore import comparison, counts, export, guarantee, policy, regret
from pages.shared import status
from pages.shared.browser import copy_link
from pages.shared.callbacks import taking
from pages.shared.controls.panel import controls
from pages.shared.examples import offer
from pages.shared.frame import redrawn
from pages.shared.head import head
from pages.shared.names import in_common, titles
from pages.shared.reading import words_and_papers
from pages.shared.state import read_address, session, write_address
from pages.shared.text import escape

TABS = {
    "regret": ("Regret", regret.tab),
    "counts": ("Counts", counts.tab),
    "policy": ("Policy", policy.tab),
    "guarantee": ("Guarantee", guarantee.tab),
    "data": ("Data", export.tab),
}
FRAME = 0.7  # seconds each moment is shown while they play


def main() -> None:
    read_address()
    s = session()
    with st.sidebar:
        controls()
    corner = head("Explore", s.problems)
    if not s.curves:
        offer()
        return
    names = titles(s.curves)
    comparison.chips(names)
    st.caption(escape(in_common(s.curves)))
    runs = status.statuses(s.curves)
    every = FRAME if s.playing else status.pace(status.busy(s.curves, runs))
    redrawn(partial(results, corner), every)
    words_and_papers()


def results(corner: DeltaGenerator, live: bool) -> None:
    """Progress and the open tab, and in the page's corner the link to just that.

    While something runs this part redraws itself; the end of the last run stops that.
    """
    s = session()
    names = titles(s.curves)
    runs = status.statuses(s.curves)
    if live and not s.playing and (s.paused or not status.busy(s.curves, runs)):
        st.rerun()
    status.strip(s.curves, names, runs)
    labels = {label: name for name, (label, _) in TABS.items()}
    # Not as its `default`, which would make another widget of it at every change and lose a quick second press.
    st.session_state["tab"] = TABS[s.view.tab][0]
    tabs = st.tabs(list(labels), key="tab", on_change=taking("tab", lambda label: switch(labels[label])))
    moment = s.view.episode
    for tab, (name, (_, draw)) in zip(tabs, TABS.items(), strict=True):
        if name == s.view.tab:
            with tab:
                draw(names, runs)
    if s.playing and s.view.episode == moment:  # nothing that plays is shown
        s.playing = False
        st.rerun()
    with corner:
        copy_link(s.query)


def switch(tab: str) -> None:
    """Opens a tab; what played in the one before stops."""
    s = session()
    played, s.playing = s.playing, False
    s.view = replace(s.view, tab=tab)
    write_address()
    if played:
        st.rerun()


main()

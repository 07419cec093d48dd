"""Online, the main job: choose a run on the left, press Run, and watch what it learns and what privacy costs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.explore import comparison, counts, export, guarantee, opening, policy, regret
from pages.shared.controls.panel import explore_controls
from pages.shared.layout.frame import redrawn
from pages.shared.layout.head import common, head
from pages.shared.layout.reading import words_and_papers
from pages.shared.layout.share import share
from pages.shared.layout.tabs import tab_bar
from pages.shared.names import in_common, titles
from pages.shared.online import one_page
from pages.shared.results import status
from pages.shared.visitor.state import read_address, session, write_address

TABS = {
    "regret": ("Regret", regret.tab),
    "counts": ("Counts", counts.tab),
    "policy": ("Policy", policy.tab),
    "guarantee": ("Guarantee", guarantee.tab),
    "data": ("Data", export.tab),
}
FRAME = 0.7  # seconds each moment is shown while they play


def main() -> None:
    s = session()
    s.explore.playing = s.explore.playing and not s.arrived
    read_address(s.explore)
    s.explore.drawn_for = s.draft.environment
    with st.sidebar:
        explore_controls()
    corner = head(s.explore)
    if not s.explore.curves:
        opening.opening()
        words_and_papers()
        return
    names = titles(s.explore.curves)
    comparison.chips(names)
    common(in_common(s.explore.curves))
    runs = status.statuses(s.explore.curves)
    every = FRAME if s.explore.playing else status.pace(status.busy(s.explore.curves, runs))
    redrawn(partial(draw_tab, corner), every)
    words_and_papers()


def draw_tab(corner: DeltaGenerator, live: bool) -> None:
    """Progress and the open tab, and in the page's corner the link to just that.

    While something runs this part redraws itself; the end of the last run stops that.
    """
    s = session()
    names = titles(s.explore.curves)
    runs = status.statuses(s.explore.curves)
    if live and not s.explore.playing and (s.paused or not status.busy(s.explore.curves, runs)):
        st.rerun()
    status.strip(s.explore.curves, names, runs)
    moment = s.explore.view.episode
    with tab_bar("tab", {name: title for name, (title, _) in TABS.items()}, s.explore.view.tab, switch):
        _, draw = TABS[s.explore.view.tab]
        draw(names, runs)
    if s.explore.playing and s.explore.view.episode == moment:  # nothing that plays is shown
        s.explore.playing = False
        st.rerun()
    with corner:
        share(s.explore, one_page.offer_page)


def switch(tab: str) -> None:
    """Opens a tab; what played in the one before stops."""
    s = session()
    played, s.explore.playing = s.explore.playing, False
    s.explore.view = replace(s.explore.view, tab=tab)
    write_address(session().explore)
    if played:
        st.rerun()


main()

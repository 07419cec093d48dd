"""Online, the main job: move a setting, watch the draft learn, and keep it to compare what privacy costs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.learners import ALGORITHMS
from pages.explore import comparison, counts, ellipsoid, export, guarantee, policy, regret, view
from pages.shared.controls.launch import curve_box
from pages.shared.controls.panel import run_settings, sidebar
from pages.shared.examples import EXAMPLES
from pages.shared.layout.frame import redrawn
from pages.shared.layout.head import common, head
from pages.shared.layout.share import share
from pages.shared.layout.tabs import tab_bar
from pages.shared.layout.terms import explained
from pages.shared.names import in_common, titles
from pages.shared.online import one_page
from pages.shared.results import status
from pages.shared.visitor.state import read_address, session, write_address

TABS = {
    "regret": ("Regret", regret.tab),
    "counts": ("Counts", counts.tab),
    "policy": ("Policy", policy.tab),
    "ellipsoid": ("Confidence set", ellipsoid.tab),  # of learners that know features
    "guarantee": ("Guarantee", guarantee.tab),
    "data": ("Data", export.tab),
}
FRAME = 0.7  # seconds each moment is shown while they play


def main() -> None:
    s = session()
    s.explore.playing = s.explore.playing and not s.arrived
    read_address(s.explore)
    with st.sidebar:
        sidebar(run_settings, curve_box)
    corner = head(s.explore)
    comparison.chips(titles(s.explore.shown))
    if not s.explore.shown:
        return
    for example in EXAMPLES:
        if tuple(s.explore.shown) == example.curves:
            st.markdown(explained(example.say))
    common(in_common(s.explore.shown))
    every = FRAME if s.explore.playing else status.pace(view.going(view.statuses()))
    redrawn(partial(draw_tab, corner), every)


def draw_tab(corner: DeltaGenerator, live: bool) -> None:
    """Draw progress and the open tab, and in the page's corner the link to just that.

    While something runs this part redraws itself; the end of the last run stops that.
    """
    s = session()
    names, runs = titles(s.explore.shown), view.statuses()
    if live and not s.explore.playing and (s.paused or not view.going(runs)):
        st.rerun()
    status.strip(s.explore.shown, names, runs)
    moment = s.explore.view.episode
    featured = any(ALGORITHMS[curve.spec.algorithm].needs for curve in s.explore.visible)
    offered = {name: title for name, (title, _) in TABS.items() if name != "ellipsoid" or featured}
    shown = s.explore.view.tab if s.explore.view.tab in offered else "regret"
    with tab_bar(f"tab_{len(offered)}", offered, shown, switch):
        _, draw = TABS[shown]
        draw(names, runs)
    if s.explore.playing and s.explore.view.episode == moment:  # nothing that plays is shown
        s.explore.playing = False
        st.rerun()
    with corner:
        share(s.explore, one_page.offer_page)


def switch(tab: str) -> None:
    """Open a tab; what played in the one before stops."""
    s = session()
    played, s.explore.playing = s.explore.playing, False
    s.explore.view = replace(s.explore.view, tab=tab)
    write_address(session().explore)
    if played:
        st.rerun()


main()

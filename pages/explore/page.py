"""Online, the main page: change a setting, watch the draft learn, and keep it to compare what privacy costs."""

from __future__ import annotations

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.learners import ALGORITHMS
from pages.explore import comparison, counts, ellipsoid, export, focus, guarantee, one_page, policy, regret
from pages.shared.controls.launch import curve_box
from pages.shared.controls.panel import run_settings, sidebar
from pages.shared.examples import EXAMPLES
from pages.shared.layout.frame import redrawn
from pages.shared.layout.head import common, head, tab_bar
from pages.shared.layout.share import share
from pages.shared.layout.terms import explained
from pages.shared.names import in_common, titles
from pages.shared.results import status
from pages.shared.visitor.state import read_address, session

TABS = {
    "regret": ("Regret", regret.tab),
    "counts": ("Counts", counts.tab),
    "policy": ("Policy", policy.tab),
    "ellipsoid": ("Confidence set", ellipsoid.tab),  # for learners that use features
    "guarantee": ("Guarantee", guarantee.tab),
    "data": ("Data", export.tab),
}


def main() -> None:
    s = session()
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
    redrawn(partial(draw_tab, corner), status.pace(focus.going(focus.statuses())))


def draw_tab(corner: DeltaGenerator, live: bool) -> None:
    """Draw the progress, the open tab, and the link to it in the page's corner.

    This part redraws itself until the last run has ended.
    """
    s = session()
    names, runs = titles(s.explore.shown), focus.statuses()
    if live and (s.paused or not focus.going(runs)):
        st.rerun()
    status.strip(s.explore.shown, names, runs)
    featured = any(ALGORITHMS[curve.spec.algorithm].needs for curve in s.explore.visible)
    offered = {name: title for name, (title, _) in TABS.items() if name != "ellipsoid" or featured}
    shown = s.explore.view.tab if s.explore.view.tab in offered else "regret"
    with tab_bar(f"tab_{len(offered)}", offered, shown, lambda name: s.explore.change(tab=name)):
        _, draw = TABS[shown]
        draw(names, runs)
    with corner:
        share(s.explore, one_page.offer_page)


main()

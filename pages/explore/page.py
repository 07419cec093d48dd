"""Online, the main page: change a setting, watch the draft learn, and keep it to compare what privacy costs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.figures.picture import Picture
from dprl.learners import ALGORITHMS
from dprl.runs.status import RunStatus
from dprl.simulation.replay import unplayable
from pages.explore import comparison, look, tabs
from pages.explore.tabs import comparison_picture
from pages.shared.controls.launch import curve_box
from pages.shared.controls.panel import run_settings, sidebar
from pages.shared.examples import EXAMPLES
from pages.shared.layout.chart import files, make_again, tidy
from pages.shared.layout.frame import redrawn
from pages.shared.layout.head import common, head, share, tab_bar
from pages.shared.layout.terms import explained
from pages.shared.names import in_common, kinds, titles
from pages.shared.results import answers, data, status
from pages.shared.visitor.state import read_address, session


def data_tab(titles: Sequence[str], runs: Sequence[RunStatus]) -> None:
    """Draw the downloads of the whole comparison, then the spec, code and command of one curve."""
    s = session()
    rows = zip(s.explore.shown, kinds(s.explore.shown), titles, runs, strict=True)
    shown = [row for row in rows if not row[0].hidden]
    places = look.offered("see its data")
    if not places:
        return
    specs, statistic = [curve.spec for curve, *_ in shown], s.explore.view.statistic
    look.begin_lacking(specs)
    known = [data.curves(spec) for spec in specs]
    drawn = [row for row, one in zip(shown, known, strict=True) if one.begun]
    best = [answers.v_star(curve.spec) for curve, *_ in drawn]

    def draw() -> Picture:
        return comparison_picture(drawn, best, "cumulative", statistic)

    files(
        "regret",
        "Cumulative regret of every seed of every visible curve, at every checkpoint.",
        tidy([title for *_, title, _ in shown], known, "episode", "regret"),
        specs,
        "Regret so far, compared",
        draw if any(map(unplayable, specs)) else None,  # otherwise *Share* offers the page without a server
    )
    st.markdown("## Reproduce it without this page", anchors=False)
    chosen = look.curve_menu("Curve", places, titles)
    make_again(s.explore.shown[chosen].spec)


TABS = {
    "regret": ("Regret", tabs.regret_tab),
    "counts": ("Counts", look.counts_tab),
    "policy": ("Policy", look.policy_tab),
    "ellipsoid": ("Confidence set", look.ellipsoid_tab),  # for learners that use features
    "guarantee": ("Guarantee", tabs.guarantee_tab),
    "data": ("Data", data_tab),
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
    redrawn(partial(draw_tab, corner), status.pace(look.going(look.statuses())))


def draw_tab(corner: DeltaGenerator, live: bool) -> None:
    """Draw the progress, the open tab, and the link to it in the page's corner.

    This part redraws itself until the last run has ended.
    """
    s = session()
    names, runs = titles(s.explore.shown), look.statuses()
    if live and (s.paused or not look.going(runs)):
        st.rerun()
    status.strip(s.explore.shown, names, runs)
    featured = any(ALGORITHMS[curve.spec.algorithm].needs for curve in s.explore.visible)
    offered = {name: title for name, (title, _) in TABS.items() if name != "ellipsoid" or featured}
    shown = s.explore.view.tab if s.explore.view.tab in offered else "regret"
    with tab_bar(f"tab_{len(offered)}", offered, shown, lambda name: s.explore.change(tab=name)):
        _, draw = TABS[shown]
        draw(names, runs)
    with corner:
        share(s.explore, comparison.offer_page)


main()

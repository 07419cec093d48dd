"""When is privacy free?: four runs up to 10^15 users, how fast the privacy cost grows, and what is proved of it."""

from __future__ import annotations

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.learners import ALGORITHMS
from dprl.privacy import PRIVATIZERS
from pages.free import link as free_link
from pages.free.additive import additive
from pages.free.controls import controls, four_box
from pages.free.state import free, priced, run_status, show_runs
from pages.free.theory import calculator
from pages.free.verdict import how, late_losses, stopped_short, verdict
from pages.free.views import SHOWN, bounds_menu, chart
from pages.shared.controls.panel import sidebar
from pages.shared.controls.widgets import segments
from pages.shared.layout.chart import computed
from pages.shared.layout.frame import redrawn
from pages.shared.layout.head import common, head
from pages.shared.layout.menu import page_link
from pages.shared.layout.reading import words_and_papers
from pages.shared.layout.share import share
from pages.shared.layout.terms import explained
from pages.shared.names import BONUS, in_common
from pages.shared.results import doubts, status
from pages.shared.results.again import save_citations
from pages.shared.text import escape
from pages.shared.visitor import links
from pages.shared.visitor.callbacks import on_value
from pages.shared.visitor.links import Curve
from pages.shared.visitor.state import read_address, session

OFFERED = ("anytime", "paper")


def main() -> None:
    f = free()
    read_address(f)
    with st.sidebar:
        sidebar(controls, lambda found: four_box(*found))
    corner = head(f)
    four(corner)
    words_and_papers()


def four(corner: DeltaGenerator) -> None:
    """The four runs that differ in who is trusted."""
    f = free()
    curves, refused = free_link.four_models(f.base)
    for sentence in refused:
        st.warning(escape(sentence), icon=":material/info:")
    runs = [run_status(curve.spec) for curve in curves]
    every = status.pace([run for run in runs if run.state in status.ACTIVE])
    redrawn(partial(draw_four, curves, corner), every)
    additive()


def draw_four(curves: tuple[Curve, ...], corner: DeltaGenerator, live: bool) -> None:
    """Progress, the answer, the chart that is looked at, and the calculator; in the corner the link to just that."""
    f = free()
    runs = [run_status(curve.spec) for curve in curves]
    going = any(run.state in status.ACTIVE for run in runs)
    if live and not going:
        st.rerun()
    titles = [PRIVATIZERS[curve.spec.privacy].title for curve in curves]
    status.strip(list(curves), titles, runs)
    found = priced(curves, runs)
    st.markdown(
        explained(
            verdict(found)
            or "Privacy is free when the privacy cost stops growing with the number of users. The privacy cost is the "
            "regret beyond that of the same run without privacy."
        )
    )
    doubts.tell([stopped_short(found)])
    shared = f"{in_common(curves)} · ε = {f.base.epsilon:g}"
    session().common = shared  # for pictures, which are drawn first
    choices(going)
    if f.view.show == "calculator":
        calculator()
    else:
        chart(found)
        if late := late_losses(found):
            st.caption(explained(late))
    common(shared)
    computed(how(found))
    page_link(
        "explore", "Open these runs on the page Online", links.encode(curves, links.View(measure="extra"))
    )
    save_citations([curve.spec for curve in curves])
    with corner:
        share(f)


def choices(going: bool = False) -> None:
    """What is drawn, with which constants, and how. going: whether what is drawn goes on."""
    s, f = session(), free()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="free_view"):
        segments("Chart", "show", SHOWN, f.view.show, lambda show: free().change(show=show))
        known = [bonus for bonus in OFFERED if bonus in ALGORITHMS[f.base.algorithm].bonuses]
        offered = {key: BONUS[key].capitalize() for key in dict.fromkeys((*known, f.base.bonus))}
        segments("Bonus constants", "bonus", offered, f.base.bonus, choose_bonus)
        if f.view.show in ("price", "regret"):
            key = f"{s.version}:free:each"
            st.toggle(
                "Every seed",
                f.view.each == "on",
                key=key,
                on_change=on_value(key, lambda on: free().change(each="on" if on else "off")),
            )
        if f.view.show == "theory":
            bounds_menu()
        if going:
            status.pause_switch()


def choose_bonus(bonus: str) -> None:
    """The same runs with other constants, at once."""
    show_runs(free().base.replace(bonus=bonus))
    st.rerun()


main()

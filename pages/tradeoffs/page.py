"""Trade-offs: what privacy costs against epsilon, K and the size of the problem, for several models at once."""

from __future__ import annotations

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.metrics import Statistic
from dprl.simulation import Spec
from pages.shared.controls.panel import sidebar
from pages.shared.controls.widgets import segments
from pages.shared.layout.frame import redrawn
from pages.shared.layout.head import common, head
from pages.shared.layout.reading import words_and_papers
from pages.shared.layout.share import share
from pages.shared.results.together import PACE
from pages.shared.visitor.callbacks import callback
from pages.shared.visitor.links import STATISTICS
from pages.shared.visitor.state import read_address, write_address
from pages.tradeoffs import controls as trade_controls
from pages.tradeoffs import state as trade
from pages.tradeoffs import study as studies
from pages.tradeoffs.points import frontier_chart, sweep_table
from pages.tradeoffs.status import sweep_strip
from pages.tradeoffs.study import SweepView
from pages.tradeoffs.subject import SUBJECTS
from pages.tradeoffs.users import needed, target


def main() -> None:
    t = trade.trade()
    read_address(t)
    with st.sidebar:
        sidebar(trade_controls.controls, trade_controls.sweep_box)
    corner = head(t)
    common(shared(t.study))
    busy = bool(trade.sweep_progress(wanted(t.study)).active)
    redrawn(partial(draw_sweep, corner), PACE if busy else None)
    words_and_papers()


def shared(study: SweepView) -> str:
    """What all points share, in words."""
    return " · ".join(study.subject.common(study.base, study.x, study.show == "users"))


def wanted(study: SweepView) -> list[Spec]:
    """The runs that the chart shown needs now."""
    if study.show != "users":
        return list(study.sweep.specs)
    found: dict[Spec, None] = {}
    for way in study.searches if target(study) > 0 else ():
        search = trade.users_search(study, way, target(study))
        found |= dict.fromkeys(trade.pending(study, way, search))
    return list(found)


def draw_sweep(corner: DeltaGenerator, live: bool) -> None:
    """Progress and the chart. While something runs this part redraws itself; its end stops that."""
    t = trade.trade()
    study = t.study
    runs = wanted(study)
    if study.show == "users" and t.asked:
        trade.go_on(runs)
    state = trade.sweep_progress(runs)
    if live != bool(state.active):
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="trade_view"):
        segments("What is drawn", "show", study.subject.shows, study.show, choose_show)
        if study.show != "users":  # which are searched for by means
            words = {str(statistic): statistic.capitalize() for statistic in STATISTICS}
            segments("Average over seeds", "statistic", words, study.statistic, choose)
    for refusal in trade.refusals(study):
        st.caption(f":material/info: {refusal}")
    if study.show == "users":
        needed(study, state)
    else:
        sweep_strip(state)
        if study.show == "table":
            sweep_table(study)
        else:
            frontier_chart(study)
    others(study)
    with corner:
        share(t)


def others(study: SweepView) -> None:
    """Questions that a button answers, for the same problem, and where another kind of runs begins."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="questions"):
        st.caption("More questions:", width="content")
        for words, other in studies.questions(study).items():
            st.button(
                words,
                key=f"question_{other.x}_{len(other.models)}",
                on_click=callback(ask_for),
                args=(other,),
            )
        for kind, subject in SUBJECTS.items():
            if kind != study.base.kind:
                st.button(
                    subject.asked,
                    key=f"question_{kind}",
                    on_click=callback(ask_for),
                    args=(studies.first(kind),),
                )


def ask_for(study: SweepView) -> None:
    """Another study is shown, and what is missing of it started."""
    trade.show_study(study)
    trade.start_sweep()
    write_address(trade.trade())
    st.rerun()


def choose_show(to: str) -> None:
    """Another chart is chosen."""
    t = trade.trade()
    begun = t.asked
    trade.change_sweep_view(show=to)
    if begun:
        trade.start_sweep()
    st.rerun()


def choose(statistic: Statistic) -> None:
    """Mean or median is chosen."""
    trade.change_sweep_view(statistic=statistic)
    st.rerun()


main()

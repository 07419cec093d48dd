"""Offline: a policy learned from a private data set, and how large that data set has to be."""

from __future__ import annotations

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.offline.controls import controls
from pages.offline.examples import EXAMPLES, Example
from pages.offline.names import in_common
from pages.offline.state import change, compare, offline, own_going, progress, set_controls, start
from pages.offline.tabs import coverage, export, gap, guarantee, pessimism, policy, upload
from pages.shared.layout.frame import redrawn
from pages.shared.layout.head import common, head
from pages.shared.layout.reading import OF_DATA_SETS, PAPERS_ON_DATA_SETS, words_and_papers
from pages.shared.layout.share import share
from pages.shared.layout.terms import explained
from pages.shared.results import together
from pages.shared.visitor.callbacks import callback, on_value
from pages.shared.visitor.owners import owner_id
from pages.shared.visitor.state import read_address

TABS = {
    "gap": ("Gap against n", gap.tab),
    "pessimism": ("Pessimism", pessimism.tab),
    "policy": ("Policy", policy.tab),
    "coverage": ("Coverage", coverage.tab),
    "guarantee": ("Guarantee", guarantee.tab),
    "data": ("Data", export.tab),
    "upload": ("Your data", upload.tab),
}
PACE = 0.5  # seconds between two looks at what is running


def main() -> None:
    o = offline()
    read_address(o)
    own = o.view.tab == "upload"
    with st.sidebar:
        if own:
            st.caption(
                "**Your data** has its settings on the page. Settings of simulated data stand here when another "
                "tab is open."
            )
        else:
            controls()
    corner = head(o)
    st.markdown(
        explained(
            "Nobody explores here. People were treated by some *behaviour policy*, a *curator* holds what was written "
            "down, and releases noisy sums of it once; a better policy is learned from these."
        )
    )
    if not own:
        examples()
        for example in EXAMPLES:
            if example.specs == o.specs:
                st.markdown(explained(f"**{example.say}**"))
        common(in_common(o.specs))
    state = progress(o.specs)
    redrawn(partial(results, corner, [state]), PACE if going(state) else None)
    words_and_papers(OF_DATA_SETS, PAPERS_ON_DATA_SETS)


def examples() -> None:
    """Comparisons that are worth looking at, each a press away."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="examples"):
        for i, example in enumerate(EXAMPLES):
            st.button(
                example.title,
                key=f"example_{i}",
                help=example.say,
                on_click=callback(take),
                args=(example,),
                type="primary" if offline().specs == example.specs else "secondary",
            )


def take(example: Example) -> None:
    """Shows an example, in the chart that is open."""
    compare(example.specs)
    set_controls(example.specs)


def turn(tab: str) -> None:
    """Opens a tab. What stands around it is of simulated data: not so beside a data set of the visitor's own."""
    surrounded = "upload" in (offline().view.tab, tab)
    change(tab=tab)
    if surrounded:
        st.rerun()


def going(state: together.Progress) -> bool:
    """Whether anything is being computed."""
    return bool(state.active) or own_going(offline().own)


def results(corner: DeltaGenerator, known: list[together.Progress], live: bool) -> None:
    """Progress and the open tab, and in the page's corner the link to just that. It redraws itself while runs go on.

    known: how they stand, for the first time that it is drawn.
    """
    o = offline()
    state = known.pop() if known else progress(o.specs)
    if live != going(state):
        st.rerun()
    together.strip(state, owner_id("offline"), start)
    labels = {label: name for name, (label, _) in TABS.items()}
    st.session_state["offline_tab"] = TABS[o.view.tab][
        0
    ]  # see Explore: a `default` would lose a quick second press
    tabs = st.tabs(
        list(labels),
        key="offline_tab",
        on_change=on_value("offline_tab", lambda label: turn(labels[label])),
    )
    for tab, (name, (_, draw)) in zip(tabs, TABS.items(), strict=True):
        if name == o.view.tab:
            with tab:
                draw()
    with corner:
        share(o)


main()

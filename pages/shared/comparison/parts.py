"""What pages that compare runs draw alike: the examples, how the runs stand, the open tab, and the box with Run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared.comparison.record import ComparisonPage
from pages.shared.controls.launch import offer
from pages.shared.layout.frame import redrawn
from pages.shared.layout.head import common
from pages.shared.layout.share import share
from pages.shared.layout.tabs import tab_bar
from pages.shared.layout.terms import explained
from pages.shared.results import together
from pages.shared.results.together import PACE, Progress
from pages.shared.text import escape
from pages.shared.visitor.callbacks import callback
from pages.shared.visitor.owners import owner_id
from pages.shared.visitor.state import session


class Tab(NamedTuple):
    """A tab of such a page."""

    title: str
    draw: Callable[[], object]


Tabs = Mapping[str, Tab]


def results(page: ComparisonPage[Any], tabs: Tabs, corner: DeltaGenerator) -> None:
    """Draw examples, how the runs stand, and the open tab; in the page's corner the link to just that. tabs: by their
    key in the view."""
    state = page.state
    shared = page.in_common(state.specs)
    examples(page)
    session().common = shared  # for pictures, which are drawn first
    begun = page.runs.progress(state.specs)
    redrawn(partial(_results, page, tabs, corner, [begun]), PACE if begun.active else None)
    common(shared)


def examples(page: ComparisonPage[Any]) -> None:
    """Comparisons that are worth looking at, each a press away, and what to see in the one shown."""
    state = page.state
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="examples"):
        for i, example in enumerate(page.examples):
            st.button(
                example.title,
                key=f"example_{i}",
                help=escape(example.say),
                on_click=callback(state.take),
                args=(example,),
                type="primary" if state.specs == example.specs else "secondary",
            )
    for example in page.examples:
        if state.specs == example.specs:
            st.markdown(explained(f"**{escape(example.say)}**"))


def _results(
    page: ComparisonPage[Any],
    tabs: Tabs,
    corner: DeltaGenerator,
    begun: list[Progress],
    live: bool,
) -> None:
    """It redraws itself while runs go on. begun: how they stand, for the first time that it is drawn."""
    state = page.state
    progress = begun.pop() if begun else page.runs.progress(state.specs)
    if live != bool(progress.active):
        st.rerun()
    together.strip(progress, owner_id(page.path), state.start)

    titles = {name: tab.title for name, tab in tabs.items()}
    with tab_bar(f"{page.path}_tab", titles, state.view.tab, lambda name: state.change(tab=name)):
        tabs[state.view.tab].draw()
    with corner:
        share(state)


def run_box(
    page: ComparisonPage[Any],
    specs: Sequence[Any] | None,
    refused: Sequence[str],
    beside: Callable[[], object] = lambda: None,
) -> None:
    """What pressing Run will do, and the buttons.

    Args:
        specs: the runs that the controls describe, None where there are none.
        refused: why others cannot be made, or none can, a sentence each.
        beside: draws what a page has above the buttons.
    """
    state, runs = page.state, page.runs
    offer(
        specs,
        state.compare,
        lambda: runs.missing(specs or ()),
        page.amount,
        refused,
        also=state.reset,
        beside=beside,
    )

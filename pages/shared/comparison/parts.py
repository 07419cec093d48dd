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
    """A tab. alone: what it shows is not of the runs compared, so that nothing of them stands above it."""

    title: str
    draw: Callable[[], object]
    alone: bool = False


Tabs = Mapping[str, Tab]


def _idle() -> bool:
    return False


def results(
    page: ComparisonPage[Any], tabs: Tabs, corner: DeltaGenerator, busy: Callable[[], bool] = _idle
) -> None:
    """Examples, how the runs stand, and the open tab; in the page's corner the link to just that.

    Args:
        tabs: by their key in the view.
        busy: whether anything is being computed besides the runs that are compared.
    """
    state = page.state
    alone = tabs[state.view.tab].alone
    shared = page.in_common(state.specs)
    if not alone:
        examples(page)
        session().common = shared  # for pictures, which are drawn first
    begun = page.runs.progress(state.specs)
    going = _going(page, begun, busy)
    redrawn(partial(_results, page, tabs, corner, busy, [begun]), PACE if going else None)
    if not alone:
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


def _going(page: ComparisonPage[Any], shown: Progress, busy: Callable[[], bool]) -> bool:
    further = page.further(page.state)
    return bool(shown.active or (further and page.runs.progress(further).active) or busy())


def _results(
    page: ComparisonPage[Any],
    tabs: Tabs,
    corner: DeltaGenerator,
    busy: Callable[[], bool],
    begun: list[Progress],
    live: bool,
) -> None:
    """It redraws itself while runs go on. begun: how they stand, for the first time that it is drawn."""
    state = page.state
    progress = begun.pop() if begun else page.runs.progress(state.specs)
    if live != _going(page, progress, busy):
        st.rerun()
    together.strip(progress, owner_id(page.path), state.start)

    def turn(name: str) -> None:
        around = {tabs[state.view.tab].alone, tabs[name].alone}
        state.change(tab=name)
        if len(around) == 2:  # what stands above the tabs comes or goes
            st.rerun()

    titles = {name: tab.title for name, tab in tabs.items()}
    with tab_bar(f"{page.path}_tab", titles, state.view.tab, turn):
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

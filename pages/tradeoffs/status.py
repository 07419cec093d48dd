"""How the runs of a study stand, as one, and what can be done about it."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dprl.simulation import RunSpec
from dprl.words import duration, plural
from pages.shared.results import data
from pages.shared.results.status import act
from pages.shared.text import escape
from pages.shared.visitor.state import attempt
from pages.tradeoffs import state as trade


def strip(state: trade.Progress) -> None:
    """How the runs stand, as one."""
    if state.active:
        with st.container(
            key="status_going", horizontal=True, wrap=False, vertical_alignment="center", gap="small"
        ):
            said = (
                f"**{plural(state.runs, 'run')}** · {state.seeds_done} of {plural(state.seeds, 'seed')} finished, "
                f"{duration(state.seconds_left)} left."
            )
            st.progress(min(1.0, state.share), said, width="stretch")
            act("Cancel", "close", partial(cancel, state.active), "cancel")
    elif state.failed:
        with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
            _, run = state.failed[0]
            st.markdown(
                f":material/error: {plural(len(state.failed), 'run')} failed. {escape(run.message)}",
                width="stretch",
            )
            act("Try again", "replay", partial(again, [spec for spec, _ in state.failed]), "retry")
    elif state.stopped:
        with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
            st.markdown(
                f":material/info: {plural(state.stopped, 'run')} of {state.runs} not computed.",
                width="stretch",
            )
            act("Run them", "play_arrow", begin, "begin")


def begin() -> None:
    """Asks for what is missing, also of a search."""
    trade.start()


def cancel(specs: tuple[RunSpec, ...]) -> None:
    """Withdraws from all runs at once; what is finished stays."""
    trade.trade().asked = False
    for spec in specs:
        attempt(data.store().cancel, spec, trade.visitor())


def again(specs: list[RunSpec]) -> None:
    """Asks for runs again that failed."""
    for spec in specs:
        attempt(data.store().retry, spec, trade.visitor())

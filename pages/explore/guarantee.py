"""The tab Guarantee: what each run promises to its users, what its noise proves, and where the noise enters."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dprl.runs.status import RunStatus
from pages.explore import view
from pages.shared.online.guarantee import guarantee_cards
from pages.shared.visitor.state import session


def tab(titles: Sequence[str], runs: Sequence[RunStatus]) -> None:
    """Draw the guarantees of the visible curves, side by side; the card of one; then the effect of other noise.

    All of it follows from the specs: it is there before the first seed is finished, and whatever becomes of the runs.
    """
    s = session()
    if not s.explore.visible:
        st.info("All curves are hidden. Show one to see what it guarantees.")
        return
    guarantee_cards(
        s.explore.shown, titles, lambda offered: view.curve_menu("Look closely at", offered, titles)
    )

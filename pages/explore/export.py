"""The tab Data: the numbers, the spec, and how to make them again without this page."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dprl.runs.status import RunStatus
from pages.explore import view
from pages.explore.focus import begin_lacking
from pages.shared.names import kinds
from pages.shared.online.files import downloads
from pages.shared.results.again import make_again
from pages.shared.visitor.state import session


def tab(titles: Sequence[str], runs: Sequence[RunStatus]) -> None:
    """Draw the downloads of the whole comparison, then one curve's spec, code and command."""
    s = session()
    rows = zip(s.explore.shown, kinds(s.explore.shown), titles, runs, strict=True)
    shown = [row for row in rows if not row[0].hidden]
    offered = [i for i, curve in enumerate(s.explore.shown) if not curve.hidden]
    if not shown:
        st.info("All curves are hidden. Show one to see its data.")
        return
    begin_lacking([curve.spec for curve, *_ in shown])
    downloads(shown, s.explore.view.statistic)
    st.markdown("## Make it again without this page", anchors=False)
    chosen = view.curve_menu("Curve", offered, titles)
    make_again(s.explore.shown[chosen].spec)

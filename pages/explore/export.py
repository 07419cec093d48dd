"""The tab Data: downloads of the numbers and the spec, and how to reproduce them without this page."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dprl.figures.picture import Picture
from dprl.runs.status import RunStatus
from dprl.simulation.replay import unplayable
from pages.explore.focus import begin_lacking, curve_menu, offered
from pages.explore.regret import comparison_picture
from pages.shared.names import kinds
from pages.shared.results import answers, data
from pages.shared.results.again import files, make_again, tidy
from pages.shared.visitor.state import session


def tab(titles: Sequence[str], runs: Sequence[RunStatus]) -> None:
    """Draw the downloads of the whole comparison, then the spec, code and command of one curve."""
    s = session()
    rows = zip(s.explore.shown, kinds(s.explore.shown), titles, runs, strict=True)
    shown = [row for row in rows if not row[0].hidden]
    places = offered("see its data")
    if not places:
        return
    specs, statistic = [curve.spec for curve, *_ in shown], s.explore.view.statistic
    begin_lacking(specs)
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
    chosen = curve_menu("Curve", places, titles)
    make_again(s.explore.shown[chosen].spec)

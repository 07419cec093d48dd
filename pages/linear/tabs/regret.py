"""The tab Regret: what learning has cost so far, while it runs; from where on the paper's constants say something."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dprl import metrics
from dprl.learners import ALGORITHMS
from dprl.sentences import linear as sentences
from pages.linear.record import LINEAR
from pages.shared.layout.chart import empty
from pages.shared.layout.menu import page_link
from pages.shared.layout.terms import explained
from pages.shared.names import kinds, titles
from pages.shared.online.regret import Row, regret_chart
from pages.shared.results import answers
from pages.shared.results.status import awaited
from pages.shared.visitor.links import AT_FIRST, STATISTICS, encode, most_private
from pages.tradeoffs import study as studies
from pages.tradeoffs.study import SweepView

MEASURES = {
    "share": "Share lost",
    "per-episode": "Per episode",
    "cumulative": "Cumulative",
    "extra": "Privacy cost",
}
INFORMATIVE = 0.5  # of V*, lost on average: where more is lost a run has said nothing yet


def run_rows() -> list[Row]:
    """The runs as Explore's parts take them."""
    part = LINEAR.state
    statuses = [LINEAR.runs.status(spec) for spec in part.specs]
    return list(zip(part.curves, kinds(part.curves), titles(part.curves), statuses, strict=True))


def tab() -> None:
    """Controls of the view, and the chart."""
    part = LINEAR.state
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="linear_view"):
        measure = LINEAR.widgets.segments("Regret shown", "measure", MEASURES)
        LINEAR.widgets.segments(
            "Average over seeds", "statistic", {one: one.capitalize() for one in STATISTICS}
        )
        with st.popover("Axes and seeds", icon=":material/tune:"):
            log_x = LINEAR.widgets.switch("Logarithmic user axis", "x", "log", "linear")
            log_y = LINEAR.widgets.switch("Logarithmic regret axis", "y", "log", "linear")
            each = LINEAR.widgets.switch("A line for every seed", "each", "on", "off")
    found = run_rows()
    if measure == "extra":
        specs = {row[0].spec for row in found}
        found = [row for row in found if row[0].spec.privacy != "none" and row[0].spec.baseline() in specs]
        if not found:
            empty(
                "The privacy cost is the regret beyond that of the same algorithm without privacy. Add a run without "
                "privacy to see it."
            )
            return
    if not any(len(LINEAR.runs.curves(row[0].spec).at) for row in found):
        empty(awaited((LINEAR.runs.status(row[0].spec) for row in found), (row[0].spec for row in found)))
        return
    regret_chart(found, measure, part.view.statistic, LINEAR.runs.curves, log_x=log_x, log_y=log_y, each=each)
    telling_from(found)
    ways_on()


def telling_from(found: list[Row]) -> None:
    """From which K on runs with the paper's constants say something."""
    told = []
    for curve, _, title, run in found:
        known, v_star = LINEAR.runs.curves(curve.spec), answers.v_star(curve.spec)
        if curve.spec.bonus == "paper" and run.state == "done" and v_star is not None:
            average = np.nanmean(metrics.per_episode(known.at, known.values), axis=0)
            users = metrics.enough(known.at, average, INFORMATIVE * v_star)
            told.append((title, users, curve.spec.episodes))
    if told:
        st.info(explained(sentences.informative(told, INFORMATIVE)), icon=":material/straighten:")


def ways_on() -> None:
    """The same runs elsewhere: what they learn in Online, their privacy cost at other budgets in Trade-offs."""
    part = LINEAR.state
    spec = part.specs[most_private(part.curves)]
    study = SweepView(spec, models=ALGORITHMS[spec.algorithm].privacies)
    with st.container(horizontal=True, gap="small", key="linear_ways_on"):
        page_link("explore", "Open these runs on the page Online", encode(part.curves, AT_FIRST))
        page_link("tradeoffs", "Sweep ε in Trade-offs", studies.encode(study))

"""The tab Data: the numbers, and how to make them again without this page."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dprl.figures import offline as figures
from dprl.figures import standalone_html
from dprl.figures.lines import Series
from dprl.sentences import offline as sentences
from dprl.simulation import OfflineSpec
from pages.offline.record import RUNS, offline
from pages.offline.tabs.focus import chosen_spec
from pages.offline.tabs.gap import best_of, curve_of
from pages.shared.layout.chart import footer
from pages.shared.offline import names
from pages.shared.results.again import files, make_again, tidy
from pages.shared.visitor.state import session


def tab() -> None:
    """Draw the downloads of the whole comparison, then one run's spec, code and command."""
    specs = offline().specs
    titles = names.titles(specs)
    table = tidy(titles, [RUNS.curves(spec) for spec in specs], "n", "gap")
    best = best_of(specs)
    drawn = [
        (spec, curve_of(title, kind, RUNS.curves(spec), best, RUNS.status(spec)))
        for spec, title, kind in zip(specs, titles, names.kinds(specs), strict=True)
        if RUNS.curves(spec).begun
    ]
    about, words = session().common, footer()
    files(
        "gap",
        "The suboptimality of every run, for every data set of every size n.",
        table,
        specs,
        lambda: gaps_page(
            [spec for spec, _ in drawn], [curve for _, curve in drawn], about=about, footer=words
        ),
    )
    st.markdown("## Make it again without this page", anchors=False)
    make_again(specs[chosen_spec()])


def gaps_page(specs: Sequence[OfflineSpec], curves: Sequence[Series], *, about: str, footer: str) -> str:
    """Return the chart of gaps as a page that needs no network, with a slider over n, and one over budgets."""
    return standalone_html.comparison_page(
        "Suboptimality, compared",
        about,
        curves,
        [budget_words(spec) for spec in specs],
        lambda some: figures.gaps_over_n(some, see=sentences.about_gaps(some, curves[0].v_star)),
        x="Trajectories in the data set",
        columns=["suboptimality", "95% interval", "data sets"],
        footer=footer,
    )


def budget_words(spec: OfflineSpec) -> str:
    """Describe a run's guarantee; "" without privacy."""
    if spec == spec.baseline():
        return ""
    return f"ε = {spec.epsilon:g}" if spec.epsilon is not None else f"ρ = {spec.rho:g}"

"""The tab Data: the numbers, and how to make them again without this page."""

from __future__ import annotations

import streamlit as st

from dprl.research.series import gap_picture
from pages.offline.record import RUNS, offline
from pages.offline.tabs.focus import chosen_spec
from pages.offline.tabs.gap import best_of, curve_of
from pages.shared.offline import names
from pages.shared.results.again import files, make_again, tidy


def tab() -> None:
    """Downloads for the whole comparison, then one run's spec, code and command."""
    specs = offline().specs
    titles = names.titles(specs)
    table = tidy(titles, [RUNS.curves(spec) for spec in specs], "n", "gap")
    best = best_of(specs)
    drawn = [
        (spec, curve_of(title, kind, RUNS.curves(spec), best, RUNS.status(spec)))
        for spec, title, kind in zip(specs, titles, names.kinds(specs), strict=True)
        if RUNS.curves(spec).begun
    ]
    files(
        "gap",
        "The suboptimality of every run, for every data set of every size n.",
        table,
        specs,
        "Suboptimality, compared",
        lambda: gap_picture([spec for spec, _ in drawn], [curve for _, curve in drawn], best, dark=False),
    )
    st.markdown("## Make it again without this page", anchors=False)
    make_again(specs[chosen_spec()])

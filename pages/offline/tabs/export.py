"""The tab Data: the numbers, the specs, and how to make them again without this page."""

from __future__ import annotations

import json

import streamlit as st

from dprl.figures import offline as figures
from dprl.tables import csv, harmless
from pages.offline import names
from pages.offline.state import known, offline
from pages.offline.tabs.focus import chosen_spec
from pages.offline.tabs.gap import curve_of
from pages.shared.layout.download import camera, save
from pages.shared.results.again import make_again, parquet, tidy


def tab() -> None:
    """Downloads for the whole comparison, then one run's spec, code and command."""
    specs = offline().specs
    titles = names.titles(specs)
    table = tidy(titles, [known(spec) for spec in specs], "n", "gap")
    curves = [
        curve_of(spec, title, kind, known(spec), None)
        for spec, title, kind in zip(specs, titles, names.kinds(specs), strict=True)
    ]
    named = {title: spec.to_dict() for title, spec in zip(titles, specs, strict=True)}
    st.caption("The gap v* − v^π of every repetition of every run, at every size n.")
    with st.container(horizontal=True, gap="small"):
        save("gap.csv", "CSV", "text/csv", lambda: csv(table))
        save("gap.parquet", "Parquet", "application/vnd.apache.parquet", lambda: parquet(table))
        save(
            "specs.json", "Specs", "application/json", lambda: json.dumps(named, indent=2, ensure_ascii=False)
        )
        save(
            "gap.html",
            "Chart (HTML)",
            "text/html",
            lambda: str(figures.gaps(curves).figure.to_html(include_plotlyjs=True, full_html=True)),
        )
    camera()
    st.dataframe(harmless(table), hide_index=True, width="stretch", height=280, key="data_table")
    st.markdown("#### Make it again without this page", anchors=False)
    make_again(specs[chosen_spec(specs)])

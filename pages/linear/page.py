"""Linear: learners that know how transitions depend on features, and what noise does to their confidence sets."""

from __future__ import annotations

import streamlit as st

from pages.linear.controls import controls
from pages.linear.record import LINEAR
from pages.linear.tabs import eigenvalues, ellipsoid, exponents, export, guarantee, regret, weights
from pages.shared.comparison.parts import Tab, results, run_box
from pages.shared.controls.panel import sidebar
from pages.shared.layout.head import head
from pages.shared.layout.reading import OF_LINEAR_MODELS, PAPERS_ON_LINEAR_MODELS, words_and_papers
from pages.shared.layout.terms import explained
from pages.shared.visitor.state import read_address

TABS = {
    "regret": Tab("Regret", regret.tab),
    "exponents": Tab("Exponents", exponents.tab),
    "ellipsoid": Tab("Confidence set", ellipsoid.tab),
    "eigenvalues": Tab("Eigenvalues", eigenvalues.tab),
    "weights": Tab("Weights", weights.tab),
    "guarantee": Tab("Guarantee", guarantee.tab),
    "data": Tab("Data", export.tab),
}


def main() -> None:
    read_address(LINEAR.state)
    with st.sidebar:
        sidebar(controls, lambda found: run_box(LINEAR, *found))
    corner = head(LINEAR.state)
    st.markdown(
        explained(
            "The *features* of each transition are public, their *weights* are hidden. An algorithm estimates the "
            "weights by regression. Privacy adds noise to its sums."
        )
    )
    results(LINEAR, TABS, corner)
    words_and_papers(OF_LINEAR_MODELS, PAPERS_ON_LINEAR_MODELS)


main()

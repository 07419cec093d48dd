"""Linear: learners that know how transitions depend on features, and what noise does to what they hold possible."""

from __future__ import annotations

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.linear.controls import controls
from pages.linear.examples import EXAMPLES, Example, shown
from pages.linear.state import RUNS, asked, change, compare, linear, set_controls, start
from pages.linear.tabs import eigenvalues, ellipsoid, exponents, export, guarantee, regret, weights
from pages.shared.layout.frame import redrawn
from pages.shared.layout.head import common, head
from pages.shared.layout.reading import OF_LINEAR_MODELS, PAPERS_ON_LINEAR_MODELS, words_and_papers
from pages.shared.layout.share import share
from pages.shared.layout.terms import explained
from pages.shared.names import in_common
from pages.shared.results import together
from pages.shared.text import escape
from pages.shared.visitor.callbacks import callback, on_value
from pages.shared.visitor.owners import owner_id
from pages.shared.visitor.state import read_address

TABS = {
    "regret": ("Regret", regret.tab),
    "exponents": ("Exponents", exponents.tab),
    "ellipsoid": ("Ellipsoid", ellipsoid.tab),
    "eigenvalues": ("Eigenvalues", eigenvalues.tab),
    "weights": ("Weights", weights.tab),
    "guarantee": ("Guarantee", guarantee.tab),
    "data": ("Data", export.tab),
}
PACE = 0.5  # seconds between two looks at what is running


def main() -> None:
    part = linear()
    read_address(part)
    with st.sidebar:
        controls()
    corner = head(part)
    st.markdown(
        explained(
            "Everybody knows *features* of each transition; how much each counts is hidden in *weights* wₕ, d numbers "
            "for each step. A learner regresses on what users did, and noise is added to its sums."
        )
    )
    examples()
    if (example := shown(part.specs)) is not None:
        st.markdown(explained(f"**{escape(example.say)}**"))
    common(in_common(part.curves))
    redrawn(partial(results, corner), PACE if going() else None)
    words_and_papers(OF_LINEAR_MODELS, PAPERS_ON_LINEAR_MODELS)


def examples() -> None:
    """Comparisons that are worth looking at, each a press away."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="examples"):
        for i, example in enumerate(EXAMPLES):
            st.button(
                example.title,
                key=f"example_{i}",
                help=escape(example.say),
                on_click=callback(take),
                args=(example,),
                type="primary" if linear().specs == example.specs else "secondary",
            )


def take(example: Example) -> None:
    """Shows an example."""
    compare(example.specs, example.view)
    set_controls(example.specs)


def going() -> bool:
    """Whether anything is being computed."""
    part = linear()
    return bool(RUNS.progress([*part.specs, *asked(part)]).active)


def results(corner: DeltaGenerator, live: bool) -> None:
    """Progress and the open tab, and in the page's corner the link to just that. It redraws itself while runs go on."""
    part = linear()
    if live != going():
        st.rerun()
    together.strip(RUNS.progress(part.specs), owner_id("linear"), start)
    labels = {label: name for name, (label, _) in TABS.items()}
    # see Explore: a `default` would lose a quick second press
    st.session_state["linear_tab"] = TABS[part.view.tab][0]
    tabs = st.tabs(
        list(labels),
        key="linear_tab",
        on_change=on_value("linear_tab", lambda label: change(tab=labels[label])),
    )
    for tab, (name, (_, draw)) in zip(tabs, TABS.items(), strict=True):
        if name == part.view.tab:
            with tab:
                draw()
    with corner:
        share(part)


main()

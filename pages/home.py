"""Home: one finished chart, what to see in it, and the way on."""

from __future__ import annotations

import streamlit as st

from dprl.figures import regret as figures
from pages.parts.bundled import bundled
from pages.parts.chart import kept, show
from pages.parts.examples import HOME
from pages.parts.frame import dark, required
from pages.parts.names import in_common, titles
from pages.parts.reading import words_and_papers
from pages.parts.regret import curve_of
from pages.parts.text import escape


def main() -> None:
    st.title("What does privacy cost a learner?", anchor=False)
    st.markdown(
        "Users come one after the other, and a learner finds out from their episodes how to act. "
        "**Differential privacy** hides each of them in noise, and the less one user may matter (small ε), the more "
        "users it takes until the learner sees through that noise. Below, each curve falls when it does."
    )
    names = titles(HOME.curves)
    known = bundled()
    curves = [
        curve_of(curve, name, None, "per-episode", known[curve.spec])
        for curve, name in zip(HOME.curves, names, strict=True)
        if curve.spec in known
    ]
    st.caption(escape(in_common(HOME.curves)))
    night = dark()
    picture = kept(
        ("home", night), lambda: figures.comparison(curves, view="per-episode", log_y=False, dark=night)
    )
    show(picture, "home")
    with st.container(horizontal=True, gap="small", key="ways_on"):
        st.page_link(
            "pages/explore.py",
            label="Open this chart in Explore",
            icon=":material/show_chart:",
            query_params=HOME.query,
        )
        st.page_link("pages/explore.py", label="Begin with an empty one", icon=":material/add:")
    words_and_papers()


required(__file__)
main()

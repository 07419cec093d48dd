"""Landscape: every private learner there is, at one proved guarantee, on the same problems."""

from __future__ import annotations

import streamlit as st

from dprl.landscape import PROBLEMS, frame, rows
from dprl.landscape.rows import all_rows
from dprl.tables import csv
from dprl.words import power
from pages.landscape import views, words
from pages.landscape.state import bundled_landscape, look_at, view
from pages.shared.controls.widgets import segments, select
from pages.shared.layout.download import save
from pages.shared.layout.head import head
from pages.shared.layout.share import share
from pages.shared.layout.terms import explained
from pages.shared.results.again import save_citations
from pages.shared.text import escape
from pages.shared.visitor.state import read_address, session


def main() -> None:
    v = view()
    read_address(v)
    corner = head(v)
    inputs()
    seen = v.seen
    found = rows(bundled_landscape(), seen.problem, seen.K, seen.constants == "paper")
    session().common = words.shared_words(seen)
    who, users = words.who_needs_fewest(found)
    st.markdown(explained(f"**{escape(who)}**"))
    views.panels(found, seen)
    st.markdown(explained(escape(users)))
    lower = words.lower_words(found, seen)
    if lower:
        st.markdown(explained(escape(lower)))
    st.caption(explained(escape(session().common)))
    found = views.ordered(found, seen)
    views.rows_table(found, seen)
    views.closely(found, seen)
    text, everything = csv(frame(found)), bundled_landscape()
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        save("landscape.csv", "Download this table (CSV)", "text/csv", lambda: text)
        save("landscape-all.csv", "Download all tables (CSV)", "text/csv", lambda: csv(all_rows(everything)))
        save_citations(views.longest_runs(found))
    with corner:
        share(v)
    with st.expander("Proved, claimed, measured", icon=":material/verified:"):
        st.markdown("\n".join(f"- {said}" for said in words.MEANING))
    with st.expander("How this was computed", icon=":material/foundation:"):
        st.markdown("\n".join(f"- {escape(said)}" for said in words.HOW))
        st.caption("The command line does the same:")
        st.code("python -m dprl reproduce landscape --out results", language="bash", wrap_lines=True)
    with st.expander("The lower bound", icon=":material/vertical_align_bottom:"):
        st.markdown("\n".join(f"- {escape(said)}" for said in words.about_lower(seen)))
    views.absent_learners()


def inputs() -> None:
    """The environment, the users, and what is drawn."""
    seen = view().seen
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="landscape_inputs"):
        with st.container(width=230):
            titles = {key: problem.title for key, problem in PROBLEMS.items()}
            select(
                "Environment",
                list(titles),
                seen.problem,
                lambda key: look_at(problem=key),
                titles,
                name="landscape.problem",
            )
        with st.container(width=130):
            users = {str(K): power(K) for K in bundled_landscape().users}
            select(
                "Users K", list(users), str(seen.K), lambda K: look_at(K=int(K)), users, name="landscape.K"
            )
        segments(
            "Constants", "constants", words.CONSTANTS, seen.constants, lambda value: look_at(constants=value)
        )
        ways = {"share": "Share lost", "regret": "Regret"}
        segments("Drawn", "drawn", ways, seen.y, lambda value: look_at(y=value))


main()

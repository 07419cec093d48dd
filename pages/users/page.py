"""How many users do I need?: whether so many are enough in each privacy model, with a page to take to a meeting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dprl.simulation import RunSpec
from dprl.users import FIELDS, MODELS, answers
from pages.shared.controls.widgets import complaint, exact, segments, select
from pages.shared.layout.chart import kept, show
from pages.shared.layout.download import save
from pages.shared.layout.frame import dark
from pages.shared.layout.head import head
from pages.shared.layout.menu import page_link
from pages.shared.layout.share import share
from pages.shared.layout.terms import explained
from pages.shared.results.again import save_citations
from pages.shared.text import escape
from pages.shared.visitor.state import read_address, session
from pages.users import sheet, views, words
from pages.users.link import LOGS, users_table
from pages.users.state import change, change_answer, take_over, users

LABELS = {
    "S": "States S",
    "A": "Actions A",
    "H": "Steps H",
    "value": "Best reward V*, % of H",
    "users": "Users K",
    "epsilon": "Budget ε",
    "delta": "Budget δ",
    "loss": "Loss allowed, %",
    "today": "Loss today, %",
}
OWN = ("S", "A", "H", "value")  # what a problem says by itself
WIDTH = 112  # of an input
MENU = 340  # of the menu, which five inputs stand beside on a desk
WIDER = {"value": 152, "loss": 128, "today": 128}  # of inputs with a longer label


def main() -> None:
    u = users()
    read_address(u)
    take_over(u)
    session().wrong.clear()
    corner = head(u)
    st.markdown(f"**{words.QUESTION}**")
    segments(words.QUESTION, "users.answer", words.ANSWERS, u.answer, change_answer)
    if u.answer == LOGS:
        st.markdown(explained(words.WITH_LOGS))
        page_link("data", "Learn from your own records")
        with corner:
            share(u)
        return
    st.markdown(explained("Say how large your environment is and what an average episode may lose."))
    inputs()
    asked = u.asked
    if asked == u.taken:
        st.caption("The environment and the budget are those of your settings on Online.")
    if session().wrong:  # no answer to what stood there before
        st.info("One value above cannot be read. Change that value to see an answer.", icon=":material/edit:")
        with corner:
            share(u)
        return
    found = answers(users_table(), asked)
    st.html(views.cards(found, asked, dark()))
    key = ("users", asked, dark())
    session().common = words.common(users_table(), asked)
    show(kept(key, lambda: views.picture(asked, found, key[2])), "users_chart")
    st.markdown(explained(f"**{escape(words.whom_to_trust(asked, found))}**"))
    st.caption(explained(escape(session().common)))
    text = sheet.whole_sheet(users_table(), asked, found, views.curves(asked, found), u.query)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        save("users.html", "Download one page for a meeting", "text/html", lambda: text)
        save_citations(
            RunSpec(privacy=model) for model in MODELS
        )  # which all that was measured has by default
        page_link("lessons", "Open the lesson on users", {"lesson": "users"})
        if known := users_table().problems.get(asked.problem):
            page_link("tradeoffs", "Search for users by runs", views.measure(known), icon="query_stats")
    with corner:
        share(u)
    views.returning_users(asked)
    views.numbers_and_sources(asked, found)
    views.assumptions(asked)
    views.errors()


def inputs() -> None:
    """What somebody has and wants."""
    asked, problems = users().asked, users_table().problems
    with st.container(horizontal=True, gap="small", key="users_inputs"):
        with st.container(width=MENU, key="users_environment"):
            select(
                "Environment",
                ["", *problems],
                asked.problem,
                lambda key: change(problem=key),
                {"": "Sizes of your own", **{key: words.named(one) for key, one in problems.items()}},
                name="users.problem",
            )
        for name, label in LABELS.items():
            if name in OWN and asked.problem:
                continue
            with st.container(width=WIDER.get(name, WIDTH), gap=None):
                exact(label, f"users.{name}", FIELDS[name], getattr(asked, name), _setter(name))
                complaint(f"users.{name}")


def _setter(name: str) -> Callable[[Any], None]:
    def store(value: Any) -> None:
        change(**{name: value})

    return store


main()

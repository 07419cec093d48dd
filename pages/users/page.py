"""How many users do I need? The verdict under each privacy model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from dprl.simulation import RunSpec
from dprl.sitemap import PAGES
from dprl.users import FIELDS, MODELS, Asked, Need, answers, ways
from pages.shared.controls.widgets import exact, select
from pages.shared.layout.chart import cards, kept, save_chart, save_citations, show
from pages.shared.layout.frame import page_link
from pages.shared.layout.head import head, share
from pages.shared.layout.terms import escape, explained
from pages.shared.visitor.callbacks import button
from pages.shared.visitor.state import read_address, session
from pages.tradeoffs import study
from pages.users import words
from pages.users.link import OWN, change, choose, take, take_over, users, users_table

WIDTH = 112  # width of an input in pixels
MENU = 340  # width of the menu in pixels; five inputs fit next to it on a desktop
WIDER = {"value": 152, "loss": 128, "today": 128}  # widths of inputs with a longer label


def main() -> None:
    u = users()
    read_address(u)
    take_over(u)
    session().wrong.clear()
    corner = head(u)
    top = st.container(key="users_answer")  # filled once all inputs are read
    inputs()
    below = st.container()  # a button that appears moves no input
    asked = u.asked
    if asked == u.taken:
        st.caption("The environment and the budget come from your settings on Online.")
    with corner:
        share(u)
    if session().wrong:  # the answer would belong to the previous values
        top.info("A value below cannot be read. Correct it to see an answer.", icon=":material/edit:")
        return
    found = answers(users_table(), asked)
    top.markdown(f"## {explained(escape(words.answer(users_table(), asked, found)))}", anchors=False)
    with below:
        offer_ways(asked, found)
    cards(asked.epsilon, {need.model: words.card(asked, need) for need in found}, kind="dprl-verdicts")
    session().common = words.common(users_table(), asked)
    picture = partial(words.picture, asked, found)
    show(kept(("users", asked), picture), "users_chart", how=words.how(users_table(), asked, found))
    st.caption(explained(escape(session().common)))
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        save_chart("users", PAGES["users"].heading, partial(picture, False))
        # all measurements have these defaults
        save_citations(RunSpec(privacy=model) for model in MODELS)
        page_link("lessons", "Open the lesson on users", {"lesson": "users"})
        if known := users_table().problems.get(asked.problem):
            base = RunSpec(environment=known.environment, environment_params=dict(known.params), seeds=10)
            query = study.encode(study.SweepView(base, show="users"))
            page_link("tradeoffs", "Find the users needed with runs", query, icon="query_stats")


def offer_ways(asked: Asked, found: Sequence[Need]) -> None:
    """If there are too few users, draw a button for each change that would be enough."""
    if asked.met or found[1].verdict in ("enough", "not known"):
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="users_ways"):
        st.markdown("Any one of these changes is probably enough:", width="content")
        for number, way in enumerate(ways(users_table(), asked, "central")):
            button(words.change(asked, way), take, way, key=f"way_{number}")
        page_link("data", "Or learn from records of past users")


def inputs() -> None:
    asked, problems = users().asked, users_table().problems
    with st.container(horizontal=True, gap="small", key="users_inputs"):
        with st.container(width=MENU, key="users_environment"):
            titles = {"": "Your own environment", **{key: words.named(one) for key, one in problems.items()}}
            select("Environment", titles, asked.problem, choose, name="users.problem")
        for name, label in words.SAID["labels"].items():
            if name in OWN and asked.problem:
                continue
            with st.container(width=WIDER.get(name, WIDTH), gap=None):
                exact(label, f"users.{name}", FIELDS[name], getattr(asked, name), partial(change, name))


main()

"""The tab Your data: the budget that releases are written down in."""

from __future__ import annotations

import streamlit as st

from dprl.fields import SpecError
from dprl.sentences import uploads as sentences
from dprl.simulation.uploads.ledger import MOST_NAME, Budget, in_words
from pages.data.own import Own
from pages.shared.layout.terms import explained
from pages.shared.text import escape
from pages.shared.visitor.callbacks import on_value


def purse(own: Own) -> None:
    """Under which name releases are written down, and the most that they may come to."""
    left, right = st.columns(2)
    key = f"{own.turn}:own:purse"

    def named(value: str) -> None:
        own.purse = value

    left.text_input(
        "Name of the budget", own.purse, key=key, max_chars=MOST_NAME, on_change=on_value(key, named),
        help="Every release of these users is written down under this name, before it is shown. Use one name for all "
        "files about the same users. After a reload or a restart the name brings back what was released.",
    )  # fmt: skip
    key_of_total = f"{own.turn}:own:total"

    def limited(value: float | None) -> None:
        own.total = value

    right.number_input(
        "Total ρ of the budget", min_value=1e-6, value=own.total, key=key_of_total, placeholder="no total",
        on_change=on_value(key_of_total, limited),
        help="A release beyond the total is refused. Without a total, releases are added up and never refused.",
    )  # fmt: skip
    try:
        if Budget.known(own.purse):
            st.caption(explained(sentences.budget_so_far(*account(own))))
    except SpecError as error:
        st.caption(f":red[{escape(str(error))}]")


def account(own: Own) -> tuple[str, str, str, int]:
    """Of the visitor's budget: its name, its total, what is spent, and in how many releases."""
    found = Budget(own.purse)
    spent = found.spent
    return (
        escape(found.name),
        in_words(found.total),
        f"{spent.text}, or {spent.implies} as (ε, δ)",
        len(found.releases),
    )

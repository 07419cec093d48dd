"""Whether the cost of local privacy stops growing on one environment: what is proved, and what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import pandas as pd
import streamlit as st

from dprl.environments import ENVIRONMENTS
from dprl.metrics import FLAT
from dprl.words import exponents, human, listed
from pages.shared.layout.terms import explained
from pages.shared.results.bundled import asset
from pages.shared.text import escape

PROVED = (
    "**Worst case.** The papers' bound grows like √K: for each K there is an environment with so large a privacy cost.",
    "**Some algorithm, one environment.** The privacy cost stops growing: each policy can be an arm of a bandit. There "
    "are too many policies for that to be of use.",
    "**DP-UCBVI, with rows that count only users who were told to play them.** The privacy cost stops growing where "
    "every policy reaches every state. The proof is ours. It needs a policy update whenever the reports of a row have "
    "doubled.",
    "**The same on other environments.** Nothing better than √K is proved. Users of a good policy add noise to rows of "
    "states that they never reach.",
)
Row = Mapping[str, Any]


@cache
def measured() -> list[Row]:
    """What `python -m bench.bundled local-price` found; read once."""
    found: list[Row] = asset("local-price")
    return found


def trend(row: Row) -> str:
    """What the privacy cost does in the last decade of users: stops, goes on, or cannot be told."""
    _, low, high = row["exponents"][0]
    return "stops" if high <= FLAT else "goes on" if low > FLAT else "cannot be told"


def title(row: Row) -> str:
    """An environment, with what is not as by default."""
    own = ", ".join(str(value) for value in row["params"].values())
    return ENVIRONMENTS[row["environment"]].title + (f" ({own})" if own else "")


def summary(rows: Sequence[Row]) -> str:
    """What there is to see in the table."""
    clauses = []
    for which, words in (
        ("stops", "stops growing on {}"),
        ("goes on", "still grows on {}"),
        ("cannot be told", "cannot be told to do either on {}"),
    ):
        names = [title(row) for row in rows if row["reports"] == "played" and trend(row) == which]
        if names:
            clauses.append(words.format(listed(names)))
    return f"By 10¹⁵ users the privacy cost with such rows {'; it '.join(clauses)}."


def additive() -> None:
    """The section, closed at first."""
    with st.expander(
        "Does the cost of local privacy stop growing on one environment?", icon=":material/balance:"
    ):
        st.markdown(explained("\n".join(f"- {said}" for said in PROVED)))
        rows = measured()
        st.markdown(explained(escape(summary(rows))))
        st.dataframe(
            pd.DataFrame(
                [
                    {
                        "environment": title(row),
                        "a row counts": "who was told" if row["reports"] == "played" else "everybody",
                        "privacy cost (mean)": human(row["price"]),
                        "exponent, last decade": exponents(*row["exponents"][0]),
                        "the decade before": exponents(*row["exponents"][1]),
                        "settled": f"{row['settled']} of {row['of']}",
                    }
                    for row in rows
                ]
            ),
            hide_index=True,
            width="stretch",
            height="content",
            key="additive_table",
        )
        st.caption(
            explained(
                "The privacy cost is the regret beyond that of the same seed without privacy, at ε = 1 and δ = 10⁻⁶ "
                "with one-hot questions. Exponents have 95% t intervals over seeds. A seed has settled where its last "
                "policy loses at most 10⁻⁹ of V\\*. A cost that still grows in a run that has not settled refutes "
                "nothing."
            )
        )

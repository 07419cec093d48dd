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
    "**Worst case.** The papers' bound grows like √K. For each K some environment has so large a privacy cost.",
    "**Some algorithm, one environment.** The privacy cost can stop growing: treat each policy as one arm of a bandit. "
    "There are too many policies for this algorithm to be useful.",
    "**DP-UCBVI that counts only reports of users told to play a row.** A row is one action in one state at one step. "
    "The privacy cost stops growing where every policy reaches every state. The proof is ours. The proof needs a "
    "policy update whenever the reports of a row have doubled.",
    "**The same algorithm on other environments.** Nothing better than √K is proved. Users of a good policy still add "
    "noise to rows of states that they never reach.",
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


def environment_title(row: Row) -> str:
    """An environment, with what is not as by default."""
    own = ", ".join(str(value) for value in row["params"].values())
    return ENVIRONMENTS[row["environment"]].title + (f" ({own})" if own else "")


def summary(rows: Sequence[Row]) -> str:
    """What there is to see in the table, an item for each thing that the privacy cost does (Markdown)."""
    items = []
    for which, words in (
        ("stops", "stops growing on {}."),
        ("goes on", "still grows on {}."),
        ("cannot be told", "may do either on {}: the intervals are too wide."),
    ):
        names = [environment_title(row) for row in rows if row["reports"] == "played" and trend(row) == which]
        if names:
            items.append(f"- The privacy cost {words.format(escape(listed(names)))}")
    return "\n".join(
        ["What the runs show by 10¹⁵ users, counting only users told to play a row:", "", *items]
    )


def additive() -> None:
    """The section, closed at first."""
    with st.expander(
        "Does the cost of local privacy stop growing on one environment?", icon=":material/balance:"
    ):
        st.markdown(explained("\n".join(f"- {said}" for said in PROVED)))
        rows = measured()
        st.markdown(explained(summary(rows)))
        st.dataframe(
            pd.DataFrame(
                [
                    {
                        "environment": environment_title(row),
                        "reports counted": "users told to play a row"
                        if row["reports"] == "played"
                        else "all users",
                        "privacy cost (mean)": human(row["price"]),
                        "exponent, last decade": exponents(*row["exponents"][0]),
                        "the decade before": exponents(*row["exponents"][1]),
                        "settled seeds": f"{row['settled']} of {row['of']}",
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
                "The privacy cost is the regret beyond that of the same seed without privacy. Here ε = 1, δ = 10⁻⁶, "
                "and "
                "the mechanism asks one-hot questions. Exponents have 95% t intervals over seeds. A seed has settled "
                "where its last policy loses at most 10⁻⁹ of V\\*. A privacy cost that still grows refutes nothing "
                "while seeds have not settled."
            )
        )

"""Doubts about the visible results: a warning above them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dprl import metrics
from dprl.simulation import RunSpec
from pages.shared.layout.terms import explained
from pages.shared.results.runs import ONLINE


def tell(said: Sequence[str]) -> None:
    """Draw one warning of all doubts."""
    words = " ".join(filter(None, said))
    if words:
        st.warning(explained(words), icon=":material/info:")


def stuck(spec: RunSpec) -> int:
    """Count the seeds in which a run has not found the best policy; 0 while it is not finished."""
    known = ONLINE.curves(spec)
    if not known.whole(spec.seeds):
        return 0
    return metrics.unsettled(known.at, known.values)


def below_zero(name: str, price: metrics.Array) -> list[str]:
    """Return the name, if the price of privacy [seeds] lies below zero with its whole interval."""
    _, _, high = metrics.regret_band(price.reshape(-1, 1))
    return [name] if high[0] < 0 else []

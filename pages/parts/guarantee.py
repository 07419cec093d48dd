"""The tab Guarantee: what each run promises to its users, and where the noise is that keeps the promise."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dprl.jobs.store import RunStatus
from dprl.privacy import PRIVATIZERS, Guarantee
from dprl.simulation import RunSpec
from pages.parts import data
from pages.parts.state import session
from pages.parts.status import ACTIVE
from pages.parts.text import escape, significant

MODELS = {
    "JDP": "joint differential privacy",
    "LDP": "local differential privacy",
    "SDP": "shuffle differential privacy",
    "none": "no privacy",
}


def tab(titles: Sequence[str], runs: Sequence[RunStatus]) -> None:
    """A card for every visible curve, beside each other."""
    s = session()
    rows = [row for row in zip(s.curves, titles, runs, strict=True) if not row[0].hidden]
    st.caption(
        "Claimed is what the paper says; proved is what its noise gives when one user's whole episode is replaced by "
        "another, which can move two counts where the paper counts one. Smaller ε and δ promise more."
    )
    grid = st.grid("auto", min_column_width=320)
    for curve, title, run in rows:
        with grid.cell(), st.container(border=True, height="stretch"):
            st.markdown(f"#### {escape(title)}")
            guarantee = of(curve.spec)
            if guarantee is None:
                word = (
                    "It is known when the first seed is finished."
                    if run.state in ACTIVE
                    else "It was not computed."
                )
                st.caption(word)
                st.markdown(escape(PRIVATIZERS[curve.spec.privacy].trust))
            else:
                card(guarantee)


def of(spec: RunSpec) -> Guarantee | None:
    """The guarantee of a run, from its first finished seed."""
    for seed in range(spec.seeds):
        if (trace := data.trace(spec, seed)) is not None:
            return trace.guarantee
    return None


def card(g: Guarantee) -> None:
    """One guarantee, in words and numbers."""
    st.markdown(
        f"**{MODELS.get(g.model, g.model).capitalize()}**{f' ({g.model})' if g.model != 'none' else ''}"
    )
    st.markdown(escape(g.trust))
    if g.claimed_epsilon is None:
        return
    with st.container(horizontal=True, gap="medium"):
        st.metric("Claimed ε", significant(g.claimed_epsilon), width="content")
        st.metric("Claimed δ", significant(g.claimed_delta), width="content")
        st.metric("Proved ε", significant(g.proved_epsilon), width="content")
        st.metric("Proved δ", significant(g.proved_delta), width="content")
        st.metric("Noise std of a count", significant(g.noise_std), width="content")
    rows = {
        "Protected": g.unit,
        "Neighbours": g.adjacency,
        "Noise": f"{g.mechanism}: {g.noise_formula}",
        "Scale of one draw": f"{significant(g.noise_scale)} visits",
        "Where it enters": g.where,
        "Assumes": "; ".join(g.assumptions),
        "Sources": "; ".join(g.sources),
    }
    st.markdown("\n".join(f"- **{name}:** {escape(text)}" for name, text in rows.items() if text))

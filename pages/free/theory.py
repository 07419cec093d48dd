"""The calculator: bounds of the papers at the numbers a visitor gives. Pure arithmetic, so it answers at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dprl.privacy import PRIVATIZERS
from dprl.theory import BOUNDS, LEFT_OUT, Bound, BoundSetting
from dprl.words import human, percent, rough
from pages.free.link import FIELDS, FreeView
from pages.free.state import free
from pages.shared.controls.widgets import complaint, exact
from pages.shared.layout.terms import explained
from pages.shared.text import escape

LABELS = {
    "S": "States S",
    "A": "Actions A",
    "H": "Steps H",
    "K": "Users K",
    "epsilon": "Budget ε",
    "d": "Dimension d",
    "alpha": "Loss α",
    "beta": "Failure β",
    "rho": "Budget ρ",
    "coverage": "Coverage dₘ",
    "kappa": "Eigenvalue κ",
}


def calculator_setting(view: FreeView) -> BoundSetting:
    """What the calculator holds, as bounds take it."""
    return BoundSetting(**{name: getattr(view, name) for name in LABELS})


def calculator() -> None:
    """Number fields, what they come to in words, and the table of all bounds."""
    st.markdown(
        explained(
            "The papers' bounds at numbers that you choose. The papers hide constants and logarithms. Here they are "
            "**set to 1, so only slopes and ratios mean something**: how fast a bound grows, and how two bounds "
            "compare."
        )
    )
    with st.container(horizontal=True, gap="small", key="calculator"):
        for name, label in LABELS.items():
            with st.container(width=118, gap=None):
                field = FIELDS[name]
                exact(label, f"free.{name}", field, getattr(free().view, name), _setter(name))
                complaint(f"free.{name}")
    at = calculator_setting(free().view)
    st.markdown(explained(f":material/visibility: {smallest_bounds(at)}"))
    regret = [bound for bound in BOUNDS.values() if bound.of == "regret"]
    st.dataframe(
        bounds_table(regret, at),
        hide_index=True,
        width="stretch",
        height=420,
        key="bounds_table",
        column_config={
            "bound": st.column_config.TextColumn(pinned=True),
            "per episode, of H": st.column_config.TextColumn(
                help="Above 100% a bound says nothing: no episode can lose more than H."
            ),
            "says something from": st.column_config.TextColumn(
                help="The number of users K from which the bound stays below K·H."
            ),
            "free from": st.column_config.TextColumn(
                help="The number of users K from which the privacy cost is at most the part without ε."
            ),
        },
    )
    st.caption(explained(LEFT_OUT))
    st.caption(
        explained(
            f"The next table bounds how many episodes are α-suboptimal: each loses more than α = {at.alpha:g} of "
            "reward. "
            f"The bounds may fail with probability β = {at.beta:g}. The dimension d is that of linear representations, "
            "with weights at most √d long. A tabular environment has d = S·A."
        )
    )
    mistakes = [bound for bound in BOUNDS.values() if bound.of == "mistakes"]
    st.dataframe(
        bounds_table(mistakes, at).drop(columns=["per episode, of H", "says something from", "free from"]),
        hide_index=True,
        width="stretch",
        key="mistakes_table",
        column_config={"bound": st.column_config.TextColumn(pinned=True)},
    )
    st.caption(
        explained(
            "The last table bounds what a policy loses per episode when it is learned from K recorded trajectories. "
            f"The budget is ρ = {at.rho:g} (zCDP) or ε = {at.epsilon:g}. The coverage dₘ = {at.coverage:g} is the "
            "smallest chance of a visit under the behaviour policy. "
            f"κ = {at.kappa:g} is the smallest eigenvalue of the features' second moment. The papers' leading terms "
            "depend on the environment. The table shows the most that they can be."
        )
    )
    offline = [bound for bound in BOUNDS.values() if bound.of == "suboptimality"]
    st.dataframe(
        bounds_table(offline, at).drop(columns=["says something from", "free from"]),
        hide_index=True,
        width="stretch",
        key="offline_table",
        column_config={"bound": st.column_config.TextColumn(pinned=True)},
    )


def _setter(name: str) -> Callable[[Any], None]:
    def store(value: Any) -> None:
        free().change(**{name: value})

    return store


def bounds_table(bounds: list[Bound], at: BoundSetting) -> pd.DataFrame:
    """A row for each bound, as text."""
    rows = []
    for bound in bounds:
        value, free_part, price = (float(f(at)) for f in (bound.value, bound.non_private, bound.price))
        private = bound.model != "none"
        episodes = 1.0 if bound.of == "suboptimality" else float(at.K)
        unmet = bound.unmet(at)
        rows.append(
            {
                "bound": bound.title,
                "privacy": PRIVATIZERS[bound.model].title,
                "proved": "at most" if bound.upper else "at least",
                "formula": bound.formula,
                "value": human(value),
                "without privacy": human(free_part) if free_part else "not stated",
                "privacy cost": human(price) if private else "",
                "share": percent(price / value) if private else "",
                "per episode, of H": percent(value / (episodes * at.H)),
                "says something from": _from(bound.informative_from(at)),
                "free from": _from(bound.free_from(at)),
                "for": bound.world,
                "guarantee": bound.budget,
                "paper": bound.paper,
                "conditions": (f"NOT MET HERE: {unmet}. " if unmet else "") + bound.conditions,
            }
        )
    return pd.DataFrame(rows)


def _from(K: float) -> str:
    if math.isnan(K):
        return ""
    return "never" if math.isinf(K) else "always" if K <= 1 else human(float(f"{K:.3g}"))


def smallest_bounds(at: BoundSetting) -> str:
    """The smallest bound for each model in a tabular environment, Markdown."""
    said = []
    for privatizer in PRIVATIZERS.values():
        upper = [
            b for b in BOUNDS.values()
            if b.model == privatizer.key and b.upper and b.of == "regret" and b.world == "tabular"
        ]  # fmt: skip
        if privatizer.key == "none" or not upper:
            continue
        values = [float(b.value(at)) for b in upper]
        best = upper[int(np.argmin(values))]
        bound, given, title = human(min(values)), privatizer.words.given, escape(best.title)
        said.append(
            f"- {bound} with {given}, by {title}."
            if min(values) < at.K * at.H
            else f"- {bound} with {given}, by {title}, which says nothing yet."
        )
    central = BOUNDS["dp-ucbvi-jdp"]
    return "\n".join(
        [
            "The smallest bound on regret for each privacy model:",
            "",
            *said,
            "",
            f"{_smaller_part(central.free_from(at))} With no trusted party both parts of the bound grow like √K. The "
            f"privacy part stays {_ratio(at)} times the other part.",
        ]
    )


def _smaller_part(K: float) -> str:
    """From how many users on the privacy cost is the smaller part of a bound."""
    if math.isnan(K) or math.isinf(K):
        return "With DP-UCBVI and a trusted curator, the privacy cost is never the smaller part."
    if K <= 1:
        return "With DP-UCBVI and a trusted curator, the privacy cost is always the smaller part."
    return (
        f"With DP-UCBVI and a trusted curator, the privacy cost is the smaller part from {_from(K)} users on."
    )


def _ratio(at: BoundSetting) -> str:
    local = BOUNDS["dp-ucbvi-ldp"]
    return rough(float(local.price(at) / local.non_private(at)))

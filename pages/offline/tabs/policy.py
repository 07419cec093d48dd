"""The tab Policy: what was learned, against the best policy and against the one that the data come from."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dprl import metrics
from dprl.figures import steps as figures
from dprl.figures.picture import Picture
from dprl.sentences import offline as sentences
from pages.offline.record import OFFLINE
from pages.offline.tabs.focus import DATA_SETS, DataSetSelection
from pages.shared.layout.chart import kept, show
from pages.shared.layout.frame import dark
from pages.shared.results import data

CHARTS = {"steps": "Actions", "V": "Lower bound V~"}


def tab() -> None:
    """The policy learned from one data set."""
    found = DATA_SETS.choose()
    if found is None:
        return
    with st.container(key="policy_view"):
        chart = OFFLINE.widgets.segments("Chart", "drawn", CHARTS)
    night = dark()
    draw = actions if chart == "steps" else values
    show(kept(("offline-policy", chart, night, found.key), lambda: draw(found, night)), f"offline_{chart}")


def actions(found: DataSetSelection, night: bool) -> Picture:
    """Learned, optimal, where they differ, and how often the behaviour policy takes the learned action."""
    trace, at, mdp = found.trace, found.at, data.environment(found.spec)
    policy, best = trace.policy[at], trace.optimal_policy
    wrong = metrics.worse_actions(policy, best, trace.optimal_Q)
    weight = metrics.weighed(wrong, trace.optimal_occupancy)
    here = trace.behaviour.sum(-1)
    taken = np.take_along_axis(trace.behaviour, policy[..., None].astype(np.intp), -1)[..., 0]
    agrees = np.divide(taken, here, out=np.full_like(taken, np.nan), where=here > 0)
    return figures.policy_by_step(
        policy,
        state_labels=mdp.state_labels,
        action_labels=mdp.action_labels,
        optimal_policy=best,
        optimal_occupancy=trace.optimal_occupancy,
        wrong=wrong,
        weight=weight,
        behaviour=agrees,
        when=f"from {sentences.trajectories(found.n)}",
        see=sentences.about_actions(
            int(wrong.sum()), wrong.size, float(weight.sum()) / mdp.H, float(taken.sum() / here.sum())
        ),
        dark=night,
    )


def values(found: DataSetSelection, night: bool) -> Picture:
    """The lower bound against the best values."""
    trace, at, mdp = found.trace, found.at, data.environment(found.spec)
    below = float(np.mean(trace.V[at] <= trace.optimal_V + 1e-9))
    start = float(trace.lower[list(trace.curve.at).index(found.n)])
    return figures.state_values(
        trace.V[at],
        trace.optimal_V,
        state_labels=mdp.state_labels,
        when=f"from {sentences.trajectories(found.n)}",
        see=sentences.low_values(below, start, trace.v_star),
        dark=night,
    )

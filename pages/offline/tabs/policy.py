"""The tab Policy: what was learned, against the best policy and against the one that the data come from."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dprl.figures import steps as figures
from dprl.figures.picture import Picture
from dprl.research.series import learned_picture
from dprl.sentences import offline as sentences
from pages.offline.record import WIDGETS
from pages.offline.tabs.focus import DataSetSelection, choose_data_set
from pages.shared.layout.chart import kept, show
from pages.shared.layout.frame import dark
from pages.shared.results import data

CHARTS = {"steps": "Actions", "V": "Lower bound V~"}


def tab() -> None:
    """Draw the policy learned from one data set."""
    found = choose_data_set()
    if found is None:
        return
    with st.container(key="policy_view"):
        chart = WIDGETS.segments("Chart", "drawn", CHARTS)
    night = dark()
    draw = actions if chart == "steps" else values
    show(kept(("offline-policy", chart, night, found.key), lambda: draw(found, night)), f"offline_{chart}")


def actions(found: DataSetSelection, night: bool) -> Picture:
    """Learned, optimal, where they differ, and how often the behaviour policy takes the learned action."""
    return learned_picture(found.trace, found.at, data.environment(found.spec), dark=night)


def values(found: DataSetSelection, night: bool) -> Picture:
    """Draw the lower bound against the best values."""
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

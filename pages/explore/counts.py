"""The tab Counts: the true counts, and the noisy counts that the planner receives."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from dprl import metrics
from dprl.figures import counts as figures
from dprl.figures.picture import Picture
from dprl.learners import ALGORITHMS
from dprl.mdp import TabularMDP
from dprl.runs.status import RunStatus
from dprl.sentences import noise as sentences
from dprl.simulation import SeedTrace
from dprl.statistics import NOISY
from pages.explore.focus import identity, look_closely, moment
from pages.shared.controls import view
from pages.shared.layout.chart import kept, show
from pages.shared.results import data
from pages.shared.text import escape
from pages.shared.visitor.state import session

FAMILIES = {"visits": "Visits", "rewards": "Rewards"}
SEEN = {"noisy": "With noise", "released": "As the planner sees them"}


def tab(titles: Sequence[str], runs: Sequence[RunStatus]) -> None:
    """Draw the visits of every state and action: true, with noise, and as released."""
    found = look_closely(titles, runs)
    if found is None:
        return
    curve, _, trace = found
    learner = ALGORITHMS[curve.spec.algorithm]
    if not learner.statistic.counted:
        st.info(
            f"{escape(learner.title)} receives no counts. It sees noisy sums over users of "
            f"{learner.statistic.parts}. The tab Guarantee describes the noise. The tab Policy shows policy and values."
        )
        return
    mdp = data.environment(curve.spec)
    at, e = moment(trace), session().explore
    # Without noise, or if the learner plans with raw noisy counts, there is only one array to show.
    changed = curve.spec.privacy != "none" and learner.seen(curve.spec.bonus) != NOISY
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        family = view.segments(e, "Count shown", "family", FAMILIES)
        seen = view.segments(e, "Counts to compare with the true ones", "seen", SEEN) if changed else "noisy"
        step = view.step_menu(e, mdp.H)
    key = ("counts", identity(trace), at, family, seen, step)
    show(kept(key, partial(cells, mdp, trace, at, family, seen, step)), "counts")


def cells(
    mdp: TabularMDP, trace: SeedTrace, at: int, family: str, seen: str, step: int | None, night: bool
) -> Picture:
    """Draw all cells at the at-th detailed moment, for one step or all."""
    column, kind = (-2, figures.VISITS) if family == "visits" else (-1, figures.REWARDS)
    true, told = trace.counts[at][..., column], getattr(trace, seen)[at][..., column]
    bound = float(trace.error_bound[at]) if seen == "noisy" and trace.error_bound[at] > 0 else None
    here = slice(None) if step is None else step
    noise = metrics.count_noise(true[here], told[here])
    return figures.count_heatmaps(
        true,
        told,
        typical=noise.typical,
        episode=int(trace.detail_episodes[at]),
        state_labels=mdp.state_labels,
        action_labels=mdp.action_labels,
        step=step,
        word=seen,
        family=kind,
        see=sentences.about_cells(noise, bound=bound, word=seen, family=kind),
        dark=night,
    )

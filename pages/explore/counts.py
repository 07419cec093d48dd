"""The tab Counts: the true counts, and the noisy ones that the planner receives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from dprl import metrics
from dprl.figures import counts as figures
from dprl.figures.coverage import noise_below_bound
from dprl.figures.picture import PackedPicture, Picture
from dprl.learners import ALGORITHMS
from dprl.mdp import TabularMDP
from dprl.runs.status import RunStatus
from dprl.sentences import noise as sentences
from dprl.simulation import SeedTrace
from dprl.statistics import NOISY
from pages.explore import pulls, view
from pages.explore.focus import identity, look_closely, moment
from pages.shared.layout.chart import kept, show
from pages.shared.layout.frame import dark
from pages.shared.names import style_of
from pages.shared.results import data
from pages.shared.text import escape
from pages.shared.visitor.links import Curve

CHARTS = {"map": "All cells", "scatter": "Noisy against true", "cell": "One cell", "coverage": "Noise bound"}
PULLS = {"pulls": "Bad arms"}  # where there is a lower bound on them
FAMILIES = {"visits": "Visits", "rewards": "Rewards"}
SEEN = {"noisy": "With noise", "released": "As the planner sees them"}
SEEDS_SHOWN = 20  # of the coverage chart


def tab(titles: Sequence[str], runs: Sequence[RunStatus]) -> None:
    """Visits of every state and action: true, with noise, and as released."""
    found = look_closely(titles, runs)
    if found is None:
        return
    curve, title, trace = found
    learner = ALGORITHMS[curve.spec.algorithm]
    if not learner.statistic.counted:
        st.info(
            f"{escape(learner.title)} receives no counts. It sees noisy sums over users of "
            f"{learner.statistic.parts}. The tab Guarantee describes the noise. The tab Policy shows policy and values."
        )
        return
    hard = curve.spec.environment == pulls.ENVIRONMENT
    chart = view.segments("Chart", "chart", CHARTS | (PULLS if hard else {}))
    if chart == "pulls":
        pulls.tab(titles)
        return
    if chart == "coverage":
        show(coverage_chart(curve, title, trace), "coverage")
        return
    mdp = data.environment(curve.spec)
    if chart == "cell":
        show(cell(mdp, trace), "cell")
        return
    at = moment(trace)
    # Without noise, and for a learner that plans with the noisy counts themselves, there is one thing to see.
    changed = (
        curve.spec.privacy != "none" and ALGORITHMS[curve.spec.algorithm].seen(curve.spec.bonus) != NOISY
    )
    step = None
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        family = view.segments("Count shown", "family", FAMILIES)
        seen = view.segments("Compared with the true counts", "seen", SEEN) if changed else "noisy"
        if chart == "map":
            steps = [-1, *range(mdp.H)]
            words = ["every step", *(f"step {h}" for h in steps[1:])]
            with st.container(width=150):
                chosen = view.menu("Step of the episode", "h", steps, words, visible=False)
            step = None if chosen < 0 else chosen
    night = dark()
    key = ("counts", chart, identity(trace), at, family, seen, step, night)
    show(
        kept(key, lambda: cells(mdp, trace, at, chart, family, seen, step, night)),
        f"counts_{chart}",
        group="counts",
    )


def counters_of(family: str) -> tuple[int, figures.CountFamily]:
    """Return the place of a family's counts in a row of counters, and their name in sentences."""
    return (-2, figures.VISITS) if family == "visits" else (-1, figures.REWARDS)


def cells(
    mdp: TabularMDP,
    trace: SeedTrace,
    at: int,
    chart: str,
    family: str,
    seen: str,
    step: int | None,
    night: bool,
) -> Picture:
    """All cells at the at-th detailed moment: the map (of one step, or of all) or the scatter."""
    column, kind = counters_of(family)
    true, told = trace.counts[at][..., column], getattr(trace, seen)[at][..., column]
    episode = int(trace.detail_episodes[at])
    bound = float(trace.error_bound[at]) if seen == "noisy" and trace.error_bound[at] > 0 else None
    here = slice(None) if step is None else step
    noise = metrics.count_noise(true[here], told[here])
    see = sentences.about_cells(noise, bound=bound, word=seen, family=kind)
    if chart == "scatter":
        return figures.count_scatter(
            true,
            told,
            typical=noise.typical,
            episode=episode,
            state_labels=mdp.state_labels,
            action_labels=mdp.action_labels,
            bound=bound,
            word=seen,
            family=kind,
            see=see,
            dark=night,
        )
    return figures.count_heatmaps(
        true,
        told,
        typical=noise.typical,
        episode=episode,
        state_labels=mdp.state_labels,
        action_labels=mdp.action_labels,
        step=step,
        word=seen,
        family=kind,
        see=see,
        dark=night,
    )


def cell(mdp: TabularMDP, trace: SeedTrace) -> PackedPicture:
    """One cell's visits over time, with the menus that choose it."""
    family = view.segments("Count shown", "family", FAMILIES)
    column, kind = counters_of(family)
    columns = st.columns(3)
    with columns[0]:
        steps = range(mdp.H)
        h = view.steps("Step", "h", steps, [str(h) for h in steps])
    with columns[1]:
        s = view.menu("State", "s", range(mdp.S), mdp.state_labels)
    with columns[2]:
        a = view.menu("Action", "a", range(mdp.A), mdp.action_labels)
    night = dark()
    episodes = trace.detail_episodes
    true, noisy = (counts[:, h, s, a, column] for counts in (trace.counts, trace.noisy))
    return kept(
        ("cell", identity(trace), family, h, s, a, night),
        lambda: figures.cell_over_time(
            episodes,
            true,
            noisy,
            typical=metrics.count_noise(true, noisy).typical,
            cell=f"step {h}, {mdp.state_labels[s]}, {mdp.action_labels[a]}",
            bound=bound if (bound := trace.bound_of(h, s, a)).any() else None,
            family=kind,
            see=sentences.about_cell(episodes, true, noisy, family=kind),
            dark=night,
        ),
    )


def coverage_chart(curve: Curve, title: str, chosen: SeedTrace) -> Picture:
    """Draw the largest noise so far as a share of its bound, for every finished seed."""
    spec = curve.spec
    found = [t for i in range(min(spec.seeds, SEEDS_SHOWN)) if (t := data.trace(spec, i)) is not None]
    found = found or [chosen]
    longest = max((t.episodes for t in found), key=len)
    ratio = np.full((len(found), len(longest)), np.nan)
    for row, t in zip(ratio, found, strict=True):
        row[: len(t.coverage_ratio)] = t.coverage_ratio
    promise = 1 - spec.beta / 3 if spec.beta is not None and spec.privacy != "none" else None
    see = sentences.about_bound(metrics.noise_coverage(ratio))
    return noise_below_bound(
        longest, ratio, look=style_of(spec), label=title, promise=promise, see=see, dark=dark()
    )

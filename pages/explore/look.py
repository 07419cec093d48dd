"""The Online page's tabs about a single run (Counts, Confidence set and Policy), and the menus that select it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from dprl import links
from dprl.figures import counts as count_figures
from dprl.figures import grid, steps
from dprl.figures import policy as drawings
from dprl.figures.picture import Picture
from dprl.learners import ALGORITHMS
from dprl.mdp import TabularMDP
from dprl.messages import filled, messages
from dprl.metrics.policies import count_noise, optimism, time_shared, worse_actions
from dprl.metrics.regions import half_widths, outline, region
from dprl.runs.status import RunStatus
from dprl.sentences import noise as noise_sentences
from dprl.sentences import policy as policy_sentences
from dprl.simulation import SeedTrace
from dprl.statistics import NOISY
from dprl.words import after, count
from pages.shared.controls import view
from pages.shared.layout.chart import kept, show
from pages.shared.layout.terms import escape
from pages.shared.results import data
from pages.shared.results.status import ACTIVE, ONLINE, Progress
from pages.shared.visitor.links import Curve, most_private
from pages.shared.visitor.state import owner_id, session

SAID = messages("pages")["explore"]


def offered(why: str) -> list[int]:
    """Return the indices of the visible curves; if all are hidden, ask the visitor to show one."""
    found = [i for i, curve in enumerate(session().explore.shown) if not curve.hidden]
    if not found:
        st.info(filled(SAID["hidden"], why=why))
    return found


def curve_menu(label: str, offered: Sequence[int], titles: Sequence[str]) -> int:
    """Draw a menu of the offered curves. Return the index of the chosen one, by default the most private."""
    e = session().explore
    return view.menu(
        e, label, "curve", offered, [titles[i] for i in offered], otherwise=most_private(e.shown)
    )


def identity(curves: Sequence[Curve], i: int) -> str:
    """Return a short name of the i-th curve for the keys of its widgets, because two curves may show the same run."""
    specs = [curve.spec for curve in curves]
    return f"{links.text_digest(specs[i].to_json())}:{specs[:i].count(specs[i])}"


def statuses() -> list[RunStatus]:
    """Return the status of each run in the comparison, as this visitor sees it."""
    return [ONLINE.status(c.spec, owner_id("draft") if c.draft else "") for c in session().explore.shown]


def going(runs: Sequence[RunStatus]) -> list[RunStatus]:
    """Return the active runs of the curves and, if the privacy cost is drawn, of their baselines."""
    e = session().explore
    baselines = [c.spec.baseline() for c in e.shown if c.spec.privacy != "none" and e.view.measure == "extra"]
    return [run for run in [*runs, *map(ONLINE.status, baselines)] if run.state in ACTIVE]


def progress(runs: Sequence[RunStatus]) -> Progress:
    """Return the joint status of the visible runs, except for a draft that is being computed."""
    rows = zip(session().explore.shown, runs, strict=True)
    shown = {c.spec: run for c, run in rows if not (c.hidden or (c.draft and run.state in ACTIVE))}
    return Progress([*shown], {spec: run for spec, run in shown.items() if run.state != "done"})


def look_closely(titles: Sequence[str]) -> tuple[Curve, SeedTrace] | None:
    """Draw menus for the curve and the seed. Return the curve and the trace, or show why there is none."""
    e, places = session().explore, offered("see the details of a run")
    if not places:
        return None
    owners = [owner_id("draft" if curve.draft else "") for curve in e.shown]
    specs, first = [curve.spec for curve in e.shown], most_private(e.shown)
    found = view.close_look(e, specs, titles, places, first, owners)
    return None if found is None else (e.shown[found[0]], found[1])


def stretch(trace: SeedTrace) -> tuple[str, int, int]:
    """Return a cache key that identifies a trace and its length."""
    return trace.spec.to_json(), trace.seed, int(trace.episodes[-1])


def moment(found: SeedTrace, first: int | None = None) -> int:
    """Draw a slider over the stored episodes, initially at `first` or the last one, and return the chosen index."""
    episodes = [int(k) for k in found.detail_episodes]
    e = session().explore
    return episodes.index(view.steps(e, "Episodes so far", "episode", episodes, count, otherwise=first))


def counts_tab(titles: Sequence[str], _: Sequence[RunStatus]) -> None:
    """Draw the visit counts of every state and action: true, with noise, and as released."""
    found = look_closely(titles)
    if found is None:
        return
    curve, trace = found
    learner = ALGORITHMS[curve.spec.algorithm]
    if not learner.statistic.counted:
        parts = learner.statistic.parts
        st.info(filled(SAID["no_counts"], algorithm=escape(learner.title), parts=parts))
        return
    mdp = data.environment(curve.spec)
    at, e = moment(trace), session().explore
    # Without noise, or if the algorithm plans with raw noisy counts, there is only one array to show.
    changed = curve.spec.privacy != "none" and learner.seen(curve.spec.bonus) != NOISY
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        family = view.segments(e, "Count shown", "family", SAID["families"])
        seen = view.segments(e, SAID["compare"], "seen", SAID["seen"]) if changed else "noisy"
        step = view.step_menu(e, mdp.H)
    key = ("counts", stretch(trace), at, family, seen, step)
    show(kept(key, partial(cells, mdp, trace, at, family, seen, step)), "counts")


def cells(
    mdp: TabularMDP, trace: SeedTrace, at: int, family: str, seen: str, step: int | None, night: bool
) -> Picture:
    """Draw the counts of all state-action pairs at the stored episode with index `at`, for one step or for all."""
    column, kind = (-2, count_figures.VISITS) if family == "visits" else (-1, count_figures.REWARDS)
    true, told = trace.counts[at][..., column], getattr(trace, seen)[at][..., column]
    bound = float(trace.error_bound[at]) if seen == "noisy" and trace.error_bound[at] > 0 else None
    here = slice(None) if step is None else step
    noise = count_noise(true[here], told[here])
    return count_figures.count_heatmaps(
        true,
        told,
        typical=noise.typical,
        when=after(int(trace.detail_episodes[at])),
        state_labels=mdp.state_labels,
        action_labels=mdp.action_labels,
        step=step,
        word=seen,
        family=kind,
        see=noise_sentences.about_cells(noise, bound=bound, word=seen, family=kind),
        dark=night,
    )


def ellipsoid_tab(titles: Sequence[str], _: Sequence[RunStatus]) -> None:
    """Draw the confidence set used for planning, next to the set that the same users would give without noise."""
    found = look_closely(titles)
    if found is None:
        return
    curve, trace = found
    title = titles[session().explore.shown.index(curve)]
    if not trace.beliefs:
        st.info(SAID["no_set"])
        return
    low = np.flatnonzero(trace.regret / trace.episodes < 0.1 * trace.v_star)
    at, e = moment(trace, int(trace.episodes[low[0] if len(low) else -1])), session().explore
    steps, d = trace.beliefs["truth"].shape[1:3]
    weights = range(d)
    words = [f"weight {i}" for i in weights]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        h = view.steps(e, "Step h of the episode", "h", range(steps))
        i = view.menu(e, "Horizontal axis", "first", weights, words)
        others = [k for k in weights if k != i]
        j = view.menu(e, "Vertical axis", "second", others, [words[k] for k in others])
        near = view.switch(e, "Zoom to the confidence set", "near", "on", "off", SAID["near"])
    shown = at, h, (i, j), near
    show(
        kept(("ellipsoid", stretch(trace), *shown), partial(ellipsoid_picture, trace, title, *shown)),
        "ellipsoid",
    )


def ellipsoid_picture(
    trace: SeedTrace, title: str, at: int, h: int, pair: tuple[int, int], near: bool, night: bool
) -> Picture:
    """Draw the confidence set of one step with a sentence about it."""
    beliefs, private, users = trace.beliefs, trace.spec.privacy != "none", int(trace.detail_episodes[at])
    noisy = region(beliefs, trace.noisy, at, h)
    quiet = region(beliefs, trace.series["sums"], at, h, "noiseless ")
    truth, bound, here = beliefs["truth"][at, h], float(beliefs["bound"][0]), list(pair)
    names = (f"weight {pair[0]}", f"weight {pair[1]}")
    widths = half_widths(noisy)[here], half_widths(quiet)[here], (noisy.center - truth)[here]
    facts: dict[str, Any] = {"bound": bound, "names": names, "step": h, "users": users, "private": private}
    see = noise_sentences.region(*widths, **facts)
    return count_figures.ellipsoid(
        outline(noisy, *pair) if private and noisy.known else None,
        outline(quiet, *pair) if quiet.known else None,
        estimate=np.asarray(noisy.center[here]),
        quiet_estimate=np.asarray(quiet.center[here]),
        truth=np.asarray(truth[here]),
        bound=bound,
        names=names,
        label=f"{title}, seed {trace.seed}, step {h}",
        near=near,
        see=see,
        dark=night,
    )


def policy_tab(titles: Sequence[str], _: Sequence[RunStatus]) -> None:
    """Draw the policy after a chosen number of episodes next to the optimal one."""
    found = look_closely(titles)
    if found is None:
        return
    curve, trace = found
    mdp = data.environment(curve.spec)
    charts = SAID["charts"] | ({"chances": "Action probabilities"} if trace.chances.size else {})
    if not mdp.dense:  # environments with hundreds of states, such as Taxi, are too large to draw
        del charts["map"]
    e = session().explore
    chart = view.segments(e, "Chart", "drawn", charts)
    at = moment(trace)
    step = view.steps(e, "Step of the episode", "h", range(mdp.H)) if chart == "map" else 0
    key = ("policy", chart, stretch(trace), at, step)
    picture = kept(key, partial(policy_picture, chart, mdp, trace, at, step))
    show(picture, f"policy_{chart}", group="policy")


def policy_picture(chart: str, mdp: TabularMDP, trace: SeedTrace, at: int, step: int, night: bool) -> Picture:
    """Draw one of CHARTS at the stored episode with index `at`."""
    states, actions = mdp.state_labels, mdp.action_labels
    policy, occupancy, best = trace.policy[at], trace.occupancy[at], trace.optimal_policy
    chances = trace.chances[at] if trace.chances.size else None
    sure = None if chances is None else chances.max(-1)
    played = chances is not None
    how: dict[str, Any] = {
        "state_labels": states,
        "when": after(int(trace.detail_episodes[at])),
        "dark": night,
    }
    both = how | {"action_labels": actions}
    if chart == "map":
        reached = occupancy[step] > 0  # at other states, nothing can be lost at this step
        wrong = worse_actions(policy, best, trace.optimal_Q)[step] & reached
        see = policy_sentences.at_step(
            step,
            policy[step],
            actions,
            wrong=wrong,
            reached=reached,
            over=grid.chance_over(mdp.drawing, occupancy[step]),
            sure=None if sure is None else sure[step],
        )
        return drawings.policy_on_environment(
            mdp.P,
            policy,
            step=step,
            drawing=mdp.drawing,
            optimal_policy=best,
            wrong=wrong,
            occupancy=occupancy,
            chances=chances,
            see=see,
            **both,
        )
    if chart == "chances" and chances is not None:
        see = policy_sentences.about_chances(chances, best, trace.optimal_occupancy)
        return steps.action_chances(chances, best, see=see, **both)
    if chart == "visits":
        shared = time_shared(occupancy, trace.optimal_occupancy)
        see = policy_sentences.about_visits(occupancy, states, shared)
        return steps.state_visits(occupancy, optimal_occupancy=trace.optimal_occupancy, see=see, **how)
    if chart == "V":
        found = optimism(trace.V[at], trace.optimal_V)
        see = policy_sentences.about_values(*found, "state-step pairs", of_played=played)
        return steps.state_values(trace.V[at], trace.optimal_V, see=see, **how)
    if chart == "Q":
        found = optimism(trace.Q[at], trace.optimal_Q)
        see = policy_sentences.about_values(*found, "state-action-step triples", of_played=played)
        return steps.action_values(trace.Q[at], trace.optimal_Q, see=see, **both)
    everywhere = worse_actions(policy, best, trace.optimal_Q)
    weight = np.where(everywhere, trace.optimal_occupancy, 0.0)
    return steps.policy_by_step(
        policy,
        optimal_policy=best,
        optimal_occupancy=trace.optimal_occupancy,
        wrong=everywhere,
        weight=weight,
        sure=sure,
        see=policy_sentences.about_steps(everywhere, weight, sure),
        **both,
    )

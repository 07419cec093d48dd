"""The tab Policy: the learner's policy, its visits to states, and its estimates of values."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from dprl import links, metrics
from dprl.fields import SpecError
from dprl.figures import grid
from dprl.figures import policy as drawings
from dprl.figures import steps as figures
from dprl.figures.picture import Picture
from dprl.mdp import TabularMDP
from dprl.runs.status import RunStatus
from dprl.sentences import policy as sentences
from dprl.simulation import OfflineSpec, SeedTrace, following
from pages.explore.focus import identity, look_closely, moment
from pages.shared.controls import view
from pages.shared.layout.chart import kept, show
from pages.shared.layout.menu import page_link
from pages.shared.results import data
from pages.shared.text import escape
from pages.shared.visitor.links import encode_specs
from pages.shared.visitor.state import session

CHARTS = {
    "steps": "Actions",
    "map": "Map",
    "visits": "Visits",
    "V": "Values V",
    "Q": "Values Q",
}
BUDGETS = (0.01, 0.1, 1.0)  # values of rho, for learning offline from this policy's users
CHANCES = {"chances": "Chances"}  # for learners with a stochastic policy
FROM_POLICY = "Learn offline from users who follow this policy"
FROM_LIKELIEST = "Learn offline from users who take this policy's likeliest actions"


def tab(titles: Sequence[str], runs: Sequence[RunStatus]) -> None:
    """Draw the policy after some number of episodes, against the optimal one."""
    found = look_closely(titles, runs)
    if found is None:
        return
    curve, _, trace = found
    mdp = data.environment(curve.spec)
    charts = CHARTS | (CHANCES if trace.chances.size else {})
    if not mdp.dense:  # environments with hundreds of states, such as Taxi, do not fit into a drawing
        charts = {key: title for key, title in charts.items() if key != "map"}
    e = session().explore
    chart = view.segments(e, "Chart", "drawn", charts)
    at = moment(trace)
    offline(trace, at)
    step = view.steps(e, "Step of the episode", "h", range(mdp.H)) if chart == "map" else 0
    picture = kept(
        ("policy", chart, identity(trace), at, step),
        partial(policy_picture, chart, mdp, trace, at, step),
    )
    show(picture, f"policy_{chart}", group="policy")


def offline(trace: SeedTrace, at: int) -> None:
    """Draw a link to Offline, for data in which 70% of the users follow this policy, or its likeliest actions."""
    spec, said = trace.spec, following(trace.policy[at])
    try:
        base = OfflineSpec(
            environment=spec.environment, environment_params=spec.environment_params, behaviour=said
        )
    except SpecError as error:  # such as a problem too large for data sets
        st.caption(f"No offline data set can be made here. {escape(str(error))}")
        return
    if len(said) > links.MAX_MODEL:  # the link contains only its digest
        session().files[links.text_digest(said)] = said
    runs = [base.baseline(), *(base.replace(rho=rho) for rho in BUDGETS)]
    page_link("offline", FROM_LIKELIEST if trace.chances.size else FROM_POLICY, encode_specs(runs))


def policy_picture(chart: str, mdp: TabularMDP, trace: SeedTrace, at: int, step: int, night: bool) -> Picture:
    """Draw one of CHARTS at the at-th detailed moment."""
    states, actions = mdp.state_labels, mdp.action_labels
    policy, occupancy, best = trace.policy[at], trace.occupancy[at], trace.optimal_policy
    chances = trace.chances[at] if trace.chances.size else None
    sure = None if chances is None else chances.max(-1)
    played = chances is not None
    how: dict[str, Any] = {
        "state_labels": states,
        "episode": int(trace.detail_episodes[at]),
        "dark": night,
    }
    both = how | {"action_labels": actions}
    if chart == "map":
        reached = occupancy[step] > 0  # elsewhere nothing can be lost at this step
        wrong = metrics.worse_actions(policy, best, trace.optimal_Q)[step] & reached
        see = sentences.at_step(
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
        see = sentences.about_chances(chances, best, trace.optimal_occupancy)
        return figures.action_chances(chances, best, see=see, **both)
    if chart == "visits":
        shared = metrics.time_shared(occupancy, trace.optimal_occupancy)
        see = sentences.about_visits(occupancy, states, shared)
        return figures.state_visits(occupancy, optimal_occupancy=trace.optimal_occupancy, see=see, **how)
    if chart == "V":
        found = metrics.optimism(trace.V[at], trace.optimal_V)
        see = sentences.about_values(*found, "state-step pairs", of_played=played)
        return figures.state_values(trace.V[at], trace.optimal_V, see=see, **how)
    if chart == "Q":
        found = metrics.optimism(trace.Q[at], trace.optimal_Q)
        see = sentences.about_values(*found, "state-action-step triples", of_played=played)
        return figures.action_values(trace.Q[at], trace.optimal_Q, see=see, **both)
    everywhere = metrics.worse_actions(policy, best, trace.optimal_Q)
    weight = metrics.weighed(everywhere, trace.optimal_occupancy)
    return figures.policy_by_step(
        policy,
        optimal_policy=best,
        optimal_occupancy=trace.optimal_occupancy,
        wrong=everywhere,
        weight=weight,
        sure=sure,
        see=sentences.about_steps(policy, actions, wrong=everywhere, weight=weight, sure=sure),
        **both,
    )

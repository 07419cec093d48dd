"""The tab Policy: what the learner would do, how likely it gets there, and what it believes it is worth."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dprl import links, metrics
from dprl.fields import SpecError
from dprl.figures import grid
from dprl.figures import policy as drawings
from dprl.figures import steps as figures
from dprl.figures.picture import Picture
from dprl.figures.stages import TITLES, narrowing
from dprl.mdp import TabularMDP
from dprl.runs.status import RunStatus
from dprl.sentences import policy as sentences
from dprl.simulation import OfflineSpec, SeedTrace, following
from pages.explore import view
from pages.explore.focus import identity, look_closely, moment
from pages.shared.layout.chart import kept, show
from pages.shared.layout.frame import dark
from pages.shared.layout.menu import page_link
from pages.shared.results import data
from pages.shared.text import escape
from pages.shared.visitor import multi_run_link
from pages.shared.visitor.state import session

CHARTS = {
    "steps": "Actions",
    "map": "Map",
    "visits": "Visits",
    "V": "Values V",
    "Q": "Values Q",
}
BUDGETS = (0.01, 0.1, 1.0)  # rho, of what is learned offline from its users
CHANCES = {"chances": "Chances"}  # of learners whose policy is stochastic
FROM_POLICY = "Learn offline from users who follow this policy"
FROM_LIKELIEST = "Learn offline from users who take this policy's likeliest actions"
STAGES = {"stages": "Stage by stage"}  # of learners that work in stages


def tab(titles: Sequence[str], runs: Sequence[RunStatus]) -> None:
    """Draw the policy after some number of episodes, against the optimal one."""
    found = look_closely(titles, runs)
    if found is None:
        return
    curve, title, trace = found
    mdp = data.environment(curve.spec)
    charts = (
        CHARTS
        | (CHANCES if trace.chances.size else {})
        | (STAGES if trace.series.keys() & TITLES.keys() else {})
    )
    if not mdp.dense:  # hundreds of states, as Taxi's, fit into no drawing
        charts = {key: title for key, title in charts.items() if key != "map"}
    chart = view.segments("Chart", "drawn", charts)
    night = dark()
    if chart == "stages":
        show(
            kept(("stages", identity(trace), night), lambda: stages(mdp, trace, title, night)),
            "policy_stages",
            group="policy",
        )
        return
    at = moment(trace)
    offline(trace, at)
    step = 0
    if chart == "map":
        step = view.steps("Step of the episode", "h", range(mdp.H), [str(h) for h in range(mdp.H)])
    key = ("policy", chart, identity(trace), at, step, night)
    show(
        kept(key, lambda: policy_picture(chart, mdp, trace, at, step, night)),
        f"policy_{chart}",
        group="policy",
    )


def offline(trace: SeedTrace, at: int) -> None:
    """Draw a link to Offline, where 70% of the people follow the policy shown, or its likeliest actions."""
    spec, said = trace.spec, following(trace.policy[at])
    try:
        base = OfflineSpec(
            environment=spec.environment, environment_params=spec.environment_params, behaviour=said
        )
    except SpecError as error:  # such as a problem that is too large for data sets
        st.caption(f"No offline data set can be made here. {escape(str(error))}")
        return
    if len(said) > links.MAX_MODEL:  # a link has its digest only
        session().files[links.text_digest(said)] = said
    runs = [base.baseline(), *(base.replace(rho=rho) for rho in BUDGETS)]
    page_link("offline", FROM_LIKELIEST if trace.chances.size else FROM_POLICY, multi_run_link.encode(runs))


def stages(mdp: TabularMDP, trace: SeedTrace, title: str, night: bool) -> Picture:
    """Draw the policies that the stages of one seed left over."""
    policies, done = mdp.A ** (mdp.S * mdp.H), len(trace.detail_episodes)
    return narrowing(
        trace.detail_episodes,
        trace.series,
        v_star=trace.v_star,
        label=f"{title}, seed {trace.seed}",
        see=sentences.about_stages(trace.series, stages=done, policies=policies, v_star=trace.v_star),
        dark=night,
    )


def policy_picture(chart: str, mdp: TabularMDP, trace: SeedTrace, at: int, step: int, night: bool) -> Picture:
    """One of CHARTS, at the at-th detailed moment."""
    episode, states, actions = int(trace.detail_episodes[at]), mdp.state_labels, mdp.action_labels
    policy, occupancy, best = trace.policy[at], trace.occupancy[at], trace.optimal_policy
    chances = trace.chances[at] if trace.chances.size else None
    sure = None if chances is None else chances.max(-1)
    if chart == "map":
        reached = occupancy[step] > 0  # elsewhere nothing can be lost at this step
        wrong = metrics.worse_actions(policy, best, trace.optimal_Q)[step] & reached
        ended = grid.chance_over(mdp.drawing, occupancy[step])
        return drawings.policy_on_environment(
            mdp.P,
            policy,
            step=step,
            drawing=mdp.drawing,
            state_labels=states,
            action_labels=actions,
            optimal_policy=best,
            wrong=wrong,
            occupancy=occupancy,
            chances=chances,
            episode=episode,
            see=sentences.at_step(
                step,
                policy[step],
                actions,
                wrong=wrong,
                reached=reached,
                over=ended,
                sure=None if sure is None else sure[step],
            ),
            dark=night,
        )
    if chart == "chances" and chances is not None:
        return figures.action_chances(
            chances,
            best,
            state_labels=states,
            action_labels=actions,
            episode=episode,
            see=sentences.about_chances(chances, best, trace.optimal_occupancy),
            dark=night,
        )
    if chart == "visits":
        shared = metrics.time_shared(occupancy, trace.optimal_occupancy)
        return figures.state_visits(
            occupancy,
            state_labels=states,
            optimal_occupancy=trace.optimal_occupancy,
            episode=episode,
            see=sentences.about_visits(occupancy, states, shared),
            dark=night,
        )
    if chart == "V":
        hopeful, excess = metrics.optimism(trace.V[at], trace.optimal_V)
        return figures.state_values(
            trace.V[at],
            trace.optimal_V,
            state_labels=states,
            episode=episode,
            see=sentences.about_values(hopeful, excess, "state-step pairs", of_played=chances is not None),
            dark=night,
        )
    if chart == "Q":
        hopeful, excess = metrics.optimism(trace.Q[at], trace.optimal_Q)
        return figures.action_values(
            trace.Q[at],
            trace.optimal_Q,
            state_labels=states,
            action_labels=actions,
            episode=episode,
            see=sentences.about_values(
                hopeful, excess, "state-action-step triples", of_played=chances is not None
            ),
            dark=night,
        )
    everywhere = metrics.worse_actions(policy, best, trace.optimal_Q)
    weight = metrics.weighed(everywhere, trace.optimal_occupancy)
    return figures.policy_by_step(
        policy,
        state_labels=states,
        action_labels=actions,
        optimal_policy=best,
        optimal_occupancy=trace.optimal_occupancy,
        wrong=everywhere,
        weight=weight,
        sure=sure,
        episode=episode,
        see=sentences.about_steps(policy, actions, wrong=everywhere, weight=weight, sure=sure),
        dark=night,
    )

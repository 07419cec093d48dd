"""The tab Policy: what the learner would do, how likely it gets there, and what it believes it is worth."""

from __future__ import annotations

from collections.abc import Sequence

from dprl.figures import policy as figures
from dprl.figures.stages import narrowing
from dprl.figures.style import Picture
from dprl.jobs.store import RunStatus
from dprl.mdp import TabularMDP
from dprl.simulation import SeedTrace
from pages.explore import view
from pages.explore.focus import identity, look_closely, moment
from pages.shared import data
from pages.shared.chart import kept, show
from pages.shared.frame import dark

CHARTS = {
    "steps": "Actions",
    "map": "On the map",
    "visits": "Where it goes",
    "V": "Values V",
    "Q": "Values Q",
}
STAGES = {"stages": "Stage by stage"}  # of learners that work in stages


def tab(titles: Sequence[str], runs: Sequence[RunStatus]) -> None:
    """The policy after some number of episodes, against the optimal one."""
    found = look_closely(titles, runs)
    if found is None:
        return
    curve, title, trace = found
    mdp = data.environment(curve.spec)
    chart = view.segments("Which chart", "drawn", CHARTS | (STAGES if trace.series else {}))
    night = dark()
    if chart == "stages":
        show(
            kept(("stages", identity(trace), night), lambda: stages(mdp, trace, title, night)),
            "policy_stages",
        )
        return
    at = moment(trace)
    step = 0
    if chart == "map":
        step = view.steps("Step of the episode", "h", range(mdp.H), [str(h) for h in range(mdp.H)])
    key = ("policy", chart, identity(trace), at, step, night)
    show(kept(key, lambda: picture(chart, mdp, trace, at, step, night)), f"policy_{chart}")


def stages(mdp: TabularMDP, trace: SeedTrace, title: str, night: bool) -> Picture:
    """What the stages of one seed left over."""
    return narrowing(
        trace.detail_episodes,
        trace.series,
        policies=mdp.A ** (mdp.S * mdp.H),
        v_star=trace.v_star,
        label=f"{title}, seed {trace.seed}",
        dark=night,
    )


def picture(chart: str, mdp: TabularMDP, trace: SeedTrace, at: int, step: int, night: bool) -> Picture:
    """One of CHARTS, at the at-th detailed moment."""
    episode, states, actions = int(trace.detail_episodes[at]), mdp.state_labels, mdp.action_labels
    if chart == "map":
        return figures.on_environment(
            mdp.P,
            trace.policy[at],
            step=step,
            drawing=mdp.drawing,
            state_labels=states,
            action_labels=actions,
            optimal_policy=trace.optimal_policy,
            optimal_Q=trace.optimal_Q,
            occupancy=trace.occupancy[at],
            episode=episode,
            dark=night,
        )
    if chart == "visits":
        return figures.visitation(
            trace.occupancy[at],
            state_labels=states,
            optimal_occupancy=trace.optimal_occupancy,
            episode=episode,
            dark=night,
        )
    if chart == "V":
        return figures.values(trace.V[at], trace.optimal_V, state_labels=states, episode=episode, dark=night)
    if chart == "Q":
        return figures.action_values(
            trace.Q[at],
            trace.optimal_Q,
            state_labels=states,
            action_labels=actions,
            episode=episode,
            dark=night,
        )
    return figures.steps(
        trace.policy[at],
        state_labels=states,
        action_labels=actions,
        optimal_policy=trace.optimal_policy,
        optimal_occupancy=trace.optimal_occupancy,
        optimal_Q=trace.optimal_Q,
        episode=episode,
        dark=night,
    )

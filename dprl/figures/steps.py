"""Heatmaps over the steps of an episode: a policy's actions, visits and values, next to the optimal ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import graph, heat, style
from dprl.figures.chart import Chart
from dprl.figures.lines import Array
from dprl.figures.picture import Picture
from dprl.words import after, percent, rough

Policy = NDArray[np.integer[Any]]

STEPS_ALT = (
    "Heatmaps of the action taken in each state at each step: learned, optimal, and where the two differ."
)
OCCUPANCY_ALT = "Heatmaps of the chance of each state at each step, under the learned and the optimal policy."
CHANCES_ALT = (
    "Heatmaps of the chance of each action in each state at each step, under the learned and optimal policy."
)
V_ALT = "Heatmaps of the value of each state at each step: estimated, optimal, and the difference."
Q_ALT = "Heatmaps of the value of each state and action at each step: estimated, optimal, and the difference."


def policy_by_step(
    policy: Policy,
    *,
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    optimal_policy: Policy | None = None,
    optimal_occupancy: Array | None = None,
    wrong: NDArray[np.bool_] | None = None,
    weight: Array | None = None,
    sure: Array | None = None,
    behaviour: Array | None = None,
    episode: int | None = None,
    when: str = "",
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Draw the learned and the optimal action in every state at every step, and the weight of their differences.

    Args:
        policy, optimal_policy: the actions [H,S].
        optimal_occupancy: the optimal policy's probability of each state [H,S].
        wrong: whether the optimal action is better [H,S].
        weight: the optimal policy's probability of the state, if the actions differ [H,S].
        sure: the probability of the action if the policy is stochastic [H,S]; `policy` then contains its likeliest
            actions.
        behaviour: the probability of the learned action under the policy that collected the data [H,S], NaN if it
            never visits the state.
        when: the words that replace the number of episodes in the subtitle.
    """
    A = len(action_labels)
    colors = style.theme(dark)
    palette = graph.action_colors(A, dark)
    shown = np.asarray(action_labels, object)
    bands = _bands(palette)

    def actions(name: str, which: Policy) -> heat.Heatmap:
        chosen = which.T.astype(int)
        ends = (-0.5, A - 0.5)
        return heat.Heatmap(name, chosen.astype(float), shown[chosen], bands, *ends, form="", bar=False)

    panels = [actions("Learned" if sure is None else "Learned: the likeliest action", policy)]
    columns: dict[str, Any] = {"learned": shown[policy.astype(int)].ravel()}
    if sure is not None:
        panels.append(heat.chance_map("Its chance", sure.T, colors))
        columns["its chance"] = sure.ravel()
    if optimal_policy is not None and wrong is not None:
        panels.append(actions("Optimal", optimal_policy))
        panels.append(_disagreement(wrong, weight, colors))
        columns["optimal"] = shown[optimal_policy.astype(int)].ravel()
        columns["worse than optimal"] = wrong.ravel()
        if optimal_occupancy is not None:
            columns["optimal policy's visits"] = optimal_occupancy.ravel()
    if behaviour is not None:
        panels.append(heat.chance_map("Behaviour policy's chance of this action", behaviour.T, colors))
        columns["behaviour policy's chance of it"] = behaviour.ravel()
    chart = over_steps(panels, "The policy, step by step", when or after(episode), state_labels, dark, True)
    _name_actions(chart, panels, [graph.worded(label) for label in action_labels], palette)
    table = steps_table(len(policy), state_labels, columns)
    return chart.picture(STEPS_ALT, see, table, revision="steps")


def _name_actions(
    chart: Chart, panels: Sequence[heat.Heatmap], names: Sequence[str], palette: Sequence[str]
) -> None:
    """Add legend entries for the colours of the actions that are drawn."""
    used = {int(a) for panel in panels if not panel.bar for a in np.unique(panel.z)}
    heat.name_colors(chart, [(names[a], palette[a]) for a in sorted(used)])
    chart.layout["legend"] |= {"itemclick": False, "itemdoubleclick": False}


def _bands(colors: Sequence[str]) -> style.Scale:
    """Return a colour scale in which each category has one of these colours."""
    n = len(colors)
    return tuple(stop for i, color in enumerate(colors) for stop in ((i / n, color), ((i + 1) / n, color)))


def _disagreement(wrong: NDArray[np.bool_], weight: Array | None, colors: style.Theme) -> heat.Heatmap:
    """Return a panel of the cells in which the optimal action is better, weighted by `weight` if it is given."""
    drawn = wrong.astype(float) if weight is None else weight
    top = float(drawn.max())
    return heat.Heatmap(
        "Disagreement" if weight is None else "Disagreement × optimal policy's visits",
        drawn.T,
        drawn.T,
        colors.amount,
        0.0,
        max(top, 1e-12) if wrong.any() else 1.0,
        form=".2%" if weight is not None else ".0f",
        ticks=([0.0, top], ["0", percent(top)]) if top > 0 else ([0.0], ["0"]),
    )


def action_chances(
    policy: Array,
    optimal_policy: Policy,
    *,
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    episode: int | None = None,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Draw each action's probability in each state at each step: policy [H,S,A] next to the optimal one [H,S]."""
    colors = style.theme(dark)
    optimal = np.eye(policy.shape[2])[optimal_policy.astype(int)]
    columns = {"learned": policy, "optimal": optimal}
    panels = [
        heat.chance_map(name.capitalize(), heat.laid_out(which, None), colors)
        for name, which in columns.items()
    ]
    axes = heat.cell_axes(policy.shape, state_labels, action_labels, None)
    chart = heat.stacked(panels, title="Chances of actions", subtitle=after(episode), dark=dark, **axes)
    table = heat.cell_numbers(columns, policy.shape, state_labels, action_labels)
    return chart.picture(CHANCES_ALT, see, table, revision="chances")


def state_visits(
    occupancy: Array,
    *,
    state_labels: Sequence[str],
    optimal_occupancy: Array | None = None,
    episode: int | None = None,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Draw each state's probability at each step, occupancy [H,S], next to the optimal policy's."""
    given = {"learned": occupancy} | ({} if optimal_occupancy is None else {"optimal": optimal_occupancy})
    # Square root: a state visited once in a hundred episodes is still visible next to one always visited.
    panels = [
        heat.Heatmap(
            name.capitalize(),
            np.sqrt(np.maximum(values, 0)).T,
            values.T,
            style.theme(dark).amount,
            0.0,
            1.0,
            form=".2%",
            ticks=([0.0, 0.1, 0.5, 1.0], ["0", "1%", "25%", "100%"]),
        )
        for name, values in given.items()
    ]
    chart = over_steps(panels, "Time spent in each state", after(episode), state_labels, dark)
    columns = {name: values.ravel() for name, values in given.items()}
    table = steps_table(len(occupancy), state_labels, columns)
    return chart.picture(OCCUPANCY_ALT, see, table, revision="visitation")


def state_values(
    V: Array,
    optimal_V: Array,
    *,
    state_labels: Sequence[str],
    episode: int | None = None,
    when: str = "",
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Draw the estimated and the optimal value [H,S] of each state at each step, and the difference."""
    panels = _value_panels(V.T, optimal_V.T, dark)
    chart = over_steps(panels, "Value of a state, V", when or after(episode), state_labels, dark)
    columns = {"estimated V": V.ravel(), "optimal V": optimal_V.ravel()}
    return chart.picture(V_ALT, see, steps_table(len(V), state_labels, columns), revision="V")


def action_values(
    Q: Array,
    optimal_Q: Array,
    *,
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    episode: int | None = None,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Draw the estimated (optimistic) and the optimal value [H,S,A] of each action, and the difference."""
    panels = _value_panels(heat.laid_out(Q, None), heat.laid_out(optimal_Q, None), dark)
    axes = heat.cell_axes(Q.shape, state_labels, action_labels, None)
    chart = heat.stacked(panels, title="Value of an action, Q", subtitle=after(episode), dark=dark, **axes)
    columns = {"estimated Q": Q, "optimal Q": optimal_Q}
    table = heat.cell_numbers(columns, Q.shape, state_labels, action_labels)
    return chart.picture(Q_ALT, see, table, revision="Q")


def over_steps(
    panels: Sequence[heat.Heatmap],
    title: str,
    subtitle: str,
    state_labels: Sequence[str],
    dark: bool,
    legend: bool = False,
    first: int = 0,
) -> Chart:
    """Stack panels whose columns are the steps of an episode. first: the number of the first step."""
    H = panels[0].z.shape[1]
    return heat.stacked(
        panels,
        title=title,
        subtitle=subtitle,
        dark=dark,
        legend=legend,
        x_title=f"Step h ({first} to {H - 1 + first})",
        y_title="State",
        x_ticks=style.step_ticks(H, first),
        y_ticks=heat.row_ticks(heat.state_names(state_labels)),
        x_hover=[f"step {h + first}" for h in range(H)],
        y_hover=list(state_labels),
    )


def _value_panels(estimate: Array, optimal: Array, dark: bool) -> list[heat.Heatmap]:
    colors = style.theme(dark)
    top = max(float(estimate.max()), float(optimal.max()), 1e-12)
    least = min(float(estimate.min()), 0.0)  # drawn values can be below 0
    name = "Difference, estimated − optimal"
    return [
        heat.Heatmap("Estimated", estimate, estimate, colors.amount, least, top, form=".3~f"),
        heat.Heatmap("Optimal", optimal, optimal, colors.amount, least, top, form=".3~f"),
        heat.difference(name, estimate - optimal, rough, "+.3~f", colors),
    ]


def steps_table(
    H: int, state_labels: Sequence[str], columns: Mapping[str, Any], first: int = 0
) -> pd.DataFrame:
    """Return a table with one row for each (h, s). first: the number of the first step."""
    states = np.tile(np.asarray(state_labels, object), H)
    return pd.DataFrame(
        {"step": np.repeat(np.arange(H) + first, len(state_labels)), "state": states, **columns}
    )


USUAL_ALT = "Heatmaps of the action in each state at each step: the policy's, and the users' most frequent."
FEW = "too few users to say"

Known = NDArray[np.bool_]


def most_often(visits: Array, E: float) -> tuple[Policy, Known]:
    """Find the action that users received most often, according to the released counts.

    Args:
        visits: the noisy counts [H, S, A].
        E: the bound on the error in a number of users.

    Returns:
        The actions [H, S], and whether at least one user certainly received each of them [H, S].
    """
    return visits.argmax(-1), visits.max(-1) - E >= 1


class Changed(NamedTuple):
    """The places (a state at a step) in which the policy differs from the most frequent action, if both are known.

    Attributes:
        most: the place with the most users among these, as (step, state, policy's action, users' action), or None.
        changed, lacking: how many of all `places` differ, and how many have too few users for the policy.
    """

    most: tuple[int, int, int, int] | None
    changed: int
    lacking: int
    places: int


def changed(policy: Policy, enough: Known, visits: Array, E: float) -> Changed:
    """Compare a policy with the most frequent actions; arguments are as in `policy_beside_usual`."""
    usual, known = most_often(visits, E)
    differs = enough & known & (policy != usual)
    users = np.where(differs, visits.sum(-1), -np.inf)
    h, s = (int(i) for i in np.unravel_index(int(users.argmax()), users.shape))
    most = (h, s, int(policy[h, s]), int(usual[h, s])) if differs.any() else None
    return Changed(most, int(differs.sum()), int((~enough).sum()), policy.size)


def policy_beside_usual(
    policy: Policy,
    enough: Known,
    visits: Array,
    E: float,
    *,
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    somebody: str,
    first_step: int = 0,
    when: str = "",
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Draw the policy's action in every state at every step, next to the action that users received most often.

    Args:
        policy: the policy's actions [H, S].
        enough: whether the policy decides, because at least one user certainly received its action [H, S].
        visits, E: the noisy counts [H, S, A], and the bound on the error in a number of users.
        somebody: the words for those who decide if the policy does not.
        first_step: the number of the first step.
        when: the source of the records, for the subtitle.
    """
    A = len(action_labels)
    palette = [*graph.action_colors(A, dark), style.theme(dark).grid]
    names = np.array([*action_labels, FEW], object)
    scale = _bands(palette)
    usual, known = most_often(visits, E)

    def panel(name: str, actions: Policy, sure: Known, lacking: str) -> heat.Heatmap:
        drawn = np.where(sure, actions, A).T
        words = np.array([*action_labels, lacking], object)[drawn]
        return heat.Heatmap(name, drawn.astype(float), words, scale, -0.5, A + 0.5, form="", bar=False)

    panels = [panel("Policy", policy, enough, somebody), panel("Most frequent action", usual, known, FEW)]
    title = "Policy and most frequent action"
    chart = over_steps(panels, title, when, state_labels, dark, legend=True, first=first_step)
    _name_actions(chart, panels, [*map(graph.worded, action_labels), FEW], palette)
    columns = {
        "policy": names[policy].ravel(),
        "decides": np.where(enough, "policy", somebody).ravel(),
        "noisy episodes with this action": _taken(visits, policy).ravel(),
        "users got most often": names[np.where(known, usual, A)].ravel(),
        "noisy episodes with that action": _taken(visits, usual).ravel(),
    }
    table = steps_table(len(policy), state_labels, columns, first_step)
    return chart.picture(USUAL_ALT, see, table, revision="steps")


def _taken(visits: Array, actions: Policy) -> Array:
    """Return the visits with the given action in each state at each step [H, S], to one decimal place."""
    return np.take_along_axis(visits, actions[..., None].astype(int), -1)[..., 0].round(1)

"""Heatmaps over the steps of an episode: a policy's actions, visits and values, next to the optimal ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import graph, heat, style
from dprl.figures.chart import Chart, Trace
from dprl.figures.lines import Array
from dprl.figures.picture import Picture
from dprl.words import after, percent, rough

Policy = NDArray[np.integer[Any]]

STEPS_ALT = (
    "Heatmaps of the action taken in each state at each step: learned, optimal, and their differences."
)
OCCUPANCY_ALT = "Heatmaps of the chance of each state at each step, under the learned and the optimal policy."
CHANCES_ALT = (
    "Heatmaps of the chance of each action in each state at each step: learned, and under the optimal policy."
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
    """Draw the action in every state at every step: learned, optimal, and how much the differences matter.

    Args:
        policy, optimal_policy: [H,S].
        optimal_occupancy: [H,S] the optimal policy's probability of each state.
        wrong: [H,S] whether the optimal action is better.
        weight: [H,S] the optimal policy's probability of the state, if the actions differ.
        sure: [H,S] the probability of the action if the policy is stochastic; `policy` then holds its likeliest
            actions.
        behaviour: [H,S] the probability of the learned action under the policy that collected the data, NaN if it
            never visits the state.
        when: replaces "after that many episodes".
    """
    A = len(action_labels)
    colors = style.theme(dark)
    palette = graph.action_colors(A, dark)
    shown = np.asarray(action_labels, object)
    bands: style.Scale = tuple(
        stop for a in range(A) for stop in ((a / A, palette[a]), ((a + 1) / A, palette[a]))
    )

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
    used = sorted(
        {int(a) for which in (policy, optimal_policy) if which is not None for a in np.unique(which)}
    )
    heat.name_colors(chart, [(graph.worded(action_labels[a]), palette[a]) for a in used])
    chart.layout["legend"] |= {"itemclick": False, "itemdoubleclick": False}
    table = steps_table(len(policy), state_labels, columns)
    return chart.picture(STEPS_ALT, see, table, revision="steps")


def _disagreement(wrong: NDArray[np.bool_], weight: Array | None, colors: style.Theme) -> heat.Heatmap:
    """Return a panel of the cells where the optimal action is better, weighted by its visits if they are known."""
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
    rows = heat.pair_rows(state_labels, action_labels)
    chart = over_steps(panels, "Chances of actions", after(episode), state_labels, dark, rows=rows)
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
    rows = heat.pair_rows(state_labels, action_labels)
    chart = over_steps(panels, "Value of an action, Q", after(episode), state_labels, dark, rows=rows)
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
    *,
    rows: Trace | None = None,
    first: int = 0,
) -> Chart:
    """Stack panels whose columns are the steps of an episode.

    rows: axis settings of the rows, the states by default; first: the number of the first step.
    """
    H = panels[0].z.shape[1]
    axes: Trace = {
        "x_title": f"Step h ({first} to {H - 1 + first})",
        "y_title": "State",
        "x_ticks": style.step_ticks(H, first),
        "y_ticks": heat.state_rows(state_labels),
        "x_hover": [f"step {h + first}" for h in range(H)],
        "y_hover": list(state_labels),
    }
    how: Trace = axes | (rows or {})
    return heat.stacked(panels, title=title, subtitle=subtitle, dark=dark, legend=legend, **how)


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

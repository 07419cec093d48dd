"""Policies over the steps of an episode, as heatmaps: actions, visits and values, against the optimal ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import graph, heat, style
from dprl.figures.picture import Picture
from dprl.words import after, percent, rough

Array = NDArray[np.float64]
Policy = NDArray[np.integer[Any]]

STEPS_ALT = (
    "Heatmaps of the action taken in each state at each step: learned, optimal, and where they differ."
)
OCCUPANCY_ALT = "Heatmaps of how likely each state is at each step, under the learned and the optimal policy."
CHANCES_ALT = (
    "Heatmaps of how likely each action is in each state at each step: learned, and under the optimal policy."
)
V_ALT = "Heatmaps of the value of each state at each step: estimated, optimal, and the difference."
Q_ALT = "Heatmaps of the value of each state and action at each step: estimated, optimal, and the difference."


def steps(
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
    """The action in every state at every step: learned, optimal, and how much the disagreements matter.

    Args:
        policy, optimal_policy: [H,S].
        optimal_occupancy: [H,S] how likely the optimal policy is in a state.
        wrong: [H,S] where its action is better.
        weight: [H,S] how often it is there.
        sure: [H,S] the chance of that action, where the policy is a stochastic one and `policy` its likeliest actions.
        behaviour: [H,S] the chance that the policy the data come from takes the learned action, NaN where it never is.
        when: in place of "after so many episodes".
    """
    H = len(policy)
    A = len(action_labels)
    colors = style.theme(dark)
    palette = graph.action_colors(A, dark)
    shown = np.asarray(action_labels, object)
    bands: style.Scale = tuple(
        stop for a in range(A) for stop in ((a / A, palette[a]), ((a + 1) / A, palette[a]))
    )

    def actions(name: str, which: Policy) -> heat.Panel:
        chosen = which.T.astype(int)
        return heat.Panel(name, chosen.astype(float), shown[chosen], bands, -0.5, A - 0.5, form="", bar=False)

    panels = [actions("Learned", policy)]
    columns: dict[str, Any] = {"learned": shown[policy.astype(int)].ravel()}
    if sure is not None:
        panels[0] = actions("Learned: the likeliest action", policy)
        panels.append(_shares("Its chance", sure.T, colors))
        columns["its chance"] = sure.ravel()
    if optimal_policy is not None and wrong is not None:
        panels.append(actions("Optimal", optimal_policy))
        columns["optimal"] = shown[optimal_policy.astype(int)].ravel()
        drawn = wrong.astype(float) if weight is None else weight
        panels.append(
            heat.Panel(
                "Disagreement" + ("" if weight is None else " × optimal policy's visits"),
                drawn.T,
                drawn.T,
                colors.amount,
                0.0,
                max(float(drawn.max()), 1e-12) if wrong.any() else 1.0,
                form=".2%" if weight is not None else ".0f",
                ticks=_percent_ticks(float(drawn.max())),
            )
        )
        columns["worse than optimal"] = wrong.ravel()
        if optimal_occupancy is not None:
            columns["optimal policy's visits"] = optimal_occupancy.ravel()
    if behaviour is not None:
        panels.append(_shares("Behaviour policy's chance of this", behaviour.T, colors))
        columns["behaviour policy's chance of it"] = behaviour.ravel()
    figure = heat.stacked(
        panels,
        title="The policy, step by step",
        subtitle=when or after(episode),
        dark=dark,
        legend=True,
        **_over_steps(H, state_labels),
    )
    used = sorted(
        {int(a) for which in (policy, optimal_policy) if which is not None for a in np.unique(which)}
    )
    heat.name_colors(figure, [(graph.worded(action_labels[a]), palette[a]) for a in used])
    figure.update_layout(uirevision="steps", legend_itemclick=False, legend_itemdoubleclick=False)
    return Picture(figure, STEPS_ALT, see, _table(H, state_labels, columns))


def chances(
    policy: Array,
    optimal_policy: Policy,
    *,
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    episode: int | None = None,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """How likely each action is in each state at each step, policy [H,S,A], and the optimal one [H,S]."""
    H, _, A = policy.shape
    colors = style.theme(dark)
    optimal = np.eye(A)[optimal_policy.astype(int)]
    figure = heat.stacked(
        [
            _shares(name, heat.laid_out(which, None), colors)
            for name, which in (("Learned", policy), ("Optimal", optimal))
        ],
        title="Chances of actions",
        subtitle=after(episode),
        dark=dark,
        **(_over_steps(H, state_labels) | heat.pair_rows(state_labels, action_labels)),
    )
    figure.update_layout(uirevision="chances")
    columns = {"learned": policy.ravel(), "optimal": optimal.ravel()}
    return Picture(figure, CHANCES_ALT, see, _pairs_table(policy.shape, state_labels, action_labels, columns))


def visitation(
    occupancy: Array,
    *,
    state_labels: Sequence[str],
    optimal_occupancy: Array | None = None,
    episode: int | None = None,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """How likely each state is at each step, occupancy [H,S], and under the optimal policy."""
    H = len(occupancy)
    colors = style.theme(dark)
    given = [("Learned", occupancy)] + (
        [("Optimal", optimal_occupancy)] if optimal_occupancy is not None else []
    )
    # Square root: a state visited once in a hundred episodes is still seen beside one visited always.
    panels = [
        heat.Panel(
            name,
            np.sqrt(np.maximum(o, 0)).T,
            o.T,
            colors.amount,
            0.0,
            1.0,
            form=".2%",
            ticks=([0.0, 0.1, 0.5, 1.0], ["0", "1%", "25%", "100%"]),
        )
        for name, o in given
    ]
    figure = heat.stacked(
        panels,
        title="Where it spends its time",
        subtitle=after(episode),
        dark=dark,
        **_over_steps(H, state_labels),
    )
    figure.update_layout(uirevision="visitation")
    columns: dict[str, Any] = {"learned": occupancy.ravel()}
    if optimal_occupancy is not None:
        columns["optimal"] = optimal_occupancy.ravel()
    return Picture(figure, OCCUPANCY_ALT, see, _table(H, state_labels, columns))


def values(
    V: Array,
    optimal_V: Array,
    *,
    state_labels: Sequence[str],
    episode: int | None = None,
    when: str = "",
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Estimated and optimal value [H,S] of each state at each step, and the difference. when: see `steps`."""
    H = len(V)
    figure = heat.stacked(
        _value_panels(V.T, optimal_V.T, dark),
        title="Value of a state, V",
        subtitle=when or after(episode),
        dark=dark,
        **_over_steps(H, state_labels),
    )
    figure.update_layout(uirevision="V")
    columns = {"estimated V": V.ravel(), "optimal V": optimal_V.ravel()}
    return Picture(figure, V_ALT, see, _table(H, state_labels, columns))


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
    """Estimated (optimistic) and optimal value [H,S,A] of each state and action at each step, and the difference."""
    H, S, A = Q.shape
    figure = heat.stacked(
        _value_panels(Q.reshape(H, S * A).T, optimal_Q.reshape(H, S * A).T, dark),
        title="Value of an action, Q",
        subtitle=after(episode),
        dark=dark,
        **(_over_steps(H, state_labels) | heat.pair_rows(state_labels, action_labels)),
    )
    figure.update_layout(uirevision="Q")
    columns = {"estimated Q": Q.ravel(), "optimal Q": optimal_Q.ravel()}
    return Picture(figure, Q_ALT, see, _pairs_table(Q.shape, state_labels, action_labels, columns))


def _over_steps(H: int, state_labels: Sequence[str]) -> dict[str, Any]:
    return {
        "x_title": f"Step h (0 to {H - 1})",
        "y_title": "State",
        "x_ticks": style.step_ticks(H),
        "y_ticks": heat.state_rows(state_labels),
        "x_hover": [f"step {h}" for h in range(H)],
        "y_hover": list(state_labels),
    }


def _value_panels(estimate: Array, optimal: Array, dark: bool) -> list[heat.Panel]:
    colors = style.theme(dark)
    top = max(float(estimate.max()), float(optimal.max()), 1e-12)
    least = min(float(estimate.min()), 0.0)  # values that are drawn can be below 0
    error = estimate - optimal
    most = max(float(np.abs(error).max()), 1e-12)
    ends = [-most, 0.0, most]
    return [
        heat.Panel("Estimated", estimate, estimate, colors.amount, least, top, form=".3~f"),
        heat.Panel("Optimal", optimal, optimal, colors.amount, least, top, form=".3~f"),
        heat.Panel(
            "Difference, estimated − optimal",
            error,
            error,
            colors.difference,
            -most,
            most,
            form="+.3~f",
            ticks=(ends, [rough(e) for e in ends]),
        ),
    ]


def _shares(name: str, values: Array, colors: style.Theme) -> heat.Panel:
    """Of chances [rows, columns]."""
    ticks = ([0.0, 0.5, 1.0], ["0", "50%", "100%"])
    return heat.Panel(name, values, values, colors.amount, 0.0, 1.0, form=".3~p", ticks=ticks)


def _percent_ticks(top: float) -> tuple[list[float], list[str]]:
    if top <= 0:
        return [0.0], ["0"]
    return [0.0, top], ["0", percent(top)]


def _table(H: int, state_labels: Sequence[str], columns: Mapping[str, Any]) -> pd.DataFrame:
    S = len(state_labels)
    return pd.DataFrame(
        {"step": np.repeat(np.arange(H), S), "state": np.tile(np.asarray(state_labels, object), H), **columns}
    )


def _pairs_table(
    shape: tuple[int, ...],
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    columns: Mapping[str, Any],
) -> pd.DataFrame:
    """A row for each (h, s, a) of shape [H,S,A]."""
    h, s, a = (index.ravel() for index in np.indices(shape))
    states, actions = np.asarray(state_labels, object), np.asarray(action_labels, object)
    return pd.DataFrame({"step": h, "state": states[s], "action": actions[a], **columns})

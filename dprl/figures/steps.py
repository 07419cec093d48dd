"""Heatmaps over the steps of an episode: a policy's actions, visits and values, next to the optimal ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import graph, heat, style
from dprl.figures.lines import Array
from dprl.figures.picture import Picture
from dprl.words import percent, rough

Policy = NDArray[np.integer[Any]]


def policy_by_step(
    policy: Policy,
    *,
    action_labels: Sequence[str],
    optimal_policy: Policy | None = None,
    optimal_occupancy: Array | None = None,
    wrong: NDArray[np.bool_] | None = None,
    weight: Array | None = None,
    sure: Array | None = None,
    behaviour: Array | None = None,
    dark: bool = False,
    **how: Any,
) -> Picture:
    """Draw the learned and the optimal action in every state at every step, and how much their differences matter.

    All arrays are [H,S]. optimal_occupancy: the optimal policy's probability of each state. weight: the same, but 0
    unless the optimal action is better (`wrong`). For a stochastic policy, `policy` contains its likeliest actions, and
    `sure` their probabilities. behaviour: the probability of the learned action under the policy that collected the
    data, NaN in states that it never visits. how: see `over_steps`.
    """
    colors, palette = style.theme(dark), graph.action_colors(len(action_labels), dark)
    names = np.asarray(action_labels, object)

    def actions(name: str, which: Policy) -> heat.Heatmap:
        return _actions(name, which.T.astype(int), names, palette)

    panels = [actions("Learned" if sure is None else "Learned: the likeliest action", policy)]
    columns: dict[str, Any] = {"learned": names[policy.astype(int)]}
    if sure is not None:
        panels.append(heat.chance_map("Its chance", sure.T, colors))
        columns["its chance"] = sure
    if optimal_policy is not None and weight is not None:
        top, name = float(weight.max()), "Disagreement × optimal policy's visits"
        ticks = ([0.0, top], ["0", percent(top)]) if top > 0 else ([0.0], ["0"])
        drawn = weight.T, weight.T, colors.amount, 0.0, top or 1.0
        panels.append(actions("Optimal", optimal_policy))
        panels.append(heat.Heatmap(name, *drawn, form=".2%", ticks=ticks))
        columns |= {"optimal": names[optimal_policy.astype(int)], "worse than optimal": wrong}
        columns["optimal policy's visits"] = optimal_occupancy
    if behaviour is not None:
        panels.append(heat.chance_map("Behaviour policy's chance of this action", behaviour.T, colors))
        columns["behaviour policy's chance of it"] = behaviour
    title, named = "The policy, step by step", [graph.worded(label) for label in action_labels]
    return over_steps(
        panels, columns, title, "steps", "steps", names=named, palette=palette, dark=dark, **how
    )


def _actions(name: str, chosen: Policy, words: NDArray[np.object_], palette: Sequence[str]) -> heat.Heatmap:
    """Return a panel of actions [S,H]. `words` and `palette` have the name and colour of each action."""
    n = len(palette)
    bands = tuple(stop for i, color in enumerate(palette) for stop in ((i / n, color), ((i + 1) / n, color)))
    return heat.Heatmap(name, chosen.astype(float), words[chosen], bands, -0.5, n - 0.5, form="", bar=False)


def action_chances(
    policy: Array, optimal_policy: Policy, *, when: str = "", dark: bool = False, **how: Any
) -> Picture:
    """Draw a policy's action probabilities [H,S,A] next to the optimal actions [H,S]."""
    columns = {"learned": policy, "optimal": np.eye(policy.shape[2])[optimal_policy.astype(int)]}
    panels = [
        heat.chance_map(name.capitalize(), heat.laid_out(which, None), style.theme(dark))
        for name, which in columns.items()
    ]
    said = "Chances of actions", when, "chances", "chances"
    return heat.cells_picture(panels, columns, None, *said, dark=dark, **how)


def action_values(Q: Array, optimal_Q: Array, *, when: str = "", dark: bool = False, **how: Any) -> Picture:
    """Draw the estimated and the optimal action values [H,S,A], and their difference."""
    panels = _value_panels(heat.laid_out(Q, None), heat.laid_out(optimal_Q, None), dark)
    columns, said = {"estimated Q": Q, "optimal Q": optimal_Q}, ("Value of an action, Q", when, "q", "Q")
    return heat.cells_picture(panels, columns, None, *said, dark=dark, **how)


def state_visits(occupancy: Array, optimal_occupancy: Array, *, dark: bool = False, **how: Any) -> Picture:
    """Draw the probability of each state at each step [H,S], next to its probability under the optimal policy."""
    columns = {"learned": occupancy, "optimal": optimal_occupancy}
    # Square root: a state visited once in a hundred episodes is still visible next to one always visited.
    scale, ticks = style.theme(dark).amount, ([0.0, 0.1, 0.5, 1.0], ["0", "1%", "25%", "100%"])
    panels = [
        heat.Heatmap(
            name.capitalize(), np.sqrt(np.maximum(p, 0)).T, p.T, scale, 0.0, 1.0, form=".2%", ticks=ticks
        )
        for name, p in columns.items()
    ]
    said = "Time spent in each state", "occupancy", "visitation"
    return over_steps(panels, columns, *said, dark=dark, **how)


def state_values(V: Array, optimal_V: Array, *, dark: bool = False, **how: Any) -> Picture:
    """Draw each state's estimated and optimal value at each step [H,S], and their difference."""
    columns, said = {"estimated V": V, "optimal V": optimal_V}, ("Value of a state, V", "v", "V")
    return over_steps(_value_panels(V.T, optimal_V.T, dark), columns, *said, dark=dark, **how)


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


def over_steps(
    panels: Sequence[heat.Heatmap],
    columns: Mapping[str, Any],
    title: str,
    alt: str,
    revision: str,
    *,
    state_labels: Sequence[str],
    names: Sequence[str] = (),
    palette: Sequence[str] = (),
    first: int = 0,
    when: str = "",
    see: str = "",
    dark: bool,
) -> Picture:
    """Stack panels whose columns are the steps of an episode.

    `columns` has the table's numbers, each [H, S]. `names` and `palette` are categories and their colours, and the
    legend lists those drawn. `first` is the number of the first step, and `when` is the subtitle.
    """
    S, H = panels[0].z.shape
    chart = heat.stacked(
        panels,
        title=title,
        subtitle=when,
        dark=dark,
        legend=bool(names),
        x_title=f"Step h ({first} to {H - 1 + first})",
        y_title="State",
        x_ticks=style.step_ticks(H, first),
        y_ticks=heat.row_ticks(heat.state_names(state_labels)),
        x_hover=[f"step {h + first}" for h in range(H)],
        y_hover=list(state_labels),
    )
    if names:
        used = {int(a) for panel in panels if not panel.bar for a in np.unique(panel.z)}
        heat.name_colors(chart, [(names[a], palette[a]) for a in sorted(used)])
        chart.layout["legend"] |= {"itemclick": False, "itemdoubleclick": False}
    places = {
        "step": np.repeat(np.arange(H) + first, S),
        "state": np.tile(np.asarray(state_labels, object), H),
    }
    table = pd.DataFrame(places | {name: np.ravel(values) for name, values in columns.items()})
    return chart.picture(alt, see, table, revision=revision)


FEW = "too few users to say"

Known = NDArray[np.bool_]


def most_often(visits: Array, E: float) -> tuple[Policy, Known]:
    """Return the actions [H, S] that users received most often, and whether each was certainly received at least once.
    `visits` [H, S, A] are noisy counts, and E bounds their errors."""
    return visits.argmax(-1), visits.max(-1) - E >= 1


def changed(
    policy: Policy, enough: Known, visits: Array, E: float
) -> tuple[tuple[int, int, int, int] | None, int, int]:
    """Return where a policy differs from the action that users received most often, as three results.

    They are (step, state, policy's action, users' action) for the difference with the most users, the number of
    differences, and the number of pairs with too few users.
    """
    usual, known = most_often(visits, E)
    differs = enough & known & (policy != usual)
    users = np.where(differs, visits.sum(-1), -np.inf)
    h, s = (int(i) for i in np.unravel_index(int(users.argmax()), users.shape))
    most = (h, s, int(policy[h, s]), int(usual[h, s])) if differs.any() else None
    return most, int(differs.sum()), int((~enough).sum())


def policy_beside_usual(
    policy: Policy,
    enough: Known,
    visits: Array,
    E: float,
    *,
    action_labels: Sequence[str],
    somebody: str,
    dark: bool = False,
    **how: Any,
) -> Picture:
    """Draw the policy's action in every state at every step, next to the usual one (see `most_often`).

    `enough` [H, S] is True if at least one user certainly received the policy's action. Elsewhere the policy does not
    decide; `somebody` names who does.
    """
    A = len(action_labels)
    palette = [*graph.action_colors(A, dark), style.theme(dark).grid]
    names, decides = (np.array([*action_labels, lacking], object) for lacking in (FEW, somebody))
    usual, known = most_often(visits, E)
    often = np.where(known, usual, A)
    panels = [
        _actions("Policy", np.where(enough, policy, A).T, decides, palette),
        _actions("Most frequent action", often.T, names, palette),
    ]
    columns = {
        "policy": names[policy],
        "decides": np.where(enough, "policy", somebody),
        "noisy episodes with this action": _taken(visits, policy),
        "users got most often": names[often],
        "noisy episodes with that action": _taken(visits, usual),
    }
    title, named = "Policy and most frequent action", [*map(graph.worded, action_labels), FEW]
    return over_steps(
        panels, columns, title, "usual", "steps", names=named, palette=palette, dark=dark, **how
    )


def _taken(visits: Array, actions: Policy) -> Array:
    """Return how often users received the given action in each state at each step [H, S], to one decimal place."""
    return np.take_along_axis(visits, actions[..., None].astype(int), -1)[..., 0].round(1)

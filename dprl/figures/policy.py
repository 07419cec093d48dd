"""Drawings of environments, with or without a policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import graph, grid, heat, style
from dprl.figures.chart import Chart
from dprl.figures.lines import Array
from dprl.figures.picture import Picture
from dprl.words import human, percent

Policy = NDArray[np.integer[Any]]

TOLD_APART = 8  # the most actions that can have distinct colours


def environment_drawing(
    P: Array,
    R: Array,
    *,
    drawing: Mapping[str, Any],
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    dark: bool = False,
) -> Picture:
    """Draw the environment at step 0, without a policy. States with the most reward have the strongest colour.

    P is [H,S,A,S], R is [H,S,A], and `drawing` is from `TabularMDP`. With at most three actions, all their moves are
    drawn; with up to eight, only each action's likeliest move; with more, the average over actions.
    """
    _, S, A, _ = P.shape
    best = R[0].max(axis=1)
    top = float(best.max())
    table = pd.DataFrame({"state": list(state_labels), "most reward": best})
    hover = [
        f"<b>{style.plain(state_labels[s])}</b>, reward up to {human(float(best[s]))}<br>"
        + "<br>".join(
            f"{style.plain(action_labels[a])}: {graph.goes(P[0, s, a], state_labels)}"
            for a in range(min(A, 8))
        )
        for s in range(S)
    ]
    if grid.is_grid(drawing):
        cells = len(drawing["cells"])
        chart = grid.canvas("", drawing, dark, small=True)
        # Colour only cells that pay more than the median, because a small reward everywhere is no landmark.
        extra = np.maximum(best[:cells] - float(np.median(best[:cells])), 0.0)
        fills = grid.fill(chart, drawing, extra / extra.max() if extra.any() else extra, hover[:cells])
        grid.signs(chart, drawing, [style.readable_on(color) for color in fills], small=True)
        return chart.picture("grid", "", table)
    place = graph.state_places(drawing, S)
    chart = graph.canvas("", place, dark, small=True, labels=state_labels)
    few = graph.in_row(place) or (P[0] > graph.FAINTEST).sum() <= graph.DRAWN_MOVES
    whole = A <= 3 and S <= graph.NAMED_STATES and few
    if A > TOLD_APART:
        shown, names = P[0].mean(axis=1, keepdims=True), ["all actions, on average"]
        see = f"There are {A} actions, so the arrows show their average."
    else:
        sparse = S > graph.NAMED_STATES and not graph.in_row(place)
        shown, names = P[0] if whole else graph.likeliest(P[0], sparse), list(action_labels)
        see = "" if whole else "Only the likeliest moves are drawn."
    outside = graph.stand_outside(place, state_labels)
    for action, name in enumerate(names):
        graph.moves(chart, place, shown[:, action], action, name, one_side=False, inward=outside)
    graph.nodes(chart, place, state_labels, best / top if top > 0 else best, hover)
    paying = np.flatnonzero(best > 0)
    if S <= graph.NAMED_STATES and len(paying) <= 4 and not outside:
        for s in paying:
            said = f"reward {human(float(best[s]))}"
            graph.note_at(chart, place, int(s), said, -1.15, chart.colors.muted)
    return chart.picture("drawing", see, table)


class _Step(NamedTuple):
    """The data for drawing a policy at one step."""

    title: str
    subtitle: str
    taken: Array  # the probabilities of actions [S, A]
    best: Policy  # the optimal actions [S]
    wrong: NDArray[np.bool_]  # whether the optimal action is better than the policy's [S]
    shares: Array  # the probability of each state divided by the largest one [S]
    reached: NDArray[np.bool_]  # whether the policy can reach the state at this step [S]
    hover: Sequence[str]


def policy_on_environment(
    P: Array,
    policy: Policy,
    *,
    step: int,
    drawing: Mapping[str, Any],
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    optimal_policy: Policy,
    wrong: NDArray[np.bool_],
    occupancy: Array,
    chances: Array | None = None,
    when: str = "",
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Draw the policy [H,S] at one step on the environment with transitions P [H,S,A,S].

    Arcs show the moves of the chosen action. A state's fill shows its probability at this step (`occupancy` [H,S]).
    A ring marks states in which the action is worse than the optimal one (`wrong` [S]). For a stochastic policy,
    `chances` [H,S,A] contains the probabilities of all actions, and `policy` the likeliest ones.
    """
    chosen, best, visited = policy[step].astype(int), optimal_policy[step].astype(int), occupancy[step]
    taken = np.eye(len(action_labels))[chosen] if chances is None else chances[step]
    names, reached = np.asarray(action_labels, object), visited > 0
    hover = []
    for s, state in enumerate(state_labels):
        goes = graph.goes(taken[s] @ P[step, s], state_labels)
        action = f"{style.plain(names[chosen[s]])}, which leads to {goes}"
        if chances is not None:
            action = f"{graph.goes(taken[s], action_labels)}<br>leads to {goes}"
        here = f"share of episodes here at this step: {percent(float(visited[s]))}"
        hover.append(
            f"<b>{style.plain(state)}</b>: {action}<br>optimal: {style.plain(names[best[s]])}<br>{here}"
        )
    title, shares = f"The policy at step {step}", visited / visited.max()
    at = _Step(title, when, taken, best, wrong, shares, reached, hover)
    if on_grid := grid.is_grid(drawing):
        chart = _policy_on_grid(drawing, at, dark)
    else:
        chart = _policy_on_graph(P[step], drawing, at, state_labels, action_labels, dark)
    if wrong.any():
        ring = {"width": 3}
        optimal = {"symbol": "circle-open", "size": 14, "color": chart.colors.roles["optimal"], "line": ring}
        chart.sign("the optimal action is better", optimal)
    if not reached.all():
        shape = "square-open" if on_grid else "circle-open"
        never = {"symbol": shape, "size": 14, "color": chart.colors.faint, "line": {"width": 1.2}}
        chart.sign("never here at this step", never)
    columns: dict[str, Any] = {"state": list(state_labels), "action": names[chosen]}
    if chances is not None:
        columns |= {f"chance of {name}": taken[:, a] for a, name in enumerate(action_labels)}
    columns |= {"optimal action": names[best], "probability of being there": visited}
    alt = "grid_policy" if on_grid else "policy"
    return chart.picture(alt, see, pd.DataFrame(columns), revision="policy")


def _policy_on_grid(drawing: Mapping[str, Any], at: _Step, dark: bool) -> Chart:
    """Draw the policy as arrows on the grid, except in cells where actions do not matter (goal, pit)."""
    cells = len(drawing["cells"])
    chart = grid.canvas(at.title, drawing, dark, small=False, subtitle=at.subtitle)
    here = at.reached[:cells]
    fills = grid.fill(chart, drawing, at.shares[:cells], at.hover[:cells], ~here)
    inks = [style.readable_on(c) if h else chart.colors.faint for c, h in zip(fills, here, strict=True)]
    open_cells = np.array([mark not in grid.FINAL for mark in grid.cell_marks(drawing)])
    grid.arrows(chart, drawing, at.taken, inks, open_cells)
    grid.signs(chart, drawing, inks, small=False)
    grid.rings(chart, drawing, at.wrong[:cells] & open_cells)
    return chart


def _policy_on_graph(
    P: Array,
    drawing: Mapping[str, Any],
    at: _Step,
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    dark: bool,
) -> Chart:
    """Draw the policy's moves as arcs on a chain or a circle with transitions P [S,A,S]."""
    S, A = P.shape[:2]
    place, never = graph.state_places(drawing, S), ~at.reached
    chart = graph.canvas(at.title, place, dark, small=False, subtitle=at.subtitle, labels=state_labels)
    moves = np.moveaxis(np.where(at.reached[:, None], at.taken, 0.0)[..., None] * P, 1, 0)
    if S > graph.DRAWN_STATES:
        moves = np.where(moves == moves.max(axis=(0, 2), keepdims=True), moves, 0.0)
    row = graph.in_row(place)
    strip = row and S > graph.NAMED_STATES  # too many states for arcs: a row of colours instead
    inward = graph.stand_outside(place, state_labels)
    for a, name in enumerate(action_labels):
        if (at.taken[at.reached, a] >= graph.FAINTEST).any() and not strip:
            graph.moves(chart, place, moves[a], a, name, one_side=True, inward=inward)
    graph.nodes(chart, place, state_labels, at.shares, at.hover, at.wrong, never)
    rows = [(at.taken.argmax(axis=1), -1.25, "plays"), (at.best, -1.95, "optimal")] if row else []
    for actions, y, title in rows:
        graph.row_of_actions(chart, place, actions, action_labels, y, title, never)
    if strip:
        ticks = style.label_ticks(style.short_labels(state_labels), 10)
        chart.x(visible=True, showgrid=False, **ticks)
        chart.layout["xaxis"]["title"]["text"] = "State"
        used = np.unique([actions[at.reached] for actions, _, _ in rows])
        palette = graph.action_colors(A, dark)
        heat.name_colors(chart, [(graph.worded(action_labels[a]), palette[a]) for a in used])
    return chart

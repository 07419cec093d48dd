"""Environments, and policies drawn on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from dprl.figures import graph, grid, heat, style
from dprl.figures.picture import Picture
from dprl.words import after, human, percent

Array = NDArray[np.float64]
Policy = NDArray[np.integer[Any]]

GRID_ALT = "Drawing of a grid: walls, start, goal and pits."
GRID_POLICY_ALT = "Drawing of a grid with an arrow in each cell for the move that the policy makes there."
DRAWING_ALT = "Drawing of the environment: states, and arrows for where actions lead, wider where likelier."
TOLD_APART = 8  # actions that have a colour each
POLICY_ALT = "Drawing of the environment with the action that the policy takes in each state."


def environment(
    P: Array,
    R: Array,
    *,
    drawing: Mapping[str, Any],
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    step: int = 0,
    dark: bool = False,
) -> Picture:
    """The environment alone, small, at one step: P [H,S,A,S], R [H,S,A]; drawing: {"kind": "chain" or other}.

    Every action's moves are drawn for at most three actions, else the likeliest move of each, and for more actions than
    can be told apart their average. States with the most reward have the fullest colour.
    """
    _, S, A, _ = P.shape
    best = R[step].max(axis=1)
    top = float(best.max())
    table = pd.DataFrame({"state": list(state_labels), "most reward": best})
    hover = [
        f"<b>{style.plain(state_labels[s])}</b>, reward up to {human(float(best[s]))}<br>"
        + "<br>".join(
            f"{style.plain(action_labels[a])}: {graph.goes(P[step, s, a], state_labels)}"
            for a in range(min(A, 8))
        )
        for s in range(S)
    ]
    if grid.is_grid(drawing):
        return Picture(_grid(drawing, best, hover, dark), GRID_ALT, "", table)
    place = graph.places(drawing, S)
    figure = graph.canvas("", place, dark, small=True, labels=state_labels)
    whole = (
        A <= 3
        and S <= graph.NAMED_STATES
        and (graph.in_row(place) or (P[step] > graph.FAINTEST).sum() <= graph.DRAWN_MOVES)
    )
    if A > TOLD_APART:
        shown, names = P[step].mean(axis=1, keepdims=True), ["all actions, on average"]
        see = f"There are {A} actions: arrows are for their average."
    else:
        sparse = S > graph.NAMED_STATES and not graph.in_row(place)
        shown, names = P[step] if whole else graph.likeliest(P[step], sparse), list(action_labels)
        see = "" if whole else "Only the likeliest moves are drawn."
    for action, name in enumerate(names):
        graph.moves(
            figure,
            place,
            shown[:, action],
            action,
            name,
            len(names),
            dark,
            inward=graph.stand_outside(place, state_labels),
        )
    graph.nodes(figure, place, state_labels, best / top if top > 0 else best, hover, dark)
    paying = np.flatnonzero(best > 0)
    if S <= graph.NAMED_STATES and len(paying) <= 4 and not graph.stand_outside(place, state_labels):
        for s in paying:
            graph.note(
                figure, place, int(s), f"reward {human(float(best[s]))}", -1.15, style.theme(dark).muted
            )
    return Picture(figure, DRAWING_ALT, see, table)


def on_environment(
    P: Array,
    policy: Policy,
    *,
    step: int,
    drawing: Mapping[str, Any],
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    optimal_policy: Policy | None = None,
    wrong: NDArray[np.bool_] | None = None,
    occupancy: Array | None = None,
    chances: Array | None = None,
    episode: int | None = None,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """The policy [H,S] at one step, drawn on the environment with transitions P [H,S,A,S].

    Arcs show where the chosen action leads, wider where likelier, in the action's colour; a state's fill is how
    likely it is at this step (occupancy [H,S]), and where the policy is never at this step all is grey. A ring marks
    states where the action is worse than the optimal policy's, wrong [S]. Of a stochastic policy, chances [H,S,A],
    `policy` has the likeliest actions, and every action is drawn, as large as it is likely.
    """
    S, A = len(state_labels), len(action_labels)
    chosen = policy[step].astype(int)
    taken = np.eye(A)[chosen] if chances is None else chances[step]
    colors = style.theme(dark)
    wrong = np.zeros(S, bool) if wrong is None else wrong
    visited = occupancy[step] if occupancy is not None else np.zeros(S)
    reached = visited > 0 if occupancy is not None else np.ones(S, bool)
    hover = []
    for s in range(S):
        words = f"<b>{style.plain(state_labels[s])}</b>: {style.plain(action_labels[chosen[s]])}"
        if chances is None:
            words += f", which leads to {graph.goes(P[step, s, chosen[s]], state_labels)}"
        else:
            words = f"<b>{style.plain(state_labels[s])}</b>: {graph.goes(taken[s], action_labels)}"
            words += f"<br>leads to {graph.goes(taken[s] @ P[step, s], state_labels)}"
        if optimal_policy is not None:
            words += f"<br>optimal: {style.plain(action_labels[int(optimal_policy[step, s])])}"
        if occupancy is not None:
            words += f"<br>is here at this step: {percent(float(visited[s]))}"
        hover.append(words)
    most = float(visited.max())
    shares = visited / most if most > 0 else visited
    if grid.is_grid(drawing):
        figure = _grid_policy(drawing, taken, shares, hover, wrong, reached, step, episode, dark)
    else:
        figure = _drawn_policy(
            P[step],
            drawing,
            taken,
            shares,
            hover,
            wrong,
            reached,
            optimal_policy,
            step,
            episode,
            state_labels,
            action_labels,
            dark,
        )
    figure.update_layout(uirevision="policy")
    names = np.asarray(action_labels, object)
    columns: dict[str, Any] = {"state": list(state_labels), "action": names[chosen]}
    if chances is not None:
        columns |= {f"chance of {name}": taken[:, a] for a, name in enumerate(action_labels)}
    if optimal_policy is not None:
        columns["optimal action"] = names[optimal_policy[step].astype(int)]
    if occupancy is not None:
        columns["probability of being there"] = visited
    if wrong.any():
        ring = {"symbol": "circle-open", "size": 14, "color": colors.roles["optimal"], "line": {"width": 3}}
        figure.add_scatter(
            x=[None], y=[None], mode="markers", marker=ring, name="the optimal action is better"
        )
    if not reached.all():
        shape = "square-open" if grid.is_grid(drawing) else "circle-open"
        never = {"symbol": shape, "size": 14, "color": colors.faint, "line": {"width": 1.2}}
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=never, name="never here at this step")
    alt = GRID_POLICY_ALT if grid.is_grid(drawing) else POLICY_ALT
    return Picture(figure, alt, see, pd.DataFrame(columns))


def _grid(drawing: Mapping[str, Any], best: Array, hover: Sequence[str], dark: bool) -> go.Figure:
    """A grid whose cells are the fuller the more they can pay, best [S]; states without a cell are left out."""
    cells = len(drawing["cells"])
    figure = grid.canvas("", drawing, dark, small=True)
    # Only cells that pay more than most: a small reward everywhere is no landmark.
    extra = np.maximum(best[:cells] - float(np.median(best[:cells])), 0.0)
    colors = grid.fill(figure, drawing, extra / extra.max() if extra.any() else extra, hover[:cells], dark)
    grid.signs(figure, drawing, [style.readable_on(color) for color in colors], small=True)
    return figure


def _grid_policy(
    drawing: Mapping[str, Any],
    taken: Array,
    shares: Array,
    hover: Sequence[str],
    wrong: NDArray[np.bool_],
    reached: NDArray[np.bool_],
    step: int,
    episode: int | None,
    dark: bool,
) -> go.Figure:
    """Arrows on the grid, of actions taken with chances [S,A]; none where nothing matters (goal, pit)."""
    cells = len(drawing["cells"])
    title = f"What it does at step {step}"
    figure = grid.canvas(title, drawing, dark, small=False, subtitle=after(episode))
    fills = grid.fill(figure, drawing, shares[:cells], hover[:cells], dark, ~reached[:cells])
    inks = [
        style.readable_on(c) if here else style.theme(dark).faint
        for c, here in zip(fills, reached[:cells], strict=True)
    ]
    open_cells = np.array([mark not in grid.FINAL for mark in grid.cell_marks(drawing)])
    grid.arrows(figure, drawing, taken, inks, open_cells)
    grid.signs(figure, drawing, inks, small=False, corner=True)
    grid.rings(figure, drawing, wrong[:cells] & open_cells, dark)
    return figure


def _drawn_policy(
    P: Array,
    drawing: Mapping[str, Any],
    taken: Array,
    shares: Array,
    hover: Sequence[str],
    wrong: NDArray[np.bool_],
    reached: NDArray[np.bool_],
    optimal_policy: Policy | None,
    step: int,
    episode: int | None,
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    dark: bool,
) -> go.Figure:
    """The actions that are taken, with chances [S,A], as arcs on a chain or a graph with transitions P [S,A,S]."""
    S, A = P.shape[:2]
    chosen = taken.argmax(axis=1)
    place = graph.places(drawing, S)
    title = f"What it does at step {step}"
    figure = graph.canvas(title, place, dark, small=False, subtitle=after(episode), labels=state_labels)
    moves = np.moveaxis(np.where(reached[:, None], taken, 0.0)[..., None] * P, 1, 0)
    if S > graph.DRAWN_STATES:
        moves = np.where(moves == moves.max(axis=(0, 2), keepdims=True), moves, 0.0)
    strip = graph.in_row(place) and S > graph.NAMED_STATES  # too many to see arcs: a row of colours instead
    for action in range(A):
        if (taken[reached, action] >= graph.FAINTEST).any() and not strip:
            graph.moves(
                figure,
                place,
                moves[action],
                action,
                action_labels[action],
                A,
                dark,
                one_side=True,
                inward=graph.stand_outside(place, state_labels),
            )
    graph.nodes(figure, place, state_labels, shares, hover, dark, wrong, ~reached)
    if graph.in_row(place):
        graph.row_of_actions(figure, place, chosen, action_labels, -1.25, "plays", dark, ~reached)
        used = np.unique(chosen[reached])
        if optimal_policy is not None:
            best = optimal_policy[step].astype(int)
            graph.row_of_actions(figure, place, best, action_labels, -1.95, "optimal", dark, ~reached)
            used = np.union1d(used, best[reached])
        if strip:
            ticks = style.label_ticks(style.short_labels(state_labels), 10)
            figure.update_xaxes(visible=True, showgrid=False, title_text="State", **ticks)
            heat.name_colors(
                figure, [(graph.worded(action_labels[a]), graph.action_colors(A, dark)[a]) for a in used]
            )
    return figure

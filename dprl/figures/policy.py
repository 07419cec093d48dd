"""Policies: drawn on the environment, over the steps of an episode, and against the optimal one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from dprl.figures import graph, grid, heat, style
from dprl.figures.style import Picture
from dprl.words import after, human, percent, quoted, rough

Array = NDArray[np.float64]
Policy = NDArray[np.integer[Any]]

GRID_ALT = "Drawing of a grid: walls, start, goal and pits."
GRID_POLICY_ALT = "Drawing of a grid with an arrow in each cell for the move that the policy makes there."
DRAWING_ALT = "Drawing of the environment: states, and arrows for where actions lead, wider where likelier."
POLICY_ALT = "Drawing of the environment with the action that the policy takes in each state."
STEPS_ALT = (
    "Heatmaps of the action taken in each state at each step: learned, optimal, and where they differ."
)
OCCUPANCY_ALT = "Heatmaps of how likely each state is at each step, under the learned and the optimal policy."
V_ALT = "Heatmaps of the value of each state at each step: estimated, optimal, and the difference."
Q_ALT = "Heatmaps of the value of each state and action at each step: estimated, optimal, and the difference."


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

    Every action's moves are drawn for at most three actions, else the likeliest move of each. States with the
    most reward have the fullest colour.
    """
    H, S, A, _ = P.shape
    best = R[step].max(axis=1)
    top = float(best.max())
    see = (
        f"{S} states, {A} action{'s' if A > 1 else ''}, {H} step{'s' if H > 1 else ''} an episode; the most "
        f"reward, {human(top)}, is in {quoted(state_labels[int(best.argmax())])}."
    )
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
        return Picture(_grid(drawing, best, hover, dark), GRID_ALT, see, table)
    place = graph.places(drawing, S)
    figure = graph.canvas("", place, dark, small=True, labels=state_labels)
    whole = (
        A <= 3
        and S <= graph.NAMED_STATES
        and (graph.in_row(place) or (P[step] > graph.FAINTEST).sum() <= graph.DRAWN_MOVES)
    )
    moves = P[step] if whole else graph.likeliest(P[step], S > graph.NAMED_STATES and not graph.in_row(place))
    for action in range(A):
        graph.moves(
            figure,
            place,
            moves[:, action],
            action,
            action_labels[action],
            A,
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
    if not whole:
        see += " Only the likeliest moves are drawn."
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
    optimal_Q: Array | None = None,
    occupancy: Array | None = None,
    episode: int | None = None,
    dark: bool = False,
) -> Picture:
    """The policy [H,S] at one step, drawn on the environment with transitions P [H,S,A,S].

    Arcs show where the chosen action leads, wider where likelier, in the action's colour; a state's fill is how
    likely it is at this step (occupancy [H,S]). A ring marks states where the action is worse than the optimal
    policy's (with optimal_Q [H,S,A]: by its value, so that ties are no mistake; else by mere difference).
    """
    _, S, A, _ = P.shape
    chosen = policy[step].astype(int)
    colors = style.theme(dark)
    wrong = np.zeros(S, bool)
    if optimal_policy is not None:
        wrong = mistakes(policy, optimal_policy, optimal_Q)[step]
    visited = occupancy[step] if occupancy is not None else np.zeros(S)
    hover = []
    for s in range(S):
        words = f"<b>{style.plain(state_labels[s])}</b>: {style.plain(action_labels[chosen[s]])}"
        words += f", which leads to {graph.goes(P[step, s, chosen[s]], state_labels)}"
        if optimal_policy is not None:
            words += f"<br>optimal: {style.plain(action_labels[int(optimal_policy[step, s])])}"
        if occupancy is not None:
            words += f"<br>is here at this step: {percent(float(visited[s]))}"
        hover.append(words)
    most = float(visited.max())
    shares = visited / most if most > 0 else visited
    if grid.is_grid(drawing):
        figure = _grid_policy(drawing, chosen, shares, hover, wrong, step, episode, dark)
    else:
        figure = _drawn_policy(
            P[step],
            drawing,
            chosen,
            shares,
            hover,
            wrong,
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
    if optimal_policy is not None:
        columns["optimal action"] = names[optimal_policy[step].astype(int)]
    if occupancy is not None:
        columns["probability of being there"] = visited
    counts = np.bincount(chosen, minlength=A)
    leading = int(counts.argmax())
    see = f"At step {step} it chooses {quoted(action_labels[leading])} in {counts[leading]} of {S} states"
    if optimal_policy is not None:
        lost = int(wrong.sum())
        see += (
            f"; in {lost} the optimal policy does better"
            if lost
            else "; in none does the optimal policy do better"
        )
    ended = float(visited[len(drawing["cells"]) :].sum()) if grid.is_grid(drawing) else 0.0
    if ended > 0:
        see += f". By then {percent(ended)} of the episodes are over"
    if wrong.any():
        ring = {"symbol": "circle-open", "size": 14, "color": colors.roles["optimal"], "line": {"width": 3}}
        figure.add_scatter(
            x=[None], y=[None], mode="markers", marker=ring, name="the optimal action is better"
        )
    alt = GRID_POLICY_ALT if grid.is_grid(drawing) else POLICY_ALT
    return Picture(figure, alt, see + ".", pd.DataFrame(columns))


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
    chosen: NDArray[Any],
    shares: Array,
    hover: Sequence[str],
    wrong: NDArray[np.bool_],
    step: int,
    episode: int | None,
    dark: bool,
) -> go.Figure:
    """Arrows on the grid; where nothing an action does matters (goal, pit) there is none."""
    cells = len(drawing["cells"])
    title = f"What it does at step {step}"
    figure = grid.canvas(title, drawing, dark, small=False, subtitle=after(episode))
    inks = [style.readable_on(c) for c in grid.fill(figure, drawing, shares[:cells], hover[:cells], dark)]
    open_cells = np.array([mark not in grid.FINAL for mark in grid.cell_marks(drawing)])
    grid.arrows(figure, drawing, chosen, inks, open_cells)
    grid.signs(figure, drawing, inks, small=False, corner=True)
    grid.rings(figure, drawing, wrong[:cells] & open_cells, dark)
    return figure


def _drawn_policy(
    P: Array,
    drawing: Mapping[str, Any],
    chosen: NDArray[Any],
    shares: Array,
    hover: Sequence[str],
    wrong: NDArray[np.bool_],
    optimal_policy: Policy | None,
    step: int,
    episode: int | None,
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    dark: bool,
) -> go.Figure:
    """The chosen actions as arcs on a chain or a graph with transitions P [S,A,S]."""
    S, A = P.shape[:2]
    place = graph.places(drawing, S)
    title = f"What it does at step {step}"
    figure = graph.canvas(title, place, dark, small=False, subtitle=after(episode), labels=state_labels)
    moves = np.zeros((A, S, S))
    moves[chosen, np.arange(S)] = P[np.arange(S), chosen]
    if S > graph.DRAWN_STATES:
        moves = np.where(moves == moves.max(axis=2, keepdims=True), moves, 0.0)
    strip = graph.in_row(place) and S > graph.NAMED_STATES  # too many to see arcs: a row of colours instead
    for action in range(A):
        if (chosen == action).any() and not strip:
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
    graph.nodes(figure, place, state_labels, shares, hover, dark, wrong)
    if graph.in_row(place):
        graph.row_of_actions(figure, place, chosen, action_labels, -1.25, "plays", dark)
        used = np.unique(chosen)
        if optimal_policy is not None:
            best = optimal_policy[step].astype(int)
            graph.row_of_actions(figure, place, best, action_labels, -1.95, "optimal", dark)
            used = np.union1d(chosen, best)
        if strip:
            ticks = style.label_ticks(style.short_labels(state_labels), 10)
            figure.update_xaxes(visible=True, showgrid=False, title_text="State", **ticks)
            heat.name_colors(
                figure, [(graph.worded(action_labels[a]), graph.action_colors(A, dark)[a]) for a in used]
            )
    return figure


def mistakes(policy: Policy, optimal_policy: Policy, optimal_Q: Array | None = None) -> NDArray[np.bool_]:
    """Where, [H,S], the policy's action is worth less than the optimal one's (by optimal_Q [H,S,A], if given)."""
    if optimal_Q is None:
        return np.asarray(policy != optimal_policy)
    mine = np.take_along_axis(optimal_Q, policy[..., None].astype(np.intp), axis=2)[..., 0]
    best = optimal_Q.max(axis=2)
    return np.asarray(mine < best - 1e-9 * np.maximum(1.0, np.abs(best)))


def steps(
    policy: Policy,
    *,
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    optimal_policy: Policy | None = None,
    optimal_occupancy: Array | None = None,
    optimal_Q: Array | None = None,
    episode: int | None = None,
    dark: bool = False,
) -> Picture:
    """The action in every state at every step: learned, optimal, and how much the disagreements matter.

    policy, optimal_policy: [H,S]; optimal_occupancy [H,S]: how likely the optimal policy is in a state, which
    weighs the disagreements; optimal_Q [H,S,A]: with it an action of equal value is no disagreement.
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
    see = "It plays " + _shares(policy, action_labels) + "."
    columns: dict[str, Any] = {"learned": shown[policy.astype(int)].ravel()}
    if optimal_policy is not None:
        panels.append(actions("Optimal", optimal_policy))
        columns["optimal"] = shown[optimal_policy.astype(int)].ravel()
        wrong = mistakes(policy, optimal_policy, optimal_Q)
        weight = np.where(wrong, 1.0 if optimal_occupancy is None else optimal_occupancy, 0.0)
        panels.append(
            heat.Panel(
                "Disagreement" + ("" if optimal_occupancy is None else " × optimal policy's visits"),
                weight.T,
                weight.T,
                colors.amount,
                0.0,
                max(float(weight.max()), 1e-12) if wrong.any() else 1.0,
                form=".2%" if optimal_occupancy is not None else ".0f",
                ticks=_percent_ticks(float(weight.max())),
            )
        )
        columns["worse than optimal"] = wrong.ravel()
        see = (
            f"It is worse than the optimal policy in {int(wrong.sum()):,} of {wrong.size:,} state-step pairs"
        )
        if optimal_occupancy is not None:
            columns["optimal policy's visits"] = optimal_occupancy.ravel()
            see += f", where the optimal policy spends {percent(float(weight.sum()) / H)} of its time"
        see += "."
    figure = heat.stacked(
        panels,
        title="The policy, step by step",
        subtitle=after(episode),
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


def visitation(
    occupancy: Array,
    *,
    state_labels: Sequence[str],
    optimal_occupancy: Array | None = None,
    episode: int | None = None,
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
    favourite = int(occupancy.mean(axis=0).argmax())
    see = (
        f"It spends {percent(float(occupancy[:, favourite].mean()))} of its time in "
        f"{quoted(state_labels[favourite])}"
    )
    columns: dict[str, Any] = {"learned": occupancy.ravel()}
    if optimal_occupancy is not None:
        shared = float(np.minimum(occupancy, optimal_occupancy).sum() / H)
        see += f"; {percent(shared)} of its time is spent where and when the optimal policy would be"
        columns["optimal"] = optimal_occupancy.ravel()
    return Picture(figure, OCCUPANCY_ALT, see + ".", _table(H, state_labels, columns))


def values(
    V: Array,
    optimal_V: Array,
    *,
    state_labels: Sequence[str],
    episode: int | None = None,
    dark: bool = False,
) -> Picture:
    """Estimated (optimistic) and optimal value [H,S] of each state at each step, and the difference."""
    H = len(V)
    figure = heat.stacked(
        _value_panels(V.T, optimal_V.T, dark),
        title="Value of a state, V",
        subtitle=after(episode),
        dark=dark,
        **_over_steps(H, state_labels),
    )
    figure.update_layout(uirevision="V")
    columns = {"estimated V": V.ravel(), "optimal V": optimal_V.ravel()}
    return Picture(
        figure, V_ALT, _see_values(V, optimal_V, "state-step pairs"), _table(H, state_labels, columns)
    )


def action_values(
    Q: Array,
    optimal_Q: Array,
    *,
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    episode: int | None = None,
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
    h, s, a = (index.ravel() for index in np.indices(Q.shape))
    table = pd.DataFrame(
        {
            "step": h,
            "state": np.asarray(state_labels, object)[s],
            "action": np.asarray(action_labels, object)[a],
            "estimated Q": Q.ravel(),
            "optimal Q": optimal_Q.ravel(),
        }
    )
    return Picture(figure, Q_ALT, _see_values(Q, optimal_Q, "state-action-step triples"), table)


# --- heatmaps ---


def _over_steps(H: int, state_labels: Sequence[str]) -> dict[str, Any]:
    return {
        "x_title": f"Step h (0 to {H - 1})",
        "y_title": "State",
        "x_ticks": style.step_ticks(H),
        "y_ticks": heat.row_ticks(style.short_labels(state_labels)),
        "x_hover": [f"step {h}" for h in range(H)],
        "y_hover": list(state_labels),
    }


def _value_panels(estimate: Array, optimal: Array, dark: bool) -> list[heat.Panel]:
    colors = style.theme(dark)
    top = max(float(estimate.max()), float(optimal.max()), 1e-12)
    error = estimate - optimal
    most = max(float(np.abs(error).max()), 1e-12)
    ends = [-most, 0.0, most]
    return [
        heat.Panel("Estimated", estimate, estimate, colors.amount, 0.0, top, form=".3~f"),
        heat.Panel("Optimal", optimal, optimal, colors.amount, 0.0, top, form=".3~f"),
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


def _see_values(estimate: Array, optimal: Array, what: str) -> str:
    hopeful = float(np.mean(estimate >= optimal - 1e-9))
    return (
        f"The estimate is at least the true optimum in {percent(hopeful)} of the {what}: "
        f"{'optimism holds' if hopeful == 1 else 'optimism fails in the rest'}; at the first step it is "
        f"{human(float(np.mean(estimate[0] - optimal[0])))} above on average."
    )


def _percent_ticks(top: float) -> tuple[list[float], list[str]]:
    if top <= 0:
        return [0.0], ["0"]
    return [0.0, top], ["0", percent(top)]


def _table(H: int, state_labels: Sequence[str], columns: Mapping[str, Any]) -> pd.DataFrame:
    S = len(state_labels)
    return pd.DataFrame(
        {"step": np.repeat(np.arange(H), S), "state": np.tile(np.asarray(state_labels, object), H), **columns}
    )


def _shares(policy: Policy, action_labels: Sequence[str]) -> str:
    counts = np.bincount(policy.ravel().astype(int), minlength=len(action_labels))
    order = np.argsort(-counts, kind="stable")[:3]
    return ", ".join(
        f"{quoted(action_labels[a])} in {percent(counts[a] / policy.size)}" for a in order if counts[a]
    )


# --- drawings ---

"""Drawings of states as nodes and of moves as arcs, on a chain or a circle; likelier moves have wider arcs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.figures import style
from dprl.figures.chart import Chart, Trace
from dprl.figures.lines import Array
from dprl.words import percent

GLYPHS = {"left": "←", "right": "→", "up": "↑", "down": "↓", "stay": "•"}
WIDTHS = (1.0, 2.0, 3.5, 5.0)  # widths of an arc, by quarters of its probability
NAMED_STATES = 24  # with more states, nodes are dots
SMALL_NODE = 18  # pixels, if names stand outside the nodes
NAMED_OUTSIDE = 12  # the most names that fit around a circle without overlap
NAMED_BELOW = 6  # the most names that fit below a chain without overlap
NAME_BELOW = -0.72  # the height of names below a chain, relative to the centres of its nodes
ROW_LETTERS = 44  # characters of size 11 that fit in a row of names
DRAWN_STATES = 60  # with more states, a graph shows only the likeliest move of each state
DRAWN_MOVES = 60  # with more moves, a graph shows only the likeliest move of each action
FAINTEST = 0.02  # a less likely move is not drawn
SKETCH, NARROW, BESIDE = 290, 360, 70  # pixels: the smallest widths, and the height of title and legend
LOOP = 0.4  # distance of a loop from its node on a circle of radius 1


def action_colors(actions: int, dark: bool) -> list[str]:
    """Choose a colour for each action. With more than eight actions, colours repeat."""
    colors = style.theme(dark).actions
    return [colors[a % len(colors)] for a in range(actions)]


def worded(label: str) -> str:
    """Return an action's name for a legend, with its glyph if it has one."""
    glyph = GLYPHS.get(label.lower())
    return f"{glyph} {label}" if glyph else label


def state_places(drawing: Mapping[str, Any], S: int) -> Array:
    """Return the position of each state, [S, 2]: in a row with gaps of 1, or on a circle of radius 1."""
    if drawing.get("kind") == "chain":
        return np.column_stack([np.arange(S, dtype=float), np.zeros(S)])
    first = np.pi if S == 2 else np.pi / 2  # two states stand side by side
    angle = first - 2 * np.pi * np.arange(S) / S
    return np.column_stack([np.cos(angle), np.sin(angle)])


def in_row(place: Array) -> bool:
    """Return whether the states are drawn in a row, as in a chain."""
    return bool(np.ptp(place[:, 1]) == 0)


def canvas(
    title: str, place: Array, dark: bool, small: bool, subtitle: str = "", labels: Sequence[str] = ()
) -> Chart:
    """Make an empty chart with room for the states at `place` and for names next to them."""
    row = in_row(place)
    pair = not row and len(place) == 2
    height = (160 if small else 340) if row else (262 if small else 460)
    height = (170 if small else 320) if pair else height
    chart = Chart(title, subtitle=subtitle, height=height, dark=dark)
    if small:
        chart.bare()
    many = row and len(place) > NAMED_STATES
    if row:
        edge = max(0.6, 0.04 * len(place))
        x_range = [-edge, place[-1, 0] + edge]
        y_range = [-1.35, 1.25] if small else [-2.25, 0.5 if many else 1.3]
    else:
        outside = stand_outside(place, labels)
        wide = 2.15 if outside or pair else 1.75  # room for names next to the circle, or for loops
        high = 0.75 if pair else 1.45 if outside else 1.75
        x_range, y_range = [-wide, wide], [-high, high]
        chart.x(constrain="domain")
        chart.y(scaleanchor="x", constrain="domain")
    chart.x(visible=False, range=x_range, fixedrange=small)
    chart.y(visible=False, range=y_range, fixedrange=small)
    chart.layout["dragmode"] = False if small else "pan"
    return chart


def _reach(chart: Chart, place: Array, inward: bool) -> float:
    """Return how far from a node's centre arcs on a circle must end to stay visible, in axis units."""
    x, (low, high) = chart.layout["xaxis"], chart.layout["yaxis"]["range"]
    (left, right), room = x["range"], SKETCH if x["fixedrange"] else NARROW
    pixels = min(room / (right - left), (chart.layout["height"] - BESIDE) / (high - low))
    size = SMALL_NODE if inward else _node_size(len(place), False)
    return float((size / 2 + 3) / pixels)


def _node_size(S: int, row: bool) -> float:
    return float(np.clip((250 if row else 420) / S, 5, 28))


def moves(
    chart: Chart, place: Array, chances: Array, action: int, name: str, *, one_side: bool, inward: bool
) -> None:
    """Draw the moves of one action as arcs. Likelier moves (`chances` [S, S]) get wider arcs, in four widths."""
    color = action_colors(action + 1, chart.dark)[action]
    reach = 0.0 if in_row(place) else _reach(chart, place, inward)
    opacity = 0.9 if len(place) <= NAMED_STATES else 0.6
    label, group = style.plain(worded(name)), f"action {action}"
    named = False
    for quarter, width in enumerate(WIDTHS):
        low, high = max(quarter / 4, FAINTEST), (quarter + 1) / 4 if quarter < 3 else 1.01
        paths = [
            _arc(place, int(s), int(t), action, one_side, inward, reach)
            for s, t in np.argwhere((chances >= low) & (chances < high))
        ]
        if not paths:
            continue
        gap = np.full((1, 2), np.nan)
        line = np.concatenate([part for path in paths for part in (path, gap)])
        # The arrowhead points away from the previous point, which is invisible.
        tip = np.concatenate([part for path in paths for part in (path[-2:], gap)])
        size = float(np.clip(5 + 1.4 * width, 5, 60 / np.sqrt(len(place))))
        wide = width if len(place) <= NAMED_STATES else min(width, 1.5)
        shown: Trace = {"opacity": opacity, "legendgroup": group, "showlegend": not named}
        chart.line(label, line[:, 0], line[:, 1], color, wide, **shown)
        marker = {"angleref": "previous", "opacity": opacity, "line": {"width": 0}}
        unnamed: Trace = {"legendgroup": group, "showlegend": False}
        sizes = [0.0, size, 0.0] * len(paths)
        chart.points(label, tip[:, 0], tip[:, 1], color, "arrow", sizes, marker=marker, **unnamed)
        named = True


def _arc(place: Array, s: int, t: int, action: int, one_side: bool, inward: bool, reach: float) -> Array:
    """Return the points [n, 2] of the arc from state s to state t. In a chain, arcs to later states run above it and
    arcs to earlier states below it. Loops are longer for later actions. `reach` comes from `_reach`."""
    at = np.linspace(0, 1, 17)[:, None]
    start, end = place[s], place[t]
    if in_row(place):
        above = t > s or (t == s and (one_side or action > 0))
        side = 1.0 if above else -1.0
        if s == t:
            turn = np.linspace(-0.8 * np.pi, 0.8 * np.pi, 25)
            wide, tall = 0.16 + 0.03 * action, 0.32 + 0.04 * action
            return np.column_stack([s - wide * np.sin(turn), side * (0.26 + tall * (1 + np.cos(turn)))])
        rise = side * (0.55 + 0.25 * min(abs(t - s) - 1, 2) + (0.0 if one_side else 0.16 * action))
        way = np.sign(t - s)
        a = np.array([s + 0.06 * way, side * 0.12])
        b = np.array([t - 0.06 * way, side * 0.30])
        control = np.array([(s + t) / 2, 2 * rise - side * 0.21])
        return np.asarray((1 - at) ** 2 * a + 2 * at * (1 - at) * control + at**2 * b)
    if s == t:
        away = np.array([0.0, 1.0]) if len(place) == 2 else (-start if inward else start)
        aside = np.array([-away[1], away[0]])
        long = min((0.7 if inward else 1.0) * LOOP, 6 / len(place)) * (1 + 0.3 * action)
        foot, bow = reach * away, 0.5 * reach * aside
        a, b = start + 0.85 * foot - bow, start + 0.85 * foot + bow
        far, bulge = start + foot + long * away, 0.7 * long * aside
        return np.asarray(
            (1 - at) ** 3 * a
            + 3 * at * (1 - at) ** 2 * (far - bulge)
            + 3 * at**2 * (1 - at) * (far + bulge)
            + at**3 * b
        )
    along = (end - start) / np.linalg.norm(end - start)
    across = np.array([along[1], -along[0]])
    a, b = start + reach * along, end - reach * along
    control = (a + b) / 2 + (0.16 + 0.06 * action) * across
    return np.asarray((1 - at) ** 2 * a + 2 * at * (1 - at) * control + at**2 * b)


def likeliest(chances: Array, of_all_actions: bool) -> Array:
    """Set the chances [S, A, S] to 0, except for the likeliest moves to another state, per action or over all
    actions."""
    away = np.where(np.eye(len(chances), dtype=bool)[:, None, :], 0.0, chances)
    return np.where(away == away.max(axis=(1, 2) if of_all_actions else 2, keepdims=True), away, 0.0)


def nodes(
    chart: Chart,
    place: Array,
    labels: Sequence[str],
    fill: Array,
    hover: Sequence[str],
    ringed: NDArray[np.bool_] | bool = False,
    never: NDArray[np.bool_] | bool = False,
) -> None:
    """Draw the states as nodes, coloured by `fill` [S] (0 to 1). `ringed` nodes get a ring, and `never` nodes are
    grey."""
    colors, S = chart.colors, len(place)
    outside = stand_outside(place, labels)
    size = SMALL_NODE if outside else _node_size(S, in_row(place))
    grey, ring = np.broadcast_to(never, S), np.broadcast_to(ringed, S)
    inside, inks, edges = [], [], []
    for share, g, r in zip(fill, grey, ring, strict=True):
        inside.append(colors.background if g else style.mix(colors.amount, float(share)))
        inks.append(colors.faint if g else style.readable_on(inside[-1]))
        edges.append(colors.faint if g else colors.roles["optimal"] if r else colors.muted)
    for (x, y), label in zip(place, labels if outside else (), strict=outside):
        side = "center" if abs(x) < 0.2 else "left" if x > 0 else "right"
        level = "middle" if side != "center" else "bottom" if y > 0 else "top"
        away = 0.62 * SMALL_NODE + 3
        shift: Trace = {"xshift": away * x if side != "center" else 0, "yshift": away * y}
        anchors: Trace = {"align": side, "xanchor": side, "yanchor": level}
        chart.note(_broken_label(label), size=11, x=x, y=y, **shift, **anchors)
    ends = _ends(labels)  # in a short chain, a name that does not fit into its node stands below it
    short = in_row(place) and len(labels) <= NAMED_BELOW
    below = [s for s, word in enumerate(ends) if short and (len(word) > 4 or ends.count(word) > 1)]
    for s in below:
        note_at(chart, place, s, _broken_label(labels[s], ROW_LETTERS // S), NAME_BELOW, colors.ink)
    named = ends if below else short_words(labels) or [str(s) for s in range(S)]
    words = ["" if s in below else word for s, word in enumerate(named)]
    border = {"color": edges, "width": [3.0 if r else 1.2 for r in ring]}
    chart.add(
        "markers+text" if S <= NAMED_STATES and not outside else "markers",
        place[:, 0],
        place[:, 1],
        name="states",
        marker={"size": size, "color": inside, "opacity": 1, "line": border},
        text=[style.plain(word) for word in words],
        textfont={"size": 12 if size >= 20 else 10, "color": inks},
        customdata=list(hover),
        hovertemplate="%{customdata}<extra></extra>",
        showlegend=False,
    )


def short_words(labels: Sequence[str]) -> list[str] | None:
    """Shorten long labels to their final numbers. Return None if a result is too long or two are equal."""
    words = _ends(labels)
    return words if max(map(len, words)) <= 4 and len(set(words)) == len(words) else None


def _ends(labels: Sequence[str]) -> list[str]:
    words = []
    for label in style.short_labels(labels, 60):
        last = label.split()[-1] if label.split() else ""
        words.append(last if len(label) > 4 and last.isdigit() else label)
    return words


def stand_outside(place: Array, labels: Sequence[str]) -> bool:
    """Return whether to write state names next to the nodes, because they do not fit inside and the circle has room."""
    return bool(labels) and not in_row(place) and len(labels) <= NAMED_OUTSIDE and short_words(labels) is None


def _broken_label(label: str, wide: int = 13) -> str:
    """Break a label into at most three lines of about `wide` characters."""
    lines = wrap(label, wide, max_lines=3, placeholder="…", break_long_words=False, break_on_hyphens=False)
    return "<br>".join(
        style.plain(line if len(line) <= wide + 3 else line[: wide + 2] + "…") for line in lines
    )


def note_at(chart: Chart, place: Array, s: int, text: str, below: float, color: str) -> None:
    """Write escaped text below a state, or next to it if a loop is below."""
    x, y = place[s]
    anchor, shift = "center", 0.0
    if in_row(place):
        y = y + below
        if s in (0, len(place) - 1) and len(place) > 1:
            anchor, shift = ("left", -0.5) if s == 0 else ("right", 0.5)
            shift *= _node_size(len(place), True)
    elif len(place) == 2:
        y = -0.6
    elif abs(x) > 0.5:
        y -= 0.4
    else:
        anchor, shift = "left", 0.5 * _node_size(len(place), False) + 4
    chart.note(text, color, 11, x=x, y=y, xanchor=anchor, xshift=shift)


def row_of_actions(
    chart: Chart,
    place: Array,
    chosen: NDArray[Any],
    action_labels: Sequence[str],
    y: float,
    title: str,
    never: NDArray[np.bool_],
) -> None:
    """Draw the chosen actions as a row of squares under a chain. Squares of states never visited are grey."""
    palette = action_colors(len(action_labels), chart.dark)
    inks = [chart.colors.faint if n else palette[a] for a, n in zip(chosen, never, strict=True)]
    words = [GLYPHS.get(action_labels[a].lower(), style.short_labels(action_labels, 5)[a]) for a in chosen]
    chart.points(
        title,
        place[:, 0],
        np.full(len(place), y),
        inks,
        "square",
        _node_size(len(place), True) + 3,
        mode="text" if len(place) <= NAMED_STATES else "markers",
        marker={"line": {"width": 0}},
        text=[style.plain(word) for word in words],
        textfont={"size": 20, "color": inks},
        showlegend=False,
    )
    left: Trace = {"x": 0, "xref": "paper", "xanchor": "left", "y": y + 0.18, "yanchor": "bottom"}
    chart.note(title, chart.colors.muted, 11, **left)


def goes(chances: Array, labels: Sequence[str]) -> str:
    """Describe a move's three likeliest targets, such as "state 2 60%, state 3 35%"."""
    order = [int(t) for t in np.argsort(-chances, kind="stable")[:3] if chances[t] > 0]
    words = ", ".join(f"{style.plain(labels[t])} {percent(float(chances[t]))}" for t in order)
    return words + (", …" if (chances > 0).sum() > 3 else "")

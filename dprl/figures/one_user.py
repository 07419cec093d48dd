"""Data for assets/web/one_user.js, which shows one user in an environment and the number of all users' visits."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dprl.figures import graph, grid
from dprl.figures.lines import Array
from dprl.figures.style import DARK, LIGHT
from dprl.messages import filled, messages
from dprl.words import human, percent

WIDE = 100.0  # width of a drawing, in its units
MOST_STATES = 24  # with more states there is no room to fill them
ROW, TALL = 0.76, 40.0  # a state in a row: its width as a share of the gap to the next, and its height
TOP = 12.0  # units above a state for the user's figure
LARGEST, AROUND = 24.0, 160.0  # a state on a circle or a grid: its largest side, and its side times S
FLAT = 0.82  # height of a circle divided by its width, so that the controls below stay visible
LETTER, LINES = 1.6, 3  # a name in a state: width of a character in units, and most lines
WORDS = ("users", "play", "pause", "which", "learned", "best", "step", "over", "noisy", "nothing")
SHOWN_WAY = 24  # states of a trajectory that its description lists


class Moment(NamedTuple):
    """The visit counts and the policy's loss after a certain number of users."""

    users: int
    true: Array  # the exact numbers of visits to each state so far [S]
    noisy: Array | None  # the noisy numbers [S], None without noise
    lost: float | None  # the share of V* that the policy loses per episode; None if it is the best policy
    way: tuple[Sequence[int], Sequence[int]]  # the H states and the H actions of one user's episode


def drawable(drawing: Mapping[str, Any], S: int) -> bool:
    """Return whether a drawing has enough room for S states."""
    return S <= MOST_STATES or grid.is_grid(drawing)


def one_user(
    moments: Sequence[Moment],
    best: Sequence[tuple[Sequence[int], Sequence[int]]] | None,
    *,
    drawing: Mapping[str, Any],
    states: Sequence[str],
    actions: Sequence[str],
    counted: str = "true",
) -> dict[str, Any]:
    """Return the drawing's data for JavaScript. For each moment, `best` has an episode of a user who follows the best
    policy; None if `moments` show that policy. `counted` is the key of the text that describes the visits."""
    said = messages("one_user")
    places, high, numbered = _state_places(drawing, states)
    shown = len(places)  # a grid has no cells for the states in which episodes end
    counts = [visits for m in moments for visits in (m.true, m.noisy) if visits is not None]
    most = max(float(np.max(visits, initial=0)) for visits in counts)
    own = [m.way for m in moments]
    shown_ways = list(zip(own) if best is None else zip(own, best, strict=True))

    def level(count: float) -> float:
        return round(float(np.log1p(max(count, 0.0)) / np.log1p(max(most, 1.0))), 4)

    def told(m: Moment, way: Sequence[int]) -> str:
        walked = ", ".join(states[s] for s in way[:SHOWN_WAY]) + (", …" if len(way) > SHOWN_WAY else "")
        return filled(said["alt"], places=str(shown), users=human(m.users), way=walked)

    return {
        "words": {name: said[name] for name in WORDS}
        | {"true": said[counted], "scale": filled(said["scale"], most=human(float(f"{most:.1g}")))},
        "places": places,
        "high": high,
        "names": [filled(said["numbered"], n=s, state=name) for s, name in enumerate(states)]
        if numbered
        else list(states),
        "actions": [graph.worded(action) for action in actions],
        "private": any(m.noisy is not None for m in moments),
        "moments": [
            {
                "users": human(m.users),
                "fills": [level(n) for n in m.true[:shown]],
                "ticks": None if m.noisy is None else [level(n) for n in m.noisy[:shown]],
                "lost": _loses(m),
                "ways": [
                    {"states": list(way[0]), "actions": list(way[1]), "alt": told(m, way[0])} for way in ways
                ],
            }
            for m, ways in zip(moments, shown_ways, strict=True)
        ],
        "colors": {
            "fill": (LIGHT.amount[2][1], DARK.amount[2][1]),
            "noisy": (LIGHT.roles["noisy"], DARK.roles["noisy"]),
            "edge": (LIGHT.muted, DARK.muted),
            "mark": (LIGHT.roles["optimal"], DARK.roles["optimal"]),
        },
    }


def _loses(m: Moment) -> str:
    name = "follow" if m.lost is None else "first" if m.users == 1 else "lost"
    users = {} if name == "first" else {"users": human(m.users)}
    lost = {} if m.lost is None else {"lost": percent(m.lost)}
    return filled(messages("one_user")[name], **users, **lost)


def _state_places(
    drawing: Mapping[str, Any], states: Sequence[str]
) -> tuple[list[dict[str, Any]], float, bool]:
    """Return the states' boxes with their texts, the drawing's height, and whether the texts are numbers."""
    S = len(states)
    if grid.is_grid(drawing):
        side = min(WIDE / drawing["columns"], LARGEST)
        left = (WIDE - side * drawing["columns"]) / 2
        signs = [grid.SIGNS.get(mark, "") for mark in grid.cell_marks(drawing)]
        cells = [
            _box(left + side * c, TOP + side * r, side - 1, side - 1, [sign])
            for (r, c), sign in zip(drawing["cells"], signs, strict=True)
        ]
        return cells, TOP + side * drawing["rows"], False
    at = graph.state_places(drawing, S)
    if graph.in_row(at):
        gap, end = WIDE / S, TOP + TALL
        wide, tall = min(ROW * gap, 22.0), TALL
        corners = [(gap * (s + 0.5) - wide / 2, TOP) for s in range(S)]
    else:
        wide = tall = min(LARGEST, AROUND / S)
        radius = (WIDE - wide) / 2
        middle = TOP + wide / 2 + FLAT * radius
        corners = [(WIDE / 2 + radius * x - wide / 2, middle - FLAT * radius * y - wide / 2) for x, y in at]
        end = middle + FLAT * radius + wide / 2
    lines = _lines(states, wide)
    boxes = [_box(x, y, wide, tall, lines[s] if lines else [str(s)]) for s, (x, y) in enumerate(corners)]
    return boxes, end, lines is None


def _lines(states: Sequence[str], wide: float) -> list[list[str]] | None:
    """Return the lines of text in each state's box, short words or wrapped names, or None if they do not fit."""
    if short := graph.short_words(states):
        return [[word] for word in short]
    signs = int(wide / LETTER)
    lines = [textwrap.wrap(name, max(signs, 1), break_long_words=False) for name in states]
    fits = all(len(one) <= LINES and all(len(line) <= signs for line in one) for one in lines)
    return lines if fits else None


def _box(x: float, y: float, wide: float, high: float, lines: Sequence[str]) -> dict[str, Any]:
    return {"box": [round(float(n), 2) for n in (x, y, wide, high)], "lines": lines}

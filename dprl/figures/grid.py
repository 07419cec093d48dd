"""Drawings of grid environments. Walls, goals and pits are cells, and arrows in the cells show the policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.figures import style
from dprl.figures.chart import Chart, Trace
from dprl.figures.lines import Array

SIGNS = {"S": "S", "G": "★", "X": "✕"}
ARROWS = {(-1, 0): "↑", (0, 1): "→", (1, 0): "↓", (0, -1): "←"}  # keys: rows down, columns right
SIGN_WORDS = {"S": "start", "G": "goal", "X": "pit", "W": "wall"}
FINAL = ("G", "X")  # cells that end the episode, so that an action there changes nothing
FAINTEST = 0.02  # a less likely action is not drawn
ASIDE = 0.27  # distance of an arrow from the middle of its cell, in cells, if the cell has several
SMALL, LARGE = 300, 430  # maximum height of all cells in pixels; they stay square
NARROW = 330  # pixels: the width of a chart on a phone


def is_grid(drawing: Mapping[str, Any]) -> bool:
    """Return whether an environment is drawn as a grid."""
    return drawing.get("kind") == "grid"


def cell_marks(drawing: Mapping[str, Any]) -> list[str]:
    """Return the mark of each cell: S (start), G (goal), X (pit) or ""."""
    marks = drawing.get("marks", {})
    return [str(marks.get(f"{r},{c}", "")) for r, c in drawing["cells"]]


def chance_over(drawing: Mapping[str, Any], visited: Array) -> float:
    """Return the probability that an episode is over, given the probability `visited` [S] of each state."""
    return float(visited[len(drawing["cells"]) :].sum()) if is_grid(drawing) else 0.0


def pixels(drawing: Mapping[str, Any], small: bool) -> float:
    """Return the side length of a cell in pixels on the narrowest screen."""
    return float(min((SMALL if small else LARGE) / drawing["rows"], NARROW / drawing["columns"], 64))


def canvas(title: str, drawing: Mapping[str, Any], dark: bool, *, small: bool, subtitle: str = "") -> Chart:
    """Return a chart of an empty grid with walls. Row 0 is at the top, and layers below show through the gaps."""
    rows, columns = drawing["rows"], drawing["columns"]
    side = pixels(drawing, small)
    chart = Chart(title, subtitle=subtitle, height=round(side * rows) + (8 if small else 150), dark=dark)
    if small:
        chart.bare()
    flat: Trace = {"visible": False, "fixedrange": small, "constrain": "domain"}
    chart.x(**flat, range=[-0.5, columns - 0.5])
    chart.y(**flat, range=[rows - 0.5, -0.5], scaleanchor="x")
    chart.layout["dragmode"] = False if small else "pan"
    wall, floor = np.ones((rows, columns)), np.full((rows, columns), np.nan)
    r, c = np.array(drawing["cells"]).T
    wall[r, c], floor[r, c] = np.nan, 1.0
    colors = chart.colors
    _grid_cells(chart, floor, ((0.0, colors.faint), (1.0, colors.faint)), "edges", None)
    if np.isfinite(wall).any():
        _grid_cells(chart, wall, ((0.0, colors.muted), (1.0, colors.muted)), "wall", None)
    return chart


def fill(
    chart: Chart,
    drawing: Mapping[str, Any],
    shares: Array,
    hover: Sequence[str],
    never: NDArray[np.bool_] | None = None,
) -> list[str]:
    """Colour the cells by `shares` from 0 to 1, except those in `never`, and return the colours."""
    colors, (r, c) = chart.colors, np.array(drawing["cells"]).T
    z = np.full((drawing["rows"], drawing["columns"]), np.nan)
    empty, words = z.copy(), np.full(z.shape, "", object)
    z[r, c], words[r, c] = shares, hover
    grey = np.zeros(len(shares), bool) if never is None else never
    if grey.any():
        empty[r[grey], c[grey]], z[r[grey], c[grey]] = 1.0, np.nan
        blank = ((0.0, colors.background), (1.0, colors.background))
        _grid_cells(chart, empty, blank, "never here", words)
    _grid_cells(chart, z, colors.amount, "cells", words)
    return [
        colors.background if g else style.mix(colors.amount, float(s))
        for s, g in zip(shares, grey, strict=True)
    ]


def _grid_cells(chart: Chart, z: Array, scale: style.Scale, name: str, words: NDArray[Any] | None) -> None:
    """Fill the cells with colour. Cells with hover text (`words`) get gaps between them."""
    said: Trace = {"hoverinfo": "skip"}
    if words is not None:
        said = {"customdata": words, "hovertemplate": "%{customdata}<extra></extra>", "xgap": 2, "ygap": 2}
    cells = {
        "type": "heatmap",
        "z": z,
        "zmin": 0,
        "zmax": 1,
        "colorscale": [list(stop) for stop in scale],
        "showscale": False,
        "hoverongaps": False,
        "name": name,
    }
    chart.traces.append(cells | said)


def signs(chart: Chart, drawing: Mapping[str, Any], inks: Sequence[str], small: bool) -> None:
    """Write S, ★ and ✕ into the marked cells; in a large grid, S is off-centre to leave room for an arrow."""
    side = pixels(drawing, small)
    for mark, sign in SIGNS.items():
        at = [i for i, m in enumerate(cell_marks(drawing)) if m == mark]
        if not at:
            continue
        aside = not small and mark not in FINAL
        shift = -0.33 if aside else 0.0
        x, y = ([drawing["cells"][i][axis] + shift for i in at] for axis in (1, 0))
        size = float(np.clip(side * (0.26 if aside else 0.5), 8, 26))
        chart.words(x, y, [sign] * len(at), [inks[i] for i in at], size, name=SIGN_WORDS[mark])


def arrows(
    chart: Chart, drawing: Mapping[str, Any], taken: Array, inks: Sequence[str], which: NDArray[np.bool_]
) -> None:
    """Draw actions as arrows in the cells `which`. With several actions in a cell, likelier ones have larger arrows."""
    moves = drawing["moves"]
    at = [
        (int(i), int(a), 0.0 if taken[i, a] > 1 - FAINTEST else ASIDE)
        for i in np.flatnonzero(which)
        for a in np.flatnonzero(taken[i] >= FAINTEST)
        if a < len(moves)
    ]
    size = float(np.clip(0.55 * pixels(drawing, False), 9, 30))
    chart.words(
        [drawing["cells"][i][1] + aside * moves[a][1] for i, a, aside in at],
        [drawing["cells"][i][0] + aside * moves[a][0] for i, a, aside in at],
        [ARROWS.get(tuple(moves[a]), "•") for _, a, _ in at],
        [inks[i] for i, _, _ in at],
        [size * (0.4 + 0.6 * float(taken[i, a])) if aside else size for i, a, aside in at],
        name="action",
    )


def rings(chart: Chart, drawing: Mapping[str, Any], which: NDArray[np.bool_]) -> None:
    """Draw a ring in each of the cells `which` [cells]."""
    at = np.flatnonzero(which)
    chart.points(
        "the optimal action is better",
        [drawing["cells"][i][1] for i in at],
        [drawing["cells"][i][0] for i in at],
        chart.colors.roles["optimal"],
        "circle-open",
        float(np.clip(0.72 * pixels(drawing, False), 10, 40)),
        marker={"line": {"width": 3}},
        showlegend=False,
    )

"""Heatmaps one above the other that share their axes, each with a slim colour bar of its own.

Stacked rather than side by side: columns of a figure cannot wrap, and a telephone is 390 pixels wide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from dprl.figures import style

Array = NDArray[np.float64]
TEXT_CELLS = 8  # columns and rows up to which a cell is wide enough, at 390 pixels, for its number
NAMED_ROWS = 15  # state-action pairs that each have room for a label
TWO_LINES = 28  # pixels that a label of two lines takes
MOST = 240  # pixels that a panel is high
GAP = 46  # pixels between panels: the name of the next one


@dataclass(frozen=True)
class Panel:
    """One heatmap.

    Attributes:
        z [rows, columns]: position on the colour scale from low to high.
        shown [rows, columns]: the value for the hover, in `form` (d3) and `unit`.
        text: words in the cells, drawn if there are few.
        ticks: of the colour bar (positions, words); a panel of categories has no bar.
    """

    name: str
    z: Array
    shown: NDArray[Any]
    scale: style.Scale
    low: float
    high: float
    form: str = ",.0f"
    text: NDArray[np.object_] | None = None
    ticks: tuple[list[float], list[str]] | None = None
    bar: bool = True
    unit: str = ""


def height(rows: int, labels: Sequence[str] = ()) -> int:
    """Pixels that a panel of so many rows is high; a label of a row takes 16 of them, one of two lines more."""
    broken = any("<br>" in label for label in labels)
    return int(np.clip(max(22 * rows, TWO_LINES * len(labels) * broken), 70, MOST))


def row_ticks(labels: Sequence[str]) -> dict[str, Any]:
    """Axis settings that name as many of the rows as have room."""
    return style.label_ticks(labels, height(len(labels)) // 16)


def state_rows(labels: Sequence[str]) -> dict[str, Any]:
    """The same of states; where all may have two lines, long ones do."""
    return row_ticks(_names(labels, MOST))


def _names(states: Sequence[str], room: int) -> list[str]:
    """Short labels of states, the long ones in two lines where so many pixels have room for that."""
    cut = style.short_labels(states)
    if TWO_LINES * len(states) > room:
        return cut
    whole = style.short_labels(states, max(map(len, states)))
    return [
        short if short == label else _broken(label, short) for label, short in zip(whole, cut, strict=True)
    ]


def _broken(label: str, cut: str) -> str:
    """A label in two lines, neither longer than it is when cut; cut, where that cannot be."""
    words = label.split(" ")
    ways = [(" ".join(words[:i]), " ".join(words[i:])) for i in range(1, len(words))]
    return next(("\n".join(way) for way in ways if max(map(len, way)) <= len(cut)), cut)


def pair_rows(state_labels: Sequence[str], action_labels: Sequence[str]) -> dict[str, Any]:
    """Settings of `stacked` for rows that are state-action pairs; where these are too many, states are named."""
    states, actions = style.short_labels(state_labels), style.short_labels(action_labels)
    S, A = len(states), len(actions)
    if S * A <= NAMED_ROWS:
        title, ticks = "State · action", row_ticks([f"{s} · {a}" for s in states for a in actions])
    else:
        states = _names(state_labels, height(S * A))
        title, ticks = "State", style.label_ticks(states, height(S * A) // 16)
        ticks |= {"tickvals": [s * A + (A - 1) / 2 for s in ticks["tickvals"]]}
    words = [f"{s}, {a}" for s in state_labels for a in action_labels]
    return {"y_title": title, "y_ticks": ticks, "y_hover": words}


def laid_out(values: Array, step: int | None) -> Array:
    """Values [H, S, A] as the rows and columns of `cell_axes`."""
    H, S, A = values.shape
    return values.reshape(H, S * A).T if step is None else values[step].T


def cell_axes(
    shape: tuple[int, ...], state_labels: Sequence[str], action_labels: Sequence[str], step: int | None
) -> dict[str, Any]:
    """Settings of `stacked` for cells (h, s, a): steps across and pairs up, or of one step states and actions."""
    if step is None:
        return {
            "x_title": f"Step h (0 to {shape[0] - 1})",
            "x_ticks": style.step_ticks(shape[0]),
            "x_hover": [f"step {h}" for h in range(shape[0])],
        } | pair_rows(state_labels, action_labels)
    return {
        "x_title": "State",
        "y_title": "Action",
        "x_ticks": style.label_ticks(style.short_labels(state_labels), 14),
        "y_ticks": row_ticks(style.short_labels(action_labels)),
        "x_hover": list(state_labels),
        "y_hover": list(action_labels),
    }


def stacked(
    panels: Sequence[Panel],
    *,
    title: str,
    dark: bool,
    x_title: str,
    y_title: str,
    x_ticks: dict[str, Any],
    y_ticks: dict[str, Any],
    x_hover: Sequence[str],
    y_hover: Sequence[str],
    legend: bool = False,
    subtitle: str = "",
) -> go.Figure:
    """The panels from top to bottom; row 0 of each is at its bottom edge."""
    rows, columns = panels[0].z.shape
    tall = height(rows, y_ticks.get("ticktext", ()))
    plot = len(panels) * (tall + GAP) - GAP
    layout = style.layout(
        title, dark=dark, height=plot + (168 if subtitle else 148) + (26 if legend else 0), subtitle=subtitle
    )
    layout["margin"]["t"] = 82 if subtitle else 62  # the first panel's name stands between title and plot
    traces: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    colors = style.theme(dark)
    gap = 1 if rows <= 24 and columns <= 24 else 0
    few = rows <= TEXT_CELLS and columns <= TEXT_CELLS
    spoken = rows * columns <= 4000  # beyond, words for each cell would weigh more than the numbers
    for i, panel in enumerate(panels):
        top = 1 - i * (tall + GAP) / plot
        bottom = top - tall / plot
        x_name, y_name = ("x", "y") if i == 0 else (f"x{i + 1}", f"y{i + 1}")
        last = i == len(panels) - 1
        heatmap = {
            "type": "heatmap",
            "z": panel.z,
            "customdata": panel.shown,
            "x0": 0,
            "dx": 1,
            "y0": 0,
            "dy": 1,
            "xaxis": x_name,
            "yaxis": y_name,
            "colorscale": [list(stop) for stop in panel.scale],
            "zmin": panel.low,
            "zmax": panel.high if panel.high > panel.low else panel.low + 1,
            "xgap": gap,
            "ygap": gap,
            "showscale": panel.bar,
            "colorbar": _bar(panel, top, bottom, colors) if panel.bar else None,
            "text": [[f"{y}, {x}" for x in x_hover] for y in y_hover] if spoken else None,
            "hovertemplate": (
                ("%{text}" if spoken else "row %{y}, column %{x}")
                + f"<br>{panel.name}: %{{customdata:{panel.form}}}{panel.unit}<extra></extra>"
            ),
            "name": panel.name,
        }
        traces.append({key: value for key, value in heatmap.items() if value is not None})
        if few and panel.text is not None:
            traces.append(_words_in_cells(panel, x_name, y_name))
        note = {
            "text": panel.name,
            "xref": "paper",
            "x": 0,
            "xanchor": "left",
            "yref": "paper",
            "y": top,
            "yanchor": "bottom",
            "yshift": 2,
            "showarrow": False,
            "font": {"size": 13, "color": colors.ink},
        }
        notes.append(note)
        axis = {
            "automargin": True,
            "showgrid": False,
            "zeroline": False,
            "ticks": "",
            "tickfont": {"color": colors.muted, "size": 12},
        }
        layout[f"xaxis{x_name[1:]}"] = (
            (layout["xaxis"] if i == 0 else {})
            | axis
            | x_ticks
            | {
                "anchor": y_name,
                "domain": [0, 1],
                "range": [-0.5, columns - 0.5],
                "showticklabels": last,
                "title": {"text": x_title if last else "", "standoff": 8, "font": {"size": 13}},
            }
            | ({"matches": "x"} if i else {})
        )
        layout[f"yaxis{y_name[1:]}"] = (
            (layout["yaxis"] if i == 0 else {})
            | axis
            | y_ticks
            | {
                "ticklabelstandoff": 4,
                "anchor": x_name,
                "domain": [max(bottom, 0.0), min(top, 1.0)],
                "range": [-0.5, rows - 0.5],
                "title": {"text": y_title, "standoff": 6, "font": {"size": 13}},
            }
            | ({"matches": "y"} if i else {})
        )
    return style.figure_of(layout | {"annotations": notes}, traces)


def name_colors(figure: go.Figure, names: Sequence[tuple[str, str]]) -> None:
    """Legend entries for the colours of categories: (name, colour) each."""
    for name, color in names:
        figure.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            marker={"symbol": "square", "size": 13, "color": color},
            name=style.plain(name),
            hoverinfo="skip",
        )


def _bar(panel: Panel, top: float, bottom: float, colors: style.Theme) -> dict[str, Any]:
    bar: dict[str, Any] = {
        "thickness": 10,
        "len": top - bottom,
        "y": (top + bottom) / 2,
        "yanchor": "middle",
        "x": 1.0,
        "xpad": 6,
        "ypad": 0,
        "outlinewidth": 0,
        "tickfont": {"size": 11, "color": colors.muted},
        "ticklen": 3,
        "nticks": 4,
    }
    if panel.ticks is not None:
        bar |= {"tickmode": "array", "tickvals": panel.ticks[0], "ticktext": panel.ticks[1]}
    return bar


def _words_in_cells(panel: Panel, x_name: str, y_name: str) -> dict[str, Any]:
    """The numbers in the cells, each dark or light as its own cell's colour asks."""
    assert panel.text is not None
    rows, columns = np.indices(panel.z.shape)
    span = panel.high - panel.low or 1.0
    ink = [style.readable_on(style.mix(panel.scale, (value - panel.low) / span)) for value in panel.z.ravel()]
    return {
        "type": "scatter",
        "x": columns.ravel(),
        "y": rows.ravel(),
        "mode": "text",
        "text": panel.text.ravel().tolist(),
        "textfont": {"size": 11, "color": ink},
        "xaxis": x_name,
        "yaxis": y_name,
        "hoverinfo": "skip",
        "showlegend": False,
        "name": f"{panel.name}: numbers",
    }

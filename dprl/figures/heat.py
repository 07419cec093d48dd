"""Heatmaps with shared axes, stacked because panels side by side would be too narrow on a phone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import style
from dprl.figures.chart import Chart, Trace
from dprl.figures.lines import Array
from dprl.figures.picture import Picture

TEXT_CELLS = 8  # the most rows and columns that leave room for a number in each cell on a phone
NAMED_ROWS = 15  # the most state-action pairs that leave room for a label each
TWO_LINES = 28  # pixels for a label of two lines
WIDEST = 14  # characters in a line of a label
MOST = 240  # maximum height of a panel in pixels
GAP = 46  # pixels between panels, for the name of the next one


@dataclass(frozen=True)
class Heatmap:
    """A heatmap, as one panel of a figure."""

    name: str
    z: Array  # the values that determine the colours, on a scale from `low` to `high` [rows, columns]
    shown: NDArray[Any]  # the values in the hover text, with their d3 format `form` [rows, columns]
    scale: style.Scale
    low: float
    high: float
    form: str = ",.0f"
    write: Callable[[float], str] | None = None  # formats the shown values for the cells if there is room
    ticks: tuple[list[float], list[str]] | None = None  # the positions and labels of the colour bar
    bar: bool = True  # a panel of categories has no bar


def height(rows: int, labels: Sequence[str] = ()) -> int:
    """Return the height in pixels of a panel with this many rows; two-line labels need more room."""
    broken = any("<br>" in label for label in labels)
    return int(np.clip(max(22 * rows, TWO_LINES * len(labels) * broken), 70, MOST))


def row_ticks(labels: Sequence[str]) -> Trace:
    """Return axis settings that label as many rows as there is room for."""
    return style.label_ticks(labels, height(len(labels)) // 16)


def state_names(states: Sequence[str], room: int = MOST) -> list[str]:
    """Shorten state labels; if `room` (pixels) allows, break long ones into two lines instead."""
    if TWO_LINES * len(states) > room:
        return style.short_labels(states)
    whole = style.short_labels(states, max(map(len, states)))
    return ["\n".join(wrap(label, WIDEST, max_lines=2, placeholder="…")) or label for label in whole]


def laid_out(values: Array, step: int | None) -> Array:
    """Reshape values [H, S, A] into the rows and columns of a heatmap, for one `step` or, with None, for all steps."""
    H, S, A = values.shape
    return values.reshape(H, S * A).T if step is None else values[step].T


def cell_axes(
    shape: tuple[int, ...], state_labels: Sequence[str], action_labels: Sequence[str], step: int | None
) -> Trace:
    """Return the axes of a heatmap of state-action pairs, for one step or all steps, as arguments of `stacked`."""
    if step is None:
        H, S, A = shape
        if S * A <= NAMED_ROWS:
            states, actions = style.short_labels(state_labels), style.short_labels(action_labels)
            title, ticks = "State · action", row_ticks([f"{s} · {a}" for s in states for a in actions])
        else:  # too many pairs: label only states
            names = state_names(state_labels, height(S * A))
            title, ticks = "State", style.label_ticks(names, height(S * A) // 16)
            ticks |= {"tickvals": [s * A + (A - 1) / 2 for s in ticks["tickvals"]]}
        return {
            "x_title": f"Step h (0 to {H - 1})",
            "y_title": title,
            "x_ticks": style.step_ticks(H),
            "y_ticks": ticks,
            "x_hover": [f"step {h}" for h in range(H)],
            "y_hover": [f"{s}, {a}" for s in state_labels for a in action_labels],
        }
    return {
        "x_title": "State",
        "y_title": "Action",
        "x_ticks": style.label_ticks(style.short_labels(state_labels), 14),
        "y_ticks": row_ticks(style.short_labels(action_labels)),
        "x_hover": list(state_labels),
        "y_hover": list(action_labels),
    }


def stacked(
    panels: Sequence[Heatmap],
    *,
    title: str,
    dark: bool,
    x_title: str,
    y_title: str,
    x_ticks: Trace,
    y_ticks: Trace,
    x_hover: Sequence[str],
    y_hover: Sequence[str],
    legend: bool = False,
    subtitle: str = "",
) -> Chart:
    """Stack the panels from top to bottom. In each panel, row 0 is at the bottom."""
    rows, columns = panels[0].z.shape
    tall = height(rows, y_ticks.get("ticktext", ()))
    plot = len(panels) * (tall + GAP) - GAP
    around = (168 if subtitle else 148) + (26 if legend else 0)
    chart = Chart(title, subtitle=subtitle, height=plot + around, dark=dark)
    # the first panel's name stands between title and plot
    chart.layout["margin"]["t"] = 82 if subtitle else 62
    spoken = rows * columns <= 4000  # in larger maps, the words would need more space than the numbers
    words = [[f"{y}, {x}" for x in x_hover] for y in y_hover] if spoken else None
    bare = {
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "tickfont": {"color": chart.colors.muted, "size": 12},
    }
    corner: Trace = {"xref": "paper", "xanchor": "left", "yref": "paper", "yanchor": "bottom"}
    for i, panel in enumerate(panels):
        top, last = 1 - i * (tall + GAP) / plot, i == len(panels) - 1
        bottom = top - tall / plot
        name = "" if i == 0 else str(i + 1)
        place = {"xaxis": f"x{name}", "yaxis": f"y{name}"}
        _cells(chart, panel, words, bottom, top, place)
        chart.note(panel.name, size=13, x=0, y=top, yshift=2, **corner)
        usual_x, usual_y = (chart.layout[f"{xy}axis"] if i == 0 else {"matches": xy} for xy in "xy")
        across = {
            "anchor": place["yaxis"],
            "domain": [0, 1],
            "range": [-0.5, columns - 0.5],
            "showticklabels": last,
            "title": {"text": x_title if last else "", "standoff": 8, "font": {"size": 13}},
        }
        up = {
            "ticklabelstandoff": 4,
            "anchor": place["xaxis"],
            "domain": [max(bottom, 0.0), min(top, 1.0)],
            "range": [-0.5, rows - 0.5],
            "title": {"text": y_title, "standoff": 6, "font": {"size": 13}},
        }
        chart.layout[f"xaxis{name}"] = usual_x | bare | x_ticks | across
        chart.layout[f"yaxis{name}"] = usual_y | bare | y_ticks | up
    return chart


def _cells(
    chart: Chart, panel: Heatmap, words: list[list[str]] | None, bottom: float, top: float, place: Trace
) -> None:
    """Draw the cells of a panel with their text. `words` describes the position of each cell for its hover text."""
    rows, columns = panel.z.shape
    gap = 1 if rows <= 24 and columns <= 24 else 0
    where = "row %{y}, column %{x}" if words is None else "%{text}"
    said = f"{panel.name}: %{{customdata:{panel.form}}}"
    bar = {
        "thickness": 10,
        "len": top - bottom,
        "y": (top + bottom) / 2,
        "yanchor": "middle",
        "x": 1.0,
        "xpad": 6,
        "ypad": 0,
        "outlinewidth": 0,
        "tickfont": {"size": 11, "color": chart.colors.muted},
        "ticklen": 3,
        "nticks": 4,
    }
    if panel.ticks is not None:
        bar |= {"tickvals": panel.ticks[0], "ticktext": panel.ticks[1]}
    heatmap = {
        "type": "heatmap",
        "z": panel.z,
        "customdata": panel.shown,
        "x0": 0,
        "dx": 1,
        "y0": 0,
        "dy": 1,
        "colorscale": [list(stop) for stop in panel.scale],
        "zmin": panel.low,
        "zmax": panel.high if panel.high > panel.low else panel.low + 1,
        "xgap": gap,
        "ygap": gap,
        "showscale": panel.bar,
        "colorbar": bar if panel.bar else None,
        "text": words,
        "hovertemplate": f"{where}<br>{said}<extra></extra>",
        "name": panel.name,
    }
    chart.traces.append(heatmap | place)
    # Plotly's own text in cells has too little contrast
    if panel.write is not None and max(panel.z.shape) <= TEXT_CELLS:
        y, x = np.indices(panel.z.shape)
        shares = (panel.z.ravel() - panel.low) / (panel.high - panel.low or 1.0)
        ink = [style.readable_on(style.mix(panel.scale, share)) for share in shares]
        name, texts = f"{panel.name} (numbers)", [panel.write(float(v)) for v in panel.shown.ravel()]
        chart.words(x.ravel(), y.ravel(), texts, ink, 11, name=name, **place)


def name_colors(chart: Chart, names: Sequence[tuple[str, str]]) -> None:
    """Add legend entries for the colours of categories, each given as (name, colour)."""
    for name, color in names:
        chart.sign(style.plain(name), {"symbol": "square", "size": 13, "color": color})


def chance_map(name: str, values: Array, colors: style.Theme) -> Heatmap:
    """Return a panel of probabilities [rows, columns], with colours from 0 to 1."""
    ticks = ([0.0, 0.5, 1.0], ["0", "50%", "100%"])
    return Heatmap(name, values, values, colors.amount, 0.0, 1.0, form=".3~p", ticks=ticks)


def difference(
    name: str, error: Array, word: Callable[[float], str], form: str, colors: style.Theme, cells: bool = False
) -> Heatmap:
    """Return a panel of signed errors. `word` formats the labels of the colour bar and, with `cells`, of the cells."""
    most = max(float(np.abs(error).max()), 1e-12)
    ticks = ([-most, 0.0, most], [word(-most), word(0.0), word(most)])
    write = word if cells else None
    return Heatmap(name, error, error, colors.difference, -most, most, form=form, write=write, ticks=ticks)


def cells_picture(
    panels: Sequence[Heatmap],
    columns: Mapping[str, Array],
    step: int | None,
    title: str,
    subtitle: str,
    alt: str,
    revision: str,
    *,
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    see: str = "",
    dark: bool,
) -> Picture:
    """Stack heatmaps of state-action pairs for one step, or for all steps if `step` is None."""
    shape = next(iter(columns.values())).shape
    axes = cell_axes(shape, state_labels, action_labels, step)
    chart = stacked(panels, title=title, subtitle=subtitle, dark=dark, **axes)
    h, s, a = (index.ravel() for index in np.indices(shape))
    names = {"state": np.asarray(state_labels, object)[s], "action": np.asarray(action_labels, object)[a]}
    numbers = {name: values.ravel() for name, values in columns.items()}
    table = pd.DataFrame({"step": h, **names, **numbers})
    if step is not None:
        table = table[table["step"] == step].reset_index(drop=True)
    return chart.picture(alt, see, table, revision=revision)

"""The names of lines, written at the lines' right ends if there is room next to the plot.

Each name is a legend of one entry, so clicking it hides its line or shows it again, as in any legend.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dprl.figures import style
from dprl.figures.chart import Chart
from dprl.figures.lines import Array
from dprl.figures.looks import CurveStyle

LONGEST = 24  # characters of the longest name at a line's end
ROW, GLYPH = 16.0, 6.6  # pixels: the height of a row of 12.5 px text, and the average width of a character
FAR = 1.6 * ROW  # pixels: a name farther from its line no longer seems to belong to it
SIGN = 30  # pixels: the piece of line before a name (Plotly's minimum), and the free space around both
FREE = 26
AROUND = 150.0  # pixels of a figure's height outside the plot: title, axis, legend of references


def name_ends(chart: Chart, curves: Sequence[tuple[str, CurveStyle, Array]], going: bool = False) -> None:
    """Write the name of each line at its right end, so that the legend lists only the other symbols.

    Names stay in the legend if one is too long, if too many lines end at the same height, or while a run is still
    `going`, so that the chart does not jump. curves: the name, style and heights of each line; the name is also its
    `legendgroup`. Call this after the axes and lines are set.
    """
    known = [(name, look.prefix + name, y[np.isfinite(y)]) for name, look, y in curves]
    ends = [(style.plain(name), text, float(y[-1])) for name, text, y in known if y.size]
    if not ends or going or any(len(text) > LONGEST for _, text, _ in ends):
        return
    axis = chart.layout["yaxis"]
    log = axis.get("type") == "log"
    y = np.append(_values(chart, "y"), [0.0] * (axis.get("rangemode") == "tozero"))
    low, high = axis.get("range") or (float(y.min()), max(float(y.max()), float(y.min()) + 1e-9))
    height = chart.layout["height"] - AROUND
    values = [np.log10(y) if log and y > 0 else low if log else y for _, _, y in ends]
    at = np.clip([(float(value) - low) / (high - low) * height for value in values], 0, height)
    wanted = spread_apart(at, height)
    if np.abs(wanted - at).max() > FAR:
        return
    left = {group: (f"legend{number}", text) for number, (group, text, _) in enumerate(ends, 2)}
    for trace in chart.traces:
        named, group = trace.get("showlegend", True), trace.get("legendgroup")
        own = left.pop(group, None) if named and group is not None else None
        trace["showlegend"] = named and (own is not None or group is None)
        if own is not None:
            trace |= {"legend": own[0], "name": style.plain(own[1])}
    for number, place in enumerate(wanted, 2):
        chart.layout[f"legend{number}"] = {
            "x": 1, "xanchor": "left", "y": float(place / height), "yanchor": "middle", "itemwidth": SIGN,
            "tracegroupgap": 0, "bgcolor": "rgba(0,0,0,0)", "itemdoubleclick": False,
            "font": {"size": 12.5, "color": chart.colors.ink},
        }  # fmt: skip
    chart.layout["margin"]["r"] = round(FREE + SIGN + GLYPH * max(len(text) for _, text, _ in ends))
    # End the horizontal axis where the lines end, next to their names.
    x = _values(chart, "x")
    x = np.log10(x[x > 0]) if chart.layout["xaxis"].get("type") == "log" else x
    if x.size and x.max() > x.min():
        span = float(x.max() - x.min())
        chart.x(range=[float(x.min()) - 0.03 * span, float(x.max()) + 0.02 * span])


def spread_apart(at: Array, most: float) -> Array:
    """Move positions apart until they are at least ROW from each other, within 0..most if they fit."""
    from scipy.optimize import isotonic_regression

    order, rows = np.argsort(at, kind="stable"), ROW * np.arange(len(at))
    found = np.empty(len(at))
    # After subtracting the rows below it, each position has to be at least as high as the previous one.
    found[order] = np.clip(isotonic_regression(at[order] - rows).x, 0.0, max(most - rows[-1], 0.0)) + rows
    return found


def _values(chart: Chart, axis: str) -> Array:
    seen = [trace[axis] for trace in chart.traces if trace.get("visible") is not False]
    whole: Array = np.concatenate([np.asarray(v, float).ravel() for v in seen] or [np.zeros(1)])
    known: Array = whole[np.isfinite(whole)]
    return known

"""Names of lines, written at their right ends if there is room next to the plot.

Each name is a legend of one entry, so clicking it hides its line or shows it again, as in any legend.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dprl.figures import style
from dprl.figures.chart import Chart
from dprl.figures.looks import CurveStyle

LONGEST = 24  # characters of the longest name at a line's end
ROW, GLYPH = 16.0, 6.6  # pixels: the height of a row of 12.5 px text, and the average width of a character
FAR = 1.6 * ROW  # pixels: a name farther from its line no longer seems to belong to it
SIGN = 30  # pixels: the piece of line before a name (Plotly's minimum), and the free space around both
FREE = 26
AROUND = 150.0  # pixels of a figure's height outside the plot: title, axis, legend of references
CONTRAST = 4.5  # minimum contrast between text and page, as WCAG 2 requires


@dataclass(frozen=True)
class End:
    """A line's name, its style, its last value, and whether its run is still going."""

    name: str
    style: CurveStyle
    y: float
    going: bool = False

    @property
    def text(self) -> str:
        """The line's name, after its number if it has one."""
        return self.style.prefix + self.name


def name_ends(chart: Chart, ends: Sequence[End]) -> None:
    """Write the name of each line at its right end, so that the legend lists only the other symbols.

    The names stay in the legend if one is too long, if too many lines end at the same height (such as zero), or while a
    run is still going, so that the chart does not jump. Call this after the axes and lines are set; each line needs a
    `legendgroup`.
    """
    if not ends or any(end.going or len(end.text) > LONGEST for end in ends):
        return
    axis = chart.layout["yaxis"]
    log = axis.get("type") == "log"
    low, high = axis.get("range") or _ends_of(_values(chart, "y"), axis.get("rangemode") == "tozero")
    height = chart.layout["height"] - AROUND
    values = [np.log10(end.y) if log and end.y > 0 else low if log else end.y for end in ends]
    at = np.clip([(float(value) - low) / (high - low) * height for value in values], 0, height)
    wanted = spread_apart(at, height)
    if np.abs(wanted - at).max() > FAR:
        return
    left = [(f"legend{number}", end) for number, end in enumerate(ends, 2)]
    for trace in chart.traces:
        named, group = trace.get("showlegend", True), trace.get("legendgroup")
        own = next((pair for pair in left if style.plain(pair[1].name) == group), None)
        trace["showlegend"] = named and (own is not None or group is None)
        if named and own is not None:
            left.remove(own)
            trace |= {"legend": own[0], "name": style.plain(own[1].text)}
    for number, (end, place) in enumerate(zip(ends, wanted, strict=True), 2):
        color = legible(end.style.color(chart.dark), chart.colors)
        chart.layout[f"legend{number}"] = {
            "x": 1, "xanchor": "left", "y": float(place / height), "yanchor": "middle", "itemwidth": SIGN,
            "tracegroupgap": 0, "bgcolor": "rgba(0,0,0,0)", "itemdoubleclick": False,
            "font": {"size": 12.5, "color": color},
        }  # fmt: skip
    chart.layout["margin"]["r"] = round(FREE + SIGN + GLYPH * max(len(end.text) for end in ends))
    # End the horizontal axis where the lines end, next to their names.
    x = _values(chart, "x")
    x = np.log10(x[x > 0]) if chart.layout["xaxis"].get("type") == "log" else x
    if x.size and x.max() > x.min():
        span = float(x.max() - x.min())
        chart.x(range=[float(x.min()) - 0.03 * span, float(x.max()) + 0.02 * span])


def spread_apart(at: NDArray[np.float64], most: float) -> NDArray[np.float64]:
    """Return the positions closest to `at`, in the same order, at least ROW apart, and in 0..most if they fit."""
    from scipy.optimize import isotonic_regression

    order, rows = np.argsort(at, kind="stable"), ROW * np.arange(len(at))
    found = np.empty(len(at))
    # After subtracting the rows below it, each position has to be at least as high as the previous one.
    found[order] = np.clip(isotonic_regression(at[order] - rows).x, 0.0, max(most - rows[-1], 0.0)) + rows
    return found


def legible(color: str, colors: style.Theme) -> str:
    """Return the line's colour, darkened until text in this colour is legible on the page."""
    page = style.luminance(colors.background)
    for share in np.linspace(0, 1, 21):
        found = style.mix(((0.0, color), (1.0, colors.ink)), float(share))
        light, deep = sorted((style.luminance(found), page), reverse=True)
        if (light + 0.05) / (deep + 0.05) >= CONTRAST:
            return found
    return colors.ink


def _values(chart: Chart, axis: str) -> NDArray[np.float64]:
    seen = [trace[axis] for trace in chart.traces if trace.get("visible") is not False]
    whole: NDArray[np.float64] = np.concatenate([np.asarray(v, float).ravel() for v in seen] or [np.zeros(1)])
    known: NDArray[np.float64] = whole[np.isfinite(whole)]
    return known


def _ends_of(values: NDArray[np.float64], to_zero: bool) -> tuple[float, float]:
    """Estimate the range that Plotly would choose for a linear axis."""
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    low = min(low, 0.0) if to_zero else low
    return low, high if high > low else low + 1.0

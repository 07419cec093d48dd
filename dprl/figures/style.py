"""The common style of figures: colours with fixed meanings, the base layout, axes and labels.

A dotted line is always theory (a bound), never a measurement, and is never filled like a confidence band.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.colors import hex_to_rgb

from dprl.words import power

MOST_CURVES = 8
MOST_POINTS = 500  # most points sent to the browser in one trace
BOUND_DASH = "dot"
FONT = '"Source Sans", "Source Sans 3", "Source Sans Pro", sans-serif'
PICTURES = ("png", "svg")  # the formats in which the toolbar's camera can save a chart


def config(
    picture: str = "png", footer: str = "", *, dark: bool = False, name: str = "chart"
) -> dict[str, Any]:
    """Return the configuration for st.plotly_chart. The camera button saves a PNG, or an SVG with a footer."""
    colors = theme(dark)
    saved = {"format": picture, "scale": 3 if picture == "png" else 1, "filename": name}
    return {
        "displaylogo": False,
        "showSendToCloud": False,  # no data go to Plotly's server
        "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
        "toImageButtonOptions": saved | {"footer": footer, "ink": colors.muted, "paper": colors.background},
    }


Scale = tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class Theme:
    """Colours for a light or a dark page."""

    background: str  # of the page; figures are transparent
    ink: str
    muted: str
    grid: str
    none: str  # of runs without privacy
    models: dict[str, Scale]  # the shades of each other privacy model, from the most to the least private
    roles: dict[str, str]  # colours with one fixed meaning, by that meaning
    actions: tuple[str, ...]
    faint: str  # for edges of empty areas, and for words about events that never happen
    amount: Scale  # 0 .. 1: nothing to much
    counts: Scale  # impossible negative counts | nothing | many
    difference: Scale  # 0 .. 1/2 .. 1: too low | exact | too high


LOOK = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))  # the colours and markers
SYMBOLS: dict[str, list[str]] = LOOK["symbols"]
# positions of the colours of a scale, by their number; only counts have six
POSITIONS = {5: (0, 0.25, 0.5, 0.75, 1), 6: (0, 0.25, 0.5, 0.65, 0.8, 1)}


def _theme(name: str) -> Theme:
    def scale(colors: Sequence[str]) -> Scale:
        return tuple(zip(POSITIONS[len(colors)], colors, strict=True))

    found = LOOK[name]
    scales = {part: scale(found[part]) for part in ("amount", "counts", "difference")}
    models = {model: scale(colors) for model, colors in found["models"].items()}
    return Theme(**found | scales | {"models": models, "actions": tuple(found["actions"])})


LIGHT, DARK = _theme("light"), _theme("dark")


def theme(dark: bool) -> Theme:
    """Return the colours of a dark or a light page."""
    return DARK if dark else LIGHT


def figure_of(layout: dict[str, Any], data: Sequence[dict[str, Any]]) -> go.Figure:
    """Build a figure from its dictionaries in one call; adding to a layout piece by piece is ten times slower."""
    figure = go.Figure(data=list(data), layout=layout)
    figure.update_layout(template=None)
    return figure


def layout(title: str, x_title: str, y_title: str, subtitle: str, height: int, dark: bool) -> dict[str, Any]:
    """Return a layout in the house style: transparent, legible on its page, with the legend under the plot."""
    colors = theme(dark)
    label = {"size": 13, "color": colors.ink}
    small = f'<br><span style="font-size:12.5px;color:{colors.muted}">{subtitle}</span>' if subtitle else ""
    axis = {
        "automargin": True,
        "gridcolor": colors.grid,
        "linecolor": colors.grid,
        "tickcolor": colors.grid,
        "tickfont": {"color": colors.muted, "size": 12},
        "zeroline": False,
        "exponentformat": "power",
        "minexponent": 3,
    }
    return {
        "height": height,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 13, "color": colors.ink},
        "title": {
            "text": title + small,
            "x": 0,
            "xref": "container",
            "xanchor": "left",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 25 if subtitle else 10, "l": 4},  # Plotly lifts a title of two lines
            "font": {"size": 16, "color": colors.ink},
        },
        "margin": {"l": 8, "r": 20, "t": 62 if subtitle else 42, "b": 8},
        "legend": {
            "orientation": "h",
            "x": 0,
            "xref": "container",
            "xanchor": "left",
            "y": 0,
            "yref": "container",
            "yanchor": "bottom",
            "bgcolor": "rgba(0,0,0,0)",
            "font": {"size": 12.5, "color": colors.ink},
            "itemwidth": 40,
            "tracegroupgap": 0,
            "maxheight": 0.6,
        },
        "hoverlabel": {
            "bgcolor": colors.background,
            "bordercolor": colors.muted,
            "font": {"family": FONT, "size": 13, "color": colors.ink},
            "align": "left",
        },
        "modebar": {
            "bgcolor": translucent(colors.background, 0.85),
            "color": colors.muted,
            "activecolor": colors.ink,
        },
        "hovermode": "closest",
        "dragmode": "zoom",
        "xaxis": axis | {"title": {"text": x_title, "standoff": 8, "font": label}},
        "yaxis": axis | {"title": {"text": y_title, "standoff": 8, "font": dict(label)}},
    }


def translucent(color: str, opacity: float) -> str:
    """Return the colour #RRGGBB with an opacity from 0 to 1."""
    return f"rgba({','.join(map(str, hex_to_rgb(color)))},{opacity:g})"


def mix(scale: Scale, position: float) -> str:
    """Return the colour #RRGGBB at a position from 0 to 1 on a scale."""
    at = min(max(position, 0.0), 1.0) if np.isfinite(position) else 0.0
    places = [p for p, _ in scale]
    channels = zip(*(hex_to_rgb(color) for _, color in scale), strict=True)
    return "#" + "".join(f"{round(np.interp(at, places, channel)):02X}" for channel in channels)


def crop(scale: Scale, first: float) -> Scale:
    """Return the part of a colour scale from the position `first` on, stretched to 0 to 1."""
    kept = [((p - first) / (1 - first), color) for p, color in scale if p > first]
    return ((0.0, mix(scale, first)), *kept)


def luminance(color: str) -> float:
    """Return the relative luminance of #RRGGBB, from 0 to 1, as WCAG 2 defines it."""
    channels = np.array(hex_to_rgb(color)) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def readable_on(color: str) -> str:
    """Return dark or light ink, whichever has the higher contrast with the colour."""
    light, dark = luminance(LIGHT.ink), luminance(DARK.ink)
    here = luminance(color)
    return LIGHT.ink if (here + 0.05) / (light + 0.05) >= (dark + 0.05) / (here + 0.05) else DARK.ink


def thin(points: int, most: int = MOST_POINTS) -> NDArray[np.intp]:
    """Return the indices of the points to draw: at most `most`, evenly spaced, including the first and the last."""
    if points <= most:
        return np.arange(points)
    return np.unique(np.rint(np.linspace(0, points - 1, most)).astype(np.intp))


def symlog(values: Any, linear: float) -> NDArray[np.float64]:
    """Scale values by asinh: roughly linear within ±`linear`, and logarithmic beyond."""
    return np.arcsinh(np.asarray(values, float) / linear)


def symlog_ticks(low: float, high: float, linear: float, most: int = 9) -> tuple[list[float], list[str]]:
    """Return tick positions on the symlog scale and their labels: 0 and powers of ten from `linear` up."""
    first = int(np.ceil(np.log10(max(linear, 1.0)) - 1e-9))
    decades = [
        int(np.floor(np.log10(end) + 1e-9)) if end >= 10.0**first else first - 1
        for end in (max(-low, 0.5), max(high, 0.5))
    ]
    total = sum(last - first + 1 for last in decades)
    step = max(1, int(np.ceil(total / max(most - 1, 1))))
    down, up = ([10.0**k for k in range(first, last + 1, step)] for last in decades)
    ticks = [-t for t in reversed(down)] + [0.0] + up
    if len(ticks) == 1:  # all values are in the linear part
        ends = [end for end in (low, high) if abs(end) > 1e-12]
        ticks = sorted({0.0, *(float(f"{end:.1g}") for end in ends)})
    return [float(t) for t in symlog(ticks, linear)], [power(t) for t in ticks]


def plain(label: str) -> str:
    """Escape text for a figure, because Plotly would read < as the start of a tag. It may come from a visitor."""
    return label.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def short_labels(labels: Sequence[str], most: int = 14) -> list[str]:
    """Shorten axis labels: drop the first words that all share (state 0, state 1 -> 0, 1), then cut long labels."""
    words = [label.split() for label in labels]
    alike = takewhile(lambda column: len(set(column)) == 1, zip(*(w[:-1] for w in words), strict=False))
    common = sum(1 for _ in alike) if len(labels) > 1 else 0
    kept = [" ".join(w[common:]) or label for w, label in zip(words, labels, strict=True)]
    return [label if len(label) <= most else label[: most - 1] + "…" for label in kept]


def label_ticks(labels: Sequence[str], most: int) -> dict[str, Any]:
    """Return axis settings for labels at 0, 1, 2, ... that show at most `most` of them, evenly spaced."""
    step = max(1, int(np.ceil(len(labels) / most)))
    at = list(range(0, len(labels), step))
    return {"tickvals": at, "ticktext": [plain(labels[i]).replace("\n", "<br>") for i in at]}


def step_ticks(steps: int, first: int = 0) -> dict[str, Any]:
    """Return axis settings for the steps of an episode: at most eight whole numbers, starting at `first`."""
    gap = next((gap for gap in (1, 2, 5, 10, 20, 25, 50, 100) if steps <= 8 * gap), 200)
    at = list(range(0, steps, gap))
    return {"tickvals": at, "ticktext": [str(h + first) for h in at], "tickangle": 0}

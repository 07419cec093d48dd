"""Charts under construction, kept as dictionaries from which one Plotly figure is built at the end.

A figure module opens a `Chart`, adds curves (`lines`), cells (`heat`), points and text, and returns a `Picture`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import style
from dprl.figures.picture import Picture
from dprl.messages import messages

ALT: dict[str, str] = messages("charts")["alt"]
Trace = dict[str, Any]  # a Plotly trace as a dictionary, or a part of one

EPISODES = "Episodes (one user each by default)"
GAP = 0.03  # between two panels, as a share of the figure


class Chart:
    """A chart in the house style, empty at first. Change its `layout` and `traces` directly if no method fits."""

    def __init__(
        self, title: str, x_title: str = "", y_title: str = "", *, subtitle: str = "", height: int, dark: bool
    ) -> None:
        self.dark = dark
        self.colors = style.theme(dark)
        self.layout = style.layout(title, x_title, y_title, subtitle, height, dark)
        self.traces: list[Trace] = []
        self.caveats: list[str] = []  # limits of the chart, shown after the sentence on how to read it

    def x(self, **settings: Any) -> None:
        """Update the settings of the horizontal axis."""
        self.layout["xaxis"] |= settings

    def y(self, **settings: Any) -> None:
        """Update the settings of the vertical axis."""
        self.layout["yaxis"] |= settings

    def bare(self) -> None:
        """Remove the title and the space around the plot."""
        self.layout["margin"] |= {"l": 4, "r": 4, "t": 4, "b": 4}
        self.layout["title"]["text"] = ""

    def reach(self, low: float = np.inf, high: float = -np.inf) -> None:
        """Extend a logarithmic vertical axis with a fixed range so that it includes these powers of ten."""
        if ends := self.layout["yaxis"].get("range"):
            self.y(range=[min(ends[0], float(low)), max(ends[1], float(high))])

    def add(self, mode: str, x: Any, y: Any, **trace: Any) -> None:
        """Add a scatter trace. It has hover text only if `trace` contains a `hovertemplate`."""
        said = {} if trace.get("hovertemplate") else {"hoverinfo": "skip"}
        self.traces.append({"type": "scatter", "mode": mode, "x": x, "y": y} | said | trace)

    def line(
        self,
        name: str,
        x: Any,
        y: Any,
        color: str,
        width: float = 2,
        dash: str = "",
        mode: str = "lines",
        **trace: Any,
    ) -> None:
        """Add a line. `dash` is Plotly's dash style ("" for a solid line); the mode "lines+markers" adds markers."""
        stroke = {"color": color, "width": width} | ({"dash": dash} if dash else {})
        self.add(mode, x, y, **{"line": stroke, "name": name} | trace)

    def theory(self, name: str, x: Any, y: Any, width: float = 1.5, **trace: Any) -> None:
        """Add a dotted line for a value that was proved or set, never measured."""
        self.line(name, x, y, self.colors.roles["bound"], width, style.BOUND_DASH, **trace)

    def points(
        self,
        name: str,
        x: Any,
        y: Any,
        color: Any,
        symbol: Any = "circle",
        size: Any = 9,
        edge: float = 0,
        mode: str = "markers",
        **trace: Any,
    ) -> None:
        """Add markers; `edge` is the width of an outline in the same colour (0 for no outline)."""
        marker = {"symbol": symbol, "size": size, "color": color}
        outline = {"line": {"width": edge, "color": color}} if edge else {}
        self.add(mode, x, y, **{"marker": marker | outline | trace.pop("marker", {}), "name": name} | trace)

    def words(self, x: Any, y: Any, text: list[str], color: Any, size: Any = 12, **trace: Any) -> None:
        """Write one text at each point (x, y) of the plot."""
        font = {"color": color, "size": size}
        self.add("text", x, y, **{"text": text, "textfont": font, "showlegend": False} | trace)

    def band(self, x: NDArray[Any], low: NDArray[Any], high: NDArray[Any], fill: str, **trace: Any) -> None:
        """Fill the area between low and high [P] at x [P], without a legend entry."""
        around = np.concatenate([x, x[::-1]]), np.concatenate([high, low[::-1]])
        filled: Trace = {"line": {"width": 0}, "fill": "toself", "fillcolor": fill, "showlegend": False}
        self.add("lines", *around, **filled | trace)

    def sign(self, name: str, marker: dict[str, Any]) -> None:
        """Add a legend entry that explains a symbol and cannot be clicked."""
        self.add("markers", [None], [None], marker=marker, name=name)

    def note(self, text: str, color: str = "", size: float = 12, **place: Any) -> None:
        """Write text in the plot. `place` contains Plotly's settings for its position (x, y, xref, ...)."""
        font = {"size": size, "color": color or self.colors.ink}
        notes = self.layout.setdefault("annotations", [])
        notes.append({"text": text, "showarrow": False, "font": font} | place)

    def picture(
        self, alt: str, see: str, table: pd.DataFrame, *, revision: str = "", **layout: Any
    ) -> Picture:
        """Build the figure and return it with the text that a page shows around it. `alt` is the text itself or its key
        in charts.toml. A redraw with the same `revision` keeps the zoom."""
        kept = {"uirevision": revision} if revision else {}
        figure = style.figure_of(self.layout | kept | layout, self.traces)
        return Picture(figure, ALT.get(alt, alt), " ".join(filter(None, [see, *self.caveats])), table)


def stacked(parts: Iterable[Mapping[str, Any]], columns: Iterable[str] = ()) -> pd.DataFrame:
    """Stack tables, each given as columns and their values. Without tables, return an empty one with `columns`."""
    frames = [pd.DataFrame(part) for part in parts]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=list(columns))


def intervals(values: Sequence[float], low: Sequence[float], high: Sequence[float], color: str) -> Trace:
    """Return Plotly's settings for error bars [P] around values [P] along the horizontal axis."""
    sides = {
        "array": np.nan_to_num(np.subtract(high, values)),
        "arrayminus": np.nan_to_num(np.subtract(values, low)),
    }
    return sides | {"type": "data", "symmetric": False, "thickness": 2, "width": 5, "color": color}


def side_by_side(panels: Mapping[str, Picture], axis: str) -> Picture:
    """Combine pictures into small multiples: one panel for each value of `axis`, all with the same vertical axis."""
    first, figures = next(iter(panels.values())), [one.figure for one in panels.values()]
    layout: dict[str, Any] = figures[0].layout.to_plotly_json()
    layout["margin"] |= {"t": layout["margin"]["t"] + 24}  # room for the values above the panels
    ranged = [one.layout.yaxis for one in figures if one.layout.yaxis.range]
    common: Trace = {}
    if ranged:
        widest = max(ranged, key=lambda one: one.range[1] - one.range[0]).to_plotly_json()
        common = {name: widest[name] for name in ("tickvals", "ticktext") if name in widest}
        common["range"] = [min(one.range[0] for one in ranged), max(one.range[1] for one in ranged)]
    traces, shown = list[Trace](), set[str]()
    notes, above = list(layout.pop("annotations", ())), {"showarrow": False, "font": {"size": 13}}
    above |= {"xref": "paper", "xanchor": "left", "y": 1, "yref": "paper", "yanchor": "bottom"}
    for i, (name, figure) in enumerate(zip(panels, figures, strict=True)):
        number = "" if i == 0 else str(i + 1)
        begin, end = i * (1 + GAP) / len(panels), (i + 1) * (1 + GAP) / len(panels) - GAP
        across, up = figure.layout.xaxis.to_plotly_json(), figure.layout.yaxis.to_plotly_json()
        hidden = {"showticklabels": False, "title": None, "matches": "y"} if i else {}
        layout[f"xaxis{number}"] = across | {"domain": [begin, end], "anchor": f"y{number}", "nticks": 4}
        layout[f"yaxis{number}"] = up | common | {"anchor": f"x{number}"} | hidden
        notes.append({"text": style.plain(name), "x": begin, **above})
        for trace in (one.to_plotly_json() for one in figure.data):
            label = str(trace.get("name", ""))
            twice = {"showlegend": False} if label in shown else {}
            shown.add(label)
            traces.append({**trace, "xaxis": f"x{number}", "yaxis": f"y{number}", **twice})
    table = pd.concat([one.table.assign(**{axis: name}) for name, one in panels.items()], ignore_index=True)
    table.insert(0, axis, table.pop(axis))
    return Picture(style.figure_of(layout | {"annotations": notes}, traces), first.alt, first.see, table)

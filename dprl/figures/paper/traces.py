"""What is drawn on the axes of a page's figure: lines, bands, markers, words, bars and cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dprl.figures.looks import SHAPES
from dprl.figures.paper.text import POINTS, array, as_numbers, color, dashes, each, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Trace = dict[str, Any]
WRITTEN = 0.56  # points of a word in the plot for each pixel that it has on a page
PLACES = {"left": "right", "right": "left", "center": "center"}  # beside a point: how the word is aligned
RISES = {"top": "bottom", "bottom": "top", "middle": "center"}


def draw_trace(axes: Axes, trace: Trace, layer: float) -> None:
    """Draws one trace. layer: what is drawn later lies above."""
    KINDS[trace["type"]](axes, trace, layer)


def scatter(axes: Axes, trace: Trace, layer: float) -> None:
    """Line, area, markers, intervals and words of one trace, as its mode asks."""
    x, y = _places(axes, trace)
    mode = trace.get("mode") or "lines"
    whole = trace.get("opacity", 1.0)
    shift = {"clip_on": trace.get("cliponaxis") is not False, "zorder": layer}
    if trace.get("fill"):
        _area(axes, trace, x, y, layer)
    if "lines" in mode:
        stroke = trace.get("line") or {}
        if stroke.get("width", 2):
            hue = color(stroke.get("color") or trace["marker"]["color"], whole)
            steps = {"drawstyle": "steps-post"} if stroke.get("shape") == "hv" else {}
            axes.plot(
                x,
                y,
                linestyle=dashes(stroke.get("dash")),
                linewidth=stroke.get("width", 2) * POINTS,
                color=hue,
                solid_capstyle="round",
                **steps,
                **shift,
            )
    for which in ("x", "y"):
        if error := trace.get(f"error_{which}"):
            _interval(axes, which, error, x, y, layer)
    if "markers" in mode:
        _markers(axes, trace, x, y, whole, shift)
    if "text" in mode:
        _words(axes, trace, x, y, layer)


def _places(axes: Axes, trace: Trace) -> tuple[NDArray[Any], NDArray[Any]]:
    """x and y of a trace; names of categories at 0, 1, 2, ..., as they come."""
    found = []
    for which, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        values = array(trace.get(which))
        if values.dtype.kind in "US":
            axis.update_units(values)
            found.append(np.asarray(axis.convert_units(values)))
        else:
            found.append(as_numbers(trace.get(which)))
    return found[0], found[1]


def _area(axes: Axes, trace: Trace, x: NDArray[Any], y: NDArray[Any], layer: float) -> None:
    """What is filled: between a line and zero, or what it goes around."""
    fill = color(trace["fillcolor"])
    if trace["fill"] == "tozeroy":
        steps = "post" if (trace.get("line") or {}).get("shape") == "hv" else None
        axes.fill_between(x, y, 0.0, step=steps, color=fill, linewidth=0, zorder=layer)
    else:
        axes.fill(x, y, color=fill, linewidth=0, zorder=layer)


def _interval(
    axes: Axes, which: str, error: dict[str, Any], x: NDArray[Any], y: NDArray[Any], layer: float
) -> None:
    up = as_numbers(error["array"])
    down = as_numbers(error["arrayminus"]) if error.get("symmetric") is False else up
    axes.errorbar(
        x,
        y,
        **{f"{which}err": np.array([down, up])},
        fmt="none",
        ecolor=color(error["color"]),
        elinewidth=error.get("thickness", 2) * POINTS,
        capsize=error.get("width", 4) * POINTS / 2,
        capthick=error.get("thickness", 2) * POINTS,
        zorder=layer,
    )


def _markers(
    axes: Axes, trace: Trace, x: NDArray[Any], y: NDArray[Any], whole: float, shift: dict[str, Any]
) -> None:
    """Markers, those of one shape at once."""
    marker = trace.get("marker") or {}
    looks = _marker_looks(marker, len(x), whole)
    for shape in dict.fromkeys(look[0] for look in looks):
        at = [
            i for i, look in enumerate(looks) if look[0] == shape and np.isfinite(x[i]) and np.isfinite(y[i])
        ]
        if not at:
            continue
        _, sizes, fillings, edges, widths = zip(*(looks[i] for i in at), strict=True)
        axes.scatter(
            x[at],
            y[at],
            marker=path(shape),
            s=[(size * POINTS) ** 2 for size in sizes],
            facecolors=list(fillings),
            edgecolors=list(edges),
            linewidths=[width * POINTS for width in widths],
            **shift,
        )


def _marker_looks(
    marker: dict[str, Any], count: int, whole: float
) -> list[tuple[str, float, Any, Any, float]]:
    """Of each marker its shape, pixels, filling, edge, and how wide that is."""
    outline = marker.get("line") or {}
    opacity = each(marker.get("opacity", 1.0), count)
    rows = zip(
        each(marker.get("symbol", "circle"), count),
        each(marker.get("size", 6), count),
        each(marker.get("color"), count),
        each(outline.get("color"), count),
        each(outline.get("width", 0), count),
        opacity,
        strict=True,
    )
    looks = []
    for symbol, size, hue, edge, width, share in rows:
        filling = color(hue, float(share) * whole)
        shape = str(symbol).removesuffix("-open")
        if shape != symbol or shape.startswith("line"):
            looks.append((shape, float(size), "none", filling, float(width or 1.5)))
        else:
            looks.append((shape, float(size), filling, color(edge or hue, whole), float(width)))
    return looks


def first_look(marker: dict[str, Any], whole: float) -> tuple[str, float, Any, Any, float]:
    """Shape, pixels, filling and edge of the first of a trace's markers: its legend has that one."""
    first = {key: each(marker[key], 1)[0] for key in ("symbol", "size", "color", "opacity") if key in marker}
    outline = {key: each(value, 1)[0] for key, value in (marker.get("line") or {}).items()}
    return _marker_looks(first | {"line": outline}, 1, whole)[0]


def path(shape: str) -> Any:
    """A marker of Plotly's as one of Matplotlib's, by the polygons of legends."""
    if shape == "line-ns":
        return "|"
    if shape not in SHAPES:
        return "o"
    corners = [tuple(float(part) for part in corner.split(",")) for corner in SHAPES[shape].split()]
    return [(x, -y) for x, y in [*corners, corners[0]]]  # an SVG counts downwards


def _words(axes: Axes, trace: Trace, x: NDArray[Any], y: NDArray[Any], layer: float) -> None:
    font = trace.get("textfont") or {}
    marked = "markers" in (trace.get("mode") or "")
    rows = zip(
        x,
        y,
        each(trace["text"], len(x)),
        each(font.get("color", "#1F2933"), len(x)),
        each(font.get("size", 12), len(x)),
        each(trace.get("textposition", "middle center"), len(x)),
        strict=True,
    )
    for at_x, at_y, text, hue, size, place in rows:
        if not (np.isfinite(at_x) and np.isfinite(at_y)):
            continue
        rise, side = str(place).split()
        away = 4.0 if marked else 2.0
        offset = (
            {"left": -away, "right": away, "center": 0.0}[side],
            {"top": away, "bottom": -away, "middle": 0.0}[rise],
        )
        axes.annotate(
            words(text),
            (at_x, at_y),
            offset,
            textcoords="offset points",
            ha=PLACES[side],
            va=RISES[rise],
            color=color(hue),
            fontsize=float(size) * WRITTEN,
            weight=font.get("weight", "normal"),
            zorder=layer,
            annotation_clip=False,
        )


def bars(axes: Axes, trace: Trace, layer: float) -> None:
    """Bars, upright or lying, with what is written at their ends."""
    x, y = _places(axes, trace)
    marker = trace["marker"]
    hues = [color(hue) for hue in each(marker["color"], len(x))]
    hatch = {"/": "////"}.get((marker.get("pattern") or {}).get("shape") or "")
    flat = trace.get("orientation") == "h"
    width = trace.get("width") or 0.8
    shift = float(trace.get("offset") or 0)
    if flat:
        axes.barh(y + shift, x, width, color=hues, zorder=layer)
    else:
        axes.bar(
            x + shift,
            y,
            width,
            color=hues,
            hatch=hatch,
            zorder=layer,
            edgecolor="white" if hatch else None,
            linewidth=0,
        )
    font = trace.get("textfont") or {}
    for i, text in enumerate(each(trace.get("text", ""), len(x))):
        end, offset = ((x[i], y[i]), (3, 0)) if flat else ((x[i] + shift, y[i]), (0, 2 if y[i] >= 0 else -2))
        axes.annotate(
            words(text),
            end,
            offset,
            textcoords="offset points",
            ha="left" if flat else "center",
            va="center" if flat else "bottom" if y[i] >= 0 else "top",
            color=color(font.get("color", "#1F2933")),
            fontsize=font.get("size", 12) * WRITTEN,
            zorder=layer,
            annotation_clip=False,
        )


def heatmap_cells(axes: Axes, trace: Trace, layer: float) -> None:
    """Cells in colours, and the scale of these beside them."""
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    z = as_numbers(trace["z"])
    rows, columns = z.shape
    x, y = (_edges(trace, which, count) for which, count in (("x", columns), ("y", rows)))
    stops = [(float(at), color(hue)) for at, hue in trace["colorscale"]]
    scale = LinearSegmentedColormap.from_list("cells", stops)
    norm = Normalize(trace.get("zmin", np.nanmin(z)), trace.get("zmax", np.nanmax(z)))
    gap = max(trace.get("xgap") or 0, trace.get("ygap") or 0) * POINTS
    drawn = axes.pcolormesh(
        x,
        y,
        np.ma.masked_invalid(z),
        cmap=scale,
        norm=norm,
        edgecolors="white" if gap else "none",
        linewidth=gap,
        zorder=layer,
    )
    if trace.get("showscale") is not False and (bar := trace.get("colorbar")):
        beside = axes.inset_axes((1.03, 0.0, 0.035, 1.0))
        scale_bar = axes.figure.colorbar(drawn, cax=beside)
        scale_bar.outline.set_visible(False)
        if bar.get("tickvals") is not None:
            scale_bar.set_ticks(
                as_numbers(bar["tickvals"]).tolist(), labels=[words(t) for t in array(bar["ticktext"])]
            )
        beside.tick_params(
            labelsize=(bar.get("tickfont") or {}).get("size", 11) * WRITTEN, length=1.5, width=0.5, pad=1.5
        )


def _edges(trace: Trace, which: str, count: int) -> NDArray[np.float64]:
    """Where cells end: half way to the next ones."""
    given: NDArray[Any] = as_numbers(trace.get(which))
    if given.size != count:
        start, step = float(trace.get(f"{which}0") or 0), float(trace.get(f"d{which}") or 1)
        given = start + step * np.arange(count)
    middle = (given[1:] + given[:-1]) / 2
    first = given[0] - (middle[0] - given[0]) if count > 1 else given[0] - 0.5
    last = given[-1] + (given[-1] - middle[-1]) if count > 1 else given[-1] + 0.5
    return np.array([first, *middle, last])


KINDS: dict[str, Callable[[Any, Trace, float], None]] = {
    "scatter": scatter,
    "bar": bars,
    "heatmap": heatmap_cells,
}

"""A page's figure at a paper's width: fonts, room for axes and legend, and the files it is saved as.

What is drawn is read off the dictionary of layout and traces that Plotly draws, so that no figure is written twice. The
title is left to the caption of the paper.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dprl.figures import style
from dprl.figures.paper import axes as axis
from dprl.figures.paper import traces
from dprl.figures.paper.text import POINTS, color, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Inches: a column of two and both of them (ICML, AISTATS), and the text of one column (NeurIPS, ICLR).
WIDTHS = {"column": 3.25, "text": 5.5, "page": 6.75}
NARROWEST, LOWEST, WIDEST = 1.5, 1.0, 12.0
FORMATS = ("pdf", "svg", "png")
# What most papers are set in, by what Matplotlib brings along; what letters it lacks come from the next.
FONTS = {"serif": ["STIXGeneral", "DejaVu Serif"], "sans": ["DejaVu Sans"]}
MATH = {"serif": "stix", "sans": "dejavusans"}
LEGEND = 7.0  # points
EDGE = 2.0  # points left free around everything
HEIGHT = 0.42  # points for each pixel that the figure has on a page
TITLE = 42  # pixels that its title has there
MISSING = "Figures for papers need Matplotlib; install it by: pip install 'dprl[paper]'"
_LOCK = threading.Lock()  # Matplotlib's settings are those of the whole process


class MissingExtra(ImportError):
    """Matplotlib is not installed; the message says how to install it."""


def saved(figure: dict[str, Any], suffix: str, about: dict[str, str] | None = None, **how: Any) -> bytes:
    """A figure as the content of a file, the same bytes for the same figure and version of Matplotlib.

    Args:
        figure: as Plotly has it, as a dictionary, on a light page.
        suffix: one of FORMATS.
        about: Title and Subject, of a PDF.
        how: width, height and font, see `drawn`.

    Raises:
        MissingExtra: Matplotlib is not installed.
        ValueError: something is not allowed, or the figure is one for a dark page.
    """
    if suffix not in FORMATS:
        raise ValueError(f"format: {suffix!r} is not allowed; give one of {', '.join(FORMATS)}.")
    content = io.BytesIO()
    dates: dict[str, dict[str, Any]] = {
        "pdf": {"Creator": "dprl", "CreationDate": None, **(about or {})},
        "svg": {"Creator": "dprl", "Date": None},
        "png": {"Software": "dprl"},
    }
    with _settings(how.get("font", "serif")):
        drawn(figure, **how).savefig(content, format=suffix, metadata=dates[suffix], dpi=600)
    return content.getvalue()


@contextmanager
def _settings(font: str) -> Iterator[None]:
    try:
        import matplotlib
    except ImportError:
        raise MissingExtra(MISSING) from None
    if font not in FONTS:
        raise ValueError(f"font: {font!r} is not allowed; give one of {', '.join(FONTS)}.")
    chosen = {
        "font.family": FONTS[font],
        "mathtext.fontset": MATH[font],
        "lines.scale_dashes": False,
        "axes.unicode_minus": True,
        "pdf.fonttype": 42,  # TrueType: some conferences take no other
        "svg.fonttype": "path",
        "svg.hashsalt": "dprl",
        "hatch.linewidth": 0.5,
    }
    with _LOCK, matplotlib.rc_context(chosen):
        yield


def drawn(
    figure: dict[str, Any], *, width: str | float = "column", height: float | None = None, font: str = "serif"
) -> Figure:
    """A figure, drawn by Matplotlib.

    Args:
        figure: as for `saved`.
        width: one of WIDTHS, or inches.
        height: inches; by default as many as the figure's height on a page asks for.
        font: one of FONTS.
    """
    from matplotlib.figure import Figure

    layout, shown = figure["layout"], [one for one in figure["data"] if one.get("visible", True) is True]
    if (layout.get("font") or {}).get("color") == style.DARK.ink:
        raise ValueError("dark: this figure is for a dark page; draw it with dark=False.")
    across = _inches(width)
    usual = max(1.2, (float(layout.get("height") or 450) - TITLE) * HEIGHT / 72)
    high = usual if height is None else _tall(height)
    page = Figure((across, high))
    names = dict.fromkeys((one.get("xaxis", "x"), one.get("yaxis", "y")) for one in shown) or {
        ("x", "y"): None
    }
    # One more pair lies below all: words and lines are placed by its corners.
    whole = page.add_axes((0.0, 0.0, 1.0, 1.0), zorder=-1)
    whole.set_axis_off()
    pairs = {pair: page.add_axes((0.0, 0.0, 1.0, 1.0)) for pair in names}
    for (x, y), axes in pairs.items():
        axes.patch.set_visible(False)
        axis.scaled(axes, axis.of_layout(layout, x), axis.of_layout(layout, y))
    for number, one in enumerate(shown):
        traces.draw_trace(pairs[one.get("xaxis", "x"), one.get("yaxis", "y")], one, 2 + number / 1000)
    for (x, y), axes in pairs.items():
        axis.finished(axes, axis.of_layout(layout, x), axis.of_layout(layout, y), color(style.LIGHT.grid))
    first = next(iter(pairs.values()))
    for shape in layout.get("shapes") or ():
        _shape(shape, first, whole)
    for note in layout.get("annotations") or ():
        _note(note, layout, first, whole)
    legend = _legend(page, shown) if layout.get("showlegend") is not False else None
    _arrange(page, layout, whole, pairs, legend)
    return page


def _inches(width: str | float) -> float:
    found = WIDTHS.get(width) if isinstance(width, str) else width
    if not isinstance(found, int | float) or not NARROWEST <= found <= WIDEST:
        raise ValueError(
            f"width: {width!r} is not allowed; give one of {', '.join(WIDTHS)}, or inches from {NARROWEST:g} "
            f"to {WIDEST:g}."
        )
    return float(found)


def _tall(height: float) -> float:
    if not isinstance(height, int | float) or not LOWEST <= height <= WIDEST:
        raise ValueError(f"height: {height!r} is not allowed; give inches from {LOWEST:g} to {WIDEST:g}.")
    return float(height)


def _place(ref: str, axes: Axes, whole: Axes) -> Any:
    """What a place is counted in: values of an axis, or shares of it or of the whole plot."""
    if ref == "paper":
        return whole.transAxes
    return axes.transAxes if ref.endswith("domain") else axes.transData


def _blended(xref: str, yref: str, axes: Axes, whole: Axes) -> Any:
    from matplotlib.transforms import blended_transform_factory

    return blended_transform_factory(_place(xref, axes, whole), _place(yref, axes, whole))


def _shape(shape: dict[str, Any], axes: Axes, whole: Axes) -> None:
    """A line or a box, which are not bound to a trace."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle

    where = _blended(shape.get("xref", "x"), shape.get("yref", "y"), axes, whole)
    x0, x1, y0, y1 = (float(shape[end]) for end in ("x0", "x1", "y0", "y1"))
    stroke = shape.get("line") or {}
    width = stroke.get("width", 2) * POINTS
    layer = 0.5 if shape.get("layer") == "below" else 3.0
    if shape["type"] == "line":
        line = Line2D(
            (x0, x1), (y0, y1), linewidth=width, color=color(stroke["color"]), transform=where, zorder=layer
        )
        line.set_linestyle(traces.dashes(stroke.get("dash")))
        axes.add_artist(line)
    else:
        box = Rectangle((x0, y0), x1 - x0, y1 - y0, transform=where, zorder=layer, linewidth=width)
        box.set_facecolor(color(shape["fillcolor"]) if shape.get("fillcolor") else "none")
        box.set_edgecolor(color(stroke["color"]) if stroke.get("color") else "none")
        axes.add_artist(box)


def _note(note: dict[str, Any], layout: dict[str, Any], axes: Axes, whole: Axes) -> None:
    """Words at a place, perhaps with a line to what they are about."""
    font = note.get("font") or {}
    xref, yref = str(note.get("xref", "x")), str(note.get("yref", "y"))
    at = _place_on_axis(note["x"], xref, layout), _place_on_axis(note["y"], yref, layout)
    shift = float(note.get("xshift") or 0) * POINTS, float(note.get("yshift") or 0) * POINTS
    where = _blended(xref, yref, axes, whole)
    background = (
        {"facecolor": color(note["bgcolor"]), "edgecolor": "none", "pad": 0.5}
        if note.get("bgcolor")
        else None
    )
    pointed = bool(note.get("showarrow"))
    inside = str(note.get("axref", "pixel")) != "pixel"
    away: Any = shift
    if pointed:  # an arrow begins at its words
        away = float(note["ax"]) * POINTS, -float(note["ay"]) * POINTS
        if inside:
            away = _place_on_axis(note["ax"], xref, layout), _place_on_axis(note["ay"], yref, layout)
    axes.annotate(
        words(note.get("text")),
        at,
        away,
        xycoords=where,
        textcoords="data" if pointed and inside else "offset points",
        ha={"auto": "center"}.get(note.get("xanchor", "center"), note.get("xanchor", "center")),
        va={"auto": "center", "middle": "center"}.get(
            note.get("yanchor", "middle"), note.get("yanchor", "middle")
        ),
        fontsize=float(font.get("size", 12)) * traces.WRITTEN,
        color=color(font.get("color", style.LIGHT.ink)),
        bbox=background,
        arrowprops={
            "arrowstyle": "-",
            "linewidth": note.get("arrowwidth", 1) * POINTS,
            "color": color(note["arrowcolor"]),
        }
        if pointed
        else None,
        annotation_clip=False,
        zorder=4,
    )


def _place_on_axis(place: Any, ref: str, layout: dict[str, Any]) -> Any:
    """A place of a note on an axis, which has the exponent of ten where that is logarithmic."""
    return 10.0 ** float(place) if axis.of_layout(layout, ref).get("type") == "log" else place


def _legend(page: Figure, shown: Sequence[dict[str, Any]]) -> Any:
    """The legend, below everything, in as many columns as there is room for; None where there is nothing to name."""
    from matplotlib.lines import Line2D

    named = sorted(
        (one for one in shown if one.get("showlegend", one["type"] != "heatmap") and words(one.get("name"))),
        key=lambda one: one.get("legendrank", 1000),
    )
    if not named:
        return None
    handles = []
    for one in named:
        stroke, marker, mode = one.get("line") or {}, one.get("marker") or {}, one.get("mode") or "lines"
        line = Line2D([], [], linestyle="none")
        if one["type"] == "scatter" and "lines" in mode and stroke.get("width", 2):
            hue = color(stroke.get("color") or marker.get("color"), one.get("opacity", 1.0))
            line.set(
                color=hue,
                linewidth=stroke.get("width", 2) * POINTS,
                linestyle=traces.dashes(stroke.get("dash")),
            )
        elif one.get("fill"):
            marker, mode = {"symbol": "square", "size": 13, "color": one["fillcolor"]}, "markers"
        elif one["type"] != "scatter":
            marker, mode = marker | {"symbol": "square", "size": 13}, "markers"
        if "markers" in mode:
            shape, size, filling, edge, width = traces.first_look(marker, one.get("opacity", 1.0))
            line.set_marker(traces.path(shape))
            line.set(
                markersize=size * POINTS,
                markerfacecolor=filling,
                markeredgecolor=edge,
                markeredgewidth=width * POINTS,
            )
        handles.append(line)
    texts = [words(one["name"]) for one in named]
    for columns in range(min(len(texts), 4), 0, -1):
        legend = page.legend(
            handles,
            texts,
            ncols=columns,
            loc="lower left",
            bbox_to_anchor=(0.0, 0.0),
            frameon=False,
            fontsize=LEGEND,
            handlelength=2.6,
            handletextpad=0.5,
            columnspacing=1.2,
            labelspacing=0.3,
            borderpad=0.0,
            borderaxespad=0.15,
        )
        wide = legend.get_window_extent().width / page.dpi
        if wide <= page.get_figwidth() - 4 * EDGE / 72 or columns == 1:
            return legend
        legend.remove()
    raise AssertionError("one column is always drawn")


def _arrange(page: Figure, layout: dict[str, Any], whole: Axes, pairs: dict[Any, Axes], legend: Any) -> None:
    """Gives axes the room that their titles, numbers and the legend leave, as Plotly's automatic margins do."""
    width, height = page.get_size_inches()
    below = 0.0
    if legend is not None:
        below = legend.get_window_extent().height / page.dpi + 3 / 72
    margins = [0.4, below + 0.35, 0.1, 0.1]  # inches: left, bottom, right, top
    for _ in range(2):  # which numbers stand at axes depends on the room for them, and that on the numbers
        _place_all(page, layout, whole, pairs, margins)
        page.draw_without_rendering()
        for axes in pairs.values():
            axis.fold_titles(axes)
        boxes = [axes.get_tightbbox() for axes in pairs.values()]
        ends = (
            min(b.x0 for b in boxes),
            min(b.y0 for b in boxes),
            max(b.x1 for b in boxes),
            max(b.y1 for b in boxes),
        )
        low_x, low_y, high_x, high_y = (end / page.dpi for end in ends)
        for side, over in enumerate((-low_x, below - low_y, high_x - width, high_y - height)):
            margins[side] += EDGE / 72 + over
    _place_all(page, layout, whole, pairs, margins)


def _place_all(
    page: Figure, layout: dict[str, Any], whole: Axes, pairs: dict[Any, Axes], margins: Sequence[float]
) -> None:
    """Puts all axes into what the margins leave."""
    width, height = page.get_size_inches()
    left, bottom, right, top = margins
    across, up = max(1 - (left + right) / width, 0.1), max(1 - (bottom + top) / height, 0.1)
    room = left / width, bottom / height, across, up
    whole.set_position(room)
    for (x, y), axes in pairs.items():
        axes.set_position(_part(room, axis.of_layout(layout, x), axis.of_layout(layout, y)))


def _part(room: tuple[float, ...], x: dict[str, Any], y: dict[str, Any]) -> tuple[float, float, float, float]:
    """The share of the plot's room that a pair of axes has."""
    (x0, x1), (y0, y1) = x.get("domain") or (0.0, 1.0), y.get("domain") or (0.0, 1.0)
    return room[0] + x0 * room[2], room[1] + y0 * room[3], (x1 - x0) * room[2], (y1 - y0) * room[3]

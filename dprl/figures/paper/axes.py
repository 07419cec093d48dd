"""The axes of a page's figure: scales, ranges, ticks and titles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dprl.figures.paper.text import array, as_numbers, color, words
from dprl.words import human, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

TICK, LABEL = 7.0, 8.0  # points: numbers at axes, their titles
HAIR = 0.6  # points: of grid lines and of the frame
DECADES, FEW = 8, 30.0  # that a column has room to name; below so many times an axis names 1, 2 and 5 of each


def of_layout(layout: dict[str, Any], name: str) -> dict[str, Any]:
    """What a layout says of the axis that a trace calls x, y2, ..."""
    found: dict[str, Any] = layout.get(f"{name[0]}axis{name[1:]}") or {}
    return found


def scaled(axes: Axes, x: dict[str, Any], y: dict[str, Any]) -> None:
    """Sets which axes are logarithmic: before anything is drawn."""
    for which, given in (("x", x), ("y", y)):
        if given.get("type") == "log":
            getattr(axes, f"set_{which}scale")("log", nonpositive="mask")


def finished(axes: Axes, x: dict[str, Any], y: dict[str, Any], grid: Any) -> None:
    """Ranges, ticks, titles and frame: when all is drawn."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set(linewidth=HAIR, color="#52606D")
    for which, axis, given in (("x", axes.xaxis, x), ("y", axes.yaxis, y)):
        _range(axes, which, given)
        _ticks(axis, given)
        _grid(axes, which, given, grid)
        if text := words((given.get("title") or {}).get("text")):
            axis.set_label_text(text, fontsize=LABEL)
        if given.get("visible") is False:
            axis.set_visible(False)
            axes.spines["bottom" if which == "x" else "left"].set_visible(False)


def fold_titles(axes: Axes) -> None:
    """Breaks the title of an axis that is longer than the axis, in two near its middle."""
    room = axes.get_window_extent()
    for title, long, most in (
        (axes.xaxis.label, axes.xaxis.label.get_window_extent().width, room.width),
        (axes.yaxis.label, axes.yaxis.label.get_window_extent().height, room.height),
    ):
        text = title.get_text()
        spaces = [i for i, sign in enumerate(text) if sign == " "]
        if long > most and spaces and "\n" not in text:
            cut = min(spaces, key=lambda i: abs(i - len(text) / 2))
            title.set_text(f"{text[:cut]}\n{text[cut + 1 :]}")


def _range(axes: Axes, which: str, given: dict[str, Any]) -> None:
    log = given.get("type") == "log"
    ends = given.get("range")
    if ends is not None:
        low, high = (10.0 ** float(end) if log else float(end) for end in ends)
        getattr(axes, f"set_{which}lim")(low, high)
    elif given.get("rangemode") == "tozero":
        getattr(axes, f"set_{which}lim")(**{"bottom" if which == "y" else "left": 0.0})


def _ticks(axis: Axis, given: dict[str, Any]) -> None:
    from matplotlib import ticker

    log, gap = given.get("type") == "log", given.get("dtick")
    far = float(given.get("ticklabelstandoff") or 0) / 2 + 2.0
    axis.set_tick_params(which="major", labelsize=TICK, length=2.5, width=HAIR, color="#52606D", pad=far)
    axis.set_tick_params(which="minor", length=0)
    low, high = sorted(axis.get_view_interval())
    if given.get("showticklabels") is False:
        axis.set_tick_params(labelbottom=False, labelleft=False, length=0)
    if given.get("ticks") == "":
        axis.set_tick_params(length=0)
    if given.get("tickmode") == "array" or given.get("tickvals") is not None:
        values, texts = as_numbers(given["tickvals"]), given.get("ticktext")
        seen = (values >= low - 1e-9 * abs(low)) & (values <= high + 1e-9 * abs(high))
        axis.set_major_locator(ticker.FixedLocator(values[seen].tolist()))
        if texts is not None:
            shown = [words(text) for text in array(texts)[seen]]
            axis.set_major_formatter(ticker.FixedFormatter(shown))
        axis.set_minor_locator(ticker.NullLocator())
    elif log and high / low < FEW and gap is None:
        axis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: human(value)))
        axis.set_minor_locator(ticker.NullLocator())
    elif log:
        step = int(max(gap or 1, np.ceil(np.log10(high / low) / DECADES)))
        first = int(np.ceil(np.log10(low) / step - 1e-9)) * step
        decades = range(first, int(np.floor(np.log10(high) + 1e-9)) + 1, step)
        axis.set_major_locator(ticker.FixedLocator([10.0**k for k in decades]))
        axis.set_major_formatter(ticker.FixedFormatter([f"$10^{{{k}}}$" for k in decades]))
        axis.set_minor_locator(ticker.NullLocator())
    elif given.get("tickmode") == "linear" and gap is not None:
        axis.set_major_locator(ticker.MultipleLocator(float(gap), float(given.get("tick0") or 0)))
    else:
        axis.set_major_locator(ticker.MaxNLocator(min(int(given.get("nticks") or 6), 6)))
        axis.set_major_formatter(ticker.ScalarFormatter(useMathText=True))
        axis.get_offset_text().set_fontsize(TICK)
    if given.get("tickformat") == ".0%":
        axis.set_major_formatter(ticker.PercentFormatter(1.0, decimals=0))
    if given.get("tickformat") == "~%":
        axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: percent(value)))


def _grid(axes: Axes, which: Any, given: dict[str, Any], grid: Any) -> None:
    axes.set_axisbelow(True)
    if given.get("showgrid") is not False and given.get("visible") is not False:
        axes.grid(True, axis=which, which="major", linewidth=HAIR, color=grid)
    if given.get("zeroline"):
        line = axes.axhline if which == "y" else axes.axvline
        line(0.0, linewidth=HAIR, color=color(given.get("zerolinecolor") or "#52606D"), zorder=1)

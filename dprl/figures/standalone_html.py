"""A chart, or a whole sweep, to take along: one page with sliders of its own, which needs no server and no network.

A slider stops where something was computed, and nowhere between. Whatever it shows was drawn and written here and lies
in the page; the script there only chooses among it.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly.offline import get_plotlyjs

from dprl.assets import plain, web_source
from dprl.figures import style
from dprl.figures.lines import Series
from dprl.figures.picture import Picture
from dprl.words import human

MOST_STOPS = 40  # of a slider: every stop is a picture, or a row of numbers, in the file
NOWHERE = "–"  # nothing was computed there

Cells = Callable[[tuple[int, ...]], list[list[str]]]


@dataclass(frozen=True)
class Slider:
    """The settings that can be moved.

    Attributes:
        label: in words.
        stops: ascending; where the line of a chart stands, if one is drawn.
        words: what each stop is called.
        at: the place of the first one shown.
    """

    label: str
    stops: tuple[float, ...]
    words: tuple[str, ...]
    at: int


@dataclass(frozen=True)
class ChartSlot:
    """A place for a chart.

    Attributes:
        pictures: one for each stop of a slider, or a single one.
        turned: the place of that slider among all.
        marked: the place of the slider whose stop is a line across the chart.
    """

    pictures: Sequence[Picture]
    turned: int | None = None
    marked: int | None = None


def episodes(curves: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """Return the points that all curves (each [C], ascending) share: at most MOST_STOPS of these, evenly spread on a
    log scale, the first and the last among them. If they share none, use the points of any."""
    common = reduce(np.intersect1d, curves) if curves else np.zeros(0, np.int64)
    if len(common) == 0:
        common = reduce(np.union1d, curves, np.zeros(0, np.int64))
    found = np.asarray(common[common > 0], np.int64)
    if len(found) <= MOST_STOPS:
        return found
    wanted = np.linspace(np.log(found[0]), np.log(found[-1]), MOST_STOPS)
    spread: NDArray[np.int64] = found[
        np.unique(np.abs(np.log(found)[None, :] - wanted[:, None]).argmin(axis=1))
    ]
    return spread


def slider_over(label: str, stops: Sequence[float], at: int = -1) -> Slider:
    """Make a slider over numbers; at: the position of the first one shown."""
    values = tuple(float(stop) for stop in stops)
    words = tuple(map(human, values))
    return Slider(label, values, words, at % len(values))


def at_stop(curves: Sequence[Series], k: float) -> list[list[str]]:
    """Return each curve's value where x is k, the interval, and over how many seeds."""
    rows = []
    for curve in curves:
        at = np.flatnonzero(np.asarray(curve.x) == k)
        if len(at) == 0 or not np.isfinite(curve.center[at[0]]):
            rows.append([curve.label, NOWHERE, "", ""])
            continue
        center, low, high = (float(values[at[0]]) for values in (curve.center, curve.low, curve.high))
        seeds = int(np.isfinite(curve.rows[:, at[0]]).sum())
        rows.append([curve.label, human(center), interval(low, high), str(seeds)])
    return rows


def interval(low: float, high: float) -> str:
    """Write a 95% interval for a cell, "" if there is none."""
    return f"{human(low)} to {human(high)}" if np.isfinite(low) and np.isfinite(high) else ""


def comparison_page(
    title: str,
    about: str,
    curves: Sequence[Series],
    budgets: Sequence[str],
    draw: Callable[[Sequence[Series]], Picture],
    *,
    x: str,
    columns: Sequence[str],
    footer: str,
) -> str:
    """Curves with a slider over their x, and where their budgets differ with one for which of them are shown.

    Args:
        title, about, footer: as for `page`.
        curves: at least one, with points.
        budgets: of each curve its budget in words, "" without privacy, which is shown next to all.
        draw: the chart of some of them.
        x: the label of their x.
        columns: what their values are called, the interval, and over what it is.
    """
    words = list(dict.fromkeys(filter(None, budgets)))
    groups = [list(curves)]
    if len(words) > 1:
        pairs = list(zip(curves, budgets, strict=True))
        groups += [[curve for curve, budget in pairs if budget in ("", word)] for word in words]
    shown = Slider("Curves shown", tuple(map(float, range(len(groups)))), ("all", *words)[: len(groups)], 0)
    along = slider_over(x, episodes([curve.x for curve in curves]).tolist())
    return html_page(
        title,
        about,
        [shown, along],
        [ChartSlot([draw(group) for group in groups], turned=0, marked=1)],
        ["", *columns],
        lambda at: at_stop(groups[at[0]], along.stops[at[1]]),
        footer=footer,
    )


def html_page(
    title: str,
    about: str,
    sliders: Sequence[Slider],
    charts: Sequence[ChartSlot],
    columns: Sequence[str],
    cells: Cells,
    *,
    footer: str,
) -> str:
    """Return the page as HTML.

    Args:
        title, about: at its top; about: what all that is shown shares.
        sliders: those with a single stop are not drawn.
        charts: one below the other.
        columns: of the table of numbers.
        cells: its rows, where each slider is at the given place.
        footer: at its end, and below each picture that is saved.
    """
    places = itertools.product(*(range(len(slider.stops)) for slider in sliders))
    content = {
        "sliders": [
            {"label": s.label, "stops": s.stops, "words": s.words, "at": s.at, "shown": len(s.stops) > 1}
            for s in sliders
        ],
        "charts": [
            {
                "turned": chart.turned,
                "marked": chart.marked,
                "alt": chart.pictures[0].alt,
                "pictures": [
                    {"figure": picture.figure.to_plotly_json(), "see": markup(picture.see)}
                    for picture in chart.pictures
                ],
            }
            for chart in charts
        ],
        "columns": list(columns),
        "cells": [cells(place) for place in places],
        "config": style.config("png", footer) | {"responsive": True},
        "ink": style.LIGHT.ink,
    }
    data = json.dumps(content, ensure_ascii=False, default=plainly).replace("<", "\\u003c")
    colors = style.LIGHT
    return (
        web_source("standalone.html")
        .replace("{ink}", colors.ink)
        .replace("{muted}", colors.muted)
        .replace("{paper}", colors.background)
        .replace("{title}", escape(title))
        .replace("{about}", escape(about))
        .replace("{footer}", escape(footer))
        # Last, for what they hold is not to be searched.
        .replace("{data}", data)
        .replace("{script}", plain(web_source("sign_picture.js")) + web_source("standalone.js"))
        .replace("{plotly}", get_plotlyjs())
    )


def plainly(value: Any) -> Any:
    """Arrays as lists; JSON has no NaN, and Plotly takes null for one."""
    if isinstance(value, np.ndarray):
        return [None if isinstance(v, float) and not np.isfinite(v) else v for v in value.tolist()]
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no place in a page")


def markup(sentence: str) -> str:
    """Convert a sentence of Markdown to HTML: bold words, and characters that were disarmed."""
    parts, bold = [], False
    for sign, letter, text in re.findall(r"(\*\*)|\\(.)|([^\\*]+|\*|\\)", sentence):
        if sign:
            parts.append("</strong>" if bold else "<strong>")
            bold = not bold
        else:
            parts.append(escape(letter or text))
    return "".join(parts) + ("</strong>" if bold else "")

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

from dprl.figures import signed, style
from dprl.figures.lines import Series
from dprl.figures.picture import Picture
from dprl.words import human

MOST_STOPS = 40  # of a slider: every stop is a picture, or a row of numbers, in the file
NOWHERE = "–"  # nothing was computed there

Cells = Callable[[tuple[int, ...]], list[list[str]]]


@dataclass(frozen=True)
class Slider:
    """What can be moved.

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
    """Where every one of the curves (each [C], ascending) has a point: at most MOST_STOPS of these, evenly spread on a
    log scale, the first and the last among them. Where none is common to all, of those of any."""
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
    """A slider over numbers; at: the place of the first one shown."""
    values = tuple(float(stop) for stop in stops)
    words = tuple(map(human, values))
    return Slider(label, values, words, at % len(values))


def at_stop(curves: Sequence[Series], k: float) -> list[list[str]]:
    """Of each curve its value where x is k, the interval, and over how many seeds."""
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
    """A 95% interval in a cell, "" where there is none."""
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
        budgets: of each curve its budget in words, "" without privacy, which is shown beside all.
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
    """The page as HTML.

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
    data = json.dumps(content, ensure_ascii=False, default=_plain).replace("<", "\\u003c")
    colors = style.LIGHT
    return (
        _PAGE.replace("{ink}", colors.ink)
        .replace("{muted}", colors.muted)
        .replace("{paper}", colors.background)
        .replace("{title}", escape(title))
        .replace("{about}", escape(about))
        .replace("{footer}", escape(footer))
        # Last, for what they hold is not to be searched.
        .replace("{data}", data)
        .replace("{script}", signed.SCRIPT + _SCRIPT)
        .replace("{plotly}", get_plotlyjs())
    )


def _plain(value: Any) -> Any:
    """Arrays as lists; JSON has no NaN, and Plotly takes null for one."""
    if isinstance(value, np.ndarray):
        return [None if isinstance(v, float) and not np.isfinite(v) else v for v in value.tolist()]
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no place in a page")


def markup(sentence: str) -> str:
    """A sentence of Markdown as HTML: bold words, and signs that were disarmed."""
    parts, bold = [], False
    for sign, letter, text in re.findall(r"(\*\*)|\\(.)|([^\\*]+|\*|\\)", sentence):
        if sign:
            parts.append("</strong>" if bold else "<strong>")
            bold = not bold
        else:
            parts.append(escape(letter or text))
    return "".join(parts) + ("</strong>" if bold else "")


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:">
<title>{title}</title>
<style>
:root { color-scheme: light; }
body { margin: 0 auto; padding: 1rem; max-width: 60rem; color: {ink}; background: {paper};
  font: 16px/1.5 "Source Sans 3", "Segoe UI", Roboto, Helvetica, Arial, sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0; }
.about, footer { color: {muted}; font-size: .875rem; }
.about { margin: .25rem 0 1rem; }
footer { border-top: 1px solid #d5dae0; margin-top: 1.5rem; padding-top: .5rem; }
.slider { display: grid; grid-template-columns: 1fr auto; align-items: baseline; margin-bottom: .25rem; }
.slider output { font-size: 1.25rem; font-weight: 600; }
.slider input { grid-column: 1 / -1; width: 100%; height: 2.5rem; margin: 0; accent-color: #0065AF; }
.numbers { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid #d5dae0; vertical-align: top; }
th { font-weight: 600; }
figure { margin: 1.25rem 0 0; }
figcaption { margin-top: .25rem; }
@media (max-width: 767px) {  /* else the tools of a chart lie over its title */
  .js-plotly-plot { margin-top: 1.5rem; overflow: visible !important; }
  .modebar-container { top: -1.5rem !important; }
}
@media (max-width: 480px) { table { font-size: .8rem; } th, td { padding-right: .4rem; } }
</style>
</head>
<body>
<main>
<h1>{title}</h1>
<p class="about">{about}</p>
<div id="sliders"></div>
<div class="numbers"><table><thead></thead><tbody></tbody></table></div>
<div id="charts"></div>
</main>
<footer>{footer}. A slider stops where something was computed, and nowhere between.</footer>
<script type="application/json" id="content">{data}</script>
<script>{plotly}</script>
<script>{script}</script>
</body>
</html>
"""

_SCRIPT = """
const { sliders, charts, columns, cells, config, ink } = JSON.parse(document.getElementById("content").textContent);
const add = (parent, name, attributes = {}) => {
  const made = parent.appendChild(document.createElement(name));
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};
const at = sliders.map((slider) => slider.at);
const drawn = charts.map((chart) => {
  const figure = add(document.getElementById("charts"), "figure", { "aria-label": chart.alt });
  return { plot: add(figure, "div"), see: add(figure, "figcaption") };
});
const controls = sliders.map((slider, i) => {
  if (!slider.shown) return null;
  const box = add(document.getElementById("sliders"), "div", { class: "slider" });
  add(box, "label", { for: `slider-${i}` }).textContent = slider.label;
  const output = add(box, "output", { for: `slider-${i}` });
  const input = add(box, "input", { id: `slider-${i}`, type: "range", min: 0, max: slider.stops.length - 1, step: 1 });
  input.value = slider.at;
  input.oninput = () => { at[i] = Number(input.value); show(); };
  return { input, output };
});
const heads = add(document.querySelector("thead"), "tr");
for (const column of columns) add(heads, "th", { scope: "col" }).textContent = column;
const show = () => {
  controls.forEach((control, i) => {
    if (!control) return;
    control.output.textContent = sliders[i].words[at[i]];
    control.input.setAttribute("aria-valuetext", sliders[i].words[at[i]]);
  });
  const place = at.reduce((sum, here, i) => sum * sliders[i].stops.length + here, 0);
  const body = document.querySelector("tbody");
  body.replaceChildren();
  for (const row of cells[place]) {
    const line = add(body, "tr");
    row.forEach((text, i) => { add(line, i ? "td" : "th", i ? {} : { scope: "row" }).textContent = text; });
  }
  charts.forEach((chart, i) => {
    const { figure, see } = chart.pictures[chart.turned === null ? 0 : at[chart.turned]];
    const layout = { ...figure.layout };
    if (chart.marked !== null && sliders[chart.marked].shown) {
      const x = sliders[chart.marked].stops[at[chart.marked]];
      const line = { color: ink, width: 1.5 };
      layout.shapes = [...(layout.shapes ?? []), { type: "line", x0: x, x1: x, y0: 0, y1: 1, yref: "paper", line }];
    }
    drawn[i].plot.style.height = `${layout.height}px`;  // which Plotly forgets when the window changes
    Plotly.react(drawn[i].plot, figure.data, layout, config);
    drawn[i].see.innerHTML = see;
  });
};
show();
"""

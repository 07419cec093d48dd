"""The charts in lessons, and the numbers that a lesson's text takes from them.

A text refers to a number of its chart by a reading, such as `{needed(central):users}`, or by a quotient of two
readings, such as `{needed(local) / needed(central):rough}`. Every chart has `READINGS`; some kinds have more.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from dprl.fields import SpecError, reject, shown, similar
from dprl.figures.lessons import Frame
from dprl.figures.lines import DATA_SETS, SEEDS
from dprl.messages import filled, messages
from dprl.metrics import search
from dprl.metrics.curves import Array, Evidence
from dprl.metrics.growth import growth_exponent, power_law
from dprl.papers import SpecSeries
from dprl.sentences.price import rough_users
from dprl.simulation.kinds import kind_of
from dprl.simulation.offline_spec import MEASURE as GAP
from dprl.words import human, percent, rough, to_the

SAID, WRONG = messages("lessons")["charts"], messages("refusals")["lesson"]
EDGE = 1e-30  # the smallest divisor in a quotient of readings


@dataclass(frozen=True)
class DrawnSeries(SpecSeries):
    """A curve in a chart. Before the answer is shown, the curve ends at x = `until`; 0 hides all of it."""

    until: float = np.inf


@dataclass(frozen=True)
class Plot(Frame):
    """The curves of a question's chart, with the chart's titles and axes."""

    drawn: tuple[DrawnSeries, ...] = ()


@dataclass(frozen=True)
class Kind:
    """A kind of chart."""

    key: str  # its name in files and messages
    plot: Callable[[Chart, Evidence], Plot]  # plot(chart, evidence): returns the plot of a chart
    # runs(spec): returns the runs that a curve needs
    runs: Callable[[Any], tuple[Any, ...]] = lambda spec: (spec,)
    # asks(spec): returns the questions (simulation.kinds), each with a spec, that a curve needs instead of runs
    asks: Callable[[Any], tuple[tuple[str, Any], ...]] | None = None
    # its default frame, without titles, which come from messages
    frame: Mapping[str, Any] = field(default_factory=dict)
    level: float = 0.0  # the height of a line that curves should reach; 0 for no line
    over_epsilon: bool = False  # whether curves are functions of the budget
    # further readings that its texts can use, in addition to READINGS
    readings: Mapping[str, Callable[..., Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Chart:
    """A chart as a lesson's file describes it."""

    kind: Kind
    # specs, names: the runs that it shows, in order, and their names, both by their keys in the file
    specs: Mapping[str, Any]
    names: Mapping[str, str]
    until: Mapping[str, float]  # the x up to which each curve is drawn before the answer is shown, by key
    level: float = 0.0  # the height of the line that curves should reach; 0 for no line
    frame: Mapping[str, Any] = field(default_factory=dict)  # titles and ranges that replace the defaults
    window: tuple[float, float] = (0.0, 0.0)  # the range of x over which growth is measured
    # the point that the answer marks: its curve, its x, and its label
    point: Mapping[str, Any] = field(default_factory=dict)

    def series(self, key: str, x: Array, rows: Array) -> DrawnSeries:
        """Return the curve of the run with this key, with its style and the x at which its visible part ends."""
        until = self.until.get(key, np.inf)
        return DrawnSeries(self.specs[key], self.names[key], x, np.atleast_2d(rows), until=until)


@dataclass(frozen=True)
class Drawn:
    """A chart with its plot, from which the numbers in a lesson's text are read."""

    chart: Chart
    evidence: Evidence
    plot: Plot

    def read(self, text: str) -> Any:
        """Evaluate a reading such as `needed(central)`. For a measured exponent, return its interval as well."""
        first, _, second = text.partition("/")
        name, arguments = parsed_reading(first, self.chart)
        found = {**READINGS, **self.chart.kind.readings}[name](self, *arguments)
        return first_of(found) / max(first_of(self.read(second)), EDGE) if second else found

    def series(self, key: str) -> DrawnSeries:
        """Return the curve with this key in the lesson's file."""
        return self.plot.drawn[list(self.chart.specs).index(key)]

    def fill(self, template: str) -> str:
        """Replace the readings in a text, such as {needed(central)}, by their numbers from this chart."""
        return "".join(
            text if name is None else text + FORMATS[spec or "rough"](first_of(self.read(name)))
            for text, name, spec, _ in string.Formatter().parse(template)
        )


def first_of(value: Any) -> float:
    """Return the number from a reading, without the interval that may come with it."""
    return float(value[0] if isinstance(value, tuple) else value)


FORMATS: Mapping[str, Callable[[float], str]] = {
    "rough": rough,
    "exact": human,
    "users": rough_users,
    "percent": percent,
    "power": partial(to_the, "K"),
    "power_of_epsilon": partial(to_the, "(1/ε)"),
    "epsilon": lambda value: rough(1 / value),  # for a position on an axis of 1/ε
}


def parsed_reading(text: str, chart: Chart) -> tuple[str, list[Any]]:
    """Split a reading such as `needed(central)` into its name and its arguments. Raises SpecError if it is invalid."""
    found = re.fullmatch(r"\s*(\w+)\((.*)\)\s*", text)
    known = [*READINGS, *chart.kind.readings]
    if not found or found[1] not in known:
        near, words = similar(found[1] if found else text, known), ", ".join(known)
        raise reject("reading", WRONG["reading"], text=shown(text.strip()), near=near, known=words)
    return found[1], [_argument(one.strip(), chart) for one in found[2].split(",") if one.strip()]


def _argument(text: str, chart: Chart) -> Any:
    if text in chart.specs:
        return text
    try:
        return float(text)
    except ValueError as error:
        near, known = similar(text, chart.specs), ", ".join(chart.specs) or "no curve"
        raise reject("reading", WRONG["curve"], text=shown(text), near=near, known=known) from error


def check_text(template: str, chart: Chart) -> None:
    """Raise SpecError if a text uses a reading or a number format that its chart does not support."""
    try:
        parts = [(name, spec) for _, name, spec, _ in string.Formatter().parse(template) if name is not None]
    except ValueError as error:
        raise SpecError("text", f"{shown(template)} has an unmatched brace.") from error
    for name, spec in parts:
        for one in name.split("/"):
            parsed_reading(one, chart)
        if (spec or "rough") not in FORMATS:
            raise SpecError("format", f"{shown(spec)} is not allowed; give one of {', '.join(FORMATS)}.")


def needed(drawn: Drawn, key: str) -> float:
    """Return the x from which a curve stays at or below the chart's level, or infinity if there is none."""
    one = drawn.series(key)
    found = search.stays_below(one.x, one.rows.mean(axis=0), drawn.chart.level)
    return math.inf if math.isnan(found) else found


def at(drawn: Drawn, key: str, x: float) -> float:
    """Return the height of the curve with this key at x, interpolated linearly."""
    one = drawn.series(key)
    return float(np.interp(1 / x if drawn.plot.inverse_x else x, one.x, one.rows.mean(axis=0)))


def where(drawn: Drawn, key: str, y: float) -> float:
    """Return the last x at which a curve, interpolated linearly on the chart's axes, has this height."""
    one, plot = drawn.series(key), drawn.plot
    across, up = (np.log if log else np.asarray for log in (plot.log_x, plot.log_y))
    height = one.rows.mean(axis=0)
    crossed = np.flatnonzero((height[:-1] - y) * (height[1:] - y) <= 0)
    if not len(crossed):
        return math.nan
    ends = slice(int(crossed[-1]), int(crossed[-1]) + 2)
    y0, y1 = up(height[ends])
    x0, x1 = across(one.x[ends])
    x = x0 if y0 == y1 else x0 + (x1 - x0) * (up(y) - y0) / (y1 - y0)
    return float(np.exp(x) if plot.log_x else x)


def growth(drawn: Drawn, key: str) -> tuple[float, float, float]:
    """Return the exponent of a curve's growth over the chart's window, and the ends of its 95% interval."""
    one, (start, end) = drawn.series(key), drawn.chart.window
    late = (one.x >= start) & (one.x <= end)
    if drawn.chart.kind.over_epsilon:
        return power_law(one.x[late], one.rows[:, late])
    return growth_exponent(one.x, one.rows, start, end)


def noise(drawn: Drawn, key: str) -> float:
    """Return the standard deviation of the noise in a visit count at the end of a run."""
    spec = drawn.chart.specs[key]
    found = drawn.evidence.runs[spec].noise_std
    if found is None and spec != spec.baseline():
        return float("nan")  # until it is known
    return float(found or 0.0)


def best(drawn: Drawn, key: str) -> float:
    """Return V*, the best policy's expected reward in an episode, in the environment of a curve."""
    return float(drawn.evidence.runs[drawn.chart.specs[key]].v_star)


READINGS: Mapping[str, Callable[..., Any]] = {
    reading.__name__: reading for reading in (needed, at, where, growth, noise, best)
}


def framed(chart: Chart, drawn: tuple[DrawnSeries, ...], **more: Any) -> Plot:
    """Return a plot with the default frame of its kind, adjusted by the lesson's file and by `more`."""
    kind, level, said = chart.kind, chart.level, SAID[chart.kind.key]
    offline = any(kind_of(spec).measure == GAP for spec in chart.specs.values())
    frame = {
        "title": said["title"],
        "x_title": SAID["records"] if offline else said["x"],
        "y_title": said["y"],
        "over": DATA_SETS if offline else SEEDS,
        **kind.frame,
        **more,
        **chart.frame,
    }
    if level:
        words = percent(level) if frame.get("percent") else human(level)
        frame["level"] = level, filled(said["level"], level=words) if "{" in said["level"] else said["level"]
    if "y_range" not in frame:
        ys = [one.rows[one.rows > 0] for one in drawn]
        frame["y_range"] = min(y.min() for y in ys) / 2, 3 * max(y.max() for y in ys)
    return Plot(**frame, drawn=drawn)


def draw(chart: Chart, evidence: Evidence) -> Drawn:
    """Draw a chart from the evidence, and mark the point that the answer concerns, if there is one."""
    found = Drawn(chart, evidence, chart.kind.plot(chart, evidence))
    if not chart.point:
        return found
    given = chart.point["x"]
    x = first_of(found.read(given)) if isinstance(given, str) else float(given)
    y = float(chart.point["y"]) if "y" in chart.point else at(found, chart.point["curve"], x)
    pointer = (1 / x if found.plot.inverse_x else x, y, found.fill(chart.point["say"]))
    return replace(found, plot=replace(found.plot, pointer=pointer))

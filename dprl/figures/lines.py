"""Curves over seeds: means or medians with interval bands, single seeds, unfinished curves, and zeros on log axes."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dprl.figures import style
from dprl.figures.chart import Chart, Trace
from dprl.figures.looks import CurveStyle
from dprl.words import human, interval, percent

Array = NDArray[np.float64]
Statistic = Literal["mean", "median"]  # over seeds
# The samples of a curve's mean. Data sets differ in their noise, too.
SEEDS, DATA_SETS = "seeds", "data sets"


def how_many(counts: Iterable[int], what: str) -> str:
    """Return the name of a mean's samples, such as "5 seeds". Omit the number if it differs between curves."""
    found = {int(count) for count in counts}
    return f"{found.pop()} {what}" if len(found) == 1 and min(found) > 1 else what


SEEN = "(visible if wider than its line)"  # in a legend, for bands
TRIANGLES = "Open triangles on the bottom edge are values {}."
DECADES, FEW = 6, 1.5  # decades that an axis labels; an axis with fewer than FEW labels 1, 2 and 5 of each
SIGNS = 7  # most markers on a curve
NUMBERED = 14  # pixels: a marker with room for a digit
LONGEST = 44  # characters in a row of a legend: as many as fit into 390 pixels
LOWEST_SHARE = 1e-12  # of the largest value; smaller numbers are rounding errors and count as zero


@dataclass(frozen=True)
class Series:
    """A curve in a chart, with its style and data about its run."""

    label: str
    style: CurveStyle
    x: NDArray[Any]  # the horizontal positions of its points [C]
    rows: Array  # the values of each seed [seeds, C], NaN past a seed's end
    # the mean (or median) over seeds [C], NaN if unknown; `low` and `high` are its 95% interval
    center: Array
    low: Array
    high: Array
    complete: bool = True  # whether every seed has reached the end
    note: str = ""  # the state of an unfinished curve in words ("running, 43%")
    shown: bool = True  # a hidden curve is still in the legend
    v_star: float | None = None  # V*, the best policy's expected reward in one episode
    # the exponent of regret over the last factor of ten, with its interval
    growth: tuple[float, float, float] | None = None
    # episodes until the average loss falls below LEARNED; NaN if never, None if unknown
    needed: float | None = None
    place: str = ""  # the environment with its parameters; losses are only compared within one environment
    world: str = ""  # the environment's title, if the chart has to show it

    @property
    def group(self) -> Trace:
        """Return the settings shared by all of a curve's traces, so that one click in the legend hides them."""
        return {"legendgroup": style.plain(self.label), "visible": True if self.shown else "legendonly"}

    def numbers(self, statistic: str = "mean") -> dict[str, Array]:
        """Return the mean (or median) and its interval as columns of a table, by column title."""
        return {statistic: self.center, "low (95%)": self.low, "high (95%)": self.high}


@dataclass(frozen=True)
class Floor:
    """The bottom edge of a vertical axis. On a log axis, values up to `tiny` cannot be shown and are drawn at `at`."""

    log: bool
    tiny: float
    at: float
    top: float | None

    @classmethod
    def of(cls, values: Array, log: bool = True, least: float = 0.0) -> Floor:
        """Find the bottom edge of an axis for these values. Values below `least` may be cut off."""
        positive = values[np.isfinite(values) & (values > 0)]
        tiny = max(least, LOWEST_SHARE * float(positive.max())) if positive.size else 0.0
        positive = positive[positive > tiny]
        at = max(float(positive.min()) / 2 if positive.size else 1.0, least)
        return cls(log, tiny, at, float(positive.max()) if positive.size else None)

    def above(self, values: Array) -> NDArray[np.bool_]:
        """Return whether each value can be shown on the axis."""
        return values > self.tiny if self.log else np.ones(len(values), bool)

    def lifted(self, values: Array) -> Array:
        """Return the values, raised to the bottom edge if they are below it."""
        return np.maximum(values, self.at) if self.log else values


def draw_series(
    chart: Chart,
    series: Sequence[Series],
    x_words: Callable[[float], str],
    *,
    log_x: bool = True,
    log_y: bool = True,
    show_seeds: bool = False,
    statistic: Statistic = "mean",
    least: float = 0.0,
    over: str = SEEDS,
) -> None:
    """Add the curves to a chart, and set its axis types. `x_words` formats x for hover texts. A log axis may cut off
    values below `least`. `over` names the samples behind the mean: `SEEDS` or `DATA_SETS`."""
    shown = [one for one in series if one.shown]
    values = np.concatenate([v for one in shown for v in (one.center, one.rows.ravel())] or [np.zeros(0)])
    if log_y and not (values > 0).any() and any(np.isfinite(one.rows).any() for one in shown):
        log_y = False
        chart.caveats.append("No value here is above zero, so the vertical axis is linear.")
    floor = Floor.of(values, log_y, least)
    faint = f"below {human(least)}" if least else "zero or less"
    banded = on_floor = False
    for number, one in enumerate(series):
        curve = _Drawn(chart, one, floor)
        banded |= curve.interval(band(statistic, over))
        curve.single_seeds(show_seeds)
        curve.center(x_words, log_x, (number + 0.5) / len(series))
        on_floor |= curve.bottom(faint)
        curve.open_end()
    if banded:
        band_sign(chart, band(statistic, over))
    if on_floor:
        floor_sign(chart, f"{faint}, drawn on the bottom edge")
        chart.caveats.append(
            TRIANGLES.format(faint if least else "at or below zero, which a log axis cannot show")
        )
    _axes(chart, shown, floor, log_x, on_floor)


class _Drawn:
    """A curve on a chart, without unknown points and with at most as many points as a browser can draw."""

    def __init__(self, chart: Chart, series: Series, floor: Floor) -> None:
        self.chart, self.series, self.floor = chart, series, floor
        self.label, self.group = style.plain(series.label), series.group
        self.color = series.style.color(chart.dark)
        known = np.flatnonzero(np.isfinite(series.center))
        at = known[style.thin(len(known))]
        self.x = np.asarray(series.x, float)[at]
        self.values, self.low, self.high = series.center[at], series.low[at], series.high[at]
        self.above = floor.above(self.values)
        self.opacity = 1.0 if series.complete else 0.65

    def interval(self, name: str) -> bool:
        """Draw the interval as a band, and return whether the curve has an interval."""
        known = np.flatnonzero(np.isfinite(self.low) & np.isfinite(self.high))
        if len(known) < 2:
            return False
        part = known[style.thin(len(known), style.MOST_POINTS // 2)]
        self.chart.band(
            self.x[part],
            self.floor.lifted(self.low[part]),
            self.floor.lifted(self.high[part]),
            style.translucent(self.color, 0.18 if self.series.complete else 0.10),
            name=f"{self.label}: {name}",
            **self.group,
        )
        return True

    def single_seeds(self, wanted: bool) -> None:
        """Draw each seed's own curve if `wanted`; otherwise, only the parts beyond the end of an unfinished mean."""
        faint = style.translucent(self.color, 0.45)
        series, rows, first = self.series, self.series.rows, 0
        if not wanted or len(rows) <= 1:
            known = np.flatnonzero(np.isfinite(series.center))
            first = int(known[-1]) if len(known) else 0  # the mean's last point
            rows = rows[:0] if series.complete else rows[np.isfinite(rows[:, first + 1 :]).any(axis=1)]
        for row in rows:
            known = first + np.flatnonzero(np.isfinite(row[first:]))
            pick = known[style.thin(len(known))]
            x, y = np.asarray(series.x, float)[pick], np.where(self.floor.above(row[pick]), row[pick], np.nan)
            self.chart.line(f"{self.label}: one seed", x, y, faint, 1, showlegend=False, **self.group)

    def center(self, x_words: Callable[[float], str], log_x: bool, phase: float) -> None:
        """Draw the mean or median with its hover text and markers."""
        one, seen = self.series, self.above
        self.words = np.empty((len(self.x), 2), object)  # an array: Plotly checks lists element by element
        self.words[:, 0] = [x_words(float(k)) for k in self.x]
        measured = zip(self.values, self.low, self.high, strict=True)
        self.words[:, 1] = [interval(human(float(m)), float(a), float(b)) for m, a, b in measured]
        self.hover = f"<b>{self.label}</b><br>%{{customdata[0]}}<br>%{{customdata[1]}}<extra></extra>"
        stroke: Trace = {
            "width": 2.5 if one.complete else 1.8,
            "dash": one.style.dash,
            "opacity": self.opacity,
        }
        hover: Trace = {"customdata": self.words, "hovertemplate": self.hover, "showlegend": False}
        y = np.where(seen, self.values, np.nan)
        self.chart.line(self.label, self.x, y, self.color, **stroke, **hover, **self.group)
        # The legend shows line and marker together; the gaps keep the line from being drawn a second time.
        signs = _signs(self.x[seen], log_x, phase)
        x, y = self.x[seen][signs], self.values[seen][signs]
        marker = {"symbol": one.style.symbol, "size": marker_size(one.style), "color": self.color}
        name = one.style.prefix + self.label
        if not one.complete:
            name += f" ({style.plain(one.note) or 'unfinished'})"
        both: Trace = {"mode": "lines+markers", "marker": marker} | stroke
        self.chart.line(folded(name), gapped(x), gapped(y), self.color, **both, **self.group)
        digits(self.chart, one.style, x, y, self.color, name=self.label, **self.group)

    def bottom(self, faint: str) -> bool:
        """Draw triangles on the bottom edge for values too small for the axis, and return whether there are any."""
        below = ~self.above
        if below.any():
            y = np.full(int(below.sum()), self.floor.at)
            hover: Trace = {"customdata": self.words[below], "hovertemplate": self.hover, "showlegend": False}
            name, sign = f"{self.label}: {faint}", "triangle-down-open"
            self.chart.points(name, self.x[below], y, self.color, sign, 8, **hover, **self.group)
        return bool(below.any())

    def open_end(self) -> None:
        """Mark the end of a curve that is still growing or was stopped."""
        if not self.series.complete and len(self.x):
            marker = {"symbol": "circle-open", "size": 13, "color": self.color, "line": {"width": 2}}
            y = self.floor.lifted(self.values[-1:])
            name = f"{self.label}: so far"
            self.chart.add(
                "markers", self.x[-1:], y, marker=marker, name=name, showlegend=False, **self.group
            )


def _axes(chart: Chart, shown: Sequence[Series], floor: Floor, log_x: bool, on_floor: bool) -> None:
    chart.x(
        type="log" if log_x else "linear", nticks=7, tickangle=0, exponentformat="power" if log_x else "B"
    )
    x = np.concatenate([np.asarray(one.x, float) for one in shown] or [np.zeros(0)])
    if log_x and (x > 0).any():
        chart.x(**log_ticks(x[x > 0].min(), x.max()))
    if not floor.log:
        known = [one.rows for one in shown if np.isfinite(one.rows).any()]
        lowest = min((float(np.nanmin(rows)) for rows in known), default=0.0)
        mode = "tozero" if lowest >= 0 else "normal"
        chart.y(type="linear", nticks=7, exponentformat="B", rangemode=mode)
        return
    chart.y(type="log", nticks=6)
    if floor.top is not None:
        bottom = np.log10(floor.at)
        top = max(np.log10(floor.top * 1.6), bottom + 0.5)
        chart.y(range=[bottom - (0.05 if on_floor else 0), top], **log_ticks(floor.at, 10**top))


def band(statistic: Statistic, over: str = SEEDS) -> str:
    """Return the name of the interval in a band, such as "95% t interval of the mean over seeds"."""
    return f"95%{' t' if statistic == 'mean' else ''} interval of the {statistic} over {over}"


def _signs(x: Array, log_x: bool, phase: float) -> NDArray[np.intp]:
    """Choose a few evenly spread points for markers, and return their indices. `phase` shifts them between curves."""
    if len(x) <= 2:
        return np.arange(len(x))
    place = np.log(np.maximum(x, 1e-300)) if log_x else x
    wanted = place[0] + (place[-1] - place[0]) * (np.arange(SIGNS) + phase) / SIGNS
    return np.unique(np.abs(place[:, None] - wanted[None, :]).argmin(axis=0))


def marker_size(look: CurveStyle, plain: int = 8) -> int:
    """Return the size of a curve's markers in pixels; markers with a number are larger."""
    return plain if look.number == 1 else NUMBERED


def folded(name: str, longest: int = LONGEST) -> str:
    """Break a long name into lines that fit on a phone."""
    if len(name) <= longest:
        return name
    return "<br>".join(textwrap.wrap(name, longest, break_long_words=False, break_on_hyphens=False)) or name


def digits(chart: Chart, look: CurveStyle, x: Array, y: Array, fill: Any, **trace: Any) -> None:
    """Write the number of a curve on its markers. `fill` is the markers' colour."""
    if look.number > 1:
        inks = style.readable_on(fill) if isinstance(fill, str) else [style.readable_on(f) for f in fill]
        font = {"color": inks, "size": 10, "weight": 700}
        chart.words(x, y, [str(look.number)] * len(x), inks, textfont=font, **trace)


def log_ticks(low: float, high: float, few: float = FEW) -> dict[str, Any]:
    """Return axis settings that label the decades of a log axis or, if there are too few, 1, 2 and 5 in each."""
    span = float(np.log10(high / low))
    if span > few:
        return {"dtick": max(1, int(np.ceil(span / DECADES)))}
    first, last = int(np.floor(np.log10(low))) - 1, int(np.ceil(np.log10(high))) + 1
    # beyond the visible range, for zooming
    values = [digit * 10.0**k for k in range(first, last + 1) for digit in (1, 2, 5)]
    return {"tickvals": values, "ticktext": [human(value) for value in values]}


def percents(chart: Chart) -> None:
    """Label the shares on a vertical axis as percentages."""
    chart.y(tickformat="~%")
    if (named := chart.layout["yaxis"].get("tickvals")) is not None:
        chart.y(ticktext=[percent(value) for value in named])


def gapped(values: Array) -> Array:
    """Insert a NaN after each value, which breaks the line there."""
    return np.column_stack([values, np.full(len(values), np.nan)]).ravel()


def band_sign(chart: Chart, name: str) -> None:
    """Add one legend entry for all interval bands, because a band may be too narrow to see in the plot."""
    chart.sign(
        f"{name}<br>{SEEN}",
        {"symbol": "square", "size": 14, "color": style.translucent(chart.colors.muted, 0.35)},
    )


def floor_sign(chart: Chart, name: str = "zero or less, drawn on the bottom edge") -> None:
    """Add the legend entry for values on the bottom edge."""
    chart.sign(name, {"symbol": "triangle-down-open", "size": 9, "color": chart.colors.muted})

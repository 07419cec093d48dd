"""Charts of the average loss per episode against the number of users, for each privacy model at one epsilon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import looks, style
from dprl.figures.chart import Chart, Trace, stacked
from dprl.figures.lines import SEEN, Array
from dprl.figures.picture import Picture
from dprl.figures.regret import most_of
from dprl.words import human, percent

Place = tuple[list[Any], list[Any]]  # x and y of a trace

LEARNED = 0.1  # share of V*; an average loss below it counts as good
X_RANGE = (1.0, 15.0)  # powers of ten; fixed, like the y range, so that epsilon visibly moves the curves
Y_RANGE = (0.0, 106.0)
VISIBLE = 0.2  # percent: narrower intervals are hidden by the line
TICKS = (0, 10, 25, 50, 75, 100)
USERS = ("1,000", "1 million", "1 billion", "1 trillion", "10¹⁵")  # labels of the axis
LOST = "Average reward lost per episode so far"
BAND = f"95% t interval of the mean over seeds<br>{SEEN}"


@dataclass(frozen=True)
class Cost:
    """The average loss under one privacy model at one epsilon."""

    model: str  # none, central, shuffle or local
    name: str  # in a legend
    given: str  # the trusted party in words that follow "with", such as "a trusted curator"
    episodes: NDArray[Any]  # ascending [C]
    mean: Array = field(repr=False)  # the average regret per episode so far over seeds [C]
    low: Array = field(repr=False)  # its 95% t interval [C]
    high: Array = field(repr=False)
    needed: float  # users after which the mean stays below LEARNED times V*, NaN if it never does


def lost_by_trust(
    by_epsilon: Mapping[float, Sequence[Cost]],
    *,
    epsilon: float,
    v_star: float,
    slider: bool = False,
    see: str = "",
    dark: bool,
) -> Picture:
    """Draw the loss under each privacy model at one epsilon, as a share of v_star, the most that an episode can lose.

    The figure contains the curves for every epsilon. A click on the i-th of its invisible buttons (CSS class
    `updatemenu-button`) shows the i-th epsilon without a request to the server. If `slider` is true, Plotly's slider
    replaces them.
    """
    costs = by_epsilon[epsilon]
    places = {e: _places(found, v_star) for e, found in by_epsilon.items()}
    chart = Chart(
        _title(epsilon),
        "Users so far (one episode each)",
        "Share of V* lost",
        height=510 if slider else 400,
        dark=dark,
    )
    for trace, (x, y) in zip(_moving(chart, costs, epsilon), places[epsilon], strict=True):
        chart.traces.append({"type": "scatter", "mode": "lines"} | trace | {"x": x, "y": y})
    name, hover = most_of(v_star)
    whole = [10.0**end for end in X_RANGE]
    chart.theory(name, whole, [100, 100], hovertemplate=hover, legendrank=1002)
    users = {10.0**k: name for k, name in zip(range(3, 16, 3), USERS, strict=True)}
    ticks = {"tickvals": list(users), "ticktext": list(users.values())}
    chart.x(type="log", range=list(X_RANGE), tickangle=0, **ticks)
    chart.y(range=list(Y_RANGE), tickvals=TICKS, ticktext=[f"{tick}%" for tick in TICKS])
    level = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 100 * LEARNED, "y1": 100 * LEARNED}
    line = {"color": chart.colors.muted, "width": 1}
    chart.layout["shapes"] = [level | {"line": line, "layer": "below"}]
    steps = _steps(by_epsilon, places, dark) if len(by_epsilon) > 1 else []
    if slider:
        at = {"active": list(by_epsilon).index(epsilon), "currentvalue": {"prefix": "ε = "}, "pad": {"t": 56}}
        chart.layout["sliders"] = [{"steps": steps, **at}]
    else:
        # Two groups side by side fit into the plot and need no margin; a group without steps is left out.
        half, steps = (len(steps) + 1) // 2, [step | {"label": " "} for step in steps]
        middle = {"x": 0.5, "y": 0.5, "xanchor": "center", "yanchor": "middle"}
        unseen = {"bgcolor": "rgba(0,0,0,0)", "borderwidth": 0, "showactive": False, "font": {"size": 1}}
        groups = filter(None, (steps[:half], steps[half:]))
        chart.layout["updatemenus"] = [
            {"type": "buttons", "buttons": part, **middle, **unseen} for part in groups
        ]
    return chart.picture("trust", see, lost_numbers(costs, epsilon))


def _moving(chart: Chart, costs: Sequence[Cost], epsilon: float) -> list[Trace]:
    """Return the traces that change with epsilon: intervals, curves, and markers at the number of users needed."""
    curves, marks = [], []
    for cost in costs:
        color = looks.color(cost.model, epsilon, chart.dark)
        line = {"line": {"color": color, "width": 3}, "name": cost.name, "legendgroup": cost.model}
        words = [f"after {human(k)} users" for k in cost.episodes]
        hover = f"<b>{cost.name}</b><br>%{{customdata}}: %{{y:.3g}}% lost<extra></extra>"
        curves.append(line | {"customdata": words, "hovertemplate": hover, "showlegend": False})
        edge = {"color": chart.colors.background, "width": 1.5}
        sign = {"symbol": style.SYMBOLS[cost.model][0], "size": 12, "color": color, "line": edge}
        hover = f"<b>{cost.name}</b><br>below {percent(LEARNED)} from here on<extra></extra>"
        marks.append(line | {"mode": "lines+markers", "marker": sign, "hovertemplate": hover})
    band = {
        "line": {"width": 0},
        "fill": "toself",
        "fillcolor": style.translucent(chart.colors.muted, 0.4),
        "hoverinfo": "skip",
        "name": BAND,
        "legendrank": 1001,  # drawn first, but listed after the curves
    }
    return [band, *curves, *marks]


def _steps(
    by_epsilon: Mapping[float, Sequence[Cost]], places: Mapping[float, list[Place]], dark: bool
) -> list[Trace]:
    """Return Plotly's steps for the buttons or the slider. Each step shows the chart at one epsilon."""
    steps = []
    for e, found in places.items():
        shades = [looks.color(cost.model, e, dark) for cost in by_epsilon[e]]
        colors = [style.theme(dark).muted, *shades, *shades]  # of the band, the curves, and their marks
        x, y = zip(*found, strict=True)
        moved = {"x": list(x), "y": list(y), "line.color": colors, "marker.color": colors}
        args = [moved, {"title.text": _title(e)}, list(range(len(found)))]
        steps.append({"label": f"{e:g}", "method": "update", "args": args})
    return steps


def _title(epsilon: float) -> str:
    return f"{LOST}, at ε = {epsilon:g}"


def _places(costs: Sequence[Cost], v_star: float) -> list[Place]:
    """Return x and y of the traces that change with epsilon, in percent of v_star, to four digits."""
    curves, marks = [], []
    xs: list[Any] = []
    ys: list[Any] = []
    for cost in costs:
        # one point before the first, so that the line enters from the left
        first = np.searchsorted(cost.episodes, 10 ** X_RANGE[0]) - 1
        drawn = slice(max(int(first), 0), None)
        x = np.asarray(cost.episodes, float)[drawn]
        mean, low, high = (100 * values[drawn] / v_star for values in (cost.mean, cost.low, cost.high))
        curves.append((_short(x), _short(mean)))
        marks.append(([cost.needed if np.isfinite(cost.needed) else None, None], [100 * LEARNED, None]))
        for part in _stretches(high - low > VISIBLE):
            xs += [*_short(x[part]), *_short(x[part][::-1]), None]
            ys += [*_short(high[part]), *_short(low[part][::-1]), None]
    return [(xs, ys), *curves, *marks]


def _stretches(wide: NDArray[np.bool_]) -> list[slice]:
    """Return the runs of consecutive True values as slices, each extended by one point on both sides."""
    kept = np.convolve(wide, [1, 1, 1], mode="same") > 0
    edges = np.flatnonzero(np.diff(np.r_[False, kept, False].astype(int)))
    return [slice(begin, end) for begin, end in edges.reshape(-1, 2)]


def _short(values: Array) -> list[float]:
    return [float(f"{value:.4g}") for value in values]


def lost_numbers(costs: Sequence[Cost], epsilon: float) -> pd.DataFrame:
    """Tabulate the drawn means and intervals of regret (in reward per episode), one row per curve and checkpoint."""
    return stacked(
        {
            "curve": cost.name,
            "epsilon": None if cost.model == "none" else epsilon,
            "users": np.asarray(cost.episodes, np.int64),
            "regret per episode": cost.mean,
            "low (95%)": cost.low,
            "high (95%)": cost.high,
        }
        for cost in costs
    )

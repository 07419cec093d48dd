"""What exploration noise costs beside calibrated noise at the budget that is claimed of it, which grows with K.

Each point is a run of its own, planned for its K. Above regret, below the budget of both, over one axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import lines
from dprl.figures.chart import REGRET, Chart
from dprl.figures.lines import Series
from dprl.figures.long_run import all_there_is
from dprl.figures.picture import Picture
from dprl.words import human

Array = NDArray[np.float64]

TITLE = "What exploration noise costs"
ALT = (
    "Line chart of cumulative regret against the number of users, both logarithmic. One curve is for RLSVI, one for "
    "DP-UCBVI with a trusted curator. Below it the budget ε of both, which grows."
)
SHARES = (0.36, 0.27)  # of the height: where the upper part begins, and where the lower one ends


@dataclass(frozen=True)
class Beside:
    """RLSVI and calibrated noise at one budget for each of P numbers of users.

    Attributes:
        users, epsilon: [P].
        ratio, low, high: [P] of RLSVI's regret over the other's, with intervals that hold together.
        first: The place from which on every interval lies above 1; None where the last does not.
        crossing: The users at which RLSVI becomes the dearer one, with its interval; NaN where it is not known.
    """

    users: NDArray[np.int64]
    epsilon: Array
    ratio: Array
    low: Array
    high: Array
    first: int | None
    crossing: tuple[float, float, float]


def costs(own: Series, calibrated: Series, found: Beside, *, see: str = "", dark: bool = False) -> Picture:
    """Both regrets, a star from where on RLSVI's is the larger one, and the budget."""
    chart = Chart(
        TITLE,
        "Users K, each point a run planned for K",
        REGRET,
        subtitle="at equal ε for each K; mean over seeds",
        height=620,
        dark=dark,
    )
    curves = (own, calibrated)
    lines.draw_series(chart, curves, lambda users: f"{human(users)} users")
    all_there_is(chart, curves)
    if found.first is not None:
        _star(chart, own, found.first)
    _budget(chart, found)
    return chart.picture(ALT, see, _costs_table(curves, found), revision="exploration")


def _star(chart: Chart, own: Series, first: int) -> None:
    """Where RLSVI has become the dearer one."""
    edge = {"line": {"width": 1, "color": chart.colors.background}}
    here = slice(first, first + 1)
    chart.points(
        "calibrated noise costs less from here on",
        own.x[here],
        own.center[here],
        own.style.color(chart.dark),
        "star",
        17,
        marker=edge,
        hovertemplate=f"From {human(float(own.x[first]))} users on calibrated noise costs less<extra></extra>",
    )


def _budget(chart: Chart, found: Beside) -> None:
    """The budget of both over the users: from a formula, hence dotted."""
    color = chart.colors.roles["bound"]
    pairs = zip(found.users.tolist(), found.epsilon.tolist(), strict=True)
    chart.theory(
        "budget ε: claimed for RLSVI, proved for DP-UCBVI",
        found.users.astype(float),
        found.epsilon,
        1.8,
        mode="lines+markers",
        yaxis="y2",
        marker={"symbol": "circle", "size": 5, "color": color},
        customdata=[f"{human(float(k))} users: ε = {human(float(e))}" for k, e in pairs],
        hovertemplate="<b>budget of both</b><br>%{customdata}<extra></extra>",
    )
    upper = chart.layout["yaxis"]
    low, high = np.log10(found.epsilon[[0, -1]])
    chart.layout["yaxis2"] = {
        **upper,
        "title": {**upper["title"], "text": "Budget ε"},
        "type": "log",
        "nticks": 4,
        "domain": [0.0, SHARES[1]],
        "range": [low - 0.25, high + 0.25],
    }
    chart.y(domain=[SHARES[0], 1.0])
    chart.x(anchor="y2")


def _costs_table(curves: Sequence[Series], found: Beside) -> pd.DataFrame:
    """A row for each number of users."""
    columns: dict[str, NDArray[np.generic]] = {"users": found.users, "budget ε": found.epsilon}
    for curve in curves:
        columns |= {f"{curve.label}: {name}": values for name, values in curve.numbers().items()}
    columns |= {"RLSVI over DP-UCBVI": found.ratio, "ratio: low (95%, all together)": found.low}
    columns |= {"ratio: high (95%, all together)": found.high}
    return pd.DataFrame({**columns, "seeds": len(curves[0].rows)})

"""What exploration noise costs beside calibrated noise at the budget that is claimed of it, which grows with K.

Each point is a run of its own, planned for its K. Above regret, below the budget of both, over one axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from dprl.figures import lines, looks, style
from dprl.figures.asymptotics import all_there_is
from dprl.figures.picture import Picture
from dprl.figures.regret import Curve, line
from dprl.words import human

Array = NDArray[np.float64]

TITLE = "What exploration noise costs"
ALT = (
    "Line chart of cumulative regret against the number of users, both logarithmic, one curve for RLSVI and one for "
    "DP-UCBVI with a trusted agent; below it the budget ε of both, which grows."
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


def costs(own: Curve, calibrated: Curve, found: Beside, *, see: str = "", dark: bool = False) -> Picture:
    """Both regrets, a star from where on RLSVI's is the larger one, and the budget."""
    figure = style.base(
        TITLE,
        dark=dark,
        height=620,
        x_title="Users K, each point a run planned for K",
        y_title="Regret (reward lost)",
        subtitle="at equal ε for each K; mean over seeds",
    )
    curves = (own, calibrated)
    note = lines.draw(
        figure,
        [line(curve, curve.label, dark) for curve in curves],
        log_x=True,
        log_y=True,
        show_seeds=False,
        dark=dark,
        x_words=lambda users: f"{human(users)} users",
    )
    all_there_is(figure, curves, dark)
    if found.first is not None:
        _star(figure, own, found.first, dark)
    _budget(figure, found, dark)
    figure.update_layout(uirevision="exploration")
    return Picture(figure, ALT, " ".join(filter(None, [see, note])), table(curves, found))


def _star(figure: go.Figure, own: Curve, first: int, dark: bool) -> None:
    """Where RLSVI has become the dearer one."""
    figure.add_scatter(
        x=own.episodes[first : first + 1],
        y=own.center[first : first + 1],
        mode="markers",
        marker={
            "symbol": "star",
            "size": 17,
            "color": looks.color(own.kind.model, own.kind.epsilon, dark),
            "line": {"width": 1, "color": style.theme(dark).background},
        },
        hovertemplate=f"From {human(float(own.episodes[first]))} users on calibrated noise costs less<extra></extra>",
        name="calibrated noise costs less from here on",
    )


def _budget(figure: go.Figure, found: Beside, dark: bool) -> None:
    """The budget of both over the users: from a formula, hence dotted."""
    colors = style.theme(dark)
    figure.add_scatter(
        x=found.users.astype(float),
        y=found.epsilon,
        yaxis="y2",
        mode="lines+markers",
        line={"color": colors.roles["bound"], "width": 1.8, "dash": style.BOUND_DASH},
        marker={"symbol": "circle", "size": 5, "color": colors.roles["bound"]},
        customdata=[f"{human(float(k))} users: ε = {human(float(e))}" for k, e in _points(found)],
        hovertemplate="<b>budget of both</b><br>%{customdata}<extra></extra>",
        name="budget ε: claimed of RLSVI, proved of DP-UCBVI",
    )
    upper = figure.layout.yaxis.to_plotly_json()
    low, high = np.log10(found.epsilon[[0, -1]])
    below = {
        **upper,
        "title": {**upper["title"], "text": "Budget ε"},
        "type": "log",
        "nticks": 4,
        "domain": [0.0, SHARES[1]],
        "range": [low - 0.25, high + 0.25],
    }
    figure.update_layout(yaxis={"domain": [SHARES[0], 1.0]}, yaxis2=below, xaxis={"anchor": "y2"})


def _points(found: Beside) -> list[tuple[int, float]]:
    return list(zip(found.users.tolist(), found.epsilon.tolist(), strict=True))


def table(curves: Sequence[Curve], found: Beside) -> pd.DataFrame:
    """A row for each number of users."""
    columns: dict[str, NDArray[np.generic]] = {"users": found.users, "budget ε": found.epsilon}
    for curve in curves:
        columns |= {
            f"{curve.label}: mean": curve.center,
            f"{curve.label}: low (95%)": curve.low,
            f"{curve.label}: high (95%)": curve.high,
        }
    columns |= {"RLSVI over DP-UCBVI": found.ratio, "ratio: low (95%, all together)": found.low}
    columns |= {"ratio: high (95%, all together)": found.high}
    return pd.DataFrame({**columns, "seeds": len(curves[0].rows)})

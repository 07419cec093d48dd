"""What privacy costs at one epsilon, by who is trusted: the average loss of an episode against the number of users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import style
from dprl.figures.style import Picture, human, percent

Array = NDArray[np.float64]

LEARNED = 0.1  # share of V*: below it an average episode counts as good
X_RANGE = (1.0, 15.0)  # powers of ten; fixed, as is the height, so that the curves are seen to move
Y_RANGE = (0.0, 106.0)
TICKS = (0, 10, 25, 50, 75, 100)
ALT = "Line chart of the share of reward lost by an average episode so far, against users, by who is trusted."
BAND = "95% t interval of the mean over seeds"
NAMES = {
    "none": "No privacy",
    "central": "Agent trusted (JDP)",
    "shuffle": "Shuffler trusted (SDP)",
    "local": "Nobody trusted (LDP)",
}


@dataclass(frozen=True)
class Cost:
    """One privacy model at one epsilon.

    model: none, central, shuffle or local; episodes: [C], ascending; mean, low, high: [C], average regret per episode
    so far with its 95% t interval over seeds; needed: the number of users from which on the mean is below LEARNED
    times the best value of an episode, NaN where it never is.
    """

    model: str
    episodes: NDArray[Any]
    mean: Array = field(repr=False)
    low: Array = field(repr=False)
    high: Array = field(repr=False)
    needed: float

    @property
    def name(self) -> str:
        """In words, for a legend."""
        return NAMES[self.model]


def chart(costs: Sequence[Cost], *, epsilon: float, v_star: float, dark: bool) -> Picture:
    """The curves of all models at one epsilon, as shares of v_star, the most that an episode can lose.

    The axes are the same for every epsilon. The figure is made at once, for a slider redraws it.
    """
    colors = style.theme(dark)
    around: list[Array] = []
    curves, marks = [], []
    for cost in costs:
        color = style.look(cost.model, 0, dark).color
        symbol = style.SYMBOLS[cost.model]
        x = np.asarray(cost.episodes, float)
        mean, low, high = (100 * values / v_star for values in (cost.mean, cost.low, cost.high))
        around += [np.array([np.r_[x, x[::-1], np.nan], np.r_[high, low[::-1], np.nan]])]
        curves.append(
            {
                "x": x,
                "y": mean,
                "line": {"color": color, "width": 3},
                "customdata": [
                    f"after {human(k)} users: {percent(m / 100)} ({percent(a / 100)} to {percent(b / 100)})"
                    for k, m, a, b in zip(x, mean, low, high, strict=True)
                ],
                "hovertemplate": f"<b>{cost.name}</b><br>%{{customdata}}<extra></extra>",
                "showlegend": False,
                "name": cost.name,
                "legendgroup": cost.model,
            }
        )
        # In the legend this is line and marker; in the plot only the marker, where the curve has come down.
        marks.append(
            {
                "x": [cost.needed, None],
                "y": [100 * LEARNED, None],
                "mode": "lines+markers",
                "line": {"color": color, "width": 3},
                "marker": {
                    "symbol": symbol,
                    "size": 12,
                    "color": color,
                    "line": {"color": colors.background, "width": 1.5},
                },
                "hovertemplate": f"<b>{cost.name}</b><br>below {percent(LEARNED)} from {said(cost.needed)} users on"
                "<extra></extra>",
                "name": cost.name,
                "legendgroup": cost.model,
            }
        )
    ends = 10 ** np.array(X_RANGE)
    # One trace for all intervals, and as few as possible in all: each costs the browser time at every move.
    xs, ys = np.concatenate(around, axis=1)
    context = [
        {
            "x": xs,
            "y": ys,
            "line": {"width": 0},
            "fill": "toself",
            "fillcolor": style.translucent(colors.muted, 0.4),
            "hoverinfo": "skip",
            "name": BAND,
        },
        {
            "x": ends,
            "y": [100, 100],
            "line": {"color": colors.roles["bound"], "width": 1.5, "dash": style.BOUND_DASH},
            "hovertemplate": f"V* = {v_star:.4g}: the value of the optimal policy<extra></extra>",
            "name": f"V* = {v_star:#.4g}, all an episode can lose",
        },
    ]
    layout = style.layout(
        f"Reward lost by an average episode so far, at ε = {epsilon:g}",
        dark=dark,
        height=400,
        x_title="Users so far (one episode each)",
        y_title="Share of V* lost",
    )
    layout["xaxis"] |= {
        "type": "log",
        "range": list(X_RANGE),
        "tickvals": [10.0**k for k in range(3, 16, 3)],
        "ticktext": ["1,000", "1 million", "1 billion", "1 trillion", "10¹⁵"],
        "tickangle": 0,
    }
    layout["yaxis"] |= {
        "range": list(Y_RANGE),
        "tickvals": TICKS,
        "ticktext": [f"{tick}%" for tick in TICKS],
    }
    layout["shapes"] = [
        {
            "type": "line",
            "xref": "paper",
            "x0": 0,
            "x1": 1,
            "y0": 100 * LEARNED,
            "y1": 100 * LEARNED,
            "line": {"color": colors.muted, "width": 1},
            "layer": "below",
        }
    ]
    layout["uirevision"] = "trust"  # zoom, and curves switched off, survive the slider
    traces = [{"type": "scatter", "mode": "lines"} | trace for trace in curves + marks + context]
    return Picture(style.figure_of(layout, traces), ALT, see(costs, epsilon), table(costs, epsilon))


def said(users: float) -> str:
    """A number of users to two digits, as people say it."""
    return human(float(f"{users:.2g}")) if np.isfinite(users) else f"more than {human(10 ** X_RANGE[1])}"


def see(costs: Sequence[Cost], epsilon: float) -> str:
    """One sentence: how many times as many users each model needs until it has learned."""
    free = next(cost for cost in costs if cost.model == "none")
    how = {
        "central": "if they trust the agent",
        "shuffle": "if they trust only a shuffler",
        "local": "if they trust nobody",
    }
    parts = [
        f"**{said(cost.needed / free.needed)} times** {how[cost.model]}"
        if np.isfinite(cost.needed)
        else f"more than {human(10 ** X_RANGE[1])} users {how[cost.model]}"
        for cost in costs
        if cost.model != "none"
    ]
    listed = parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]
    return (
        f"Without privacy it takes {said(free.needed)} users until an average episode loses less than "
        f"{percent(LEARNED)}; hiding each of them at **ε = {epsilon:g}** takes {listed}."
    )


def table(costs: Sequence[Cost], epsilon: float) -> pd.DataFrame:
    """The means and intervals drawn, one row for each curve and checkpoint; regret in reward per episode."""
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "curve": cost.name,
                    "epsilon": None if cost.model == "none" else epsilon,
                    "users": np.asarray(cost.episodes, np.int64),
                    "regret per episode": cost.mean,
                    "low (95%)": cost.low,
                    "high (95%)": cost.high,
                }
            )
            for cost in costs
        ],
        ignore_index=True,
    )

"""How fast regret, or its price, grows: an exponent in each tenfold of episodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import style
from dprl.figures.chart import Chart
from dprl.figures.lines import Array
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.words import exponents, power


@dataclass(frozen=True)
class Decades:
    """How the price of one run grew in D tenfolds of episodes: like K^mean, with a 95% t interval over seeds.

    Each array [D]; NaN where fewer than two of `of` seeds have a price above zero. flat: the number of episodes from
    which it is flat, None if it is not.
    """

    label: str
    style: CurveStyle
    from_k: Array
    to_k: Array
    mean: Array
    low: Array
    high: Array
    seeds: NDArray[Any]
    of: int
    flat: float | None = None


Level = tuple[float, str, bool]  # a height, its name in the legend, and whether it is theory
PRICE_LEVELS: tuple[Level, ...] = (
    (1.0, "1: nothing is learned", False),
    (0.5, "0.5: bound with no trusted party (others: 0)", True),
    (0.1, "0.1: flat, at or below", False),
)


def growth_exponents(
    runs: Sequence[Decades],
    *,
    what: str = "the privacy cost",
    levels: Sequence[Level] = PRICE_LEVELS,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """The exponent of the price of privacy, or of something else, in each tenfold of episodes, with its interval over
    seeds."""
    chart = Chart(
        f"How fast {what} grows",
        "Episodes (by default one user each), by decade",
        "Exponent x of growth like Kˣ",
        subtitle="mean and 95% t interval over seeds",
        height=470,
        dark=dark,
    )
    ends = [-0.1, 1.05]  # what the vertical axis reaches at least
    for place, run in enumerate(runs):
        known = np.isfinite(run.mean)
        ends += [v for values in (run.low, run.mean, run.high) for v in values[known] if np.isfinite(v)]
        # Beside each other, so that intervals can be told apart.
        _exponents(chart, run, 10.0 ** (0.14 * (place - (len(runs) - 1) / 2)))
    reach = [min((r.from_k[0] for r in runs if len(r.from_k)), default=1e3)]
    reach.append(max((r.to_k[-1] for r in runs if len(r.to_k)), default=1e15))
    for height, name, theory in levels:
        if theory:
            chart.theory(name, reach, [height, height])
        else:
            chart.line(name, reach, [height, height], chart.colors.muted, 0.8, "solid")
    chart.x(type="log", nticks=7, tickangle=0, range=np.log10(reach).tolist())
    chart.y(nticks=8, range=[min(ends) - 0.05, max(ends) * 1.06])
    alt = "Chart of growth exponents in each decade of episodes, with intervals, a series for each privacy model."
    return chart.picture(alt, see, _growth_numbers(runs), revision="growth")


def _exponents(chart: Chart, run: Decades, aside: float) -> None:
    """Those of one run, with their intervals. aside: by which factor they stand beside the middle of each tenfold."""
    known, color = np.isfinite(run.mean), run.style.color(chart.dark)
    each = (values[known] for values in (run.from_k, run.to_k, run.mean, run.low, run.high, run.seeds))
    words = [
        f"{power(a)} to {power(b)} episodes<br>x = {exponents(m, low, high)}<br>{n} of {run.of} seeds"
        for a, b, m, low, high, n in zip(*each, strict=True)
    ]
    label = style.plain(run.label)
    chart.line(
        label,
        np.sqrt(run.from_k * run.to_k)[known] * aside,
        run.mean[known],
        style.translucent(color, 0.45),
        1.5,
        mode="lines+markers",
        error_y={
            "type": "data",
            "symmetric": False,
            "array": np.nan_to_num(run.high - run.mean)[known],
            "arrayminus": np.nan_to_num(run.mean - run.low)[known],
            "thickness": 1.6,
            "width": 4,
            "color": color,
        },
        marker={"symbol": run.style.symbol, "size": 9, "color": color},
        customdata=words,
        hovertemplate=f"<b>{label}</b><br>%{{customdata}}<extra></extra>",
    )


def _growth_numbers(runs: Sequence[Decades]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            (run.label, f"{power(a)} to {power(b)}", m, low, high, f"{n} of {run.of}")
            for run in runs
            for a, b, m, low, high, n in zip(
                run.from_k, run.to_k, run.mean, run.low, run.high, run.seeds, strict=True
            )
        ],
        columns=["run", "episodes", "exponent", "low (95%)", "high (95%)", "seeds"],
    )

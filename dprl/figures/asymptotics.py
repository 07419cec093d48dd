"""When privacy is free: regret and its price up to 10^15 episodes, how fast they grow, and what is proved beside it.

What is proved is dotted, has no marker and carries a letter; a bound is never filled like a band.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from dprl.figures import lines, looks, style
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.figures.regret import Curve, line
from dprl.words import exponents, human, power

Array = NDArray[np.float64]
Measure = Literal["regret", "price"]

TITLES: dict[Measure, str] = {"regret": "Regret so far", "price": "What privacy has cost so far"}
SUBTITLES: dict[Measure, str] = {
    "regret": "mean over seeds",
    "price": "regret beyond that of the run without privacy, mean over seeds",
}
Y_TITLES: dict[Measure, str] = {"regret": "Regret (reward lost)", "price": "Extra regret (reward lost)"}
ALTS: dict[Measure, str] = {
    "regret": "Line chart of cumulative regret against episodes, both logarithmic, a curve for each privacy model.",
    "price": "Line chart of the regret that privacy adds against episodes, both logarithmic, a curve for each "
    "privacy model.",
}
LETTERS = "ABCDEFGH"


@dataclass(frozen=True)
class Decades:
    """How the price of one run grew in D tenfolds of episodes: like K^mean, with a 95% t interval over seeds.

    Each array [D]; NaN where fewer than two of `of` seeds have a price above zero. flat: the number of episodes from
    which it is flat, None if it is not.
    """

    label: str
    kind: CurveStyle
    from_k: Array
    to_k: Array
    mean: Array
    low: Array
    high: Array
    seeds: NDArray[Any]
    of: int
    flat: float | None = None


@dataclass(frozen=True)
class Proved:
    """A bound at N numbers of episodes.

    Attributes:
        paper: where it is from.
        model: its privacy model.
        epsilon: its budget.
    """

    label: str
    paper: str
    model: str
    epsilon: float | None
    episodes: Array
    values: Array


def over_episodes(
    curves: Sequence[Curve],
    *,
    view: Measure,
    flat: Sequence[float | None] = (),
    show_seeds: bool = False,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Regret, or its price, of up to eight runs, logarithmic both ways.

    flat: of each curve, from how many episodes its price is flat: marked on it.
    """
    figure = style.base(
        TITLES[view],
        dark=dark,
        height=430 + 18 * len(curves),
        x_title="Episodes (one user each)",
        y_title=Y_TITLES[view],
        subtitle=SUBTITLES[view],
    )
    note = _draw(figure, curves, show_seeds, dark)
    if view == "regret":
        all_there_is(figure, curves, dark)
    _mark(figure, curves, flat, dark)
    figure.update_layout(uirevision=view)
    return Picture(figure, ALTS[view], " ".join(filter(None, [see, note])), _table(curves))


def _draw(figure: go.Figure, curves: Sequence[Curve], show_seeds: bool, dark: bool) -> str:
    return lines.draw(
        figure,
        [line(c, c.label, dark) for c in curves],
        log_x=True,
        log_y=True,
        show_seeds=show_seeds,
        dark=dark,
        x_words=lambda k: f"after {human(k)} episodes",
    )


def all_there_is(figure: go.Figure, curves: Sequence[Curve], dark: bool) -> None:
    """K V*, all there is to lose: from theory, hence dotted."""
    known = [(c.episodes, c.v_star) for c in curves if c.v_star and len(c.episodes)]
    if not known:
        return
    v_star = float(known[0][1] or 0.0)
    ends = np.array([min(k[0] for k, _ in known), max(k[-1] for k, _ in known)], float)
    figure.add_scatter(
        x=ends,
        y=ends * v_star,
        mode="lines",
        line={"color": style.theme(dark).roles["bound"], "width": 1.5, "dash": style.BOUND_DASH},
        name=f"K·V*, all there is to lose (V* = {v_star:#.3g})",
        hovertemplate="K·V*, all there is to lose: %{y:.3s}<extra></extra>",
    )
    _reach(figure, ends * v_star)


def _reach(figure: go.Figure, values: Array) -> None:
    """Lets the vertical axis, if it is logarithmic, reach these values too."""
    positive = values[values > 0]
    if figure.layout.yaxis.range and len(positive):
        low, high = figure.layout.yaxis.range
        figure.update_yaxes(
            range=[
                min(low, float(np.log10(positive.min())) - 0.2),
                max(high, float(np.log10(positive.max())) + 0.3),
            ]
        )


def _mark(figure: go.Figure, curves: Sequence[Curve], flat: Sequence[float | None], dark: bool) -> None:
    """A star where each curve becomes flat."""
    marked = [(curve, start) for curve, start in zip(curves, flat, strict=bool(flat)) if start is not None]
    for number, (curve, start) in enumerate(marked):
        color = looks.color(curve.kind.model, curve.kind.epsilon, dark)
        known = np.isfinite(curve.center)
        height = float(np.interp(start, curve.episodes[known], curve.center[known]))
        figure.add_scatter(
            x=[start],
            y=[height],
            mode="markers+text",
            marker={
                "symbol": "star",
                "size": 15,
                "color": color,
                "line": {"width": 1, "color": "white"},
            },
            text=[f"flat from {power(start)}"],
            textposition=_room(curve, start, height, curves),
            textfont={"color": color, "size": 12},
            hovertemplate=f"From {power(start)} episodes on the exponent is at most 0.1<extra></extra>",
            name="flat from here on",
            legendgroup="flat",
            showlegend=number == 0,
        )


def _room(curve: Curve, start: float, height: float, curves: Sequence[Curve]) -> str:
    """Where words at a star cross no other curve: above or below, whichever has more room, and towards the middle."""
    right = start < 1e-3 * float(curve.episodes[-1])
    beside = start * np.geomspace(
        1.0, 1e3 if right else 1e-3, 7
    )  # what the words take of a telephone's width
    above = below = np.inf
    for other in curves:
        known = np.isfinite(other.center) & (other.center > 0)
        if other is not curve and known.any():
            away = np.log(np.interp(beside, other.episodes[known], other.center[known]) / height)
            above = min(above, float(away[away >= 0].min(initial=np.inf)))
            below = min(below, float(-away[away < 0].max(initial=-np.inf)))
    return f"{'top' if above > below else 'bottom'} {'right' if right else 'left'}"


Level = tuple[float, str, bool]  # a height, its name in the legend, and whether it is theory
PRICE_LEVELS: tuple[Level, ...] = (
    (1.0, "1: nothing is learned", False),
    (0.5, "0.5: theory with nobody trusted (else 0)", True),
    (0.1, "0.1: flat, at or below", False),
)


def growth(
    runs: Sequence[Decades],
    *,
    what: str = "the price of privacy",
    levels: Sequence[Level] = PRICE_LEVELS,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """The exponent of the price of privacy, or of something else, in each tenfold of episodes, with its interval over
    seeds."""
    colors = style.theme(dark)
    figure = style.base(
        f"How fast {what} grows",
        dark=dark,
        height=470,
        x_title="Episodes (one user each), decade by decade",
        y_title="Exponent x of growth like Kˣ",
        subtitle="mean and 95% t interval over seeds",
    )
    ends = [-0.1, 1.05]  # what the vertical axis reaches at least
    for place, run in enumerate(runs):
        look = looks.look(run.kind, dark)
        known = np.isfinite(run.mean)
        # Beside each other, so that intervals can be told apart.
        x = np.sqrt(run.from_k * run.to_k)[known] * 10.0 ** (0.14 * (place - (len(runs) - 1) / 2))
        ends += [v for values in (run.low, run.mean, run.high) for v in values[known] if np.isfinite(v)]
        words = [
            f"{power(a)} to {power(b)} episodes<br>x = {exponents(m, low, high)}<br>{n} of {run.of} seeds"
            for a, b, m, low, high, n in zip(
                run.from_k[known],
                run.to_k[known],
                run.mean[known],
                run.low[known],
                run.high[known],
                run.seeds[known],
                strict=True,
            )
        ]
        figure.add_scatter(
            x=x,
            y=run.mean[known],
            error_y={
                "type": "data",
                "symmetric": False,
                "array": np.nan_to_num(run.high - run.mean)[known],
                "arrayminus": np.nan_to_num(run.mean - run.low)[known],
                "thickness": 1.6,
                "width": 4,
                "color": look.color,
            },
            mode="lines+markers",
            line={"color": style.translucent(look.color, 0.45), "width": 1.5},
            marker={"symbol": look.symbol, "size": 9, "color": look.color},
            customdata=words,
            hovertemplate=f"<b>{style.plain(run.label)}</b><br>%{{customdata}}<extra></extra>",
            name=style.plain(run.label),
        )
    reach = [min((r.from_k[0] for r in runs if len(r.from_k)), default=1e3)]
    reach.append(max((r.to_k[-1] for r in runs if len(r.to_k)), default=1e15))
    for height, name, theory in levels:
        figure.add_scatter(
            x=reach,
            y=[height, height],
            mode="lines",
            line={
                "color": colors.roles["bound"] if theory else colors.muted,
                "width": 1.5 if theory else 0.8,
                "dash": style.BOUND_DASH if theory else "solid",
            },
            hoverinfo="skip",
            name=name,
        )
    figure.update_xaxes(type="log", nticks=7, tickangle=0, range=np.log10(reach).tolist())
    figure.update_yaxes(nticks=8, range=[min(ends) - 0.05, max(ends) * 1.06])
    figure.update_layout(uirevision="growth")
    return Picture(
        figure,
        "Chart of growth exponents in each decade of episodes, with intervals, a series for each privacy model.",
        see,
        _growth_table(runs),
    )


def beside(
    curves: Sequence[Curve], bounds: Sequence[Proved], *, see: str = "", dark: bool = False
) -> Picture:
    """Simulated regret, and dotted beside it what is proved, constants and logarithms set to 1."""
    figure = style.base(
        "What is proved, beside what is seen",
        dark=dark,
        height=450 + 20 * (len(curves) + len(bounds)),
        x_title="Episodes (one user each)",
        y_title="Regret (reward lost)",
        subtitle="means over seeds; dotted: bounds, constants set to 1",
    )
    note = _draw(figure, curves, False, dark)
    all_there_is(figure, curves, dark)
    for number, bound in enumerate(bounds):
        color = looks.color(bound.model, bound.epsilon, dark)
        name = f"{LETTERS[number]}: {style.plain(bound.label)}, {style.plain(bound.paper)}"
        figure.add_scatter(
            x=bound.episodes,
            y=bound.values,
            mode="lines",
            line={"color": color, "width": 1.6, "dash": style.BOUND_DASH},
            opacity=0.85,
            hovertemplate=f"<b>{name}</b><br>at %{{x:.3s}} episodes: %{{y:.3s}}<extra></extra>",
            name=name,
            legendgroup=name,
        )
        at = round((0.1 + 0.8 * (number + 0.5) / len(bounds)) * (len(bound.values) - 1))
        figure.add_scatter(
            x=[bound.episodes[at]],
            y=[bound.values[at]],
            mode="text",
            text=[f"<b>{LETTERS[number]}</b>"],
            textposition="top center",
            textfont={"color": color, "size": 13},
            hoverinfo="skip",
            showlegend=False,
            legendgroup=name,
        )
        _reach(figure, bound.values)
    figure.update_layout(uirevision=f"beside-{len(bounds)}")
    table = pd.concat(
        [
            _table(curves),
            *(
                pd.DataFrame({"curve": f"{b.label}, {b.paper}", "episodes": b.episodes, "bound": b.values})
                for b in bounds
            ),
        ],
        ignore_index=True,
    )
    return Picture(
        figure,
        "Line chart of simulated regret against episodes, with dotted lines for proved bounds beside it.",
        " ".join(filter(None, [see, note])),
        table,
    )


def _table(curves: Sequence[Curve]) -> pd.DataFrame:
    """What is drawn, one row for each curve and checkpoint, with the median for comparison."""
    columns = ["curve", "episodes", "mean", "low (95%)", "high (95%)", "median", "seeds"]
    frames = [
        pd.DataFrame(
            {
                "curve": curve.label,
                "episodes": np.asarray(curve.episodes, np.int64),
                "mean": curve.center,
                "low (95%)": curve.low,
                "high (95%)": curve.high,
                "median": curve.center if curve.median is None else curve.median,
                "seeds": np.isfinite(curve.rows).sum(axis=0),
            }
        )
        for curve in curves
        if len(curve.episodes) and len(curve.rows)
    ]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)


def _growth_table(runs: Sequence[Decades]) -> pd.DataFrame:
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

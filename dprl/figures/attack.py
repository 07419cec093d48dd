"""Attacks: scores in two worlds, the errors of every test beside what noise allows, and what collusion reads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from dprl.figures import style
from dprl.figures.picture import Picture
from dprl.words import human, percent, promise

Array = NDArray[np.float64]
WORLDS = ("first episode", "second episode")
SCORES_ALT = "Histograms of the attacker's scores in two worlds that differ in one user."
ERRORS_ALT = (
    "Curve of how often an attacker is right against how often wrong, beside the most that the noise allows."
)
EPSILON_ALT = "Line chart of the proved epsilon against delta."
OUTCOMES_ALT = "Dots, one for each draw of noise, by how far it puts a count off."
GUESSES_ALT = "A hundred circles, filled as often as the best attacker guesses right."
BELIEF_ALT = "Line chart of what an attacker may believe afterwards against what was believed before."
COLLUSION_ALT = "Bar chart of what two colluding users read of the user between them, beside the truth."


def world_colors(dark: bool) -> tuple[str, str]:
    """Of the two worlds."""
    first, second, *_ = style.theme(dark).actions
    return first, second


def scores(
    edges: Array, first: NDArray[np.int64], second: NDArray[np.int64], *, see: str = "", dark: bool = False
) -> Picture:
    """Numbers of executions by score; edges: [B + 1], first, second: [B]."""
    figure = style.base(
        "What the attacker's score was",
        subtitle=f"{first.sum():,} simulated releases in each world",
        dark=dark,
        height=380,
        x_title="Score: ln of how much likelier the first episode makes it",
        y_title="Executions",
    )
    looks = zip(WORLDS, (first, second), world_colors(dark), ("solid", "dash"), strict=True)
    for name, counts, color, dash in looks:
        figure.add_scatter(
            x=np.repeat(edges, 2),
            y=np.concatenate([[0], np.repeat(counts, 2), [0]]),
            mode="lines",
            fill="tozeroy",
            fillcolor=style.translucent(color, 0.25),
            line={"color": color, "width": 2, "dash": dash},
            name=f"the user had the {name}",
            hovertemplate="score %{x:.2f}: %{y:,} executions<extra></extra>",
        )
    figure.add_vline(x=0, line={"color": style.theme(dark).muted, "width": 1})
    figure.update_yaxes(rangemode="tozero")
    table = pd.DataFrame({"score from": edges[:-1], "to": edges[1:], WORLDS[0]: first, WORLDS[1]: second})
    return Picture(figure, SCORES_ALT, see, table)


def errors(
    allowed: tuple[Array, Array],
    measured: tuple[Array, Array] | None = None,
    *,
    claimed: tuple[float, float] | None = None,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """How often a test says "first" when that is right, against when it is wrong.

    Args:
        allowed: shares of false accusations [P], ascending, and the largest shares of right ones that the noise proves.
        measured: the same of the attack's thresholds.
        claimed: (epsilon, delta), where it is not what is proved.
    """
    colors = style.theme(dark)
    figure = style.base(
        "How well any test can tell the two apart",
        dark=dark,
        height=440,
        x_title="Wrongly says “first episode”",
        y_title="Rightly says “first episode”",
    )
    rows = []

    def line(name: str, x: Array, y: Array, **look: object) -> None:
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines",
            name=name,
            line=look,
            hovertemplate="wrongly %{x:.1%}, rightly %{y:.1%}<extra>" + name + "</extra>",
        )
        rows.append(pd.DataFrame({"curve": name, "wrongly": x, "rightly": y}))

    line("guessing", np.array([0.0, 1.0]), np.array([0.0, 1.0]), color=colors.muted, width=1)
    line("most that is proved", *allowed, color=colors.roles["bound"], width=2.5, dash=style.BOUND_DASH)
    if claimed is not None:
        epsilon, delta = claimed
        x = allowed[0]
        most = np.minimum(np.exp(epsilon) * x + delta, 1 - np.exp(-epsilon) * (1 - delta - x))
        line(
            f"most that {promise(*claimed)} allows",
            x,
            np.clip(most, 0, 1),
            color=colors.muted,
            width=2,
            dash="dot",
        )
    if measured is not None:
        line("the attack", *measured, color=colors.ink, width=2)
    figure.update_xaxes(tickformat=".0%", range=[0, 1])
    figure.update_yaxes(tickformat=".0%", range=[0, 1])
    return Picture(figure, ERRORS_ALT, see, pd.concat(rows, ignore_index=True))


def epsilon_of_delta(
    deltas: Array,
    epsilons: Array,
    *,
    own: tuple[float, float] | None = None,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """What the noise proves at every delta; own: the run's (epsilon, delta)."""
    colors = style.theme(dark)
    figure = style.base(
        "One noise, many promises",
        dark=dark,
        height=360,
        x_title="δ, what is added to a chance",
        y_title="ε proved",
    )
    figure.add_scatter(
        x=deltas,
        y=epsilons,
        mode="lines",
        line={"color": colors.roles["bound"], "width": 2.5, "dash": style.BOUND_DASH},
        name="proved when one user is replaced",
        hovertemplate="δ = %{x:.1e}: ε = %{y:.3g}<extra></extra>",
    )
    if own is not None:
        figure.add_scatter(
            x=[own[1]],
            y=[own[0]],
            mode="markers",
            marker={"color": colors.ink, "size": 11, "symbol": "diamond"},
            name=f"this run's {promise(*own)}",
            hovertemplate="δ = %{x:.1e}: ε = %{y:.3g}<extra></extra>",
        )
    figure.update_xaxes(type="log", nticks=6, tickangle=0)
    figure.update_yaxes(rangemode="tozero")
    return Picture(figure, EPSILON_ALT, see, pd.DataFrame({"delta": deltas, "epsilon": epsilons}))


def outcomes(drawn: Array, new: int, *, see: str = "", dark: bool = False) -> Picture:
    """What noise did to one count of visits, a dot a draw: drawn, of which the last `new` are the newest."""
    colors = style.theme(dark)
    edges = np.histogram_bin_edges(drawn, min(25, 5 + len(drawn) // 4))
    place = np.clip(np.digitize(drawn, edges) - 1, 0, len(edges) - 2)
    middle = (edges[:-1] + edges[1:])[place] / 2
    level = np.array([np.count_nonzero(place[: i + 1] == place[i]) for i in range(len(drawn))])
    figure = style.base(
        "What noise may do to one count",
        subtitle=f"{len(drawn)} draws, a dot each",
        dark=dark,
        height=360,
        x_title="Released less true visits, at the last release",
        y_title="Draws",
    )
    older = len(drawn) - new
    for name, part, color in (
        ("earlier draws", slice(older), style.translucent(colors.roles["noisy"], 0.35)),
        ("these draws", slice(older, None), colors.roles["noisy"]),
    ):
        if len(drawn[part]):
            figure.add_scatter(
                x=middle[part],
                y=level[part],
                mode="markers",
                marker={"color": color, "size": 9},
                name=name,
                customdata=drawn[part],
                hovertemplate="off by %{customdata:,.0f} visits<extra></extra>",
            )
    figure.add_vline(x=0, line={"color": colors.ink, "width": 1, "dash": "dash"})
    figure.update_yaxes(range=[0, max(6, level.max() + 1)], dtick=5)
    table = pd.DataFrame({"draw": np.arange(1, len(drawn) + 1), "released less true visits": drawn})
    return Picture(figure, OUTCOMES_ALT, see, table)


def guesses(right: float, *, see: str = "", dark: bool = False) -> Picture:
    """The best attacker's guesses about 100 people, right ones filled; right: how often it is, 0 to 1."""
    colors = style.theme(dark)
    figure = style.base(
        "The best guess about 100 people",
        subtitle="a circle each",
        dark=dark,
        height=360,
        x_title="",
        y_title="",
    )
    hits = round(100 * right)
    n = np.arange(100)
    for name, some, symbol, color in (
        (f"{hits} guessed right", n < hits, "circle", colors.ink),
        (f"{100 - hits} guessed wrong", n >= hits, "circle-open", colors.muted),
    ):
        figure.add_scatter(
            x=n[some] % 10,
            y=n[some] // 10,
            mode="markers",
            marker={"color": color, "size": 13, "symbol": symbol, "line": {"width": 1.5}},
            name=name,
            hoverinfo="skip",
        )
    figure.update_xaxes(visible=False, range=[-1, 10])
    figure.update_yaxes(visible=False, range=[9.8, -0.8])
    table = pd.DataFrame({"guess": ["right", "wrong"], "of 100 people": [hits, 100 - hits]})
    return Picture(figure, GUESSES_ALT, see, table)


def belief(
    priors: Array,
    least: Array,
    most: Array,
    *,
    at: tuple[float, float, float],
    see: str = "",
    dark: bool = False,
) -> Picture:
    """What may be believed after an outcome e^epsilon times as likely in one world; at: prior, least and most."""
    colors = style.theme(dark)
    figure = style.base(
        "Before and after", dark=dark, height=380, x_title="Believed before", y_title="Believed afterwards"
    )
    for name, y, fill in (
        ("lower: the outcome speaks against", least, None),
        ("upper: the outcome speaks for it", most, "tonexty"),
    ):
        figure.add_scatter(
            x=priors,
            y=y,
            mode="lines",
            line={"color": colors.roles["bound"], "width": 2, "dash": style.BOUND_DASH},
            name=name,
            fill=fill,
            fillcolor=style.translucent(colors.roles["bound"], 0.12),
            hovertemplate="%{x:.0%} becomes %{y:.1%}<extra></extra>",
        )
    figure.add_scatter(
        x=[at[0], at[0]],
        y=list(at[1:]),
        mode="markers+lines+text",
        text=[percent(at[1]), percent(at[2])],
        textposition=["bottom center", "top center"],
        textfont={"color": colors.ink, "size": 13},
        marker={"color": colors.ink, "size": 10},
        line={"color": colors.ink, "width": 1},
        showlegend=False,
        cliponaxis=False,
        hoverinfo="skip",
    )
    figure.update_xaxes(tickformat=".0%", range=[0, 1])
    figure.update_yaxes(tickformat=".0%", range=[-0.08, 1.08])
    return Picture(
        figure, BELIEF_ALT, see, pd.DataFrame({"before": priors, "after, against": least, "after, for": most})
    )


def collusion(
    title: str,
    names: Sequence[str],
    true: Array,
    seen: Array,
    words: tuple[str, str],
    *,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Bars of the truth and of what is told or read, for each user; words: what the two are."""
    colors = style.theme(dark)
    figure = style.base(title, dark=dark, height=360, x_title="User", y_title="Visits")
    for name, values, color, pattern in zip(
        words, (true, seen), (colors.roles["true"], colors.roles["noisy"]), ("", "/"), strict=True
    ):
        figure.add_trace(
            go.Bar(
                x=list(names),
                y=values,
                name=name,
                marker={"color": color, "pattern": {"shape": pattern, "size": 6}},
                text=[human(float(f"{v:.2g}")) for v in values],
                textposition="outside",
                textfont={"color": colors.ink, "size": 11},
                constraintext="none",  # bars are narrow on a phone, and what they say would shrink with them
                cliponaxis=False,
                hovertemplate="user %{x}: %{y:.3g}<extra>" + name + "</extra>",
            )
        )
    low, high = float(min(0, *true, *seen)), float(max(0, *true, *seen))
    room = 0.15 * max(high - low, 1)
    figure.update_layout(barmode="group", bargap=0.25)
    figure.update_xaxes(type="category")
    figure.update_yaxes(
        range=[low - (room if low < 0 else 0), high + room], zeroline=True, zerolinecolor=colors.muted
    )
    table = pd.DataFrame({"user": list(names), words[0]: true, words[1]: seen})
    return Picture(figure, COLLUSION_ALT, see, table)

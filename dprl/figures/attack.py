"""Charts of privacy attacks: scores, error rates, the best guesses, and collusion of users."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import style
from dprl.figures.chart import Chart, stacked
from dprl.figures.lines import Array
from dprl.figures.picture import Picture
from dprl.words import human, promise, proves

WORLDS = ("first episode", "second episode")


def score_histograms(
    edges: Array, first: NDArray[np.int64], second: NDArray[np.int64], *, see: str = "", dark: bool = False
) -> Picture:
    """Draw histograms of the attacker's scores for the first and the second episode. `edges` are the bins' edges."""
    chart = Chart(
        "The attacker's score",
        "Score: ln of the likelihood ratio of the first episode",
        "Trials",
        subtitle=f"{first.sum():,} simulated releases for each episode",
        height=380,
        dark=dark,
    )
    worlds = zip(WORLDS, (first, second), style.theme(dark).actions[:2], ("solid", "dash"), strict=True)
    for name, counts, color, dash in worlds:
        chart.line(
            f"the user had the {name}",
            np.repeat(edges, 2),
            np.concatenate([[0], np.repeat(counts, 2), [0]]),
            color,
            dash=dash,
            fill="tozeroy",
            fillcolor=style.translucent(color, 0.25),
            hovertemplate="score %{x:.2f}: %{y:,} trials<extra></extra>",
        )
    line = {"type": "line", "line": {"color": chart.colors.muted, "width": 1}}
    chart.layout["shapes"] = [line | {"x0": 0, "x1": 0, "xref": "x", "y0": 0, "y1": 1, "yref": "y domain"}]
    chart.y(rangemode="tozero")
    table = pd.DataFrame({"score from": edges[:-1], "to": edges[1:], WORLDS[0]: first, WORLDS[1]: second})
    return chart.picture("scores", see, table)


def error_curves(
    allowed: tuple[Array, Array],
    measured: tuple[Array, Array],
    *,
    claimed: tuple[float, float] | None = None,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Draw an attack's true positive rate against its false positive rate, as measured and as the proof allows.
    `claimed` is the paper's (epsilon, delta), unless that is proved."""
    chart = Chart(
        "The best test to tell the episodes apart",
        "Wrongly says “first episode”",
        "Correctly says “first episode”",
        height=440,
        dark=dark,
    )
    colors, diagonal = chart.colors, (np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    curves: list[tuple[str, tuple[Array, Array], str, float, str]] = [
        ("guessing", diagonal, colors.muted, 1, ""),
        ("proved maximum", allowed, colors.roles["bound"], 2.5, style.BOUND_DASH),
    ]
    if claimed is not None:
        epsilon, delta = claimed
        x = allowed[0]
        most = np.minimum(np.exp(epsilon) * x + delta, 1 - np.exp(-epsilon) * (1 - delta - x))
        at_most = x, np.clip(most, 0, 1)
        curves.append((f"maximum under {promise(*claimed)}", at_most, colors.muted, 2, style.BOUND_DASH))
    curves.append(("the attack", measured, colors.ink, 2, ""))
    for name, (x, y), color, width, dash in curves:
        hover = f"wrongly %{{x:.1%}}, correctly %{{y:.1%}}<extra>{name}</extra>"
        chart.line(name, x, y, color, width, dash, hovertemplate=hover)
    chart.x(tickformat=".0%", range=[0, 1])
    chart.y(tickformat=".0%", range=[0, 1])
    table = stacked({"curve": name, "wrongly": x, "rightly": y} for name, (x, y), *_ in curves)
    return chart.picture("errors", see, table)


def epsilon_of_delta(
    deltas: Array,
    epsilons: Array,
    *,
    own: tuple[float, float] | None = None,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Draw the epsilon that the noise guarantees at every delta; `own` is the run's (epsilon, delta)."""
    x_title = "δ, added to a probability"
    chart = Chart("ε and δ of the same noise", x_title, "ε proved", height=360, dark=dark)
    hover = "δ = %{x:.1e}: ε = %{y:.3g}<extra></extra>"
    chart.theory("proved when one user is replaced", deltas, epsilons, 2.5, hovertemplate=hover)
    if own is not None:
        name, ink = f"this run's {proves(*own)}", chart.colors.ink
        chart.points(name, [own[1]], [own[0]], ink, "diamond", 11, hovertemplate=hover)
    chart.x(type="log", nticks=6, tickangle=0)
    chart.y(rangemode="tozero")
    return chart.picture("epsilon", see, pd.DataFrame({"delta": deltas, "epsilon": epsilons}))


def guesses_of_100(right: float, *, see: str = "", dark: bool = False) -> Picture:
    """Draw 100 circles, one per user, and fill those that the best attacker guesses right (the share `right`)."""
    chart = Chart("Best guess about 100 users", subtitle="one circle per user", height=360, dark=dark)
    hits, n = round(100 * right), np.arange(100)
    for name, some, symbol, color in (
        (f"{hits} guessed right", n < hits, "circle", chart.colors.ink),
        (f"{100 - hits} guessed wrong", n >= hits, "circle-open", chart.colors.muted),
    ):
        marker = {"color": color, "size": 13, "symbol": symbol, "line": {"width": 1.5}}
        chart.add("markers", n[some] % 10, n[some] // 10, marker=marker, name=name)
    chart.x(visible=False, range=[-1, 10])
    chart.y(visible=False, range=[9.8, -0.8])
    table = pd.DataFrame({"guess": ["right", "wrong"], "of 100 people": [hits, 100 - hits]})
    return chart.picture("guesses", see, table)


def collusion_bars(
    title: str,
    names: Sequence[str],
    true: Array,
    seen: Array,
    words: tuple[str, str],
    *,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Draw each user's true value next to the reported or estimated one. `words` names the two kinds of bars."""
    chart = Chart(title, "User", "Visits", height=360, dark=dark)
    for name, values, role, pattern in zip(words, (true, seen), ("true", "noisy"), ("", "/"), strict=True):
        bars = {
            "type": "bar",
            "x": list(names),
            "y": values,
            "name": name,
            "marker": {"color": chart.colors.roles[role], "pattern": {"shape": pattern, "size": 6}},
            "text": [human(float(f"{v:.2g}")) for v in values],
            "textposition": "outside",
            "textfont": {"color": chart.colors.ink, "size": 11},
            "constraintext": "none",  # bars are narrow on a phone, and Plotly would shrink their text to fit
            "cliponaxis": False,
            "hovertemplate": f"user %{{x}}: %{{y:.3g}}<extra>{name}</extra>",
        }
        chart.traces.append(bars)
    low, high = float(min(0, *true, *seen)), float(max(0, *true, *seen))
    room = 0.15 * max(high - low, 1)
    chart.x(type="category")
    chart.y(range=[low - (room if low < 0 else 0), high + room], zeroline=True)
    chart.y(zerolinecolor=chart.colors.muted)
    table = pd.DataFrame({"user": list(names), words[0]: true, words[1]: seen})
    return chart.picture("collusion", see, table, barmode="group", bargap=0.25)

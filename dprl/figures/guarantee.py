"""Charts of the noise that mechanisms need for the same guarantee, and a diagram of who sees the data."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from dprl.figures import looks, style
from dprl.figures.chart import Chart, Trace
from dprl.figures.picture import Picture, Sketch
from dprl.words import human, proves


def noise_ladder(
    steps: Sequence[Any],
    *,
    own: int | None,
    epsilon: float | None = None,
    instance: str = "",
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Draw the noise in one counter as bars on a logarithmic axis, one for each `privacy.guarantee.LadderStep`. `own`
    is the index of the run's own step, drawn in the colour of `epsilon`. `instance` names the problem."""
    chart = Chart(
        "Noise on one counter of visits",
        "Standard deviation (visits)",
        subtitle=f"{instance}, at the worst release" if instance else "at the worst release",
        height=130 + 44 * len(steps),
        dark=dark,
    )
    ink, muted = chart.colors.ink, chart.colors.muted
    std = np.array([step.std for step in steps])
    low = 10 ** np.floor(np.log10(std.min()) - 0.15)
    strong, faint = looks.color("central", epsilon, dark), style.mix(chart.colors.amount, 0.4)
    proved = [proves(step.epsilon, step.delta) for step in steps]
    bars = {
        "type": "bar",
        "orientation": "h",
        "y": np.arange(len(steps)) + 0.16,
        "x": std,
        "width": 0.42,
        "marker": {"color": [strong if i == own else faint for i in range(len(steps))], "line": {"width": 0}},
        "text": [
            f" <b>{human(s)}</b>  ◀ this run" if i == own else f" {human(s)}" for i, s in enumerate(std)
        ],
        "textposition": "outside",
        "textfont": {"color": ink, "size": 12.5},
        "cliponaxis": False,
        "showlegend": False,
        "name": "noise",
        "customdata": [[style.plain(step.what), said] for step, said in zip(steps, proved, strict=True)],
        "hovertemplate": "%{customdata[0]}<br>noise %{x:,.0f} visits<br>proved: %{customdata[1]}<extra></extra>",
    }
    chart.traces.append(bars)
    left: Trace = {"x": 0, "xref": "paper", "xanchor": "left", "yanchor": "bottom", "align": "left"}
    for i, (step, said) in enumerate(zip(steps, proved, strict=True)):
        words = f"{style.plain(step.what)} <span style='color:{muted}'>· {said} proved</span>"
        chart.note(words, **left, y=i - 0.06)
    chart.x(type="log", range=[np.log10(low), np.log10(std.max() * 5)], nticks=5, tickangle=0)
    chart.y(visible=False, range=[len(steps) - 0.5, -0.6])
    columns = ["way", "std of one counter", "proved epsilon", "at delta"]
    table = pd.DataFrame([(s.what, s.std, s.epsilon, s.delta) for s in steps], columns=columns)
    table["this run"] = [i == own for i in range(len(steps))]
    return chart.picture("ladder", see, table)


WIDE, HIGH = 340, 132
HALF = 34  # half the width of a station


def who_sees_what(what: Any, model: str, *, dark: bool = False) -> Sketch:
    """Draw a privacy model as a diagram: the path of the raw data (a `Way`), the noise, and the trusted party."""
    colors = style.theme(dark)
    hue = looks.color(model, None, dark)
    count = len(what.stations)
    x = [46 + (WIDE - 92) * i / (count - 1) for i in range(count)]
    parts = []
    edge = x[what.raw - 1] + 40 if what.raw < count else WIDE - 3
    parts.append(
        f'<rect x="3" y="18" width="{edge - 3:.0f}" height="92" rx="9" fill="{style.translucent(hue, 0.13)}" '
        f'stroke="{hue}" stroke-dasharray="5 3"/>'
        + _svg_words(9, 13, "raw data are seen here", colors.muted, left=True)
    )
    for i in range(count - 1):
        private = i + 1 >= what.raw < count and what.mixes != i + 1  # not yet private before the shuffler
        parts.append(_arrow(x[i] + HALF, x[i + 1] - HALF, 60, hue if private else colors.ink, private))
    for i, name in enumerate(what.stations):
        parts.append(
            f'<rect x="{x[i] - HALF:.0f}" y="44" width="{2 * HALF}" height="32" rx="6" fill="{colors.background}" '
            f'stroke="{colors.ink}" stroke-width="1.7"/>'
        )
        parts.append(_svg_words(x[i], 64, name, colors.ink, size=11, weight=600))
        if what.noise == i:
            parts.append(_noise(x[i] + HALF - 4, 42, colors))
        if what.trusted == i:
            parts.append(_svg_words(x[i], 94, "trusted", hue))
    where, place = "no noise", 6
    if what.noise is not None:
        where, place = f"noise added by the {what.stations[what.noise]}", 24
        parts.append(_noise(12, 123, colors, small=True))
    parts.append(_svg_words(place, 127, where, colors.muted, left=True))
    if what.raw < count:
        parts.append(_arrow(WIDE - 92, WIDE - 66, 123, hue, True))
        parts.append(_svg_words(WIDE - 60, 127, "private", colors.muted, left=True))
    return Sketch("".join(parts), WIDE, HIGH, what.alt)


def _svg_words(
    x: float, y: float, text: str, color: str, *, left: bool = False, size: float = 11.5, weight: int = 400
) -> str:
    anchor = "start" if left else "middle"
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}" '
        f'fill="{color}">{escape(text)}</text>'
    )


def _arrow(start: float, end: float, y: float, color: str, dashed: bool) -> str:
    dash = ' stroke-dasharray="4 3"' if dashed else ""
    return (
        f'<path d="M{start:.0f} {y:.0f} L{end - 5:.0f} {y:.0f}" stroke="{color}" stroke-width="2"{dash} fill="none"/>'
        f'<path d="M{end:.0f} {y:.0f} l-8 -4.5 l0 9 z" fill="{color}"/>'
    )


def _noise(x: float, y: float, colors: style.Theme, small: bool = False) -> str:
    """Draw a jagged line in a disc, the symbol of noise."""
    r = 8 if small else 10
    k = r / 10
    zigzag = " ".join(f"l{1.7 * k:.1f} {dy * k:.1f}" for dy in (-5, 9, -10, 8, -6, 4))
    return (
        f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{r}" fill="{colors.background}" stroke="{colors.roles["noisy"]}" '
        f'stroke-width="1.6"/><path d="M{x - 5.5 * k:.1f} {y:.0f} {zigzag}" fill="none" '
        f'stroke="{colors.roles["noisy"]}" stroke-width="1.5" stroke-linejoin="round"/>'
    )

"""Summaries of runs in a notebook: a row with the final measure, the proved guarantee and a small curve."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import accumulate
from typing import Any

import numpy as np

from dprl import simulation
from dprl.privacy.guarantee import Guarantee, budget
from dprl.simulation.kinds import kind_of
from dprl.words import plural, upward

SPARK = 160, 36  # pixels
MOST = 1600  # characters of an object that a notebook shows, without the line about the rest


def told(trace: simulation.Trace) -> tuple[str, str, str]:
    """Return the final measure with its interval, the proved guarantee, and the curve."""
    measure = kind_of(trace.spec).measure
    final = trace.summary()
    low, high = final[f"final_{measure}_low"], final[f"final_{measure}_high"]
    said = f"final {measure} {final[f'final_{measure}_mean']:.4g}"
    if low is not None:
        said = f"{said} (95% interval over seeds: {low:.4g} to {high:.4g})"
    return said, proved_in_words(trace.guarantee), sparkline(trace.at, trace.values.mean(0))


def proved_in_words(guarantee: Guarantee) -> str:
    """Describe a proved guarantee."""
    if guarantee.proved_rho is not None:
        return f"proved: rho {upward(guarantee.proved_rho, 4):.4g}"
    if guarantee.proved_epsilon is None:
        return "no privacy"
    return f"proved: (epsilon, delta) = {budget(guarantee.proved_epsilon, guarantee.proved_delta or 0.0)}"


def sparkline(at: Any, values: Any) -> str:
    """Draw a curve without axes as SVG; its vertical axis is logarithmic."""
    width, height = SPARK
    x = np.log(np.maximum(np.asarray(at, float), 1.0))
    y = np.asarray(values, float)
    known = np.isfinite(y)
    x, y = x[known], y[known]
    if len(x) < 2:
        return ""
    x = 2 + (width - 4) * (x - x[0]) / ((x[-1] - x[0]) or 1.0)
    y = height - 2 - (height - 4) * (y - y.min()) / ((y.max() - y.min()) or 1.0)
    places = " ".join(
        f"{a:.0f},{b:.0f}"
        for a, b in zip(x[:: max(1, len(x) // 50)], y[:: max(1, len(y) // 50)], strict=True)
    )
    return (
        f'<svg width="{width}" height="{height}" role="img" aria-label="the mean over seeds, up to the end">'
        f'<polyline points="{places}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>'
    )


def card(rows: Iterable[tuple[str, str, str, str]]) -> str:
    """Return an HTML table of runs: name, final measure, proved guarantee, and curve (SVG of our own)."""
    told = list(rows)
    shown = told[: fitting("".join(words) for *words, _ in told)]
    body = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(final)}</td><td>{escape(promise)}</td><td>{curve}</td></tr>"
        for name, final, promise, curve in shown
    )
    rest = len(told) - len(shown)
    return f"<table>{body}</table>" + (f"<p>{plural(rest, 'more run')}</p>" if rest else "")


def fitting(texts: Iterable[str], room: int = MOST) -> int:
    """Return how many of the texts, from the first on, fit into `room` characters."""
    ends = list(accumulate(map(len, texts)))
    return sum(end <= room for end in ends)


def listed(names: Sequence[str], between: str, room: int = MOST) -> str:
    """Return the names on one line; if they do not fit, the first of them and the number of the others."""
    shown = fitting((name + between for name in names), room)
    rest = [f"{len(names) - shown} more"] if shown < len(names) else []
    return between.join([*names[:shown], *rest])


def row(name: str, value: str) -> str:
    return f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>"

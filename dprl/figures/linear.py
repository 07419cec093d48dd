"""Charts of the confidence sets and estimates of learners on linear models."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dprl.figures import style
from dprl.figures.chart import Chart, Trace
from dprl.figures.lines import Array
from dprl.figures.picture import Picture
from dprl.words import significant

ELLIPSOID_ALT = (
    "The confidence set of the weights in two coordinates, with noise and without, and the true weights."
)


def _mark(chart: Chart, at: Array, name: str, color: str, symbol: str, size: int = 11) -> None:
    hover = f"<b>{name}</b><br>%{{x:.4g}}, %{{y:.4g}}<extra></extra>"
    chart.points(name, at[:1], at[1:2], color, symbol, size, 1.5, hovertemplate=hover)


def ellipsoid(
    noisy: Array | None,
    quiet: Array | None,
    *,
    estimate: Array,
    quiet_estimate: Array,
    truth: Array,
    bound: float,
    names: tuple[str, str],
    label: str,
    near: bool = False,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Draw a confidence set of the weights, projected onto two coordinates.

    Args:
        noisy, quiet: the closed outlines with the run's noise and without noise, from the same users [N, 2]; None if
            there is no set (noisy is also None if the run has no noise).
        estimate, quiet_estimate, truth: the two coordinates of the estimates and of the true weights [2].
        bound: C_w, the maximum length of the weights, drawn as a circle from theory.
        near: whether to zoom in on the set, with a different scale on each axis, instead of showing the whole circle.
    """
    chart = Chart(
        "Possible weights",
        names[0],
        names[1],
        subtitle=f"{style.plain(label)}; the axes have different scales" if near else style.plain(label),
        height=520,
        dark=dark,
    )
    roles, angle = chart.colors.roles, np.linspace(0, 2 * np.pi, 121)
    known = f"public: at most {significant(bound, 3)} long"
    chart.theory(known, bound * np.cos(angle), bound * np.sin(angle))
    rows = []
    for outline, role, name in (
        (noisy, "noisy", "confidence set with noise"),
        (quiet, "true", "confidence set without noise, same users"),
    ):
        if outline is None:
            continue
        fill: Trace = {"fill": "toself", "fillcolor": style.translucent(roles[role], 0.14)}
        chart.line(name, outline[:, 0], outline[:, 1], roles[role], **fill)
        low, high = outline.min(0), outline.max(0)
        rows += [(name, names[k], low[k], high[k]) for k in (0, 1)]
    if noisy is not None:
        _mark(chart, estimate, "estimate from noisy sums", roles["noisy"], "x")
    _mark(chart, quiet_estimate, "estimate without noise", roles["true"], "circle-open")
    _mark(chart, truth, "true weights", roles["optimal"], "star", 13)
    rows += [
        (name, names[k], at[k], at[k])
        for name, at in (("estimate", estimate), ("estimate without noise", quiet_estimate), ("true", truth))
        for k in (0, 1)
    ]
    # All weights within C_w or, with `near`, the confidence sets if smaller.
    drawn = [outline for outline in (noisy, quiet) if outline is not None and near]
    points = np.concatenate([*drawn, truth[None]]) if drawn else np.array([[-bound, -bound], [bound, bound]])
    points = np.clip(points, -1.1 * bound, 1.1 * bound)
    low, high = points.min(0), points.max(0)
    edge = np.maximum(0.06 * (high - low), 1e-12)
    x_range, y_range = np.column_stack([low - edge, high + edge])
    chart.x(range=list(x_range), nticks=7, tickangle=0)
    chart.y(range=list(y_range), nticks=7)
    if not near:
        chart.x(constrain="domain")
        chart.y(constrain="domain", scaleanchor="x")
    table = pd.DataFrame(rows, columns=["what", "weight", "from", "to"])
    return chart.picture(ELLIPSOID_ALT, see, table, revision=f"ellipsoid-{names}-{near}-{label}")

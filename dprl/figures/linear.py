"""Learners of linear models: their confidence sets, their matrices, their estimates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import style
from dprl.figures.chart import Chart, Trace
from dprl.figures.lines import Array
from dprl.figures.picture import Picture
from dprl.words import human, significant

ELLIPSOID_ALT = (
    "The confidence set of the weights in two coordinates, with noise and without, and the true weights."
)
EIGENVALUES_ALT = "Line chart of the eigenvalues of a matrix against users, beside what noise can do to them."
WEIGHTS_ALT = (
    "Estimated weights, their confidence sets, and true weights: a panel for each weight, over the steps."
)
PANEL, GAP = 120, 44  # pixels of one weight
ROUNDING = 1e-12  # of the largest eigenvalue: less is 0, which a log axis does not show


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
    """The projection of a region on two weights.

    Args:
        noisy, quiet: [N, 2] closed outlines: as planned with, and what the same users show without noise; None where
            there is none, and noisy is None where the run has no noise.
        estimate, quiet_estimate, truth: [2] each.
        bound: C_w, the most that the weights can be long, a circle from theory.
        near: the axes, each with a scale of its own, are filled by the region; else they show that circle.
    """
    chart = Chart(
        "Where the weights can be",
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
    (x0, x1), (y0, y1) = _window(noisy, quiet, truth, bound, near)
    chart.x(range=[x0, x1], nticks=7, tickangle=0)
    chart.y(range=[y0, y1], nticks=7)
    if not near:
        chart.x(constrain="domain")
        chart.y(constrain="domain", scaleanchor="x")
    table = pd.DataFrame(rows, columns=["what", "weight", "from", "to"])
    return chart.picture(ELLIPSOID_ALT, see, table, revision=f"ellipsoid-{names}-{near}-{label}")


def _window(
    noisy: Array | None, quiet: Array | None, truth: Array, bound: float, near: bool
) -> tuple[tuple[float, float], tuple[float, float]]:
    """The axes: all weights that C_w allows; near, the confidence sets as far as they are smaller than that."""
    drawn = [outline for outline in (noisy, quiet) if outline is not None and near]
    points = np.concatenate([*drawn, truth[None]]) if drawn else np.array([[-bound, -bound], [bound, bound]])
    points = np.clip(points, -1.1 * bound, 1.1 * bound)
    low, high = points.min(0), points.max(0)
    edge = np.maximum(0.06 * (high - low), 1e-12)
    (x0, y0), (x1, y1) = low - edge, high + edge
    return (x0, x1), (y0, y1)


def eigenvalues(
    users: NDArray[Any],
    quiet: Array,
    noisy: Array | None,
    *,
    shift: Array,
    ridge: Array,
    label: str,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """The eigenvalues of a step's matrix over users.

    Args:
        users: [D].
        quiet, noisy: [D, d] without noise and as released; noisy is None without privacy.
        shift: [D] how far noise can move them, as the learner bounds it; ridge: [D] what it adds to them.
    """
    d = quiet.shape[1]
    chart = Chart(
        "What the matrix knows, beside the noise",
        "Users so far",
        "Eigenvalue of the matrix of step h",
        subtitle=style.plain(label),
        height=500,
        dark=dark,
    )
    roles, k = chart.colors.roles, np.asarray(users, float)
    words = [human(float(value)) for value in k]
    parts = [(quiet, "true", "circle", "eigenvalues without noise")]
    if noisy is not None:
        parts.insert(0, (noisy, "noisy", "x", "eigenvalues with noise (released)"))
    for values, role, symbol, name in parts:
        for i, y in enumerate(values.T):
            chart.line(
                f"{name}, {d} of them",
                k,
                np.where(y > ROUNDING * values[:, -1], y, np.nan),
                style.translucent(roles[role], 0.8),
                1.6,
                mode="lines+markers",
                marker={"symbol": symbol, "size": 6, "color": roles[role]},
                legendgroup=name,
                showlegend=i == 0,
                **_said(name, words),
            )
    for values, name, dash, color in (
        (shift, "the most that noise can move them", style.BOUND_DASH, roles["bound"]),
        (ridge, "ridge, added by the algorithm", "10px,4px", chart.colors.muted),
    ):
        if np.any(values > 0):
            y = np.where(values > 0, values, np.nan)
            chart.line(name, k, y, color, 2, dash, **_said(name, words))
    chart.x(type="log", nticks=7, tickangle=0)
    chart.y(type="log", nticks=8)
    table = pd.DataFrame({"users": np.asarray(users, np.int64)})
    for i in range(d):
        table[f"without noise {i + 1}"] = quiet[:, i]
        if noisy is not None:
            table[f"released {i + 1}"] = noisy[:, i]
    table["noise can move them by"], table["ridge"] = shift, ridge
    return chart.picture(EIGENVALUES_ALT, see, table, revision="eigenvalues")


def _said(name: str, users: Sequence[str]) -> Trace:
    """What is said of a point of a line."""
    hover = f"<b>{name}</b><br>%{{customdata}} users: %{{y:.4g}}<extra></extra>"
    return {"customdata": users, "hovertemplate": hover}


def weights_over_steps(
    estimate: Array,
    widths: Array,
    truth: Array,
    *,
    bound: float,
    label: str,
    private: bool,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """Estimates [steps, d] with how far they may be off, widths [steps, d], beside the truth [steps, d].

    bound: C_w: nothing beyond it is drawn.
    """
    steps, d = truth.shape
    plot = (d + 1) // 2 * (PANEL + GAP) - GAP
    subtitle = style.plain(label)
    chart = Chart("Estimated and true weights", subtitle=subtitle, height=plot + 180, dark=dark)
    chart.layout["margin"]["t"] = 84
    h, role = np.arange(steps), chart.colors.roles["noisy" if private else "true"]
    for i in range(d):
        row, column = divmod(i, 2)
        left, right = ((0.0, 0.46), (0.54, 1.0))[column]
        top = 1 - row * (PANEL + GAP) / plot
        title = chart.layout["xaxis"]["title"] | {"text": "Step h" if i + 2 >= d else ""}
        x = {"domain": [left, right], "title": title, "range": [-0.6, steps - 0.4]} | style.step_ticks(steps)
        domain = [max(0.0, top - PANEL / plot), top]
        place = chart.axes(i, x, {"domain": domain, "range": [-1.05 * bound, 1.05 * bound], "nticks": 4})
        low, high = (np.clip(estimate[:, i] + s * widths[:, i], -bound, bound) for s in (-1, 1))
        chart.line(
            "confidence set",
            np.repeat(h, 3),
            np.column_stack([low, high, np.full(steps, np.nan)]).ravel(),
            style.translucent(role, 0.45),
            5,
            legendgroup="held",
            showlegend=i == 0,
            **place,
        )
        chart.points(
            "estimate",
            h,
            np.where(np.abs(estimate[:, i]) <= 1.5 * bound, estimate[:, i], np.nan),
            role,
            "x",
            8,
            legendgroup="estimate",
            showlegend=i == 0,
            customdata=[f"{a:.4g} ± {b:.3g}" for a, b in zip(estimate[:, i], widths[:, i], strict=True)],
            hovertemplate=f"weight {i}, step %{{x}}<br>estimate %{{customdata}}<extra></extra>",
            **place,
        )
        hover = f"weight {i}, step %{{x}}<br>true %{{y:.4g}}<extra></extra>"
        named: Trace = {"legendgroup": "true", "showlegend": i == 0, "hovertemplate": hover} | place
        chart.points("true weight", h, truth[:, i], chart.colors.roles["optimal"], "star", 10, **named)
        chart.heading(f"weight {i}", left, top, 12.5, chart.colors.muted)
    table = pd.DataFrame(
        {
            "step": np.repeat(h, d),
            "weight": np.tile(np.arange(d), steps),
            "estimate": estimate.ravel(),
            "confidence radius": widths.ravel(),
            "true": truth.ravel(),
        }
    )
    return chart.picture(WEIGHTS_ALT, see, table, revision="weights")

"""Learners of linear models: where they hold the weights possible, their matrices, their estimates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import style
from dprl.figures.picture import Picture
from dprl.words import human, significant

Array = NDArray[np.float64]

ELLIPSOID_ALT = (
    "The confidence region of the weights in two coordinates, with noise and without, and the true weights."
)
EIGENVALUES_ALT = "Line chart of the eigenvalues of a matrix against users, beside what noise can do to them."
WEIGHTS_ALT = (
    "Estimated weights, what is held possible, and true weights: a panel for each weight, over the steps."
)
PANEL, GAP = 120, 44  # pixels of one weight
ROUNDING = 1e-12  # of the largest eigenvalue: less is 0, which a log axis does not show


def _mark(figure: Any, at: Array, name: str, color: str, symbol: str, size: int = 11) -> None:
    figure.add_scatter(
        x=at[:1],
        y=at[1:2],
        mode="markers",
        marker={"symbol": symbol, "size": size, "color": color, "line": {"width": 1.5, "color": color}},
        name=name,
        hovertemplate=f"<b>{name}</b><br>%{{x:.4g}}, %{{y:.4g}}<extra></extra>",
    )


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
    colors = style.theme(dark)
    figure = style.base(
        "Where the weights can be",
        subtitle=style.plain(label) + ("; each axis has a scale of its own" if near else ""),
        dark=dark,
        height=520,
        x_title=names[0],
        y_title=names[1],
    )
    angle = np.linspace(0, 2 * np.pi, 121)
    figure.add_scatter(
        x=bound * np.cos(angle),
        y=bound * np.sin(angle),
        mode="lines",
        line={"color": colors.roles["bound"], "width": 1.5, "dash": style.BOUND_DASH},
        name=f"known to all: at most {significant(bound, 3)} long",
        hoverinfo="skip",
    )
    rows = []
    for outline, role, name in (
        (noisy, "noisy", "held possible with noise"),
        (quiet, "true", "held possible without noise, same users"),
    ):
        if outline is None:
            continue
        figure.add_scatter(
            x=outline[:, 0],
            y=outline[:, 1],
            mode="lines",
            fill="toself",
            fillcolor=style.translucent(colors.roles[role], 0.14),
            line={"color": colors.roles[role], "width": 2},
            name=name,
            hoverinfo="skip",
        )
        low, high = outline.min(0), outline.max(0)
        rows += [(name, names[k], low[k], high[k]) for k in (0, 1)]
    if noisy is not None:
        _mark(figure, estimate, "estimate from noisy sums", colors.roles["noisy"], "x")
    _mark(figure, quiet_estimate, "estimate without noise", colors.roles["true"], "circle-open")
    _mark(figure, truth, "true weights", colors.roles["optimal"], "star", 13)
    rows += [
        (name, names[k], at[k], at[k])
        for name, at in (("estimate", estimate), ("estimate without noise", quiet_estimate), ("true", truth))
        for k in (0, 1)
    ]
    (x0, x1), (y0, y1) = _window(noisy, quiet, truth, bound, near)
    figure.update_xaxes(range=[x0, x1], nticks=7, tickangle=0)
    figure.update_yaxes(range=[y0, y1], nticks=7)
    if not near:
        figure.update_xaxes(constrain="domain")
        figure.update_yaxes(constrain="domain", scaleanchor="x")
    figure.update_layout(uirevision=f"ellipsoid-{names}-{near}-{label}")
    table = pd.DataFrame(rows, columns=["what", "weight", "from", "to"])
    return Picture(figure, ELLIPSOID_ALT, see, table)


def _window(
    noisy: Array | None, quiet: Array | None, truth: Array, bound: float, near: bool
) -> tuple[tuple[float, float], tuple[float, float]]:
    """The axes: all weights that C_w allows; near, what is held possible as far as it is less than that."""
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
    colors = style.theme(dark)
    d = quiet.shape[1]
    figure = style.base(
        "What the matrix knows, against noise",
        subtitle=style.plain(label),
        dark=dark,
        height=500,
        x_title="Users so far",
        y_title="Eigenvalue of the matrix of step h",
    )
    k = np.asarray(users, float)
    words = [human(float(value)) for value in k]
    parts = [(quiet, "true", "circle", "eigenvalues without noise")]
    if noisy is not None:
        parts.insert(0, (noisy, "noisy", "x", "eigenvalues as released"))
    for values, role, symbol, name in parts:
        for i in range(d):
            y = values[:, i]
            figure.add_scatter(
                x=k,
                y=np.where(y > ROUNDING * values[:, -1], y, np.nan),
                mode="lines+markers",
                line={"color": style.translucent(colors.roles[role], 0.8), "width": 1.6},
                marker={"symbol": symbol, "size": 6, "color": colors.roles[role]},
                customdata=words,
                hovertemplate=f"<b>{name}</b><br>%{{customdata}} users: %{{y:.4g}}<extra></extra>",
                name=f"{name}, {d} of them",
                legendgroup=name,
                showlegend=i == 0,
            )
    for values, name, dash, color in (
        (shift, "how far noise can move them", style.BOUND_DASH, colors.roles["bound"]),
        (ridge, "what the learner adds to them (ridge)", "10px,4px", colors.muted),
    ):
        if np.any(values > 0):
            figure.add_scatter(
                x=k,
                y=np.where(values > 0, values, np.nan),
                mode="lines",
                line={"color": color, "width": 2, "dash": dash},
                customdata=words,
                hovertemplate=f"<b>{name}</b><br>%{{customdata}} users: %{{y:.4g}}<extra></extra>",
                name=name,
            )
    figure.update_xaxes(type="log", nticks=7, tickangle=0)
    figure.update_yaxes(type="log", nticks=8)
    figure.update_layout(uirevision="eigenvalues")
    table = pd.DataFrame({"users": np.asarray(users, np.int64)})
    for i in range(d):
        table[f"without noise {i + 1}"] = quiet[:, i]
        if noisy is not None:
            table[f"released {i + 1}"] = noisy[:, i]
    table["noise can move them by"], table["ridge"] = shift, ridge
    return Picture(figure, EIGENVALUES_ALT, see, table)


def weights(
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
    colors = style.theme(dark)
    steps, d = truth.shape
    rows = (d + 1) // 2
    plot = rows * (PANEL + GAP) - GAP
    figure = style.base(
        "Estimated and true weights", subtitle=style.plain(label), dark=dark, height=plot + 180
    )
    figure.update_layout(margin_t=84)
    h = np.arange(steps)
    role = colors.roles["noisy" if private else "true"]
    for i in range(d):
        row, column = divmod(i, 2)
        axis = "" if i == 0 else str(i + 1)
        top = 1 - row * (PANEL + GAP) / plot
        center = np.clip(estimate[:, i], -1.5 * bound, 1.5 * bound)
        low = np.clip(estimate[:, i] - widths[:, i], -bound, bound)
        high = np.clip(estimate[:, i] + widths[:, i], -bound, bound)
        place = {"xaxis": f"x{axis}", "yaxis": f"y{axis}"}
        inside = np.abs(estimate[:, i]) <= 1.5 * bound
        figure.add_scatter(
            x=np.repeat(h, 3),
            y=np.column_stack([low, high, np.full(steps, np.nan)]).ravel(),
            mode="lines",
            line={"color": style.translucent(role, 0.45), "width": 5},
            name="held possible",
            legendgroup="held",
            showlegend=i == 0,
            hoverinfo="skip",
            **place,
        )
        figure.add_scatter(
            x=h,
            y=np.where(inside, center, np.nan),
            mode="markers",
            marker={"symbol": "x", "size": 8, "color": role},
            name="estimate",
            legendgroup="estimate",
            showlegend=i == 0,
            customdata=[f"{a:.4g} ± {b:.3g}" for a, b in zip(estimate[:, i], widths[:, i], strict=True)],
            hovertemplate=f"weight {i}, step %{{x}}<br>estimate %{{customdata}}<extra></extra>",
            **place,
        )
        figure.add_scatter(
            x=h,
            y=truth[:, i],
            mode="markers",
            marker={"symbol": "star", "size": 10, "color": colors.roles["optimal"]},
            name="true weight",
            legendgroup="true",
            showlegend=i == 0,
            hovertemplate=f"weight {i}, step %{{x}}<br>true %{{y:.4g}}<extra></extra>",
            **place,
        )
        kind = figure.layout.xaxis.to_plotly_json() if axis else {}
        other = figure.layout.yaxis.to_plotly_json() if axis else {}
        last = i + 2 >= d
        figure.update_layout(
            {
                f"xaxis{axis}": kind
                | {
                    "domain": [0.0, 0.46] if column == 0 else [0.54, 1.0],
                    "anchor": f"y{axis}",
                    "title": kind.get("title", figure.layout.xaxis.title.to_plotly_json())
                    | {"text": "Step h" if last else ""},
                    "range": [-0.6, steps - 0.4],
                }
                | style.step_ticks(steps),
                f"yaxis{axis}": other
                | {
                    "domain": [max(0.0, top - PANEL / plot), top],
                    "anchor": f"x{axis}",
                    "range": [-1.05 * bound, 1.05 * bound],
                    "nticks": 4,
                },
            }
        )
        figure.add_annotation(
            x=0.0 if column == 0 else 0.54,
            y=top,
            xref="paper",
            yref="paper",
            xanchor="left",
            yanchor="bottom",
            text=f"weight {i}",
            showarrow=False,
            font={"size": 12.5, "color": colors.muted},
        )
    figure.update_layout(uirevision="weights")
    table = pd.DataFrame(
        {
            "step": np.repeat(h, d),
            "weight": np.tile(np.arange(d), steps),
            "estimate": estimate.ravel(),
            "may be off by": widths.ravel(),
            "true": truth.ravel(),
        }
    )
    return Picture(figure, WEIGHTS_ALT, see, table)

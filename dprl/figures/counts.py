"""Charts of one run in detail: true and noisy counts, pessimism, coverage, and confidence sets of linear models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dprl.figures import heat, style
from dprl.figures.chart import Chart, Trace
from dprl.figures.lines import Array
from dprl.figures.picture import Picture
from dprl.words import brief, human, power, rough, significant


@dataclass(frozen=True)
class CountFamily:
    """A kind of count, with its noun, its column title and its error bound. The bound is `share` times E."""

    noun: str
    title: str
    share: float
    bound: str


VISITS = CountFamily("visits", "Visits", 0.25, "E/4")
REWARDS = CountFamily("reward", "Reward sums", 1.0, "E")


def _which(step: int | None) -> str:
    return "every step" if step is None else f"step {step}"


def count_heatmaps(
    true: Array,
    noisy: Array,
    *,
    typical: float,
    when: str,
    step: int | None = None,
    word: str = "noisy",
    family: CountFamily = VISITS,
    dark: bool = False,
    **how: Any,
) -> Picture:
    """Draw true and noisy visit counts (or reward sums) next to each other, and their difference if they differ.

    typical: the typical size of the noise; the colour scale is linear up to it and logarithmic beyond. step: one h
    (with states across and actions up), or None for all (with steps across and state-action pairs up). word: the name
    of the second array ("noisy" or "released"). how: see `heat.cells_picture`.
    """
    a, b = heat.laid_out(true, step), heat.laid_out(noisy, step)
    error, linear = b - a, max(1.0, typical)
    # Both panels share one scale, centred at zero, so that a colour means the same count in both.
    bottom, top = min(float(b.min()), 0.0), float(max(a.max(), b.max(), -b.min(), 1.0))
    lowest, reach = float(style.symlog(bottom, linear)), float(style.symlog(top, linear))
    colors = style.theme(dark)
    scale = style.crop(colors.counts, 0.5 + 0.5 * lowest / reach)
    ticks = style.symlog_ticks(bottom, top, linear, most=heat.height(len(a)) // 22)
    shared: dict[str, Any] = {"scale": scale, "low": lowest, "high": reach, "ticks": ticks}
    panels = [heat.Heatmap("True", style.symlog(a, linear), a, write=brief, **shared)]
    if error.any():
        panels.append(heat.Heatmap(word.capitalize(), style.symlog(b, linear), b, write=brief, **shared))
        name = f"Difference, {word} − true"
        panels.append(heat.difference(name, error, brief, "+,.0f", colors, cells=True))
    columns = {"true": true, word: noisy, "difference": noisy - true}
    said = f"{family.title} at {_which(step)}", when, "heatmap", f"counts-{step}"
    return heat.cells_picture(panels, columns, step, *said, dark=dark, **how)


RARE = 1e-8  # smaller probabilities are drawn as if they were this large


def pessimism_of_cells(
    visits: Array,
    released: Array | None,
    penalty: Array,
    Q_hat: Array,
    Q: Array,
    *,
    typical: float,
    n: int,
    step: int | None = None,
    dark: bool = False,
    **how: Any,
) -> Picture:
    """Draw a learner's counts, its penalty, and its values before and after the penalty."""
    colors = style.theme(dark)
    true = heat.laid_out(visits, step)
    told = None if released is None else heat.laid_out(released, step)
    most = float(max(true.max(), 1.0 if told is None else told.max(), 1.0))
    linear = max(1.0, typical)
    ticks = style.symlog_ticks(0.0, most, linear, most=heat.height(len(true)) // 22)
    top = float(style.symlog(most, linear))

    def counts(name: str, values: Array) -> heat.Heatmap:
        z = style.symlog(values, linear)
        return heat.Heatmap(name, z, values, colors.amount, 0.0, top, write=brief, ticks=ticks)

    # Values share one colour scale, up to the largest value; a larger penalty gets the last colour.
    reach = float(max(Q_hat.max(), Q.max(), 1e-9))
    taken = min(reach, float(max(penalty.max(), 1e-9)))

    def worth(name: str, values: Array, top: float) -> heat.Heatmap:
        beyond = "+" if values.max() > top else ""
        ticks = ([0.0, top / 2, top], ["0", rough(top / 2), rough(top) + beyond])
        said: dict[str, Any] = {"form": ".3~g", "write": lambda v: f"{v:.2g}" if v >= 0.005 else "0"}
        z = np.minimum(values, top)
        return heat.Heatmap(name, z, values, colors.amount, 0.0, top, ticks=ticks, **said)

    panels = [counts("n: visits in the data", true)]
    if told is not None:
        panels.append(counts("ñ: visits as released", told))
    panels += [
        worth("Γ: the penalty for uncertainty", heat.laid_out(penalty, step), taken),
        worth("Q̂: value before the penalty", heat.laid_out(Q_hat, step), reach),
        worth("Q: value after the penalty", heat.laid_out(Q, step), reach),
    ]
    columns = {"visits": visits} | ({} if released is None else {"released visits": released})
    columns |= {"penalty": penalty, "Q before": Q_hat, "Q": Q}
    title, subtitle = f"Effect of pessimism at {_which(step)}", f"a data set of {human(n)} trajectories"
    said = title, subtitle, "pessimism", f"pessimism-{step}"
    return heat.cells_picture(panels, columns, step, *said, dark=dark, **how)


def coverage_of_cells(
    behaviour: Array, best: Array, *, step: int | None = None, dark: bool = False, **how: Any
) -> Picture:
    """Draw each state-action pair's probability at each step [H, S, A], in the data and under the best policy."""
    colors = style.theme(dark)
    positive = np.concatenate([values[values > 0] for values in (behaviour, best)])
    low = int(np.floor(np.log10(max(float(positive.min()), RARE))))
    decades = list(range(low, 1, max(1, -low // 4)))
    ticks = ([float(k) for k in decades], [power(10.0**k) for k in decades])

    def shares(name: str, values: Array) -> heat.Heatmap:
        z = np.where(values > 0, np.log10(np.maximum(values, 10.0**low)), np.nan)
        said: dict[str, Any] = {"form": ".3~p", "write": lambda v: f"{100 * v:.2g}%" if v else ""}
        return heat.Heatmap(name, z, values, colors.amount, low - 0.5, 0.0, ticks=ticks, **said)

    panels = [
        shares("Share of the data: d<sup>μ</sup>", heat.laid_out(behaviour, step)),
        shares("The best policy: d*", heat.laid_out(best, step)),
    ]
    columns = {"share of the data": behaviour, "share under the best policy": best}
    title = f"Coverage of the data at {_which(step)}"
    said = title, "share of the trajectories (empty: never visited)", "coverage", f"coverage-{step}"
    return heat.cells_picture(panels, columns, step, *said, dark=dark, **how)


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
    """Draw the confidence set of two weights, with the estimated and the true weights [2].

    The outlines `noisy` and `quiet` [N, 2] are for the same users, with the run's noise and without. `bound` is C_w,
    the maximum length of the weights, drawn as a circle. `near` zooms in on the set, with two different scales.
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
    sets = ("confidence set with noise", noisy), ("confidence set without noise, same users", quiet)
    outlines = {name: outline for name, outline in sets if outline is not None}
    for name, outline in outlines.items():
        color = roles["noisy" if outline is noisy else "true"]
        fill: Trace = {"fill": "toself", "fillcolor": style.translucent(color, 0.14)}
        chart.line(name, outline[:, 0], outline[:, 1], color, **fill)
    if noisy is not None:
        _mark(chart, estimate, "estimate from noisy sums", roles["noisy"], "x")
    _mark(chart, quiet_estimate, "estimate without noise", roles["true"], "circle-open")
    _mark(chart, truth, "true weights", roles["optimal"], "star", 13)
    points = {"estimate": estimate, "estimate without noise": quiet_estimate, "true": truth}
    shapes = outlines | {name: at[None] for name, at in points.items()}
    rows = [
        (name, names[k], shape[:, k].min(), shape[:, k].max())
        for name, shape in shapes.items()
        for k in (0, 1)
    ]
    # Show all weights within C_w or, if `near`, only the confidence sets.
    ends = np.array([[-bound, -bound], [bound, bound]])
    if near and outlines:
        ends = np.clip(np.concatenate([*outlines.values(), truth[None]]), -1.1 * bound, 1.1 * bound)
    low, high = ends.min(0), ends.max(0)
    edge = np.maximum(0.06 * (high - low), 1e-12)
    x_range, y_range = np.column_stack([low - edge, high + edge])
    chart.x(range=list(x_range), nticks=7, tickangle=0)
    chart.y(range=list(y_range), nticks=7)
    if not near:
        chart.x(constrain="domain")
        chart.y(constrain="domain", scaleanchor="x")
    table = pd.DataFrame(rows, columns=["what", "weight", "from", "to"])
    return chart.picture("ellipsoid", see, table, revision=f"ellipsoid-{names}-{near}-{label}")

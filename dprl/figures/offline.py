"""Learning from a data set: gaps over its size, and what pessimism makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dprl.figures import ends, heat, lines, style
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.figures.regret import Curve, distinct, line, table, worst_case
from dprl.words import brief, human, power, rough

Array = NDArray[np.float64]

GAP_ALT = "Line chart of the gap to the best policy against the size of the data set, a curve for each run."
PRICE_ALT = "Line chart of what privacy takes from the low estimate against the size of the data set."
CHARGES_ALT = (
    "Line chart of the penalties on an optimal episode against the size of the data set, for each run."
)
PESSIMISM_ALT = (
    "Heatmaps of a data set's visits, as they were and as released, and of the penalty and values learned."
)
COVERAGE_ALT = "Heatmaps of where the trajectories of a data set go, and where the best policy goes."
LOWER_ALT = "Line chart of the lower bound on what a learned policy is worth, against the privacy budget."
X_TITLE = "Trajectories in the data set, n (one person each)"
FAINT = 1e-5  # of all that there is to lose: a log axis goes no further down
RARE = 1e-8  # chances below it are drawn as this


def gaps(
    curves: Sequence[Curve],
    *,
    shaded: tuple[float, str] | None = None,
    log_y: bool = True,
    show_seeds: bool = False,
    see: str = "",
    dark: bool = False,
    wide: bool = False,
) -> Picture:
    """v* - v^pi over n, the mean of each run with its 95% interval over data sets.

    shaded: up to which n the chart is shaded, and what that range is. wide: see `regret.comparison`.
    """
    names = distinct([curve.label for curve in curves])
    figure = _over_n("How far from the best policy?", "Gap v* − v<sup>π</sup> (reward)", curves, dark)
    most = max((curve.v_star for curve in curves if curve.v_star), default=0.0)
    how: dict[str, Any] = {"log_y": log_y, "show_seeds": show_seeds, "dark": dark}
    note = _draw(figure, curves, names, least=float(f"{FAINT * most:.1g}"), **how)
    worst_case(figure, curves, dark, "v*")
    if wide:
        _label(figure, curves, names, dark)
    if shaded is not None:
        _shade(figure, curves, *shaded, dark)
    figure.update_layout(uirevision=f"gap-{log_y}")
    return Picture(figure, GAP_ALT, " ".join(filter(None, [see, note])), table(names, curves, "mean", "n"))


def prices(
    curves: Sequence[Curve],
    *,
    log_y: bool = True,
    show_seeds: bool = False,
    see: str = "",
    dark: bool = False,
    wide: bool = False,
) -> Picture:
    """V~ of the twin less V~ over n, the mean of each private run, beside a line that falls like 1/n."""
    names = distinct([curve.label for curve in curves])
    figure = _over_n("What privacy takes from the low estimate", "Lower by (reward)", curves, dark)
    note = _draw(figure, curves, names, log_y=log_y, show_seeds=show_seeds, dark=dark)
    guide = next((curve for curve in curves if len(curve.center) and curve.center[-1] > 0), None)
    if guide is not None and log_y:
        last, end = float(guide.center[-1]), float(guide.episodes[-1])
        x = np.geomspace(max(float(guide.episodes[0]), end / 1e4), end, 20)
        figure.add_scatter(
            x=x,
            y=last * end / x,
            mode="lines",
            line={"color": style.theme(dark).roles["bound"], "width": 1.6, "dash": style.BOUND_DASH},
            name="falls like 1/n (Theorem 3.4)",
            hoverinfo="skip",
        )
    if wide:
        _label(figure, curves, names, dark)
    figure.update_layout(uirevision=f"price-{log_y}")
    return Picture(figure, PRICE_ALT, " ".join(filter(None, [see, note])), table(names, curves, "mean", "n"))


def charges(
    runs: Sequence[tuple[str, CurveStyle, Array]],
    n: NDArray[Any],
    v_star: float,
    *,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """What the penalties on an optimal episode add up to over n, for each run: label, look and [C]; beside v*."""
    curves = [
        Curve(
            label,
            kind,
            n,
            values[None],
            values,
            np.full(len(n), np.nan),
            np.full(len(n), np.nan),
            v_star=v_star,
        )
        for label, kind, values in runs
    ]
    names = distinct([curve.label for curve in curves])
    figure = style.base(
        "What pessimism takes from an optimal episode",
        dark=dark,
        height=380 + 18 * len(curves),
        x_title=X_TITLE,
        y_title="Penalties along it (reward)",
        subtitle="from what is expected of a data set",
    )
    note = _draw(figure, curves, names, log_y=True, show_seeds=False, dark=dark)
    worst_case(figure, curves, dark, "v*")
    figure.update_layout(uirevision="charges")
    table = pd.DataFrame({"n": n} | {name: c.center for name, c in zip(names, curves, strict=True)})
    return Picture(figure, CHARGES_ALT, " ".join(filter(None, [see, note])), table)


def lower_bounds(
    rows: Sequence[tuple[float, float]],
    *,
    name: str,
    least: float,
    most: float,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """V~ of an uploaded data set against its budget, between the least and the most that an episode can bring.

    rows: budget and V~, by budget. name: of the budget, one letter.
    """
    budgets, lower = [row[0] for row in rows], [row[1] for row in rows]
    colors = style.theme(dark)
    curator = colors.models["central"][2][1]  # the curator is trusted, as a central agent is
    figure = style.base(
        "What is the learned policy worth, at least?",
        dark=dark,
        height=380,
        x_title=f"Privacy budget {name} (small is private)",
        y_title="Lower bound V~ (reward of an episode)",
        subtitle="one release for each budget",
    )
    figure.add_scatter(
        x=budgets, y=lower, mode="lines+markers", name="V~, released", cliponaxis=False,
        line={"color": curator, "width": 2}, marker={"color": curator, "size": 10},
        hovertemplate=f"{name} = %{{x}}: at least %{{y:.4g}}<extra></extra>",
    )  # fmt: skip
    ends = [min(budgets) / 2, max(budgets) * 2]
    figure.add_scatter(
        x=ends, y=[most, most], mode="lines", name="the most that the declared rewards allow", hoverinfo="skip",
        line={"color": colors.roles["bound"], "width": 1.6, "dash": style.BOUND_DASH},
    )  # fmt: skip
    figure.update_xaxes(type="log", range=[float(np.log10(end)) for end in ends], tickvals=budgets,
                        ticktext=[f"{budget:g}" for budget in budgets])  # fmt: skip
    room = 0.06 * (most - least)
    figure.update_yaxes(range=[least - room, most + room])
    table = pd.DataFrame({name: budgets, "lower bound": lower})
    return Picture(figure, LOWER_ALT, see, table)


def _over_n(title: str, y_title: str, curves: Sequence[Curve], dark: bool) -> Any:
    return style.base(
        title,
        dark=dark,
        height=420 + 18 * len(curves),
        x_title=X_TITLE,
        y_title=y_title,
        subtitle="mean over data sets",
    )


def _draw(figure: Any, curves: Sequence[Curve], names: Sequence[str], **how: Any) -> str:
    note = lines.draw(
        figure,
        [line(curve, name, how["dark"]) for curve, name in zip(curves, names, strict=True)],
        log_x=True,
        x_words=lambda n: f"{human(n)} trajectories",
        over=lines.DATA_SETS,
        **how,
    )
    shown = figure.layout.yaxis.range
    if figure.layout.yaxis.type == "log" and shown and shown[1] - shown[0] > 2:
        figure.update_yaxes(dtick=1)
    return note


def _label(figure: Any, curves: Sequence[Curve], names: Sequence[str], dark: bool) -> None:
    drawn = [line(curve, name, dark) for curve, name in zip(curves, names, strict=True)]
    ends.label(figure, lines.ends(drawn), dark=dark)


def _shade(figure: Any, curves: Sequence[Curve], end: float, words: str, dark: bool) -> None:
    """A range from the left end of the axis, with its name at the top."""
    colors = style.theme(dark)
    begin = min((float(curve.episodes[0]) for curve in curves if len(curve.episodes)), default=1.0)
    figure.add_shape(
        type="rect", x0=begin, x1=end, y0=0, y1=1, yref="paper", layer="below", line={"width": 0},
        fillcolor=style.translucent(colors.roles["bound"], 0.16),
    )  # fmt: skip
    figure.add_annotation(
        x=(np.log10(begin) + np.log10(end)) / 2, y=0.02, yref="paper", yanchor="bottom", text=words,
        showarrow=False, font={"size": 12, "color": colors.muted},
    )  # fmt: skip


def pessimism(
    visits: Array,
    released: Array | None,
    penalty: Array,
    Q_hat: Array,
    Q: Array,
    *,
    typical: float,
    n: int,
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    step: int | None = None,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """What a learner was told of a data set, and what it made of it, each [H, S, A].

    Args:
        visits: true; released: as released, None where visits are not; penalty: Gamma; Q_hat: before it; Q: after it.
        typical: the noise's typical size, up to which the colours of visits are linear.
        step: one h (states across, actions up), or None for all.
    """
    colors = style.theme(dark)
    true = heat.laid_out(visits, step)
    told = None if released is None else heat.laid_out(released, step)
    most = float(max(true.max(), 1.0 if told is None else told.max(), 1.0))
    linear = max(1.0, typical)
    ticks = style.symlog_ticks(0.0, most, linear, most=heat.height(len(true)) // 22)
    top = float(style.symlog(most, linear))

    def count_panel(name: str, values: Array) -> heat.Panel:
        words = np.vectorize(brief, otypes=[object])(values)
        z = style.symlog(values, linear)
        return heat.Panel(name, z, values, colors.amount, 0.0, top, text=words, ticks=ticks, unit=" visits")

    # Values share one scale, up to all that is left to earn; larger penalties are drawn as that.
    reach = float(max(Q_hat.max(), Q.max(), 1e-9))
    taken = min(reach, float(max(penalty.max(), 1e-9)))

    def value_panel(name: str, values: Array, top: float) -> heat.Panel:
        words = np.vectorize(lambda v: f"{v:.2g}" if v >= 0.005 else "0", otypes=[object])(values)
        beyond = "+" if values.max() > top else ""
        ticks = ([0.0, top / 2, top], ["0", rough(top / 2), rough(top) + beyond])
        z = np.minimum(values, top)
        return heat.Panel(name, z, values, colors.amount, 0.0, top, form=".3~g", text=words, ticks=ticks)

    panels = [count_panel("n: visits in the data", true)]
    if told is not None:
        panels.append(count_panel("ñ: visits as released", told))
    panels += [
        value_panel("Γ: the penalty for uncertainty", heat.laid_out(penalty, step), taken),
        value_panel("Q̂: worth before the penalty", heat.laid_out(Q_hat, step), reach),
        value_panel("Q: worth after the penalty", heat.laid_out(Q, step), reach),
    ]
    figure = heat.stacked(
        panels,
        title="Where pessimism bites " + ("at every step" if step is None else f"at step {step}"),
        subtitle=f"a data set of {human(n)} trajectories",
        dark=dark,
        **heat.cell_axes(visits.shape, state_labels, action_labels, step),
    )
    figure.update_layout(uirevision=f"pessimism-{step}")
    columns = {"visits": visits} | ({} if released is None else {"released visits": released})
    columns |= {"penalty": penalty, "Q before": Q_hat, "Q": Q}
    return Picture(figure, PESSIMISM_ALT, see, _cells(columns, state_labels, action_labels, step))


def coverage(
    behaviour: Array,
    best: Array,
    *,
    state_labels: Sequence[str],
    action_labels: Sequence[str],
    step: int | None = None,
    see: str = "",
    dark: bool = False,
) -> Picture:
    """How many of the trajectories pass each state and action, and how many would under the best policy: [H, S, A]."""
    colors = style.theme(dark)
    positive = np.concatenate([values[values > 0] for values in (behaviour, best)])
    low = int(np.floor(np.log10(max(float(positive.min()), RARE))))
    decades = list(range(low, 1, max(1, -low // 4)))
    ticks = ([float(k) for k in decades], [power(10.0**k) for k in decades])

    def panel(name: str, values: Array) -> heat.Panel:
        z = np.where(values > 0, np.log10(np.maximum(values, 10.0**low)), np.nan)
        words = np.vectorize(lambda v: f"{100 * v:.2g}%" if v else "", otypes=[object])(values)
        return heat.Panel(
            name, z, values, colors.amount, low - 0.5, 0.0, form=".3~p", text=words, ticks=ticks
        )

    figure = heat.stacked(
        [
            panel("Share of the data: d<sup>μ</sup>", heat.laid_out(behaviour, step)),
            panel("Of the best policy: d*", heat.laid_out(best, step)),
        ],
        title="Where the data go " + ("at every step" if step is None else f"at step {step}"),
        subtitle="share of the trajectories; empty: never",
        dark=dark,
        **heat.cell_axes(behaviour.shape, state_labels, action_labels, step),
    )
    figure.update_layout(uirevision=f"coverage-{step}")
    columns = {"share of the data": behaviour, "share under the best policy": best}
    return Picture(figure, COVERAGE_ALT, see, _cells(columns, state_labels, action_labels, step))


def _cells(
    columns: dict[str, Array], state_labels: Sequence[str], action_labels: Sequence[str], step: int | None
) -> pd.DataFrame:
    """A row for each (h, s, a) drawn."""
    shape = next(iter(columns.values())).shape
    h, s, a = (index.ravel() for index in np.indices(shape))
    whole = pd.DataFrame(
        {
            "step": h,
            "state": np.asarray(state_labels, object)[s],
            "action": np.asarray(action_labels, object)[a],
            **{name: values.ravel() for name, values in columns.items()},
        }
    )
    return whole if step is None else whole[whole["step"] == step].reset_index(drop=True)

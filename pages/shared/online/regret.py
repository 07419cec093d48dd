"""The chart of regret of online runs, wherever their numbers come from: one curve for each run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import streamlit as st

from dprl import metrics
from dprl.figures import regret as figures
from dprl.figures.lines import Series
from dprl.figures.looks import CurveStyle
from dprl.figures.picture import Picture
from dprl.research.series import series_of
from dprl.runs.status import RunStatus
from dprl.sentences import doubts as words
from dprl.sentences import regret as sentences
from pages.shared.layout.chart import kept, show
from pages.shared.layout.frame import dark, wide
from pages.shared.layout.terms import explained
from pages.shared.results import answers, doubts
from pages.shared.results.runs import ONLINE
from pages.shared.visitor.links import Curve

Row = tuple[
    Curve, CurveStyle, str, RunStatus
]  # a curve, what gives it its look, its title, and how its run stands


def regret_chart(
    rows: Sequence[Row],
    measure: str,
    statistic: metrics.Statistic,
    *,
    log_x: bool,
    log_y: bool,
    each: bool,
) -> None:
    """Draw the chart of these runs, below what cannot be read off it."""
    doubts.tell(
        [*doubts.of_runs([row[0].spec for row in rows]), words.about_negative_prices(below_zero(rows))]
    )
    night, room = dark(), wide()
    baselines = [ONLINE.curves(row[0].spec.baseline()).token for row in rows] if measure == "extra" else []
    best = [answers.v_star(row[0].spec) for row in rows]
    if measure == "share" and not all(best):
        measure = "per-episode"
        st.caption(explained(words.no_share(best)))
    parts = [
        (curve.spec.to_json(), ONLINE.curves(curve.spec).token, kind, title, note(run), value)
        for (curve, kind, title, run), value in zip(rows, best, strict=True)
    ]
    picture = kept(
        ("regret", measure, statistic, log_x, log_y, each, night, room, *baselines, *parts),
        lambda: comparison_picture(
            [curve_of(*row, measure, statistic, v_star=value) for row, value in zip(rows, best, strict=True)],
            view=cast(figures.Measure, measure),
            statistic=statistic,
            log_x=log_x,
            log_y=log_y,
            show_seeds=each,
            dark=night,
            wide=room,
        ),
    )
    show(picture, "regret", group="regret")


def below_zero(rows: Sequence[Row]) -> list[str]:
    """List the titles of finished runs whose price of privacy lies below zero with its whole interval."""
    found = []
    for curve, _, title, _ in rows:
        own, baseline = ONLINE.curves(curve.spec), ONLINE.curves(curve.spec.baseline())
        if (
            curve.spec.privacy != "none"
            and own.done.all()
            and baseline.done.all()
            and len(own.values) == len(baseline.values) > 0
        ):
            found += doubts.below_zero(title, own.ends - baseline.ends)
    return found


def comparison_picture(
    curves: Sequence[Series], *, view: figures.Measure, statistic: metrics.Statistic, **how: bool
) -> Picture:
    """Draw the curves with a sentence about them."""
    see = sentences.about_regret(curves, view, statistic)
    return figures.comparison(curves, view=view, statistic=statistic, see=see, **how)


def curve_of(
    curve: Curve,
    kind: CurveStyle,
    title: str,
    run: RunStatus | None,
    measure: str,
    statistic: metrics.Statistic,
    *,
    v_star: float | None = None,
) -> Series:
    """One curve as the figure wants it.

    Args:
        kind: gives its look.
        run: how it stands, None for one that is finished.
        statistic: of the seeds.
        v_star: the value of an optimal episode, where it is known.
    """
    spec = curve.spec
    baseline = ONLINE.curves(spec.baseline()) if measure == "extra" else None
    return series_of(
        spec,
        ONLINE.curves(spec),
        baseline,
        kind,
        title,
        cast(figures.Measure, measure),
        statistic,
        note="" if run is None else note(run),
        finished=run is None or run.state == "done",
        v_star=v_star,
    )


def note(run: RunStatus) -> str:
    """Return the legend's note on a curve that is not finished."""
    words = {
        "done": "",
        "queued": "waiting",
        "running": f"{run.seeds_done} of {run.seeds} seeds",
        "failed": "failed",
    }
    return words.get(run.state, "stopped")

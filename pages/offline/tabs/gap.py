"""The tab Gap: how far the learned policy is from the best one, against the size of the data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from dprl.figures.lines import Series
from dprl.figures.looks import CurveStyle
from dprl.metrics.curves import RunCurves
from dprl.research.series import gap_picture, gap_series, paper_range, price_picture, price_series
from dprl.runs.status import RunStatus
from dprl.sentences import offline as sentences
from dprl.simulation import OfflineSpec, OfflineTrace
from dprl.tables import escape_formulas
from dprl.words import at_most, count, human, interval, percent, proves
from pages.offline.record import RUNS, WIDGETS, offline
from pages.shared.layout.chart import empty, kept, show
from pages.shared.layout.frame import dark, wide
from pages.shared.layout.terms import explained
from pages.shared.offline import names
from pages.shared.online.regret import note
from pages.shared.results import answers, data
from pages.shared.results.status import awaited

MEASURES = {"gap": "Suboptimality", "price": "Privacy cost in the lower bound"}


def tab() -> None:
    """Draw the chart, and its sentence on the paper's range."""
    specs = offline().specs
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="offline_view"):
        measure = WIDGETS.segments("Chart", "measure", MEASURES)
        with st.popover("Axes and data sets", icon=":material/tune:"):
            log_y = WIDGETS.switch("Logarithmic vertical axis", "y", "log", "linear")
            each = WIDGETS.switch("A line for every data set", "each", "on", "off")
    titles, kinds, night, room = names.titles(specs), names.kinds(specs), dark(), wide()
    if measure == "price":
        prices(specs, titles, kinds, log_y, each, night, room)
        return
    best = best_of(specs)
    rows = list(zip(specs, titles, kinds, strict=True))
    runs = [RUNS.status(spec) for spec in specs]
    if not any(len(RUNS.curves(spec).at) for spec in specs):
        empty(awaited(runs))
        return
    parts = [
        (spec.to_json(), RUNS.curves(spec).token, title, note(run))
        for (spec, title, _), run in zip(rows, runs, strict=True)
    ]
    curves = [
        curve_of(title, kind, RUNS.curves(spec), best, run)
        for (spec, title, kind), run in zip(rows, runs, strict=True)
    ]
    shaded = paper_range(specs)
    picture = kept(
        ("gap", log_y, each, night, room, best, shaded, *parts),
        lambda: gap_picture(specs, curves, best, log_y=log_y, show_seeds=each, dark=night, wide=room),
    )
    show(picture, "offline_gap")
    what_if(specs, curves, best)
    if shaded is not None:
        free = {spec.baseline() for spec in specs if as_in_paper(spec)}
        baselines = [c for c, spec in zip(curves, specs, strict=True) if spec in free]
        said = sentences.range_of_the_paper(
            [c for c, spec in zip(curves, specs, strict=True) if as_in_paper(spec)],
            baselines[0] if baselines else None,
            int(shaded[0]),
        )
        if said:
            st.info(explained(said), icon=":material/straighten:")


def as_in_paper(spec: OfflineSpec) -> bool:
    """Whether this is a run of the paper's figure."""
    return "features" in spec.learner.public and spec.calibration == "paper"


def what_if(specs: Sequence[OfflineSpec], curves: Sequence[Series], best: float | None) -> None:
    """Every run at one size that the visitor chooses, in numbers."""
    done = [(spec, curve) for spec, curve in zip(specs, curves, strict=True) if curve.complete]
    sizes = sorted({int(n) for _, curve in done for n in curve.x})
    if not sizes:
        return
    worst = done[names.most_private([spec for spec, _ in done])][1]
    short = worst.x[worst.center > sentences.CLOSE * (best or np.inf)]
    usual = int(short[-1]) if len(short) else sizes[-1]
    words = [count(n) for n in sizes]
    n = WIDGETS.steps("Table at n trajectories", "n", sizes, words, otherwise=usual)
    rows = []
    for spec, curve in done:
        at = np.flatnonzero(curve.x == n)
        if len(at):
            gap, low, high = (float(values[at[0]]) for values in (curve.center, curve.low, curve.high))
            measured = human(gap) if human(low) == human(high) else interval(human(gap), max(low, 0.0), high)
            row = {"run": curve.label, "suboptimality": measured}
            if best:
                row |= {"share of v*": percent(gap / best)}
            rows.append(row | {"proved": proved_cell(spec)})
    st.dataframe(
        escape_formulas(pd.DataFrame(rows)),
        hide_index=True,
        width="stretch",
        key="what_if",
        column_config={
            "share of v*": st.column_config.Column(width=110),
            "proved": st.column_config.Column(width=240),
        },
    )


def proved_cell(spec: OfflineSpec) -> str:
    """Write the noise's proved guarantee for a cell."""
    if not spec.calibration:
        return "nothing"
    card = answers.guarantee(spec)
    if card is None:
        return "in a moment"
    if card.proved_epsilon is None:
        return ""
    return f"ρ = {at_most(card.proved_rho or 0.0)}, (ε, δ) = {proves(card.proved_epsilon, card.proved_delta or 0.0)}"


def best_of(specs: Sequence[OfflineSpec]) -> float | None:
    """v* of the problem, where they share one and it is known."""
    found = answers.v_star(specs[0]) if len({problem(spec) for spec in specs}) == 1 else None
    return found if isinstance(found, float) else None


def problem(spec: OfflineSpec) -> str:
    """Return the settings that v* depends on."""
    return f"{spec.environment} {dict(spec.environment_params)}"


def curve_of(title: str, kind: CurveStyle, one: RunCurves, best: float | None, run: RunStatus) -> Series:
    """One run as the figure wants it."""
    return gap_series(title, kind, one, best, note=note(run), finished=run.state == "done")


def lower(spec: OfflineSpec) -> NDArray[np.float64] | None:
    """[seeds, C] the lower bound V~ of a finished run."""
    known: RunCurves = RUNS.curves(spec)
    if known.lower is not None:
        return known.lower
    if RUNS.status(spec).state != "done":
        return None
    traces = [cast("OfflineTrace | None", data.trace(spec, seed)) for seed in range(spec.seeds)]
    rows = [trace.lower for trace in traces if trace is not None]
    return np.array(rows) if len(rows) == spec.seeds else None


def prices(
    specs: Sequence[OfflineSpec],
    titles: Sequence[str],
    kinds: Sequence[CurveStyle],
    log_y: bool,
    each: bool,
    night: bool,
    room: bool,
) -> None:
    """V~ without noise less V~, on the same data sets."""
    shown, curves = [], []
    for spec, title, kind in zip(specs, titles, kinds, strict=True):
        baseline = spec.baseline()
        if baseline == spec or baseline not in specs:
            continue
        own, free = lower(spec), lower(baseline)
        if own is None or free is None:
            continue
        shown.append(spec)
        curves.append(price_series(title, kind, RUNS.curves(spec).at, own, free))
    if not curves:
        empty(
            "This chart compares finished private runs with the same algorithm without privacy. Add that "
            "algorithm in the settings and press Run."
        )
        return
    st.caption(
        explained(
            "V~ is an algorithm's own lower bound on the value of its policy. The private and the "
            "non-private algorithm learn from the same data sets. The privacy cost is how much lower V~ is "
            "with privacy."
        )
    )
    picture = kept(
        (
            ("offline-price", log_y, each, night, room),
            *((s.to_json(), c.label, c.rows.tobytes()) for s, c in zip(shown, curves, strict=True)),
        ),
        lambda: price_picture(shown, curves, log_y=log_y, show_seeds=each, dark=night, wide=room),
    )
    show(picture, "offline_price")

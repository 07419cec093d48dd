"""The tabs about all runs: Suboptimality against the size of the data set, Guarantee, and Data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from dprl.figures.lines import Series
from dprl.figures.looks import CurveStyle
from dprl.metrics.curves import RunCurves
from dprl.research.series import gap_picture, gap_series, paper_range
from dprl.runs.status import RunStatus
from dprl.sentences import offline as sentences
from dprl.sentences import promise as said
from dprl.simulation import OfflineSpec
from dprl.tables import escape_formulas
from dprl.words import at_most, count, human, interval, percent, proves
from pages.offline import names
from pages.offline.cells import chosen_spec
from pages.offline.record import RUNS, offline
from pages.shared.controls import view
from pages.shared.layout.chart import empty, kept, show
from pages.shared.layout.frame import wide
from pages.shared.layout.terms import explained
from pages.shared.results import answers
from pages.shared.results.again import files, make_again, tidy
from pages.shared.results.guarantee import promised
from pages.shared.results.status import awaited, note
from pages.shared.text import escape


def gap_tab() -> None:
    """Draw the chart with its sentence about the paper's range."""
    specs = offline().specs
    with st.popover("Axes and data sets", icon=":material/tune:"):
        log_y = view.switch(offline(), "Logarithmic vertical axis", "y", "log", "linear")
        each = view.switch(offline(), "A line for every data set", "each", "on", "off")
    titles, kinds, room = names.titles(specs), names.kinds(specs), wide()
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
        ("gap", log_y, each, room, best, shaded, *parts),
        lambda night: gap_picture(specs, curves, best, log_y=log_y, show_seeds=each, dark=night, wide=room),
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
    """Return whether this is a run of the kind in the paper's figure."""
    return "features" in spec.learner.public and spec.calibration == "paper"


def what_if(specs: Sequence[OfflineSpec], curves: Sequence[Series], best: float | None) -> None:
    """Draw a table of all finished runs at one size that the visitor chooses."""
    done = [(spec, curve) for spec, curve in zip(specs, curves, strict=True) if curve.complete]
    sizes = sorted({int(n) for _, curve in done for n in curve.x})
    if not sizes:
        return
    worst = done[names.most_private([spec for spec, _ in done])][1]
    short = worst.x[worst.center > sentences.CLOSE * (best or np.inf)]
    usual = int(short[-1]) if len(short) else sizes[-1]
    n = view.steps(offline(), "Table at n trajectories", "n", sizes, count, otherwise=usual)
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
    """Write the proved guarantee for a cell of the table."""
    if not spec.calibration:
        return "nothing"
    card = answers.guarantee(spec)
    if card is None:
        return "not known yet"
    if card.proved_epsilon is None:
        return ""
    return f"ρ = {at_most(card.proved_rho or 0.0)}, (ε, δ) = {proves(card.proved_epsilon, card.proved_delta or 0.0)}"


def best_of(specs: Sequence[OfflineSpec]) -> float | None:
    """Return v* if all runs have the same problem and it is known, else None."""
    found = answers.v_star(specs[0]) if len({problem(spec) for spec in specs}) == 1 else None
    return found if isinstance(found, float) else None


def problem(spec: OfflineSpec) -> str:
    """Return the settings that determine v*, as a text."""
    return f"{spec.environment} {dict(spec.environment_params)}"


def curve_of(title: str, kind: CurveStyle, one: RunCurves, best: float | None, run: RunStatus) -> Series:
    """Return one run's curve for the figure."""
    return gap_series(title, kind, one, best, note=note(run), finished=run.state == "done")


def guarantee_tab() -> None:
    """Draw the guarantee of every run, side by side. Everything follows from the specs."""
    specs = offline().specs
    with st.expander("What do (ε, δ) and ρ mean?", icon=":material/help:"):
        st.markdown(said.OFFLINE)
    grid = st.grid("auto", min_column_width=330)
    for i, (spec, title) in enumerate(zip(specs, names.titles(specs), strict=True)):
        with grid.cell(), st.container(border=True, height="stretch"):
            st.markdown(f"## {escape(title)}", anchors=False)
            promised(spec, i)


def data_tab() -> None:
    """Draw downloads for the whole comparison, then the spec, code and command of one run."""
    specs = offline().specs
    titles = names.titles(specs)
    table = tidy(titles, [RUNS.curves(spec) for spec in specs], "n", "gap")
    best = best_of(specs)
    drawn = [
        (spec, curve_of(title, kind, RUNS.curves(spec), best, RUNS.status(spec)))
        for spec, title, kind in zip(specs, titles, names.kinds(specs), strict=True)
        if RUNS.curves(spec).begun
    ]
    files(
        "gap",
        "The suboptimality of every run, for every data set of every size n.",
        table,
        specs,
        "Suboptimality, compared",
        lambda: gap_picture([spec for spec, _ in drawn], [curve for _, curve in drawn], best, dark=False),
    )
    st.markdown("## Reproduce it without this page", anchors=False)
    make_again(specs[chosen_spec()])

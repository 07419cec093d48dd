"""Trade-offs: the privacy cost against epsilon, the number of users, and the size of the environment."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.fields import SpecError
from dprl.figures import tradeoff as figures
from dprl.learners import ALGORITHMS
from dprl.messages import filled
from dprl.metrics.curves import RunCurves
from dprl.research import SweepResult
from dprl.research.frontiers import AXES, SYMBOLS
from dprl.sentences import price as sentences
from dprl.simulation import FIELDS, RunSpec
from dprl.simulation.axes import PrivacyChoice
from dprl.simulation.spec import DEFAULT_DELTA
from dprl.tables import csv
from dprl.words import plural
from pages.shared.controls import panel
from pages.shared.controls.launch import described, offer
from pages.shared.controls.noise import HELP, epsilon_slider
from pages.shared.controls.widgets import (
    choose_several,
    exact,
    locked,
    pills,
    segments,
    select,
    setter,
    values_field,
)
from pages.shared.layout.chart import empty, kept, save, save_chart, save_citations, show
from pages.shared.layout.frame import redrawn, wide
from pages.shared.layout.head import common, head, share
from pages.shared.results import status
from pages.shared.results.status import PACE, awaited
from pages.shared.visitor.callbacks import into, keyed
from pages.shared.visitor.draft import spec_from
from pages.shared.visitor.links import STATISTICS, values_text
from pages.shared.visitor.state import read_address, session, write_address
from pages.tradeoffs import charts
from pages.tradeoffs import study as studies
from pages.tradeoffs.charts import ends, needed
from pages.tradeoffs.study import RUNS, SAID, SweepView, start_sweep, trade

COMMAND = "python -m dprl sweep --spec sweep.json --out results"


def main() -> None:
    t = trade()
    read_address(t)
    with st.sidebar:
        panel.sidebar(controls, sweep_box)
    corner = head(t)
    common(t.view.common)
    busy = bool(RUNS.progress(charts.wanted(t.view)).active)
    redrawn(partial(draw_sweep, corner), PACE if busy else None)


def draw_sweep(corner: DeltaGenerator, live: bool) -> None:
    """Draw the progress and the chart, and redraw them until the last run has ended."""
    t = trade()
    study = t.view
    runs = charts.wanted(study)
    if study.show == "users" and t.asked:
        studies.go_on(runs)
    now = RUNS.progress(runs)
    if live != bool(now.active):
        st.rerun()
    questions(study)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="trade_view"):
        segments("Chart", "show", studies.SHOWS, study.show, lambda to: choose(show=to))
        if study.show != "users":  # the search for users compares only means
            words = {str(statistic): statistic.capitalize() for statistic in STATISTICS}
            segments(
                "Average over seeds", "statistic", words, study.statistic, lambda to: choose(statistic=to)
            )
            bounds = keyed("bounds", lambda on: choose(bounds="on" if on else "off"))
            st.toggle("Proved bounds", study.bounds == "on", help=HELP["bounds"], **bounds)
    for refusal in charts.refusals(study):
        st.caption(f":material/info: {refusal}")
    RUNS.strip(now, start_sweep, partial(into(t, "asked"), False))
    chart = needed if study.show == "users" else frontier_chart
    chart(study)
    with corner:
        share(t)


def questions(study: SweepView) -> None:
    """Draw buttons for ready-made studies with the current settings."""
    s, t = session(), trade()

    def asked(words: str) -> None:
        base = study.base if s.draft == t.first_draft else base_of_controls()
        found = studies.questions(base)
        studies.show_study(found.get(words, next(iter(found.values()))))
        start_sweep()
        write_address(t)
        st.rerun()

    offered = list(studies.questions(study.base))
    pills("Questions", "questions", offered, studies.question_of(study), asked)


def choose(**changes: Any) -> None:
    """Choose another measure or statistic, or show the bounds."""
    t = trade()
    t.change(**changes)
    if t.asked:
        start_sweep()
    st.rerun()


def frontier_chart(study: SweepView) -> None:
    curves = charts.frontiers(study)
    if not any(np.isfinite(c.center).any() for c in curves):
        said = SAID["impossible"]
        if charts.drawn_models(study):
            specs = study.sweep.specs
            said = awaited(map(RUNS.status, specs), specs)
        elif study.show == "price" and study.models == ("none",):
            said = SAID["free"]
        empty(said)
        return
    status.tell_doubts(charts.doubts_of(study))
    bounds, theorems = charts.proved(study)
    growth, room = charts.growth(study), wide()
    of: tuple[Any, str] = study.show, SYMBOLS.get(study.x, study.x)
    see = sentences.about_growth(growth) or sentences.about_frontier(curves, *of)
    axis = AXES.get(study.x, study.x)
    drawn = partial(
        figures.frontier,
        curves,
        measure=of[0],
        axis=axis[0].upper() + axis[1:],
        symbol=of[1],
        statistic=study.statistic,
        bounds=bounds,
        see=f"{see} {SAID['slopes']}" if bounds else see,
    )
    values = b"".join(part.tobytes() for c in curves for part in (c.center, c.seeds, c.worst))
    key = ("frontier", study, tuple(growth), room, values)
    how = sentences.how_frontier(curves, *of, [*sentences.how_growth(growth), *theorems], study.statistic)
    show(
        kept(key, lambda night: drawn(dark=night, wide=room)),
        "frontier",
        how=how,
        files=partial(downloads, study, drawn),
    )


def downloads(study: SweepView, draw: Any) -> None:
    """Draw downloads of all numbers, the settings, the sources to cite, and the chart, which `draw` returns."""
    sweep, title = study.sweep, f"{studies.SHOWS[study.show]} against {AXES.get(study.x, study.x)}"
    final = {spec: RunCurves(np.array([spec.size]), ends(spec)[:, None]) for spec in sweep.specs}
    with st.container(horizontal=True, gap="small"):
        save_chart("sweep", title, draw)
        save("sweep.csv", "CSV, every seed", lambda: csv(SweepResult(sweep, final).frame().dropna()))
        settings = partial(json.dumps, sweep.to_dict(), indent=2)
        save("sweep.json", "Settings (JSON)", settings)
        save_citations(sweep.specs)
    st.caption(SAID["command"])
    st.code(COMMAND, language="bash", wrap_lines=True)


def controls() -> DeltaGenerator:
    """Draw all controls. Return the container for the list of models that cannot be run."""
    s, t = session(), trade()
    panel.environment(s)
    panel.learner(s)
    models = studies.offered_models(s.draft.algorithm)
    t.models = [m for m in t.models if m in models] or models[:1]
    named = {m: PrivacyChoice.parse(m).title for m in models}
    store, most = into(t, "models"), studies.MOST_MODELS
    choose_several("Compare", "models", models, t.models, store, named.__getitem__, HELP["models"], most)
    left_out = st.container(gap="xsmall")
    axis(t)
    if t.x != "epsilon":
        epsilon_slider(s, SAID["epsilon"])
    if t.x != "episodes":
        panel.size_controls(s)
    delta = s.draft.delta if s.draft.delta is not None else DEFAULT_DELTA
    exact("Privacy budget δ", "delta", FIELDS["delta"], delta, setter("delta"))
    panel.environment_parameters(s)
    panel.more(s, along=t.x)
    return left_out


def axis(t: studies.SweepPageState) -> None:
    """Draw the menu for the horizontal axis and the field for its values."""
    s = session()
    try:
        base = base_of_controls()
    except SpecError:
        base = studies.DEFAULT.base
    offered = studies.axes(base)
    if t.x not in offered:
        t.x = studies.DEFAULT.x

    def chosen(x: str) -> None:
        t.x = x
        s.version += 1

    select("Horizontal axis", {x: AXES.get(x, x) for x in offered}, t.x, chosen, name="against")
    values_field(
        "Values",
        f"Values:{t.x}",
        t.values.setdefault(t.x, values_text(studies.default_values(base, t.x))),
        lambda values: t.values.update({t.x: values}),
        lambda text: studies.parse_values(base, t.x, text),
        filled(SAID["values"], most=studies.MOST_VALUES),
        locked("against") or locked(t.x),
    )


def base_of_controls() -> RunSpec:
    """Return the settings that are constant along the axis. Raises SpecError if one is not allowed."""
    draft = session().draft
    private = [p for p in ALGORITHMS[draft.algorithm].privacies if p != "none"]
    return spec_from(
        replace(draft, privacy=private[0] if private else "none", mechanism=None, calibration=None)
    )


def sweep_box(left_out: DeltaGenerator) -> None:
    """Describe what Run will do, and draw the button. Reasons too long for this box go into `left_out`."""
    t = trade()

    def made() -> SweepView:
        base = base_of_controls()
        values = studies.parse_values(base, t.x, t.values[t.x])
        return replace(t.view, base=base, models=tuple(t.models), x=t.x, values=values)

    study, refusal = described(made)
    specs = study.sweep.specs if study else []
    refused = [refusal]
    if study is not None:
        for sentence in charts.refusals(study):
            left_out.caption(f":red[{sentence}]")
        if not specs:
            refused.append(SAID["refused"])

    def run(study: SweepView) -> None:
        t.put(view=study)
        start_sweep()

    def amount(runs: Sequence[RunSpec]) -> str:
        return f"{plural(len(runs), 'run')}, {plural(sum(spec.seeds for spec in runs), 'seed')} in all"

    # a search for users chooses its next runs itself, so nobody knows what it lacks
    lacking = partial(RUNS.missing, specs) if specs and t.view.show != "users" else lambda: None
    shown = specs == t.view.sweep.specs
    offer(study, run, lacking, amount, refused, studies.DEFAULT.base, reset, shown=shown)


def reset() -> Callable[[], None]:
    """Reset the compared models and the axis. Return a function that undoes this."""
    t = trade()
    before = {name: getattr(t, name) for name in ("models", "x", "values")}
    t.values = {}
    studies.set_controls(studies.DEFAULT)
    return lambda: vars(t).update(before)


main()

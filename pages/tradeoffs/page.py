"""Trade-offs: the privacy cost against epsilon, the number of users, and the size of the problem. The constant settings
are those of Online; the models and the axis come in addition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.fields import SpecError
from dprl.learners import ALGORITHMS
from dprl.research.frontiers import AXES
from dprl.simulation import FIELDS, RunSpec
from dprl.simulation.axes import PrivacyChoice
from dprl.simulation.spec import DEFAULT_DELTA
from dprl.words import plural
from pages.shared.controls import panel
from pages.shared.controls.launch import described, offer
from pages.shared.controls.noise import epsilon_slider
from pages.shared.controls.widgets import (
    choose_several,
    exact,
    locked,
    segments,
    select,
    setter,
    values_field,
)
from pages.shared.layout.frame import redrawn
from pages.shared.layout.head import common, head, share
from pages.shared.results.status import PACE
from pages.shared.visitor.callbacks import into, keyed
from pages.shared.visitor.draft import spec_from
from pages.shared.visitor.links import STATISTICS, values_text
from pages.shared.visitor.state import read_address, session, write_address
from pages.tradeoffs import state as trade
from pages.tradeoffs import study as studies
from pages.tradeoffs.charts import frontier_chart, needed
from pages.tradeoffs.state import SweepPageState
from pages.tradeoffs.study import MOST_MODELS, MOST_VALUES, SHOWS, SweepView


def main() -> None:
    t = trade.trade()
    read_address(t)
    with st.sidebar:
        panel.sidebar(controls, sweep_box)
    corner = head(t)
    common(t.study.common)
    busy = bool(trade.RUNS.progress(trade.wanted(t.study)).active)
    redrawn(partial(draw_sweep, corner), PACE if busy else None)


def draw_sweep(corner: DeltaGenerator, live: bool) -> None:
    """Draw the progress and the chart; redraw until the last run has ended."""
    t = trade.trade()
    study = t.study
    runs = trade.wanted(study)
    if study.show == "users" and t.asked:
        trade.go_on(runs)
    state = trade.RUNS.progress(runs)
    if live != bool(state.active):
        st.rerun()
    questions(study)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="trade_view"):
        segments("Chart", "show", SHOWS, study.show, choose_show)
        if study.show != "users":  # the search for users compares means only
            words = {str(statistic): statistic.capitalize() for statistic in STATISTICS}
            segments("Average over seeds", "statistic", words, study.statistic, partial(choose, "statistic"))
            st.toggle(
                "Proved bounds",
                study.bounds == "on",
                **keyed("bounds", lambda on: choose("bounds", "on" if on else "off")),
                help="The papers' bounds, dotted, with constants and logarithms set to 1. The bounds assume one "
                "episode per user.",
            )
    for refusal in trade.refusals(study):
        st.caption(f":material/info: {refusal}")
    if study.show == "users":
        needed(study, state)
    else:
        trade.strip(state)
        frontier_chart(study)
    with corner:
        share(t)


def questions(study: SweepView) -> None:
    """Draw buttons for ready-made studies with the current settings."""
    s, t = session(), trade.trade()

    def asked(words: str | None) -> None:
        base = study.base if s.draft == t.first_draft else base_of_controls()
        found = studies.questions(base)  # a second click deselects a question, which then opens it again
        trade.show_study(found.get(words or studies.question_of(study) or "", next(iter(found.values()))))
        trade.start_sweep()
        write_address(t)
        st.rerun()

    st.pills(
        "Questions",
        list(studies.questions(study.base)),
        default=studies.question_of(study),
        label_visibility="collapsed",
        **keyed("questions", asked),
    )


def choose_show(to: str) -> None:
    """Choose the measure of the chart."""
    t = trade.trade()
    begun = t.asked
    trade.change_sweep_view(show=to)
    if begun:
        trade.start_sweep()
    st.rerun()


def choose(name: str, value: Any) -> None:
    """Choose another statistic, or show the bounds."""
    trade.change_sweep_view(**{name: value})
    st.rerun()


def controls() -> DeltaGenerator:
    """Draw all controls; return the container below the models that lists the models that cannot be run."""
    s, t = session(), trade.trade()
    panel.environment(s)
    panel.learner(s)
    models_menu(t)
    left_out = st.container(gap="xsmall")
    axis(t)
    if t.x != "epsilon":
        epsilon_slider(s, "The privacy budget of each model. A smaller ε needs more users.")
    if t.x != "episodes":
        panel.size_controls(s)
    delta = s.draft.delta if s.draft.delta is not None else DEFAULT_DELTA
    exact("Privacy budget δ", "delta", FIELDS["delta"], delta, setter("delta"))
    panel.environment_parameters(s)
    panel.more(s, along=t.x)
    return left_out


def models_menu(t: SweepPageState) -> None:
    """Draw the menu of models."""
    offered = studies.offered_models(session().draft.algorithm)
    t.models = [m for m in t.models if m in offered] or offered[:1]
    choose_several(
        "Compare",
        "models",
        offered,
        t.models,
        into(t, "models"),
        lambda text: PrivacyChoice.parse(text).title,
        "Each privacy model with its default mechanism, or one mechanism in particular. Noise is "
        "calibrated to (ε, δ), or as in the paper. Scaled noise has the paper's form, and we prove (ε, 0) for it.",
        MOST_MODELS,
    )


def axis(t: SweepPageState) -> None:
    """Draw the menu of the horizontal axis, and the field of its values."""
    s = session()
    try:
        base = base_of_controls()
    except SpecError:
        base = studies.DEFAULT.base
    offered = tuple(studies.axes(base))
    if t.x not in offered:
        t.x = studies.DEFAULT.x

    def chosen(x: str) -> None:
        t.x = x
        s.version += 1

    def typed(values: str) -> None:
        t.values[t.x] = values

    select("Horizontal axis", offered, t.x, chosen, {x: AXES.get(x, x) for x in offered}, name="against")
    values_field(
        "Values",
        f"Values:{t.x}",
        t.values.setdefault(t.x, values_text(studies.default_values(base, t.x))),
        typed,
        lambda text: studies.parse_values(base, t.x, text),
        f"Up to {MOST_VALUES} values of the horizontal axis, separated by commas.",
        locked("against") or locked(t.x),
    )


def base_of_controls() -> RunSpec:
    """Return the settings that are constant along the axis. Raises SpecError if one is not allowed."""
    draft = session().draft
    private = [p for p in ALGORITHMS[draft.algorithm].privacies if p != "none"]
    return spec_from(
        replace(draft, privacy=private[0] if private else "none", mechanism=None, calibration=None)
    )


def study_of(t: SweepPageState) -> tuple[SweepView | None, str]:
    """Return the study that the controls describe, or None and the reason."""

    def made() -> SweepView:
        base = base_of_controls()
        values = studies.parse_values(base, t.x, t.values[t.x])
        return replace(t.study, base=base, models=tuple(t.models), x=t.x, values=values)

    return described(made)


def sweep_box(left_out: DeltaGenerator) -> None:
    """Describe what Run will do, and draw the button. left_out: the container for the reasons why something cannot be
    run, which may be too long for this box."""
    study, refusal = study_of(trade.trade())
    specs = study.sweep.specs if study else []
    refused = [refusal]
    if study is not None:
        for sentence in trade.refusals(study):
            left_out.caption(f":red[{sentence}]")
        if not specs:
            refused.append("None of these runs is possible; the reasons are below the models.")
    offer(
        study,
        run_sweep,
        lambda: trade.missing(specs) if specs else None,
        amount,
        refused,
        studies.DEFAULT.base,
        reset,
    )


def amount(runs: Sequence[RunSpec]) -> str:
    """Describe the cost of runs."""
    return f"{plural(len(runs), 'run')}, {plural(sum(spec.seeds for spec in runs), 'seed')} in all"


def run_sweep(study: SweepView) -> None:
    """Show the study and request its missing runs."""
    trade.trade().put(study=study, picked=None)
    trade.start_sweep()


def reset() -> Callable[[], None]:
    """Reset the compared models and the axis. Returns a function that undoes this."""
    t = trade.trade()
    before = {name: getattr(t, name) for name in ("models", "x", "values")}
    t.values = {}
    trade.set_controls(studies.DEFAULT)
    return lambda: vars(t).update(before)


main()

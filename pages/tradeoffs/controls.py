"""The controls of Trade-offs: those of Explore for what stays the same, and what is compared along which axis."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.fields import SpecError
from dprl.learners import ALGORITHMS
from dprl.simulation import FIELDS, RunSpec, estimate
from dprl.simulation.axes import Model
from dprl.simulation.spec import DEFAULT_DELTA
from dprl.words import duration, plural
from pages.shared.controls import panel as controls
from pages.shared.controls.launch import buttons
from pages.shared.controls.widgets import complaint, exact, select
from pages.shared.layout.frame import guarded
from pages.shared.results.data import workers
from pages.shared.text import escape
from pages.shared.values import written
from pages.shared.visitor.callbacks import on_value
from pages.shared.visitor.draft import spec_from
from pages.shared.visitor.state import session, write_address
from pages.tradeoffs import state as trade
from pages.tradeoffs import study as studies
from pages.tradeoffs.state import Trade
from pages.tradeoffs.study import MOST_MODELS, Study

AXES = {
    "epsilon": "privacy budget ε",
    "episodes": "number of users K",
    "H": "horizon H",
    "S": "number of states S",
}


@st.fragment
@guarded
def panel() -> None:
    """All controls, the estimate and the Run button. Moving one redraws the controls only."""
    s, t = session(), trade.trade()
    s.wrong.clear()
    with st.container(key="controls", gap="small"):
        controls.environment(s)
        controls.learner(s)
        compared(t)
        left_out = st.container(gap="xsmall")
        axis(t)
        if t.x != "epsilon":
            controls.budget(s, "The same for all models.")
        if t.x != "episodes":
            controls.size(s)
        delta = s.draft.delta if s.draft.delta is not None else DEFAULT_DELTA
        exact("Privacy budget δ", "delta", FIELDS["delta"], delta, controls.setter("delta"))
        complaint("delta")
        controls.more(s)
    with st.container(key="run_box", gap="xsmall"):
        run_box(t, left_out)


def compared(t: Trade) -> None:
    """Which models."""
    offered = trade.offered(session().draft.algorithm)
    t.models = [m for m in t.models if m in offered] or offered[:1]
    key = f"{session().version}:models:{len(offered)}"

    def chosen(models: list[str]) -> None:
        t.models = list(models)

    st.multiselect(
        "Compare",
        offered,
        t.models,
        key=key,
        format_func=lambda text: Model.parse(text).title,
        max_selections=MOST_MODELS,
        on_change=on_value(key, chosen),
        placeholder="privacy models",
        help="Each privacy model with its default mechanism, or one mechanism in particular: with the least noise that "
        "proves (ε, δ), with the noise a paper prints, or with that scaled until it proves (ε, 0).",
    )


def axis(t: Trade) -> None:
    """What it is compared against, and at which values."""
    s = session()
    try:
        base = base_of(t)
    except SpecError:
        base = studies.BASE_SPEC
    offered = tuple(studies.axes(base))
    if t.x not in offered:
        t.x = "epsilon"

    def chosen(x: str) -> None:
        t.x = x
        s.version += 1

    select("Against", offered, t.x, chosen, {x: AXES.get(x, x) for x in offered})
    key = f"{s.version}:values:{t.x}"
    text = t.values.setdefault(t.x, written(studies.default_values(base, t.x)))

    def typed(values: str) -> None:
        t.values[t.x] = values

    st.text_input(
        "Values",
        text,
        key=key,
        max_chars=400,
        on_change=on_value(key, typed),
        help="Separated by commas, up to 16.",
    )
    try:
        studies.parse_values(base, t.x, t.values[t.x])
    except SpecError as error:
        s.wrong["values"] = str(error)
    complaint("values")


def base_of(t: Trade) -> RunSpec:
    """What does not change, from the controls. Raises SpecError."""
    s = session()
    private = [p for p in ALGORITHMS[s.draft.algorithm].privacies if p != "none"]
    return spec_from(
        replace(s.draft, privacy=private[0] if private else "none", mechanism=None, calibration=None)
    )


def study_of(t: Trade) -> tuple[Study | None, str]:
    """The study that the controls describe, or the sentence that says why there is none."""
    if session().wrong:
        return None, "Mend the value marked in red first."
    try:
        base = base_of(t)
        values = studies.parse_values(base, t.x, t.values[t.x])
        return Study(base, tuple(t.models), t.x, values, t.study.show, t.study.share, t.study.statistic), ""
    except SpecError as error:
        return None, str(error)


def run_box(t: Trade, left_out: DeltaGenerator) -> None:
    """What pressing Run will do, and the button; in `left_out`, beside the models, what cannot be run and why: that may
    be long, and this box lies over the settings."""
    study, refusal = study_of(t)
    if refusal:
        st.caption(f":red[{escape(refusal)}]")
    if study is not None:
        for sentence in trade.refusals(study):
            left_out.caption(f":red[{sentence}]")
        lacking = trade.missing(study.sweep.specs)
        seeds = sum(spec.seeds for spec in lacking)
        seconds = sum(estimate(spec).seconds * spec.seeds for spec in lacking) / workers()
        if lacking:
            st.caption(
                f"{plural(len(lacking), 'run')}, {plural(seeds, 'seed')} in all: {duration(seconds)} once started."
            )
        elif study.sweep.specs:
            st.caption("Computed before: it appears at once.")
        else:
            st.caption(":red[None of this can be run: the reasons are below the models.]")
    buttons(
        "Run" if study is None or trade.missing(study.sweep.specs) else "Show",
        run,
        study,
        studies.DEFAULT.base,
        also=reset,
    )


def run(study: Study) -> None:
    """Shows the study and asks for what is missing of it."""
    t = trade.trade()
    t.study, t.picked, t.problems = study, None, ()
    trade.start()
    write_address(t)


def reset() -> None:
    """What is compared, and along which axis, as at first."""
    t = trade.trade()
    t.models, t.x = list(studies.DEFAULT.models), studies.DEFAULT.x
    t.values.clear()

"""The controls of Trade-offs: those of Explore for what stays the same, and what is compared along which axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.fields import SpecError
from dprl.learners import ALGORITHMS, OFFLINE
from dprl.research.frontiers import AXES, SYMBOLS
from dprl.simulation import FIELDS, OfflineSpec, RunSpec, Spec
from dprl.simulation.axes import PrivacyChoice
from dprl.simulation.table import DEFAULT_DELTA
from dprl.words import plural
from pages.shared.controls import panel
from pages.shared.controls.launch import described, offer
from pages.shared.controls.noise import epsilon_slider
from pages.shared.controls.several import choose_several, values_field
from pages.shared.controls.widgets import complaint, exact, into, locked, select, setter
from pages.shared.offline import controls as of_data
from pages.shared.offline import settings as offline_settings
from pages.shared.values import values_text
from pages.shared.visitor.draft import spec_from
from pages.shared.visitor.state import Session, session, write_address
from pages.tradeoffs import state as trade
from pages.tradeoffs import study as studies
from pages.tradeoffs.online import offered_models as offered_models
from pages.tradeoffs.state import SweepPageState
from pages.tradeoffs.study import MOST_MODELS, MOST_VALUES, SweepView
from pages.tradeoffs.subject import SUBJECTS


def controls() -> DeltaGenerator:
    """All controls; the place below the models, for what of them cannot be run."""
    t = trade.trade()
    select(
        "Learned from",
        tuple(SUBJECTS),
        t.kind,
        choose_kind,
        {key: one.title for key, one in SUBJECTS.items()},
        name="environment.kind",
    )
    return PANELS[t.kind].draw(session(), t)


def choose_kind(kind: str) -> None:
    """Another kind of runs: its controls are those of its first study; what is shown stays until Run is pressed."""
    trade.set_controls(studies.first(kind))


def online(s: Session, t: SweepPageState) -> DeltaGenerator:
    """The controls of online runs; the place below the models."""
    panel.environment(s)
    panel.learner(s)
    models_menu(t)
    left_out = st.container(gap="xsmall")
    axis(t)
    if t.x != "epsilon":
        epsilon_slider(s, "The same for all models.")
    if t.x != "episodes":
        panel.size_controls(s)
    delta = s.draft.delta if s.draft.delta is not None else DEFAULT_DELTA
    exact("Privacy budget δ", "delta", FIELDS["delta"], delta, setter("delta"))
    complaint("delta")
    panel.environment_parameters(s)
    panel.more(s, along=t.x)
    return left_out


def offline(s: Session, t: SweepPageState) -> DeltaGenerator:
    """The controls of runs on data sets; the place below the learners."""
    panel.environment(s)
    of_data.behaviour(t.settings)
    offered = [key for key in offline_settings.offered(s.draft.environment) if key in OFFLINE]
    of_data.learners_menu(t.settings, offered)
    left_out = st.container(gap="xsmall")
    of_data.promise_menu(t.settings)
    second = axis(t)
    if "n" not in (t.x, second):
        of_data.people(t.settings, "The same for all points.")
    of_data.deltas(t.settings)
    of_data.noise(t.settings)
    panel.environment_parameters(s)
    of_data.more(s, t.settings, [base_learner(t)], t.x)
    return left_out


def models_menu(t: SweepPageState) -> None:
    """Which models."""
    offered = offered_models(session().draft.algorithm)
    t.models = [m for m in t.models if m in offered] or offered[:1]
    choose_several(
        "Compare",
        "models",
        offered,
        t.models,
        into(t, "models"),
        lambda text: PrivacyChoice.parse(text).title,
        locked("compare"),
        help="Each privacy model with its default mechanism, or one mechanism in particular. Noise is "
        "calibrated to (ε, δ), or as in the paper. Scaled noise has the paper's form, and (ε, 0) is proved for it.",
        most=MOST_MODELS,
        placeholder="privacy models",
    )


def axis(t: SweepPageState) -> str:
    """What it is compared against, and at which values; and those of the second axis, whose name is returned."""
    s, subject = session(), SUBJECTS[t.kind]
    try:
        base = PANELS[t.kind].base(t)
    except SpecError:
        base = subject.base
    offered = tuple(studies.axes(base))
    if t.x not in offered:
        t.x = subject.budget(base)

    def chosen(x: str) -> None:
        t.x = x
        s.version += 1

    select("Horizontal axis", offered, t.x, chosen, {x: AXES.get(x, x) for x in offered}, name="against")
    several("Values", t.x, t.values, studies.default_values(base, t.x), base, MOST_VALUES)
    second = subject.second(base, t.x)
    if second:
        label = f"Lines for {SYMBOLS.get(second, second)} ="
        several(label, second, t.among, subject.among(base, t.x), base, MOST_MODELS)
    return second


def several(label: str, x: str, texts: dict[str, str], usual: tuple[Any, ...], base: Any, most: int) -> None:
    """The values of an axis, as text."""

    def typed(values: str) -> None:
        texts[x] = values

    values_field(
        label,
        f"{label}:{x}",
        texts.setdefault(x, values_text(usual)),
        typed,
        lambda text: studies.parse_values(base, x, text),
        f"Separated by commas, up to {most}.",
        locked("against") or locked(x),
    )


def base_learner(t: SweepPageState) -> str:
    """Whose run on a data set is the base: the first that is private."""
    return next(iter(t.settings.private), SUBJECTS["offline"].base.algorithm)


def online_base(t: SweepPageState) -> RunSpec:
    """What does not change of online runs. Raises SpecError."""
    draft = session().draft
    private = [p for p in ALGORITHMS[draft.algorithm].privacies if p != "none"]
    return spec_from(
        replace(draft, privacy=private[0] if private else "none", mechanism=None, calibration=None)
    )


def offline_base(t: SweepPageState) -> OfflineSpec:
    """What does not change of runs on data sets. Raises SpecError."""
    return offline_settings.offline_spec_of(t.settings, session().draft, base_learner(t))


@dataclass(frozen=True)
class Panel:
    """The controls of a kind of specs: draws them, gives the base they describe, and what they compare."""

    draw: Callable[[Session, SweepPageState], DeltaGenerator]
    base: Callable[[SweepPageState], Any]
    models: Callable[[SweepPageState], list[str]]


PANELS = {
    "online": Panel(online, online_base, lambda t: t.models),
    "offline": Panel(offline, offline_base, lambda t: t.settings.learners),
}


def study_of(t: SweepPageState) -> tuple[SweepView | None, str]:
    """The study that the controls describe, or the sentence that says why there is none."""

    def made() -> SweepView:
        base = PANELS[t.kind].base(t)
        second = SUBJECTS[t.kind].second(base, t.x)
        return SweepView(
            base,
            tuple(PANELS[t.kind].models(t)),
            t.x,
            studies.parse_values(base, t.x, t.values[t.x]),
            t.study.show,
            t.study.share,
            t.study.statistic,
            studies.parse_values(base, second, t.among[second]) if second else (),
        )

    return described(made)


def sweep_box(left_out: DeltaGenerator) -> None:
    """What pressing Run will do, and the button; in `left_out`, beside the models, what cannot be run and why: that may
    be long, and this box lies over the settings."""
    study, refusal = study_of(trade.trade())
    specs = study.sweep.specs if study else []
    refused = [refusal]
    if study is not None:
        for sentence in trade.refusals(study):
            left_out.caption(f":red[{sentence}]")
        if not specs:
            refused.append("None of this can be run: the reasons are below the models.")
    offer(
        study,
        run_sweep,
        lambda: trade.missing(specs) if specs else None,
        amount,
        refused,
        studies.DEFAULT.base,
        reset,
    )


def amount(runs: Sequence[Spec]) -> str:
    """How much runs are."""
    return f"{plural(len(runs), 'run')}, {plural(sum(spec.seeds for spec in runs), 'seed')} in all"


def run_sweep(study: SweepView) -> None:
    """Shows the study and asks for what is missing of it."""
    t = trade.trade()
    t.study, t.picked, t.problems = study, None, ()
    trade.start_sweep()
    write_address(t)


def reset() -> Callable[[], None]:
    """What is compared, and along which axis, as at first. Returns what undoes it."""
    t = trade.trade()
    before = {name: getattr(t, name) for name in ("models", "x", "values", "among", "settings")}
    t.values, t.among = {}, {}
    trade.set_controls(studies.first(t.kind))
    return lambda: vars(t).update(before)

"""The settings of Linear: a problem with known features, learners, who is trusted, and budgets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from dprl.fields import SpecError
from dprl.learners import ALGORITHMS
from dprl.privacy import PRIVATIZERS
from dprl.simulation import FIELDS, RunSpec, estimate
from dprl.words import duration, listed, plural
from pages.free.controls import noise
from pages.linear.examples import BASE, DEFAULT
from pages.linear.link import MAX_CURVES
from pages.linear.settings import LEARNERS, MODELS, PROBLEMS, Settings, fitting, refusal, specs_of
from pages.linear.state import RUNS, compare, linear, set_controls
from pages.shared import values
from pages.shared.controls.launch import buttons
from pages.shared.controls.panel import environment, more, size
from pages.shared.controls.widgets import complaint, locked
from pages.shared.layout.frame import guarded
from pages.shared.results.data import workers
from pages.shared.text import escape
from pages.shared.visitor.callbacks import on_value
from pages.shared.visitor.draft import spec_from
from pages.shared.visitor.state import Session, session


@st.fragment
@guarded
def controls() -> None:
    """All controls, the estimate and the Run button. Moving one redraws the controls only."""
    s, settings = session(), linear().settings
    s.wrong.clear()
    with st.container(key="controls", gap="small"):
        environment(s, PROBLEMS)
        learners(s, settings)
        trusted(s, settings)
        if settings.private:
            budgets(s, settings)
            noise(s)
        size(s)
        more(s)
    with st.container(key="run_box", gap="xsmall"):
        run_box(s, settings)


def learners(s: Session, settings: Settings) -> None:
    """Which learners, of those that know how the environment is linear; why the others are not offered."""
    options = fitting(s.draft.environment)
    settings.learners = [key for key in settings.learners if key in options] or options[:1]
    s.draft.algorithm = settings.learners[0]
    several(
        "Learners", "learners", options, settings.learners, {key: ALGORITHMS[key].title for key in options}
    )
    others = [ALGORITHMS[key].title for key in LEARNERS if key not in options]
    if others:
        st.caption(f"{escape(listed(others))} would need another kind of linear environment.")


def trusted(s: Session, settings: Settings) -> None:
    """Which privacy models."""
    known = [m for m in MODELS if any(m in ALGORITHMS[key].privacies for key in settings.learners)]
    settings.models = [model for model in settings.models if model in known] or known[:1]
    if settings.private:
        s.draft.privacy = settings.private[0]
    titles = {key: PRIVATIZERS[key].title for key in known}
    several("Privacy models", "models", known, settings.models, titles)
    for model in MODELS:
        if model not in known:
            st.caption(escape(why_not(s, model)))


def why_not(s: Session, model: str) -> str:
    """Why none of the learners takes a privacy model."""
    try:
        return refusal(spec_from(replace(s.draft, privacy="none")), model)
    except SpecError:  # said by the run box
        return ""


def several(label: str, name: str, options: list[str], now: list[str], titles: dict[str, str]) -> None:
    """One or more of some options, a setting of the page."""
    key = f"{session().version}:linear:{name}:{'|'.join(options)}"

    def chosen(given: list[str]) -> None:
        setattr(linear().settings, name, [option for option in options if option in given])

    st.multiselect(
        label,
        options,
        now,
        key=key,
        format_func=titles.__getitem__,
        on_change=on_value(key, chosen),
        placeholder="at least one",
        disabled=locked("compare" if name == "learners" else "privacy"),
    )


def budgets(s: Session, settings: Settings) -> None:
    """Several values of epsilon."""
    key = f"{s.version}:linear:budgets"

    def typed(text: str) -> None:
        linear().settings.budgets = text

    st.text_input(
        "Values of ε",
        settings.budgets,
        key=key,
        max_chars=200,
        on_change=on_value(key, typed),
        help=f"Several, separated by commas: a curve each, {MAX_CURVES} in all. Small is private.",
        disabled=locked("epsilon"),
    )
    try:
        values.parse(FIELDS["epsilon"], settings.budgets, MAX_CURVES)
    except SpecError as error:
        s.wrong["budgets"] = str(error)
    complaint("budgets")


def run_box(s: Session, settings: Settings) -> None:
    """What pressing Run will do, and the buttons."""
    specs, refused = described(s, settings)
    for sentence in refused:
        st.caption(f":red[{escape(sentence)}]")
    lacking: list[RunSpec] = [] if specs is None else RUNS.missing(specs)
    if lacking:
        seconds = sum(estimate(spec).seconds * spec.seeds for spec in lacking) / workers()
        runs, seeds = plural(len(lacking), "run"), plural(lacking[0].seeds, "seed")
        st.caption(f"{runs} of {seeds}: {duration(seconds)} once started.")
    elif specs is not None:
        st.caption("Computed before: it appears at once.")
    buttons(compare, specs, BASE, also=reset)


def described(s: Session, settings: Settings) -> tuple[tuple[RunSpec, ...] | None, list[str]]:
    """The runs that Run will show, None where there are none, and a sentence for each that cannot be made."""
    if s.wrong:
        return None, ["Mend the value marked in red first."]
    try:
        specs, refused = specs_of(settings, s.draft)
    except SpecError as error:
        return None, [str(error)]
    return specs, refused


def reset() -> Callable[[], None]:
    """The settings are those of the first view; what is compared stays. Returns what undoes it."""
    part = linear()
    before = part.settings
    set_controls(DEFAULT)
    return lambda: setattr(part, "settings", before)

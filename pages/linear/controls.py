"""The settings of Linear: a problem with known features, learners, who is trusted, and budgets."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dprl.fields import SpecError
from dprl.learners import ALGORITHMS
from dprl.links import MAX_CURVES
from dprl.privacy import PRIVATIZERS
from dprl.simulation import FIELDS, RunSpec
from dprl.words import listed
from pages.linear.record import LINEAR
from pages.linear.settings import LEARNERS, MODELS, PROBLEMS, LinearSettings, fitting, model_refusal, specs_of
from pages.shared import values
from pages.shared.controls.launch import described
from pages.shared.controls.noise import noise_controls
from pages.shared.controls.panel import environment, environment_parameters, more, size_controls
from pages.shared.controls.several import A_CURVE_EACH, choose_several, values_field
from pages.shared.controls.widgets import into, locked, menu_title
from pages.shared.text import escape
from pages.shared.visitor.draft import spec_from
from pages.shared.visitor.state import Session, session


def controls() -> tuple[tuple[RunSpec, ...] | None, list[str]]:
    """All controls; the runs that they describe, None where there are none, and why others cannot be made."""
    s, settings = session(), LINEAR.state.settings
    environment(s, PROBLEMS)
    learners_menu(s, settings)
    trusted(s, settings)
    if settings.private:
        budgets_field(settings)
        noise_controls(s)
    size_controls(s)
    environment_parameters(s)
    more(s)
    found, refusal = described(lambda: specs_of(settings, s.draft))
    return found or (None, [refusal])


def learners_menu(s: Session, settings: LinearSettings) -> None:
    """Which learners, of those that know how the environment is linear; why the others are not offered."""
    options = fitting(s.draft.environment)
    settings.learners = [key for key in settings.learners if key in options] or options[:1]
    s.draft.algorithm = settings.learners[0]
    choose_several(
        "Algorithms",
        "learners",
        options,
        settings.learners,
        into(settings, "learners"),
        lambda key: menu_title(ALGORITHMS[key]),
        locked("compare"),
    )
    others = [ALGORITHMS[key].title for key in LEARNERS if key not in options]
    if others:
        st.caption(f"{escape(listed(others))} need another kind of linear environment.")


def trusted(s: Session, settings: LinearSettings) -> None:
    """Which privacy models."""
    known = [m for m in MODELS if any(m in ALGORITHMS[key].privacies for key in settings.learners)]
    settings.models = [model for model in settings.models if model in known] or known[:1]
    if settings.private:
        s.draft.privacy = settings.private[0]
    choose_several(
        "Privacy models",
        "models",
        known,
        settings.models,
        into(settings, "models"),
        lambda key: PRIVATIZERS[key].title,
        locked("privacy"),
    )
    for model in MODELS:
        if model not in known:
            st.caption(escape(why_not(s, model)))


def why_not(s: Session, model: str) -> str:
    """Why none of the learners takes a privacy model."""
    try:
        return model_refusal(spec_from(replace(s.draft, privacy="none")), model)
    except SpecError:  # said by the run box
        return ""


def budgets_field(settings: LinearSettings) -> None:
    """Several values of epsilon."""
    values_field(
        "Values of ε",
        "budgets",
        settings.budgets,
        into(settings, "budgets"),
        lambda text: values.parse(FIELDS["epsilon"], text, MAX_CURVES),
        A_CURVE_EACH,
        fixed=locked("epsilon"),
    )

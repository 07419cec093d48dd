"""The settings of Offline: a problem and who the data come from, learners, and their budgets."""

from __future__ import annotations

import streamlit as st

from dprl.links import MAX_CURVES
from dprl.simulation import OfflineSpec
from dprl.simulation.offline_spec import FIELDS
from pages.offline.record import offline
from pages.shared import values
from pages.shared.controls.launch import described
from pages.shared.controls.panel import environment, environment_parameters
from pages.shared.controls.several import A_CURVE_EACH, values_field
from pages.shared.controls.widgets import into, locked
from pages.shared.offline import settings as offline_settings
from pages.shared.offline.controls import behaviour, deltas, learners_menu, more, noise, people, promise_menu
from pages.shared.offline.settings import BUDGET, OfflineSettings, specs_of
from pages.shared.visitor.callbacks import on_value
from pages.shared.visitor.locks import RUN
from pages.shared.visitor.state import session

# The runs that Run will show, None where there are none, and why.
Described = tuple[tuple[OfflineSpec, ...] | None, list[str]]
SIZES_HELP = (
    "The curve has a data set of each size 5, 10, 20, 50, ... up to this one. No trajectory is in two data "
    "sets."
)


def controls() -> Described:
    """All controls; the runs that they describe, None if there are none, and why."""
    s, settings = session(), offline().settings
    environment(s)
    behaviour(settings)
    people(settings, SIZES_HELP)
    learners_menu(settings, offline_settings.offered(s.draft.environment))
    if settings.private:
        budgets(settings)
        noise(settings)
    found = compared_specs()
    environment_parameters(s)
    more(s, settings, settings.learners)
    return compared_specs() if s.wrong else found


def budgets(settings: OfflineSettings) -> None:
    """Draw the menu of guarantees, and several budgets."""
    promise_menu(settings)
    field = FIELDS[BUDGET[settings.privacy]]

    def typed(text: str) -> None:
        settings.values[settings.privacy] = text

    values_field(
        "Values of ρ" if field.name == "rho" else "Values of ε",
        f"values.{settings.privacy}",
        settings.values[settings.privacy],
        typed,
        lambda text: values.parse(field, text, MAX_CURVES),
        A_CURVE_EACH,
        locked(field.name),
    )
    deltas(settings)


def keep() -> None:
    """Whether Run adds to the present comparison."""
    state = offline()
    key = f"{session().version}:keep"
    st.toggle(
        "Keep the runs shown",
        state.keep,
        key=key,
        on_change=on_value(key, into(state, "keep")),
        disabled=locked(RUN),
    )


def compared_specs() -> Described:
    """Return the runs that Run will show, with the present ones if these stay; or why there are none."""
    state = offline()
    specs, refusal = described(lambda: specs_of(state.settings, session().draft))
    if specs is not None and state.keep:
        specs = tuple(dict.fromkeys((*state.specs, *specs)))
        if len(specs) > MAX_CURVES:
            shown = len(state.specs)
            return None, [
                f"At most {MAX_CURVES} curves can be shown, and {shown} are shown now. Keep fewer of them."
            ]
    return specs, [refusal] if refusal else []

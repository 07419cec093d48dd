"""The controls for a run's privacy budget, noise and public structure."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import streamlit as st

from dprl.environments import ENVIRONMENTS
from dprl.fields import SpecError
from dprl.learners import ALGORITHMS
from dprl.messages import filled, messages
from dprl.privacy import MECHANISMS
from dprl.sentences import promise
from dprl.simulation import FIELDS, RunSpec
from dprl.simulation.pairs import calibrations_for, mechanisms_for, not_counted, runs_in
from dprl.simulation.spec import TIED
from dprl.words import human, listed
from pages.shared.controls.widgets import (
    complaint,
    exact,
    locked,
    log_slider,
    menu_titles,
    select,
    setter,
    stops,
)
from pages.shared.layout.terms import escape
from pages.shared.visitor.callbacks import button
from pages.shared.visitor.draft import draft_of, effective, spec_from
from pages.shared.visitor.state import Session

SAID = messages("controls")
HELP, NOTE = SAID["help"], SAID["note"]
REPORTED = ("local", "shuffle")  # the models in which users send reports
DELTA = 88  # width in pixels of the field for delta
SMALL = {"S": 2, "A": 2, "H": 3}  # small enough for algorithms that list all policies


def epsilon_slider(s: Session, help: str) -> None:
    """Draw the slider for epsilon, with a field for its exact value."""
    log_slider(
        "Privacy budget ε",
        "epsilon",
        FIELDS["epsilon"],
        s.draft.epsilon,
        setter("epsilon"),
        marks=stops(0.01, 100, (1, 1.5, 2, 3, 5, 7)),
        show=lambda value: f"{value:g}",
        ends=promise.ENDS,
        help=help,
    )


def noise(s: Session) -> None:
    """Draw the controls for the noise, if there is any. Leave out impossible combinations, and explain why."""
    model = effective(s.draft.privacy, ALGORITHMS[s.draft.algorithm].privacies)
    if model == "none":
        return
    mechanism, calibration, delta, reports = chosen_noise(s)
    known = mechanisms_for(s.draft.algorithm, model)
    sizes = {m: calibrations_for(s.draft.algorithm, m) for m in known}
    sizings = {c: t for c, t in SAID["calibration"].items() if any(c in size for size in sizes.values())}

    def resize(word: str) -> None:
        s.redraft(calibration=word, mechanism=None, delta=None)

    def draw(key: str) -> None:
        lacking = MECHANISMS[key].needs_delta and s.draft.delta == 0
        s.redraft(
            mechanism=key,
            calibration=calibration,
            reports=s.draft.reports or reports,  # with a named mechanism, the default would be all
            delta=None if lacking else s.draft.delta,
        )

    with st.container(key="log_delta", gap=None):
        with st.container(horizontal=True, wrap=False, vertical_alignment="center"):
            help = filled(HELP["delta"], allowed=FIELDS["delta"].allowed)
            st.markdown("Privacy budget δ", help=help, width="stretch")
            shown = s.draft.delta if s.draft.delta == TIED else delta
            exact("Privacy budget δ", "delta", FIELDS["delta"], shown, setter("delta"), width=DELTA)
        complaint("delta")
        if s.draft.delta == TIED:
            st.caption(filled(NOTE["tied"], delta=human(delta), users=human(s.draft.episodes)))
        else:
            tie = partial(s.redraft, delta=TIED)
            named, off = f"Tie δ to the number of users: {TIED}", locked("delta")
            button(named, tie, key="tie", disabled=off, type="tertiary", help=HELP["tied"])
    select("Noise", sizings, calibration, resize, HELP["calibration"], "calibration")
    sized = [m for m in known if calibration in sizes[m]]
    pure = MECHANISMS[mechanism].pure  # a pure mechanism has delta = 0 without the visitor's request
    fitting = [m for m in sized if delta > 0 or pure or not MECHANISMS[m].needs_delta] or sized
    titles, about = menu_titles(MECHANISMS, fitting), MECHANISMS[mechanism].summary
    select("Mechanism", titles, mechanism, draw, about, "mechanism")
    if pure:
        st.caption(NOTE["pure"])
    if len(fitting) < len(known):
        only = escape(listed([MECHANISMS[m].title for m in fitting]))
        st.caption(filled(NOTE["only_pure" if len(fitting) < len(sized) else "only_paper"], mechanisms=only))
    if model not in REPORTED:
        return
    told = s.draft.algorithm, model, mechanism
    reason = not_counted("played", *told, choice="Counting only reports from users told to take the action")
    whose = {key: title for key, title in SAID["reports"].items() if not not_counted(key, *told)}
    chosen = effective(reports, tuple(whose))
    select("Reports counted", whose, chosen, setter("reports"), HELP["reports"], "reports")
    if reason:
        st.caption(f"{escape(reason)}.")


def chosen_noise(s: Session) -> tuple[str, str, float, str]:
    """Return the run's mechanism, calibration, delta and reports, with defaults for those that were not chosen."""
    algorithm = ALGORITHMS[s.draft.algorithm]
    model = effective(s.draft.privacy, algorithm.privacies)
    fitting = next(name for name in ENVIRONMENTS if runs_in(s.draft.algorithm, name))
    small = {"environment": "random", "environment_params": {"random": dict(SMALL)}}
    changes: tuple[dict[str, Any], ...] = ({}, {"environment": fitting}, small)

    usual = replace(draft_of(RunSpec()), algorithm=algorithm.key, privacy=model)
    for draft, change in product((s.draft, usual), changes):
        try:
            spec = spec_from(replace(draft, **change))
        except SpecError:
            continue
        if spec.mechanism and spec.calibration and spec.delta is not None:
            return spec.mechanism, spec.calibration, spec.delta, spec.reports
    raise SpecError("privacy", "no noise is known for it")


def structure(s: Session) -> None:
    """Draw the menu that declares a public structure, for algorithms that can use one."""
    if "structure" not in ALGORITHMS[s.draft.algorithm].declarable:
        return
    key = s.draft.environment
    now, store = s.draft.structure.get(key, ""), partial(s.draft.structure.__setitem__, key)
    select("Public structure", SAID["structure"], now, store, HELP["structure"], f"structure.{key}")

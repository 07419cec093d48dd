"""The settings of Offline: a problem and who the data come from, learners, and their budgets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from dprl.learners import OFFLINE as OFFLINE_LEARNERS
from dprl.privacy.curator import PROMISES
from dprl.sentences import offline as sentences
from dprl.simulation import OfflineSpec
from dprl.simulation.cost import MAX_CELLS
from dprl.simulation.datasets import BEHAVIOURS
from dprl.simulation.offline_spec import FIELDS
from dprl.words import count
from pages.offline import settings as offline_settings
from pages.offline.names import promise_words
from pages.offline.record import OFFLINE
from pages.offline.settings import BUDGET, OfflineSettings, specs_of
from pages.offline.view import BIGGEST
from pages.shared import values
from pages.shared.controls.launch import described
from pages.shared.controls.noise import CALIBRATION, CALIBRATION_HELP
from pages.shared.controls.panel import environment, parameters
from pages.shared.controls.several import A_CURVE_EACH, choose_several, values_field
from pages.shared.controls.widgets import complaint, exact, fold, into, locked, log_slider, select, stops
from pages.shared.layout.frame import redrawn
from pages.shared.results import answers
from pages.shared.text import escape
from pages.shared.visitor.callbacks import on_value
from pages.shared.visitor.links import MAX_CURVES
from pages.shared.visitor.locks import RUN
from pages.shared.visitor.state import Session, session

SPLITS = {"halves": "two halves, as printed", "whole": "whole, used twice"}
SPLIT_HELP = (
    "Halves: one for the variance of values, one for the values; each trajectory is in one. Whole: all of them in "
    "both, as in the paper's simulations; the printed noise then proves less. The tab Guarantee says what."
)

# The runs that Run will show, None where there are none, and why.
Described = tuple[tuple[OfflineSpec, ...] | None, list[str]]
SIZES_HELP = (
    "The curve has a data set of each size 5, 10, 20, 50, ... up to this; no trajectory is in two of them."
)


def controls() -> Described:
    """All controls; the runs that they describe, None where there are none, and why."""
    s, settings = session(), OFFLINE.state.settings
    environment(s)
    behaviour(settings)
    people(settings, SIZES_HELP)
    learners_menu(settings, offline_settings.offered(s.draft.environment))
    if settings.private:
        budgets(settings)
        noise(settings)
    found = compared_specs()
    redrawn(partial(expected_size, found), None, "expected")
    more(s, settings, settings.learners)
    return compared_specs() if s.wrong else found


def redrawing(settings: OfflineSettings, name: str) -> Any:
    """Stores one of the settings, on which other controls depend."""

    def store(value: Any) -> None:
        setattr(settings, name, value)
        session().version += 1

    return store


def behaviour(settings: OfflineSettings) -> None:
    """Who the trajectories come from."""
    chosen = BEHAVIOURS[settings.behaviour]
    titles = {key: behaviour.title for key, behaviour in BEHAVIOURS.items()}
    select(
        "Behaviour policy",
        tuple(BEHAVIOURS),
        settings.behaviour,
        redrawing(settings, "behaviour"),
        titles,
        chosen.summary,
        "behaviour",
    )
    if (field := chosen.argument) is not None:

        def store(value: float) -> None:
            settings.arguments[chosen.key] = value

        now = settings.arguments.get(chosen.key, field.default)
        label = f"{field.name} {field.help}"
        exact(label[0].upper() + label[1:], f"behaviour.{chosen.key}", field, now, store)
        complaint(f"behaviour.{chosen.key}")
    if chosen.takes_policy:
        policy(settings)


def people(settings: OfflineSettings, help: str) -> None:
    """How many trajectories there are."""
    log_slider(
        "Trajectories n",
        "n",
        FIELDS["n"],
        settings.n,
        into(settings, "n"),
        marks=[int(m) for m in stops(100, BIGGEST)],
        show=count,
        ends=("a ward", "a trillion people"),
        help=help,
    )


def policy(settings: OfflineSettings) -> None:
    """The policy that some of the people follow: a text, which comes from Explore or is written here."""
    key = f"{session().version}:behaviour_policy"
    st.text_area(
        "Policy that they follow",
        settings.policy,
        key=key,
        height="content",
        max_chars=MAX_CELLS,
        placeholder="011X12.001X8",
        on_change=on_value(key, into(settings, "policy")),
        help="For each step a row with a digit for the action in each state, joined by dots; X12 after a row: it is "
        "that of 12 steps. Explore writes it: its tab Policy has a link to this page.",
        disabled=locked("behaviour"),
    )
    if not settings.policy:
        st.caption(
            "Take one from Explore: its tab Policy has a link to this page with the policy that is shown there."
        )


def learners_menu(settings: OfflineSettings, options: list[str]) -> None:
    """Which learners of those offered."""
    settings.learners = [option for option in settings.learners if option in options] or options[:2]
    choose_several(
        "Learners",
        "learners",
        options,
        settings.learners,
        into(settings, "learners"),
        offline_settings.title,
        locked("compare"),
        help=" ".join(
            f"**{OFFLINE_LEARNERS[option].title}:** {escape(OFFLINE_LEARNERS[option].summary)}"
            for option in options
            if option in OFFLINE_LEARNERS
        ),
    )


def budgets(settings: OfflineSettings) -> None:
    """Which promise, and several budgets of it."""
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


def promise_menu(settings: OfflineSettings) -> None:
    """Which promise."""
    offered = offline_settings.promises(settings.private)
    if settings.privacy not in offered:
        settings.privacy = offered[0]
    select(
        "Privacy budget",
        offered,
        settings.privacy,
        redrawing(settings, "privacy"),
        {key: PROMISES[key].title for key in offered},
        escape(PROMISES[settings.privacy].summary),
        "privacy",
    )


def deltas(settings: OfflineSettings) -> None:
    """The budget delta, where the promise has one."""
    if "delta" in PROMISES[settings.privacy].fields:
        exact("Privacy budget δ", "delta", FIELDS["delta"], settings.delta, into(settings, "delta"))
        complaint("delta")


def noise(settings: OfflineSettings) -> None:
    """How large the noise is, and how the data are split."""
    offered = offline_settings.noise_sizes(settings.privacy, settings.private)
    if settings.calibration not in offered:
        settings.calibration = offered[0]
    select(
        "How much noise",
        offered,
        settings.calibration,
        into(settings, "calibration"),
        CALIBRATION,
        CALIBRATION_HELP,
        "calibration",
    )
    if any(offline_settings.splits(option) for option in settings.learners):
        select(
            "The data set is used",
            tuple(SPLITS),
            settings.split,
            into(settings, "split"),
            SPLITS,
            SPLIT_HELP,
            "calibration.split",
        )


def more(s: Session, settings: OfflineSettings, learners: Sequence[str]) -> None:
    """What most visitors leave alone. learners: whose constants are among it."""

    def settled() -> None:
        for name, label in (
            ("seeds", "Data sets of each size"),
            ("root_seed", "Root seed"),
            ("beta", "Failure probability β"),
        ):
            exact(label, name, FIELDS[name], getattr(settings, name), into(settings, name))
            complaint(name)
        for key, fields in offline_settings.constants_by_family(learners).items():
            st.caption(f"Constants of {escape(OFFLINE_LEARNERS[key].title)}, also with privacy")
            parameters(s, "algorithm", key, fields)

    fold("More settings", "more", settled)


def keep() -> None:
    """Whether Run adds to what is compared."""
    state = OFFLINE.state
    key = f"{session().version}:keep"
    st.toggle(
        "Keep what is shown",
        state.keep,
        key=key,
        on_change=on_value(key, into(state, "keep")),
        disabled=locked(RUN),
    )


def expected_size(found: Described, live: bool) -> None:
    """From how many trajectories the private runs should be good. found: what the controls describe."""
    said = [(spec, answers.expected_of_data(spec)) for spec in found[0] or () if spec.calibration]
    told = [(spec, one) for spec, one in said if isinstance(one, dict)]
    if told and len({(spec.environment, str(spec.environment_params)) for spec, _ in told}) == 1:
        n, v_star = np.array(told[0][1]["n"]), float(told[0][1]["v_star"])
        several = len({spec.algorithm for spec, _ in told}) > 1
        runs = [
            (
                f"{spec.learner.title}, {promise_words(spec)}" if several else promise_words(spec),
                np.array(one["gap"]),
            )
            for spec, one in told
        ]
        st.caption(
            sentences.about_expected_penalties(runs, n, v_star, max(spec.n for spec, _ in told)),
            help="A rule of thumb: what would be learned from exactly what is expected of a data set, with the penalty "
            "for noise, but without noise and chance.",
        )


def compared_specs() -> Described:
    """The runs that Run will show, with those shown where these are kept; and why there are none."""
    state = OFFLINE.state
    specs, refusal = described(lambda: specs_of(state.settings, session().draft))
    if specs is not None and state.keep:
        specs = tuple(dict.fromkeys((*state.specs, *specs)))
        if len(specs) > MAX_CURVES:
            shown = len(state.specs)
            return None, [f"{MAX_CURVES} curves are the most, and {shown} are shown: keep fewer of them."]
    return specs, [refusal] if refusal else []

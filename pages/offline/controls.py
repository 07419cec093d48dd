"""The settings of Offline: a problem and who the data come from, learners, and their budgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from dprl.fields import SpecError
from dprl.learners import OFFLINE
from dprl.privacy.curator import PROMISES
from dprl.sentences import offline as sentences
from dprl.simulation import OfflineSpec, estimate
from dprl.simulation.cost import MAX_CELLS
from dprl.simulation.datasets import BEHAVIOURS
from dprl.simulation.offline_spec import FIELDS
from dprl.words import count, duration, plural
from pages.offline import settings as offline_settings
from pages.offline.examples import DEFAULT
from pages.offline.link import BIGGEST, MAX_CURVES
from pages.offline.names import budget
from pages.offline.settings import BUDGET, Settings, specs_of
from pages.offline.state import compare, missing, offline, set_controls
from pages.shared import values
from pages.shared.controls.launch import buttons
from pages.shared.controls.noise import CALIBRATION, CALIBRATION_HELP
from pages.shared.controls.panel import environment, parameters
from pages.shared.controls.widgets import complaint, exact, fold, locked, log_slider, select, stops
from pages.shared.examples import BASE
from pages.shared.layout.frame import guarded, redrawn
from pages.shared.results import answers
from pages.shared.results.data import workers
from pages.shared.text import escape
from pages.shared.visitor.callbacks import on_value
from pages.shared.visitor.locks import RUN
from pages.shared.visitor.state import Session, session

SPLITS = {"halves": "two halves, as printed", "whole": "whole, used twice"}
SPLIT_HELP = (
    "Halves: one for the variance of values, one for the values; each trajectory is in one. Whole: all of them in "
    "both, as in the paper's simulations; the printed noise then proves less. The tab Guarantee says what."
)

# The runs that Run will show, or the sentence that says why there are none.
Described = tuple[tuple[OfflineSpec, ...] | None, str]
SIZES_HELP = (
    "The curve has a data set of each size 5, 10, 20, 50, ... up to this; no trajectory is in two of them."
)


@st.fragment
@guarded
def controls() -> None:
    """All controls, the estimate and the Run button. Moving one redraws the controls only."""
    s, o = session(), offline()
    s.wrong.clear()
    with st.container(key="controls", gap="small"):
        environment(s)
        behaviour(o.settings)
        people(o.settings, SIZES_HELP)
        learners(s, o.settings, offline_settings.offered(s.draft.environment))
        if o.settings.private:
            budgets(o.settings)
            noise(o.settings)
        found = described(s)
        redrawn(partial(expectation, found), None, "expected")
        more(s, o.settings, o.settings.learners)
    with st.container(key="run_box", gap="xsmall"):
        run_box(s, described(s) if s.wrong else found)


def setter(settings: Settings, name: str) -> Any:
    """Stores one of the settings."""

    def store(value: Any) -> None:
        setattr(settings, name, value)

    return store


def redrawing(settings: Settings, name: str) -> Any:
    """Stores one of the settings, on which other controls depend."""

    def store(value: Any) -> None:
        setattr(settings, name, value)
        session().version += 1

    return store


def behaviour(settings: Settings) -> None:
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


def people(settings: Settings, help: str) -> None:
    """How many trajectories there are."""
    log_slider(
        "Trajectories n",
        "n",
        FIELDS["n"],
        settings.n,
        setter(settings, "n"),
        marks=[int(m) for m in stops(100, BIGGEST)],
        show=count,
        ends=("a ward", "a trillion people"),
        help=help,
    )


def policy(settings: Settings) -> None:
    """The policy that some of the people follow: a text, which comes from Explore or is written here."""
    key = f"{session().version}:behaviour_policy"
    st.text_area(
        "Policy that they follow",
        settings.policy,
        key=key,
        height="content",
        max_chars=MAX_CELLS,
        placeholder="011X12.001X8",
        on_change=on_value(key, setter(settings, "policy")),
        help="For each step a row with a digit for the action in each state, joined by dots; X12 after a row: it is "
        "that of 12 steps. Explore writes it: its tab Policy has a link to this page.",
        disabled=locked("behaviour"),
    )
    if not settings.policy:
        st.caption(
            "Take one from Explore: its tab Policy has a link to this page with the policy that is shown there."
        )


def learners(s: Session, settings: Settings, options: list[str]) -> None:
    """Which learners of those offered."""
    settings.learners = [option for option in settings.learners if option in options] or options[:2]
    key = f"{s.version}:learners:{len(options)}"

    def chosen(given: list[str]) -> None:
        settings.learners = list(given)

    st.multiselect(
        "Learners",
        options,
        settings.learners,
        key=key,
        format_func=offline_settings.title,
        on_change=on_value(key, chosen),
        placeholder="at least one",
        help=" ".join(
            f"**{OFFLINE[option].title}:** {escape(OFFLINE[option].summary)}"
            for option in options
            if option in OFFLINE
        ),
        disabled=locked("compare"),
    )


def budgets(settings: Settings) -> None:
    """Which promise, and several budgets of it."""
    promise(settings)
    s = session()
    field = FIELDS[BUDGET[settings.privacy]]
    key = f"{s.version}:offline:values:{settings.privacy}"

    def typed(text: str) -> None:
        settings.values[settings.privacy] = text

    st.text_input(
        "Values of ρ" if field.name == "rho" else "Values of ε",
        settings.values[settings.privacy],
        key=key,
        max_chars=200,
        on_change=on_value(key, typed),
        help=f"Several, separated by commas: a curve each, {MAX_CURVES} in all. Small is private.",
        disabled=locked(field.name),
    )
    try:
        values.parse(field, settings.values[settings.privacy], MAX_CURVES)
    except SpecError as error:
        s.wrong["values"] = str(error)
    complaint("values")
    deltas(settings)


def promise(settings: Settings) -> None:
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


def deltas(settings: Settings) -> None:
    """The budget delta, where the promise has one."""
    if "delta" in PROMISES[settings.privacy].fields:
        exact("Privacy budget δ", "delta", FIELDS["delta"], settings.delta, setter(settings, "delta"))
        complaint("delta")


def noise(settings: Settings) -> None:
    """How large the noise is, and how the data are split."""
    offered = offline_settings.sizes(settings.privacy, settings.private)
    if settings.calibration not in offered:
        settings.calibration = offered[0]
    select(
        "How much noise",
        offered,
        settings.calibration,
        setter(settings, "calibration"),
        CALIBRATION,
        CALIBRATION_HELP,
        "calibration",
    )
    if any(offline_settings.splits(option) for option in settings.learners):
        select(
            "The data set is used",
            tuple(SPLITS),
            settings.split,
            setter(settings, "split"),
            SPLITS,
            SPLIT_HELP,
            "calibration.split",
        )


def more(s: Session, settings: Settings, learners: Sequence[str]) -> None:
    """What most visitors leave alone. learners: whose constants are among it."""

    def settled() -> None:
        for name, label in (
            ("seeds", "Data sets of each size"),
            ("root_seed", "Root seed"),
            ("beta", "Failure probability β"),
        ):
            exact(label, name, FIELDS[name], getattr(settings, name), setter(settings, name))
            complaint(name)
        for key, fields in offline_settings.families(learners).items():
            st.caption(f"Constants of {escape(OFFLINE[key].title)}, also with privacy")
            parameters(s, "algorithm", key, fields)

    fold("More settings", "more", settled)


def run_box(s: Session, found: Described) -> None:
    """What pressing Run will do, and the buttons. found: what the controls describe."""
    o = offline()
    specs, refusal = found
    lacking = [] if specs is None else missing(specs)
    if refusal:
        st.caption(f":red[{escape(refusal)}]")
    elif lacking:
        seconds = sum(estimate(spec).seconds * spec.seeds for spec in lacking) / workers()
        st.caption(
            f"{plural(len(lacking), 'run')} on data sets of up to {count(lacking[0].n)}: {duration(seconds)}."
        )
    else:
        st.caption("Computed before: it appears at once.")
    key = f"{s.version}:keep"

    def keep(on: bool) -> None:
        offline().keep = on

    st.toggle("Keep what is shown", o.keep, key=key, on_change=on_value(key, keep), disabled=locked(RUN))
    buttons(compare, specs, BASE, also=reset)


def expectation(found: Described, live: bool) -> None:
    """From how many trajectories the private runs should be good. found: what the controls describe."""
    said = [(spec, answers.expected(spec)) for spec in found[0] or () if spec.calibration]
    told = [(spec, one) for spec, one in said if isinstance(one, dict)]
    if told and len({(spec.environment, str(spec.environment_params)) for spec, _ in told}) == 1:
        n, v_star = np.array(told[0][1]["n"]), float(told[0][1]["v_star"])
        runs = [(budget(spec), np.array(one["gap"])) for spec, one in told]
        st.caption(
            sentences.expected(runs, n, v_star, max(spec.n for spec, _ in told)),
            help="A rule of thumb: what would be learned from exactly what is expected of a data set, with the penalty "
            "for noise, but without noise and chance.",
        )


def described(s: Session) -> Described:
    """The runs that Run will show, or the sentence that says why there are none."""
    if s.wrong:
        return None, "Mend the value marked in red first."
    o = offline()
    try:
        specs = specs_of(o.settings, s.draft)
    except SpecError as error:
        return None, str(error)
    if not o.keep:
        return specs, ""
    whole = tuple(dict.fromkeys((*o.specs, *specs)))
    if len(whole) > MAX_CURVES:
        return None, f"{MAX_CURVES} curves are the most, and {len(o.specs)} are shown: keep fewer of them."
    return whole, ""


def reset() -> Callable[[], None]:
    """The settings are those of the first view; what is compared stays. Returns what undoes it."""
    o = offline()
    keep, settings = o.keep, o.settings
    o.keep = False
    set_controls(DEFAULT)

    def back() -> None:
        o.keep, o.settings = keep, settings

    return back

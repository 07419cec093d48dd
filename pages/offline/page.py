"""Offline, which learns policies from private data sets and shows how large a data set has to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.learners import OFFLINE as OFFLINE_LEARNERS
from dprl.links import MAX_CURVES
from dprl.messages import filled
from dprl.privacy.curator import PROMISES
from dprl.simulation import OfflineSpec
from dprl.simulation.datasets import BEHAVIOURS, split_behaviour
from dprl.simulation.offline_spec import FIELDS
from dprl.words import count, percent, plural
from pages.offline import charts, record
from pages.offline.record import BIGGEST, BUDGET, EXAMPLES, RUNS, SAID, OfflineSettings, offline, specs_of
from pages.shared.controls.launch import described, offer
from pages.shared.controls.noise import HELP
from pages.shared.controls.noise import SAID as CONTROLS
from pages.shared.controls.panel import environment, environment_parameters, parameters, sidebar
from pages.shared.controls.widgets import (
    choose_several,
    exact,
    fold,
    locked,
    log_slider,
    pills,
    select,
    stops,
    values_field,
)
from pages.shared.layout.frame import redrawn
from pages.shared.layout.head import common, head, share, tab_bar
from pages.shared.layout.terms import escape, explained
from pages.shared.names import NAMED, only, shared_problem
from pages.shared.results.status import PACE
from pages.shared.visitor.address import RUN
from pages.shared.visitor.callbacks import into, keyed
from pages.shared.visitor.links import read_values
from pages.shared.visitor.state import Session, read_address, session

TABS = {
    "gap": ("Suboptimality", charts.gap_tab),
    "pessimism": ("Pessimism", charts.pessimism_tab),
    "policy": ("Policy", charts.policy_tab),
    "coverage": ("Coverage", charts.coverage_tab),
    "guarantee": ("Guarantee", charts.guarantee_tab),
    "data": ("Data", charts.data_tab),
}


def main() -> None:
    part = offline()
    read_address(part)
    with st.sidebar:
        sidebar(controls, run_box)
    corner = head(part)
    st.markdown(explained(SAID["about"]))
    examples()
    common(in_common(part.specs))
    redrawn(partial(results, corner), PACE if RUNS.progress(part.specs).active else None)


def in_common(specs: Sequence[OfflineSpec]) -> str:
    """Describe the settings that all runs share, as plain text."""
    parts = [
        *shared_problem(specs),
        *(OFFLINE_LEARNERS[one].title for one in only(spec.algorithm for spec in specs)),
    ]
    for one in only(spec.behaviour for spec in specs):
        key, argument, _ = split_behaviour(one)
        parts.append(BEHAVIOURS[key].said.format(percent(float(argument or 0))))
    parts += [
        NAMED["calibration"][one] for one in only(spec.calibration for spec in specs if spec.calibration)
    ]
    parts += [f"n up to {count(n)}" for n in only(spec.n for spec in specs)]
    sizes = "data set of each size", "data sets of each size"
    parts += [plural(seeds, *sizes) for seeds in only(spec.seeds for spec in specs)]
    return " · ".join(parts)


def examples() -> None:
    """Draw the ready-made comparisons, and describe the one that is shown."""
    part, titles = offline(), {example.title: example for example in EXAMPLES}
    now = next((example for example in EXAMPLES if example.specs == part.specs), None)
    shown = now.title if now else None
    pills("Examples", "examples", list(titles), shown, lambda title: part.take(titles[title]))
    with st.container():  # keeps its place when it is empty
        if now:
            st.markdown(explained(f"**{escape(now.say)}**"))


def results(corner: DeltaGenerator, live: bool) -> None:
    """Draw the status of the runs, the open tab, and the link in the corner; redraw while runs are active."""
    part = offline()
    progress = RUNS.progress(part.specs)
    if live != bool(progress.active):
        st.rerun()
    RUNS.strip(progress)
    titles = {name: title for name, (title, _) in TABS.items()}
    with tab_bar("offline_tab", titles, part.view.tab, lambda name: part.change(tab=name)):
        TABS[part.view.tab][1]()
    with corner:
        share(part)


def run_box(found: Described) -> None:
    """Describe what Run will do, and draw the buttons. `found` is the result of `controls`."""
    specs, refused = found
    part = offline()
    kept = keyed("keep", into(part, "keep"))
    st.toggle("Keep the runs shown", part.keep, disabled=locked(RUN), **kept)
    offer(
        specs,
        part.compare,
        lambda: RUNS.missing(specs or ()),
        lambda lacking: filled(SAID["amount"], runs=plural(len(lacking), "run"), most=count(lacking[0].n)),
        refused,
        also=part.reset,
    )


# The runs that Run will show, or None and the reasons why there are none.
Described = tuple[tuple[OfflineSpec, ...] | None, list[str]]


def controls() -> Described:
    """Draw all controls. Return the runs that they describe, or None and the reasons."""
    s, settings = session(), offline().settings
    environment(s)
    behaviour(settings)
    log_slider(
        "Trajectories n",
        "n",
        FIELDS["n"],
        settings.n,
        into(settings, "n"),
        marks=[int(m) for m in stops(100, BIGGEST)],
        show=count,
        ends=("a few trajectories", "a trillion"),
        help=HELP["sizes"],
    )
    learners_menu(settings)
    if settings.private:
        budgets(settings)
        noise(settings)
    found = compared_specs()
    environment_parameters(s)
    if (part := fold("Expert settings", "more")) is not None:
        with part:
            more(s, settings)
    return compared_specs() if s.wrong else found


def budgets(settings: OfflineSettings) -> None:
    """Draw the menu of privacy notions, the list of budgets and, if the notion has a delta, the field for delta."""
    supported = [OFFLINE_LEARNERS[key].privacies for key in settings.private]
    offered = [key for key in BUDGET if all(key in privacies for privacies in supported)]
    if settings.privacy not in offered:
        settings.privacy = offered[0]
    promise = PROMISES[settings.privacy]
    titles = {key: PROMISES[key].title for key in offered}
    menu("Privacy budget", "privacy", titles, escape(promise.summary), redraw=True)
    field = FIELDS[BUDGET[settings.privacy]]
    values_field(
        "Values of ρ" if field.name == "rho" else "Values of ε",
        f"values.{settings.privacy}",
        settings.values[settings.privacy],
        partial(settings.values.__setitem__, settings.privacy),
        lambda text: read_values(field, text, MAX_CURVES),
        filled(HELP["budgets"], most=MAX_CURVES),
        locked(field.name),
    )
    if "delta" in promise.fields:
        exact("Privacy budget δ", "delta", FIELDS["delta"], settings.delta, into(settings, "delta"))


def compared_specs() -> Described:
    """Return the runs that Run will show, including those kept from before, or None and the reasons."""
    state = offline()
    specs, refusal = described(lambda: specs_of(state.settings, session().draft))
    if specs is not None and state.keep:
        specs = tuple(dict.fromkeys((*state.specs, *specs)))
        if len(specs) > MAX_CURVES:
            return None, [filled(SAID["full"], most=MAX_CURVES, now=len(state.specs))]
    return specs, [refusal] if refusal else []


def menu(label: str, name: str, titles: Mapping[str, str], help: str, redraw: bool = False) -> None:
    """Draw the menu of one setting. If `redraw` is true, a choice also redraws the other controls."""
    settings = offline().settings

    def store(value: str) -> None:
        setattr(settings, name, value)
        session().version += redraw

    select(label, titles, getattr(settings, name), store, help, name)


def behaviour(settings: OfflineSettings) -> None:
    chosen = BEHAVIOURS[settings.behaviour]
    # a policy that users follow can come only from a link
    offered = {key: one for key, one in BEHAVIOURS.items() if settings.policy or not one.takes_policy}
    titles = {key: one.title for key, one in offered.items()}
    menu("Behaviour policy", "behaviour", titles, chosen.summary, redraw=True)
    if (field := chosen.argument) is not None:
        now = settings.arguments.get(chosen.key, field.default)
        store = partial(settings.arguments.__setitem__, chosen.key)
        exact(field.help[0].upper() + field.help[1:], f"behaviour.{chosen.key}", field, now, store)


def learners_menu(settings: OfflineSettings) -> None:
    """Draw the menu of the algorithms that the environment supports."""
    options = record.offered(session().draft.environment)
    settings.learners = [option for option in settings.learners if option in options] or options[:2]
    known = [OFFLINE_LEARNERS[option] for option in options if option in OFFLINE_LEARNERS]
    about = " ".join(f"**{one.title}:** {escape(one.summary)}" for one in known)
    store = into(settings, "learners")
    choose_several("Algorithms", "learners", options, settings.learners, store, record.title, about)


def noise(settings: OfflineSettings) -> None:
    """Draw the controls for the noise, and for known or learned mean rewards."""
    stated = any(record.in_paper(settings, key) for key in settings.private)
    offered = ["paper", "calibrated"] if stated else ["calibrated"]
    if settings.calibration not in offered:
        settings.calibration = offered[0]
    menu("Noise", "calibration", {key: CONTROLS["calibration"][key] for key in offered}, HELP["calibration"])
    if any(record.knows(option) for option in settings.learners):
        menu("Mean rewards", "rewards", SAID["rewards"], HELP["rewards"], redraw=True)


def more(s: Session, settings: OfflineSettings) -> None:
    """Draw the settings that most visitors leave unchanged."""
    fields = {"seeds": "Data sets of each size", "root_seed": "Root seed", "beta": "Failure probability β"}
    if settings.private:
        fields["contribution"] = "Most episodes of one user"
    for name, label in fields.items():
        exact(label, name, FIELDS[name], getattr(settings, name), into(settings, name))
    chosen = [OFFLINE_LEARNERS[option.removesuffix(record.PLAIN)] for option in settings.learners]
    # a private algorithm shares its constants with its non-private form
    for key, constants in {one.baseline: list(one.fields) for one in chosen if one.fields}.items():
        st.caption(f"Constants of {escape(OFFLINE_LEARNERS[key].title)}, with and without privacy")
        parameters(s, "algorithm", key, constants)


main()

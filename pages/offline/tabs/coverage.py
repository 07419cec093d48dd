"""The tab Coverage: where the data go, and where the best policy would."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dprl import metrics
from dprl.figures import dataset_cells
from dprl.figures import offline as figures
from dprl.sentences import offline as sentences
from dprl.simulation import OfflineSpec
from pages.offline.record import offline
from pages.offline.tabs.focus import chosen_spec, step_menu
from pages.shared.layout.chart import empty, kept, show
from pages.shared.layout.frame import dark
from pages.shared.layout.terms import explained
from pages.shared.offline import names
from pages.shared.results import answers, data
from pages.shared.results.answers import Pending
from pages.shared.results.status import working_out


def tab() -> None:
    """Of the behaviour policy that one run's data come from."""
    specs = offline().specs
    one = len({problem(spec) for spec in specs}) == 1
    spec = specs[0] if one else specs[chosen_spec()]
    found = answers.coverage(spec)
    if found is None:
        empty(working_out("what the data cover"))
        return
    mdp = data.environment(spec)
    behaviour, best = np.array(found["visits"]), np.array(found["best"])
    h, s, a = metrics.rarest(behaviour, best)
    where = f"{mdp.action_labels[a]} in {mdp.state_labels[s]} at step {h}"
    st.markdown(explained(sentences.about_coverage(found["optimal"], found["d_m"], where, spec.n)))
    step = step_menu(mdp.H)
    night = dark()
    picture = kept(
        ("coverage", step, night, spec.environment, str(spec.environment_params), spec.behaviour),
        lambda: dataset_cells.coverage_of_cells(
            behaviour,
            best,
            state_labels=mdp.state_labels,
            action_labels=mdp.action_labels,
            step=step,
            see=sentences.COVERED,
            dark=night,
        ),
    )
    show(picture, "offline_coverage")
    charges([other for other in specs if problem(other) == problem(spec)], night)


def charges(specs: list[OfflineSpec], night: bool) -> None:
    """Why what is rare takes many trajectories: the penalties on an optimal episode, of each run that has visits."""
    said = [answers.expected_of_data(spec) for spec in specs]
    if any(isinstance(one, Pending) for one in said):
        empty(working_out("the penalties"))
        return
    found = [
        (title, kind, one)
        for title, kind, one in zip(names.titles(specs), names.kinds(specs), said, strict=True)
        if isinstance(one, dict)
    ]
    if not found:
        return
    st.markdown("## Penalties against the number of trajectories", anchors=False)
    n, v_star = np.array(found[0][2]["n"]), float(found[0][2]["v_star"])
    private = [kind.model != "none" for _, kind, _ in found]
    runs = [(title, np.array(one["charged"]), np.array(one["gap"])) for title, _, one in found]
    picture = kept(
        (
            "charges",
            night,
            *((spec.to_json(), title) for spec, title in zip(specs, names.titles(specs), strict=True)),
        ),
        lambda: figures.penalties_over_n(
            [(title, kind, np.array(one["charged"])) for title, kind, one in found],
            n,
            v_star,
            see=sentences.about_penalties(runs, n, v_star, private),
            dark=night,
        ),
    )
    show(picture, "offline_charges")


def problem(spec: OfflineSpec) -> tuple[str, str, str]:
    """What coverage depends on."""
    return spec.environment, str(dict(spec.environment_params)), spec.behaviour

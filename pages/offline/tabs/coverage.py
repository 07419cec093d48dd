"""The tab Coverage: where the data go, and where the best policy would."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dprl import metrics
from dprl.figures import dataset_cells
from dprl.sentences import offline as sentences
from dprl.simulation import OfflineSpec
from pages.offline.record import offline
from pages.offline.tabs.focus import chosen_spec, step_menu
from pages.shared.layout.chart import empty, kept, show
from pages.shared.layout.frame import dark
from pages.shared.layout.terms import explained
from pages.shared.results import answers, data
from pages.shared.results.status import working_out


def tab() -> None:
    """Draw the coverage by the behaviour policy that one run's data come from."""
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


def problem(spec: OfflineSpec) -> tuple[str, str, str]:
    """Return the settings that coverage depends on."""
    return spec.environment, str(dict(spec.environment_params)), spec.behaviour

"""The tab Coverage: where the data go, and where the best policy would."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dprl import metrics
from dprl.figures import offline as figures
from dprl.sentences import offline as sentences
from pages.offline.state import offline
from pages.offline.tabs.focus import chosen_spec, step_menu
from pages.offline.tabs.widgets import empty
from pages.shared.layout.chart import kept, show
from pages.shared.layout.frame import dark
from pages.shared.results import answers, data


def tab() -> None:
    """Of the behaviour policy that one run's data come from."""
    specs = offline().specs
    one = len({(spec.environment, str(spec.environment_params), spec.behaviour) for spec in specs}) == 1
    spec = specs[0] if one else specs[chosen_spec(specs)]
    found = answers.coverage(spec)
    if found is None:
        empty("What the data cover is being worked out.")
        return
    mdp = data.environment(spec)
    behaviour, best = np.array(found["visits"]), np.array(found["best"])
    h, s, a = metrics.rarest(behaviour, best)
    where = f"{mdp.action_labels[a]} in {mdp.state_labels[s]} at step {h}"
    st.markdown(sentences.coverage(found["optimal"], found["d_m"], where, spec.n))
    step = step_menu(mdp.H)
    night = dark()
    picture = kept(
        ("coverage", step, night, spec.environment, str(spec.environment_params), spec.behaviour),
        lambda: figures.coverage(
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

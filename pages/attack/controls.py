"""The controls of Attack: a problem, and the privacy of the run whose noise is attacked."""

from __future__ import annotations

import streamlit as st

from dprl.simulation import AttackSpec, RunSpec
from dprl.words import plural
from pages.attack.link import BASE
from pages.attack.state import attack, attack_status, show_attack
from pages.shared.controls import panel
from pages.shared.controls.launch import described, offer, spec_of_controls
from pages.shared.controls.structure import structure
from pages.shared.visitor.state import session


def controls() -> tuple[RunSpec | None, str]:
    """All controls; the run that they describe, or the sentence that says why there is none."""
    s = session()
    panel.environment(s)
    panel.privacy(s)
    panel.size_controls(s)
    panel.environment_parameters(s)
    with st.expander("Expert settings"):
        panel.noise_settings(s)
        structure(s)
        panel.most_episodes(s)
    return spec_of_controls(s)


def attack_box(run: RunSpec | None, refusal: str) -> None:
    """What pressing Run will do, and the buttons. run, refusal: what `controls` returns."""
    spec, shown = None, attack().spec
    if run is not None:
        same = run.replace(seeds=1, root_seed=0) == shown.run
        spec, refusal = described(
            lambda: shown if same else AttackSpec(run=run, noise=shown.noise, places=shown.places)
        )
    offer(
        spec,
        show_attack,
        lambda: [spec] if spec and attack_status(spec).state != "done" else [],
        lambda lacking: (
            f"{plural(sum(s.executions * s.seeds for s in lacking), 'release')} for each of two episodes"
        ),
        [refusal],
        BASE,
    )

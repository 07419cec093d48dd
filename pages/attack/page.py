"""Attack: the best attacker's knowledge about one user, next to the proved limit."""

from __future__ import annotations

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.privacy import PRIVATIZERS
from dprl.simulation import AttackSpec, RunSpec
from dprl.words import plural
from pages.attack.link import BASE, attack, attack_status, show_attack
from pages.attack.parts import belief_part, collusion_part, guess_part, release_part
from pages.shared.controls import panel
from pages.shared.controls.launch import described, offer, spec_of_controls
from pages.shared.controls.noise import structure
from pages.shared.controls.panel import sidebar
from pages.shared.layout.frame import redrawn
from pages.shared.layout.head import common, head, share
from pages.shared.names import in_common
from pages.shared.results.again import save_citations
from pages.shared.results.status import ACTIVE, pace
from pages.shared.visitor.links import Curve
from pages.shared.visitor.state import read_address, session


def main() -> None:
    a = attack()
    read_address(a)
    with st.sidebar:
        sidebar(controls, lambda found: attack_box(*found))
    corner = head(a)
    run = attack_status(a.spec)
    redrawn(partial(draw_parts, corner), pace([run] if run.state in ACTIVE else []))


def draw_parts(corner: DeltaGenerator, live: bool) -> None:
    """Draw the parts in order, and in the corner the link to them. They redraw themselves while an attack goes on."""
    a = attack()
    if live and attack_status(a.spec).state not in ACTIVE:
        st.rerun()
    run = a.spec.run
    known = [part for part in in_common([Curve(run)]).split(" · ") if not part.endswith(" seed")]
    declared = ["structure declared"] if run.structure else []
    common(" · ".join([*known, PRIVATIZERS[run.privacy].title, f"ε = {run.epsilon:g}", *declared]))
    guess_part()
    release_part()
    collusion_part()
    belief_part()
    save_citations([a.spec])
    with corner:
        share(a)


def controls() -> tuple[RunSpec | None, str]:
    """Draw all controls; return the run that they describe, or a sentence that explains why there is none."""
    s = session()
    panel.environment(s)
    panel.learner(s)
    panel.privacy(s)
    panel.size_controls(s)
    panel.environment_parameters(s)
    with st.expander("Expert settings"):
        panel.noise_settings(s)
        structure(s)
        panel.number_field(s, "contribution", "Most episodes of one user")
    return spec_of_controls(s)


def attack_box(run: RunSpec | None, refusal: str) -> None:
    """Describe the effect of Run, and draw the buttons. run, refusal: the return values of `controls`."""
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


main()

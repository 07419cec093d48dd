"""The controls of Attack: a problem, and the privacy of the run whose noise is attacked."""

from __future__ import annotations

import streamlit as st

from dprl.fields import SpecError
from dprl.learners import ALGORITHMS
from dprl.simulation import AttackSpec, estimate
from dprl.words import duration, plural
from pages.attack.link import BASE
from pages.attack.state import attack, show_attack, status
from pages.shared.controls import panel
from pages.shared.controls.launch import buttons, spec_of
from pages.shared.controls.structure import structure
from pages.shared.layout.frame import guarded
from pages.shared.results import data
from pages.shared.text import escape
from pages.shared.visitor.state import Session, session


@st.fragment
@guarded
def controls() -> None:
    """All controls and the Run button. Moving one redraws the controls only."""
    s = session()
    s.wrong.clear()
    with st.container(key="controls", gap="small"):
        panel.environment(s)
        panel.privacy(s)
        panel.size(s)
        if "structure" in ALGORITHMS[s.draft.algorithm].declarable:
            with st.expander("More settings"):
                structure(s)
    with st.container(key="run_box", gap="xsmall"):
        run_box(s)


def run_box(s: Session) -> None:
    """What pressing Run will do, and the buttons."""
    run, refusal = spec_of(s)
    spec, known = None, False
    if run is not None:
        try:
            same = run.replace(seeds=1, root_seed=0) == attack().spec.run
            spec = attack().spec if same else AttackSpec(run=run, noise=attack().spec.noise)
            known = status(spec).state == "done"
            plays = spec.executions * spec.seeds
            seconds = estimate(spec).seconds * spec.seeds / data.workers()
            said = f"{plural(plays, 'release')} in each of two worlds: {duration(seconds)} once started."
            st.caption("Computed before: it appears at once." if known else said)
        except SpecError as error:
            spec, refusal = None, str(error)
    if refusal:
        st.caption(f":red[{escape(refusal)}]")
    buttons(show_attack, spec, BASE)

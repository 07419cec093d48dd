"""The controls of Attack: a problem, and the privacy of the run whose noise is attacked."""

from __future__ import annotations

import streamlit as st

from dprl.fields import SpecError
from dprl.learners import ALGORITHMS
from dprl.simulation import AttackSpec, RunSpec
from dprl.words import plural
from pages.attack.link import BASE
from pages.attack.state import attack, show_attack, status
from pages.shared.controls import panel
from pages.shared.controls.launch import buttons, spec_of, takes
from pages.shared.controls.structure import declarations
from pages.shared.text import escape
from pages.shared.visitor.state import session


def controls() -> tuple[RunSpec | None, str]:
    """All controls; the run that they describe, or the sentence that says why there is none."""
    s = session()
    panel.environment(s)
    panel.privacy(s)
    panel.size(s)
    if "structure" in ALGORITHMS[s.draft.algorithm].declarable:
        with st.expander("More settings"):
            declarations(s)
    return spec_of(s)


def run_box(run: RunSpec | None, refusal: str) -> None:
    """What pressing Run will do, and the buttons. run, refusal: what `controls` returns."""
    spec = None
    if run is not None:
        try:
            same = run.replace(seeds=1, root_seed=0) == attack().spec.run
            spec = attack().spec if same else AttackSpec(run=run, noise=attack().spec.noise)
            lacking = [] if status(spec).state == "done" else [spec]
            takes(lacking, f"{plural(spec.executions * spec.seeds, 'release')} in each of two worlds")
        except SpecError as error:
            spec, refusal = None, str(error)
    if refusal:
        st.caption(f":red[{escape(refusal)}]")
    buttons(show_attack, spec, BASE)

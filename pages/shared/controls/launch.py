"""From the controls to a run: the spec they describe, what it will take, and the buttons Run and Reset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dprl.fields import SpecError
from dprl.simulation import RunSpec, estimate
from dprl.words import count, duration, plural
from pages.shared.controls.gauge import gauge
from pages.shared.results.data import status, workers
from pages.shared.text import escape
from pages.shared.visitor.callbacks import callback
from pages.shared.visitor.draft import draft_of, spec_from
from pages.shared.visitor.links import MAX_CURVES
from pages.shared.visitor.state import Session, add, session, write_address


def run_box(s: Session, live: bool = False) -> None:
    """What pressing Run will do, and the button."""
    spec, refusal = spec_of(s)
    if spec:
        try:
            gauge(spec)
        except SpecError as error:  # noise so large that it cannot be accounted for
            spec, refusal = None, str(error)
    known = status(spec).state if spec else "unknown"
    if refusal:
        st.caption(f":red[{escape(refusal)}]")
    elif len(s.explore.curves) >= MAX_CURVES:
        st.caption(f"{MAX_CURVES} curves are the most. Remove one to run another.")
    elif spec and known == "done":
        st.caption("Computed before: it appears at once.")
    elif spec:
        cost = estimate(spec)
        parallel = min(workers(), spec.seeds)
        seconds = duration(cost.seconds * spec.seeds / parallel)
        st.caption(
            f"{plural(spec.seeds, 'seed')}, {count(cost.releases)} plans each: {seconds} once started."
        )
    buttons(
        "Run" if known != "done" else "Show",
        run,
        spec,
        reset,
        "All settings back to their defaults; the curves stay.",
        full=len(s.explore.curves) >= MAX_CURVES,
    )


def buttons(
    label: str,
    run: Callable[[Any], None],
    what: object,
    reset: Callable[[], None],
    reset_help: str,
    full: bool = False,
) -> None:
    """The button that runs `what`, disabled when it is None or there is no room, and the one that resets."""
    with st.container(horizontal=True, gap="small"):
        st.button(
            label,
            type="primary",
            icon=":material/play_arrow:",
            width="stretch",
            disabled=what is None or full,
            on_click=callback(run),
            args=(what,),
            shortcut="Mod+Enter",
            key="run",
        )
        st.button("Reset", on_click=callback(reset), help=reset_help, key="reset")


def run(spec: RunSpec) -> None:
    """The Run button: adds a curve to the comparison and starts it."""
    s = session()
    s.said = add(spec)
    s.runs += 1
    s.paused = False
    write_address(session().explore)
    st.rerun()


def reset() -> None:
    """The Reset button."""
    s = session()
    s.draft = draft_of(RunSpec())
    s.version += 1


def spec_of(s: Session) -> tuple[RunSpec | None, str]:
    """The run that the controls describe, or the sentence that says why there is none."""
    if s.wrong:
        return None, "Mend the value marked in red first."
    try:
        return spec_from(s.draft), ""
    except SpecError as error:
        return None, str(error)

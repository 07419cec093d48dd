"""The clinic that a class plays: a phone shows its history, the screen the counts that the algorithm reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from dprl.assets import module_with_imports
from dprl.figures import room as figures
from dprl.figures.picture import Picture
from dprl.messages import messages
from dprl.rooms import clinic
from dprl.rooms.steps import ClassStep, Clinic
from dprl.sentences import clinic as sentences
from dprl.sentences import room
from pages.room.question import write_down
from pages.room.state import group
from pages.shared.layout.browser import component
from pages.shared.layout.chart import draw, kept, show
from pages.shared.layout.frame import wide
from pages.shared.layout.terms import explained
from pages.shared.text import escape

_patient = component("patient", js=module_with_imports("patient.js", "report.js"))
SAID = sentences.SAID


def on_phone(step: ClassStep, content: Clinic, written: str | None, total: float) -> None:
    """Play an episode on a phone and show its true history there. total: the phone's budget epsilon in this room."""
    st.header(SAID["title"], anchor=False)
    if step.state == "paused" and written is None:
        st.info(room.PHONE["paused_answers"], icon=":material/pause:")
    code = group().code
    told = _patient(
        data={
            "code": code,
            "place": step.place,
            "open": step.state == "open",
            "written": written,
            "law": clinic.on_phone(content.epsilon),
            "words": messages("room")["patient"],
        },
        key=f"patient_{code}_{step.place}",
    )
    write_down(step, told.get("report"), written)
    if written is not None:
        st.success(SAID["written"], icon=":material/edit_note:")
        if step.state != "revealed":
            st.caption(room.PHONE["result"])
    elif step.state == "open":
        asked = clinic.asking_at(content.epsilon)
        steps = len(asked.steps(0, clinic.world().H))
        st.markdown(explained(sentences.about(clinic.world().H, steps)))
        st.markdown(explained(sentences.proof(content.epsilon, asked.bit, steps)))
        st.markdown(explained(room.held(total)))
        st.caption(explained(f"{SAID['script']} {SAID['watched']} {room.PHONE['repeated']}"))
    if step.state == "revealed":
        class_results(step, content)


def class_results(step: ClassStep, content: Clinic, *, large: bool = False) -> None:
    """Draw the counts that the algorithm reads from the reports so far."""
    if not step.answers:
        st.info(SAID["none_yet"], icon=":material/info:")
        return
    code = group().code
    space = wide() or not large
    key = ("clinic", code, step.place, step.answers, large, space)
    picture = kept(key, lambda night: visits_picture(step.answers, content.epsilon, night, large, space))
    name = f"clinic_{step.place}_{large}"
    if large:
        draw(picture, name, height="stretch")
        st.markdown(escape(picture.see))
    else:
        show(picture, name)


def visits_picture(
    reports: Sequence[str], epsilon: float, night: bool, large: bool = False, space: bool = True
) -> Picture:
    """Draw the visits to each state over all steps. large: for a projector; space: whether the screen is wide."""
    mdp, n = clinic.world(), len(reports)
    said, law = clinic.visits_read(reports, epsilon).tolist(), clinic.visits_expected(n).tolist()
    spread = clinic.spread_of_visits(n, epsilon)
    most = int(np.argmax(law))
    see = sentences.visits(n, mdp.H, mdp.state_labels[most], law[most], said[most], spread)
    looks: dict[str, Any] = {"see": see, "dark": night, "large": large, "wide": space}
    return figures.visits_by_state(SAID, mdp.state_labels, said, law, spread, n * mdp.H, epsilon, **looks)

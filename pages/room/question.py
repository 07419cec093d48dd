"""Yes-or-no questions, and the clinic that a class plays: the coin or the patient on the phone, whose scripts
(assets/web/coin.js, patient.js) send nothing but their reports, and the estimates from all reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from dprl.assets import module_with_imports
from dprl.fields import SpecError
from dprl.figures import room as figures
from dprl.figures.picture import Picture
from dprl.figures.room import KnownShare
from dprl.messages import counted, filled, messages
from dprl.rooms import clinic as played
from dprl.rooms.response import share_of_yes
from dprl.rooms.steps import DELTA, ClassStep, Clinic, Question, ShareEstimate, estimate_share
from dprl.runs.database import StoreError
from dprl.sentences import room as sentences
from dprl.words import human
from pages.room.state import group
from pages.shared.layout.browser import component
from pages.shared.layout.chart import draw, kept, show
from pages.shared.layout.frame import wide
from pages.shared.layout.terms import escape, explained
from pages.shared.results.data import store

_coin = component("coin", js=module_with_imports("coin.js", "report.js"))


def toss(step: ClassStep, question: Question, written: str | None) -> None:
    """Show the coin on a phone and record its report when the step is open, even if the report arrived while the step
    was paused, or before the server forgot this session."""
    code = group().code
    said = _coin(
        data={
            "code": code,
            "place": step.place,
            "opposites": question.opposites,
            "open": step.state == "open",
            "written": written,
            "words": messages("room")["coin"],
        },
        key=f"coin_{code}_{step.place}",
    )
    write_down(step, said.get("report"), written)


def write_down(step: ClassStep, report: object, written: str | None) -> None:
    """Record a phone's report if the step is open, or show the reason for a refusal."""
    if report and step.state == "open" and written is None:
        try:
            store().rooms.respond(group().code, group().device, step.place, str(report))
        except (StoreError, SpecError) as error:
            st.warning(escape(str(error)), icon=":material/info:")
        else:
            st.rerun()


PHONES = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
DEFAULT_PHONES = 500


def show_results(code: str, step: ClassStep, large: bool = False) -> None:
    """Draw the estimates under three privacy models with their guarantees. large: for a projector, on one screen."""
    found = estimate_share(code, step)
    if found is None:
        st.info(
            sentences.RESULT["no_answers" if step.state != "revealed" else "nobody"], icon=":material/info:"
        )
        return
    phones = 0
    if step.state == "revealed":
        phones = st.select_slider(
            sentences.RESULT["were"], PHONES, DEFAULT_PHONES, key=f"were_{step.place}", format_func=human
        )
    key = ("room", code, step.place, found.n, found.reported, phones)
    picture, name = kept(key, lambda night: shares_picture(found, night, phones)), f"room_{step.place}"
    if large:
        draw(picture, f"{name}_large", height="stretch")
        st.markdown(explained(escape(picture.see)))
    else:
        show(picture, name)
    with st.container(key="three"):
        said = sentences.three(found.n, found.epsilon, found.shuffled, DELTA, found.far)
        for column, one in zip(st.columns(3), said, strict=True):
            column.markdown(explained(one))


def shares_picture(found: ShareEstimate, night: bool, phones: int = 0) -> Picture:
    """Draw the share of yes under three models, and the interval that `phones` phones would give (0 for none)."""
    n, (value, low, high) = found.n, found.yes
    # noise may exceed the possible range
    least, said, most = (min(max(found.said + off, 0), n) for off in (-found.far, 0, found.far))
    rows = [
        KnownShare("local", sentences.RESULT["row_local"], found.epsilon, value, low, high),
        KnownShare("shuffle", sentences.RESULT["row_shuffle"], found.shuffled, value, low, high),
        KnownShare("central", sentences.RESULT["row_central"], found.epsilon, said / n, least / n, most / n),
    ]
    see = sentences.found(n, found.reported, found.yes)
    if phones:
        more = share_of_yes(phones * found.reported / n, phones, found.epsilon)
        title = filled(sentences.RESULT["were_row"], n=human(phones))
        rows.insert(1, KnownShare("local", title, found.epsilon, *more))
        see += f" {sentences.if_more(found.yes, phones, more)}"
    subtitle = filled(
        sentences.RESULT["subtitle"], answers=counted(n, "answer"), epsilon=f"{found.epsilon:g}"
    )
    return figures.shares_of_yes(sentences.RESULT, rows, subtitle=subtitle, see=see, dark=night)


_patient = component("patient", js=module_with_imports("patient.js", "report.js"))
CLINIC = sentences.CLINIC


def clinic_on_phone(step: ClassStep, content: Clinic, written: str | None, total: float) -> None:
    """Play an episode on a phone and show its true history there. total: the phone's budget epsilon in this room."""
    st.header(CLINIC["title"], anchor=False)
    if step.state == "paused" and written is None:
        st.info(sentences.PHONE["paused_answers"], icon=":material/pause:")
    code = group().code
    told = _patient(
        data={
            "code": code,
            "place": step.place,
            "open": step.state == "open",
            "written": written,
            "law": played.on_phone(content.epsilon),
            "words": messages("room")["patient"],
        },
        key=f"patient_{code}_{step.place}",
    )
    write_down(step, told.get("report"), written)
    if written is not None:
        st.success(CLINIC["written"], icon=":material/edit_note:")
        if step.state != "revealed":
            st.caption(sentences.PHONE["result"])
    elif step.state == "open":
        asked = played.asking_at(content.epsilon)
        steps = len(asked.steps(0, played.world().H))
        st.markdown(explained(sentences.about_clinic(played.world().H, steps)))
        st.markdown(explained(sentences.proof_of_bits(content.epsilon, asked.bit, steps)))
        st.markdown(explained(sentences.held(total)))
        st.caption(explained(f"{CLINIC['script']} {CLINIC['watched']} {sentences.PHONE['repeated']}"))
    if step.state == "revealed":
        class_results(step, content)


def class_results(step: ClassStep, content: Clinic, *, large: bool = False) -> None:
    """Draw the counts that the algorithm reads from the reports so far."""
    if not step.answers:
        st.info(CLINIC["none_yet"], icon=":material/info:")
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
    mdp, n = played.world(), len(reports)
    said, law = played.visits_read(reports, epsilon).tolist(), played.visits_expected(n).tolist()
    spread = played.spread_of_visits(n, epsilon)
    most = int(np.argmax(law))
    see = sentences.visits(n, mdp.H, mdp.state_labels[most], law[most], said[most], spread)
    looks: dict[str, Any] = {"see": see, "dark": night, "large": large, "wide": space}
    return figures.visits_by_state(CLINIC, mdp.state_labels, said, law, spread, n * mdp.H, epsilon, **looks)

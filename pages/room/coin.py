"""The coin of a question, on the phone: its script (assets/web/coin.js) draws it, and says its report and nothing
else."""

from __future__ import annotations

import streamlit as st

from dprl.assets import module_with_imports
from dprl.fields import SpecError
from dprl.messages import messages
from dprl.rooms.steps import ClassStep, Question
from dprl.runs.database import StoreError
from pages.room.state import group
from pages.shared.layout.component import component
from pages.shared.results.data import store
from pages.shared.text import escape

_coin = component("coin", js=module_with_imports("coin.js", "report.js"))


def toss(step: ClassStep, question: Question, written: str | None) -> None:
    """Have a phone answer, and show its draw. Its report is written down when the step is open: also if
    that came while the step was paused, or before the server forgot this session.

    Args:
        written: what stands written from this device.
    """
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
    """Record a phone's report, once the step is open; a refusal shows its reason."""
    if report and step.state == "open" and written is None:
        try:
            store().rooms.respond(group().code, group().device, step.place, str(report))
        except (StoreError, SpecError) as error:
            st.warning(escape(str(error)), icon=":material/info:")
        else:
            st.rerun()

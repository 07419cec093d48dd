"""Yes-or-no questions: the coin on the phone, whose script (assets/web/coin.js) sends nothing but its report, and the
estimates from all reports, on the teacher's page and on phones."""

from __future__ import annotations

import streamlit as st

from dprl.assets import module_with_imports
from dprl.fields import SpecError
from dprl.figures import room as figures
from dprl.figures.picture import Picture
from dprl.figures.room import KnownShare
from dprl.messages import counted, filled, messages
from dprl.rooms.response import share_of_yes
from dprl.rooms.steps import DELTA, ClassStep, Question, ShareEstimate, estimate_share
from dprl.runs.database import StoreError
from dprl.sentences import room as sentences
from dprl.words import human
from pages.room.state import group
from pages.shared.layout.browser import component
from pages.shared.layout.chart import draw, kept, show
from pages.shared.layout.terms import explained
from pages.shared.results.data import store
from pages.shared.text import escape

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

"""What a student hands in: the predictions of a link, scored; to look at, to copy, and to save as a file."""

from __future__ import annotations

import streamlit as st

from dprl.lessons.handed import SAID, page, rows
from dprl.messages import filled, messages
from dprl.version import VERSION
from pages.lessons.recap import own_score
from pages.lessons.state import Lessons, go
from pages.shared.layout.browser import copy_link
from pages.shared.layout.download import save
from pages.shared.layout.terms import explained
from pages.shared.lessons.known import evidence
from pages.shared.text import escape
from pages.shared.visitor.address import query_of, whole_address
from pages.shared.visitor.callbacks import callback

POINTS = messages("lessons")["page"]["points_of"]
NONE = messages("lessons")["page"]["points"]


def handed_in(here: Lessons) -> None:
    """The predictions, and the ways to take them along. Nothing of them stays here."""
    lesson, handed = here.lesson, here.handed
    st.markdown(f"## {escape(filled(SAID['title'], lesson=lesson.title))}", anchors=False)
    st.markdown(SAID["about"])
    found = rows(lesson, handed, evidence())
    with st.container(border=True, key="score"):
        st.markdown(f"### {own_score([points for *_, points in found])}", anchors=False)
        asked = zip(found, handed, strict=True)
        st.markdown("\n".join(said(n, bool(text), *row) for n, (row, text) in enumerate(asked, 1)))
    query, name = query_of(here.link), lesson.key
    link = whole_address(query)
    with st.container(horizontal=True, gap="small", key="handed_ways"):
        copy_link(query, SAID["copy"])
        save(
            f"dprl-{name}.html",
            SAID["file"],
            "text/html",
            lambda: page(lesson, handed, evidence(), VERSION, link),
        )
        st.button(
            SAID["back"],
            icon=":material/chevron_left:",
            key="handed_back",
            on_click=callback(go),
            args=(here.key, 0),
        )
    st.caption(explained(SAID["honest"]))


def said(n: int, predicted: bool, title: str, prediction: str, off: str, points: float) -> str:
    """What one question counts, and of a prediction what it was."""
    own = {"n": n, "title": escape(title), "points": f"{round(points, 2):g}", "off": escape(off)}
    return filled(POINTS, predicted=escape(prediction), **own) if predicted else filled(NONE, **own)

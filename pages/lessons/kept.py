"""What was predicted and scores, kept by the browser's tab over a reload."""

from __future__ import annotations

import json

import streamlit as st

from dprl.fields import SpecError
from dprl.lessons import LESSONS
from pages.lessons.state import Place, lessons
from pages.shared.layout.component import component
from pages.shared.lessons.known import evidence
from pages.shared.visitor.callbacks import callback

KEY = "kept_scores"

_kept = component("kept_scores")


def keep_scores() -> None:
    """Has the tab keep what scores, and say once what it has kept; the page is drawn again when it has."""
    here = lessons()
    with st.container(key="scores_kept"):
        _kept(
            data={"first": written(here.first), "heard": here.heard, "session": here.session},
            key=KEY,
            height=1,
            on_kept_change=callback(_heard),
        )


def written(first: dict[Place, str]) -> str:
    """As the tab keeps it, "" for nothing."""
    return json.dumps([[*place, text] for place, text in first.items()]) if first else ""


def read(text: str) -> dict[Place, str]:
    """What `written` was given, as far as it is of lessons and predictions that there are: it comes from a browser."""
    try:
        rows = json.loads(text)
    except ValueError:
        return {}
    found = {}
    for row in rows if isinstance(rows, list) else []:
        match row:
            case [str(key), int(at), str(guess)] if key in LESSONS and 0 <= at < len(LESSONS[key].steps):
                if not guess or scores(key, at, guess):
                    found[key, at] = guess
    return found


def scores(key: str, at: int, text: str) -> bool:
    """Whether a text is a prediction of this step, or the beginning of one."""
    try:
        LESSONS[key].steps[at].score(text, evidence())
    except SpecError:
        return False
    return True


def _heard() -> None:
    """Takes over what the tab has kept: it was predicted before what this session has."""
    here = lessons()
    if here.heard:
        return
    here.heard = True
    here.first |= read(str(getattr(st.session_state.get(KEY), "kept", None) or ""))
    if here.ended and not here.unanswered:
        here.show(True)

"""The environment that a question is the first to be about."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from dprl.environments import ENVIRONMENTS
from dprl.lessons import Lesson
from dprl.messages import messages
from dprl.simulation import RunSpec
from pages.shared.controls.panel import environment_picture
from pages.shared.layout.chart import draw_bare, kept
from pages.shared.layout.frame import dark
from pages.shared.layout.terms import explained
from pages.shared.online.one_user import of_best
from pages.shared.results.data import environment
from pages.shared.text import escape


def pictured(lesson: Lesson, at: int) -> None:
    """Its drawing and a sentence, where the step at a place, from 0, meets it first; else nothing."""
    met = lesson.met(at)
    if met is None:
        return
    with st.container(key="pictured"):
        left, right = st.columns([2, 3], gap="medium", vertical_alignment="center")
        with left:
            drawing(*met)
        world = ENVIRONMENTS[met[0]]
        right.markdown(explained(f"**{escape(world.title)}.** {escape(world.summary)}"))
        walking(*met)


def walking(key: str, params: Mapping[str, Any]) -> None:
    """Users who walk through it, once they are asked for."""
    opened = st.expander(
        messages("one_user")["open"], icon=":material/directions_walk:", on_change="rerun", key="walking"
    )
    if not opened.open:
        return
    spec = RunSpec(environment=key, environment_params=params)
    with opened:
        of_best(f"{key}{sorted(params.items())}", environment(spec))


def question_beside_picture(lesson: Lesson, at: int, words: str) -> None:
    """The question, as a projector has it, and the drawing beside it where the step meets an environment first."""
    met = lesson.met(at)
    if met is None:
        st.markdown(words, anchors=False)
        return
    with st.container(key="pictured"):
        left, right = st.columns([5, 3], gap="small", vertical_alignment="center")
        left.markdown(words, anchors=False)
        with right:
            drawing(*met)


def drawing(key: str, params: Mapping[str, Any]) -> None:
    """An environment, drawn small."""
    asked = key, tuple(params.items()), dark()
    draw_bare(kept(("environment", *asked), partial(environment_picture, *asked)), "environment")

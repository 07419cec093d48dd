"""The environment that a question is the first to be about."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from dprl.environments import ENVIRONMENTS
from dprl.lessons import Lesson
from dprl.messages import filled, messages
from dprl.simulation import RunSpec
from pages.shared.controls.panel import environment_picture
from pages.shared.layout.chart import draw_bare, kept
from pages.shared.layout.frame import dark
from pages.shared.layout.terms import explained
from pages.shared.online.one_user import of_best
from pages.shared.results.data import environment
from pages.shared.text import escape


def pictured(lesson: Lesson, at: int) -> None:
    """Draw the environment that first appears at a step, counted from 0, behind a fold: its drawing, a sentence, and
    users who walk through it; else nothing."""
    met = lesson.met(at)
    if met is None:
        return
    key, params = met
    world = ENVIRONMENTS[key]
    name = filled(messages("lessons")["page"]["world"], environment=world.title)
    fold = st.expander(escape(name), icon=":material/directions_walk:", on_change="rerun", key="pictured")
    if not fold.open:
        return
    with fold:
        left, right = st.columns([2, 3], gap="medium", vertical_alignment="center")
        with left:
            drawing(*met)
        right.markdown(explained(escape(world.summary)))
        spec = RunSpec(environment=key, environment_params=params)
        of_best(f"{key}{sorted(params.items())}", environment(spec))


def question_beside_picture(lesson: Lesson, at: int, words: str) -> None:
    """Draw the question for a projector, next to a drawing of the environment if it first appears in this step."""
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
    """Draw a small picture of an environment."""
    asked = key, tuple(params.items()), dark()
    draw_bare(kept(("environment", *asked), partial(environment_picture, *asked)), "environment")

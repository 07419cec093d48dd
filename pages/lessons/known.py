"""What lessons are about: runs that come with the program."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dprl.lessons import LESSONS, Evidence, Known
from pages.shared.results import answers
from pages.shared.results.bundled import bundled

FROM = ("home", "examples", "offline", "linear")  # the files of assets/ that have them


@st.cache_resource(show_spinner=False)
def evidence() -> Evidence:
    """All runs of all lessons; read once."""
    found: dict[Any, Any] = {}
    for name in reversed(FROM):
        found |= bundled(name)
    runs = {}
    for spec in {spec: None for lesson in LESSONS.values() for step in lesson.steps for spec in step.specs}:
        run, best = found[spec], answers.v_star(spec)
        assert best is not None  # known of every environment by default
        runs[spec] = Known(run.episodes, run.rows, best, run.lower)
    return Evidence(runs)

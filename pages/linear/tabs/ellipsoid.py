"""The tab Confidence set: of two weights of a step, and what noise adds."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dprl import metrics
from dprl.figures import linear as figures
from dprl.figures.picture import Picture
from dprl.sentences import linear as sentences
from pages.linear.record import LINEAR
from pages.linear.tabs.focus import BELIEFS, BeliefSelection, step_of
from pages.shared.layout.chart import kept, show
from pages.shared.layout.frame import dark


def tab() -> None:
    """The confidence set as planned with, and as the same users would show it without noise."""
    found = BELIEFS.choose()
    if found is None:
        return
    h = step_of(found)
    weights = range(found.d)
    words = [f"weight {i}" for i in weights]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        with st.container(width=150):
            i = LINEAR.widgets.menu("Horizontal axis", "first", weights, words)
        with st.container(width=150):
            j = LINEAR.widgets.menu(
                "Vertical axis", "second", [k for k in weights if k != i], [w for w in words if w != words[i]]
            )
        near = LINEAR.widgets.switch(
            "Zoom to the confidence set", "near", "on", "off", "If off, the axes show all possible weights."
        )
    night = dark()
    picture = kept(
        ("ellipsoid", found.key, h, i, j, near, night),
        lambda: ellipsoid_picture(found, h, (i, j), near, night),
    )
    show(picture, "ellipsoid")


def ellipsoid_picture(
    found: BeliefSelection, h: int, pair: tuple[int, int], near: bool, night: bool
) -> Picture:
    """The figure of one step, with what it says."""
    noisy, quiet = found.region(h, True), found.region(h, False)
    truth = found.trace.beliefs["truth"][found.at, h]
    here = list(pair)
    names = (f"weight {pair[0]}", f"weight {pair[1]}")
    see = sentences.region(
        metrics.half_widths(noisy)[here],
        metrics.half_widths(quiet)[here],
        (noisy.center - truth)[here],
        bound=found.bound,
        names=names,
        step=h,
        users=found.users,
        private=found.private,
    )
    return figures.ellipsoid(
        metrics.outline(noisy, *pair) if found.private and noisy.known else None,
        metrics.outline(quiet, *pair) if quiet.known else None,
        estimate=np.asarray(noisy.center[here]),
        quiet_estimate=np.asarray(quiet.center[here]),
        truth=np.asarray(truth[here]),
        bound=found.bound,
        names=names,
        label=f"{found.title}, seed {found.trace.seed}, step {h}",
        near=near,
        see=see,
        dark=night,
    )

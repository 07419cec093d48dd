"""The tab Confidence set, for learners that use features: two weights of one step, with and without noise."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

from dprl import metrics
from dprl.figures import linear as figures
from dprl.figures.picture import Picture
from dprl.runs.status import RunStatus
from dprl.sentences import linear as sentences
from dprl.simulation import SeedTrace
from pages.explore.focus import identity, look_closely, moment
from pages.shared.controls import view
from pages.shared.layout.chart import kept, show
from pages.shared.visitor.state import session


def tab(titles: Sequence[str], runs: Sequence[RunStatus]) -> None:
    """Draw the confidence set used for planning, next to the set that the same users would give without noise."""
    found = look_closely(titles, runs)
    if found is None:
        return
    _, title, trace = found
    if not trace.beliefs:
        st.info("This algorithm has no confidence set of weights. Choose a curve whose algorithm has one.")
        return
    at, e = moment(trace, telling(trace)), session().explore
    steps, d = trace.beliefs["truth"].shape[1:3]
    weights = range(d)
    words = [f"weight {i}" for i in weights]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        h = view.steps(e, "Step h of the episode", "h", range(steps))
        i = view.menu(e, "Horizontal axis", "first", weights, words)
        others = [k for k in weights if k != i]
        j = view.menu(e, "Vertical axis", "second", others, [words[k] for k in others])
        about = "If on, the axes fit the confidence set. If off, they show all possible weights."
        near = view.switch(e, "Zoom to the confidence set", "near", "on", "off", about)
    picture = kept(
        ("ellipsoid", identity(trace), at, h, i, j, near),
        partial(ellipsoid_picture, trace, title, at, h, (i, j), near),
    )
    show(picture, "ellipsoid")


def telling(trace: SeedTrace) -> int:
    """Return the default moment: the first at which regret per episode is below a tenth of V*."""
    low = np.flatnonzero(trace.regret / trace.episodes < 0.1 * trace.v_star)
    return int(trace.episodes[low[0]] if len(low) else trace.episodes[-1])


def ellipsoid_picture(
    trace: SeedTrace, title: str, at: int, h: int, pair: tuple[int, int], near: bool, night: bool
) -> Picture:
    """Draw the confidence set of one step, with its sentence."""
    beliefs, private, users = trace.beliefs, trace.spec.privacy != "none", int(trace.detail_episodes[at])
    noisy = metrics.region(beliefs, trace.noisy, at, h)
    quiet = metrics.region(beliefs, trace.series["sums"], at, h, "noiseless ")
    truth, bound, here = beliefs["truth"][at, h], float(beliefs["bound"][0]), list(pair)
    names = (f"weight {pair[0]}", f"weight {pair[1]}")
    see = sentences.region(
        metrics.half_widths(noisy)[here],
        metrics.half_widths(quiet)[here],
        (noisy.center - truth)[here],
        bound=bound,
        names=names,
        step=h,
        users=users,
        private=private,
    )
    return figures.ellipsoid(
        metrics.outline(noisy, *pair) if private and noisy.known else None,
        metrics.outline(quiet, *pair) if quiet.known else None,
        estimate=np.asarray(noisy.center[here]),
        quiet_estimate=np.asarray(quiet.center[here]),
        truth=np.asarray(truth[here]),
        bound=bound,
        names=names,
        label=f"{title}, seed {trace.seed}, step {h}",
        near=near,
        see=see,
        dark=night,
    )

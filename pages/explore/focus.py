"""The run, seed and moment of a close look: shared by the tabs Counts and Policy."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dprl.runs.status import RunStatus
from dprl.simulation import RunSpec, SeedTrace
from dprl.words import count
from pages.explore import view
from pages.shared.layout.terms import explained
from pages.shared.results import data
from pages.shared.results.bundled import comes_along
from pages.shared.results.status import ACTIVE, act, price
from pages.shared.text import escape
from pages.shared.visitor.links import Curve
from pages.shared.visitor.state import ask, begin, session


def look_closely(titles: Sequence[str], runs: Sequence[RunStatus]) -> tuple[Curve, str, SeedTrace] | None:
    """Menus for curve and seed; the chosen curve, its title and the seed's trace, or None with the reason said."""
    shown = session().explore.shown
    offered = view.offered("look at it closely")
    if not offered:
        return None
    left, right = st.columns([3, 2], wrap=False)
    with left:
        chosen = view.curve_menu("Curve", offered, titles)
    curve, run = shown[chosen], runs[chosen]
    with right:
        seeds = range(curve.spec.seeds)
        seed = view.menu("Seed", "seed", seeds, [f"seed {i}" for i in seeds])
    found = data.trace(curve.spec, seed)
    if found is None or not len(found.detail_episodes):
        absent(curve.spec, f"{titles[chosen]}, seed {seed}", run)
        return None
    return curve, titles[chosen], found


def absent(spec: RunSpec, name: str, run: RunStatus) -> None:
    """Ask for a run whose curve comes with the program, as nobody has computed its details here yet, unless its time
    has an earlier message; describe its status."""
    if run.state == "done" and begin_lacking([spec]):
        st.rerun()
    if run.state in ACTIVE:
        st.info(explained(f"**{escape(name)}.** Counts and policies appear when this seed is finished."))
        return
    st.info(f"**{escape(name)}.** This seed was not computed: {price([spec])}.")
    act("Run it", "play_arrow", lambda: ask([spec], session().visitor, again=True), "close_look")


def begin_lacking(specs: Sequence[RunSpec]) -> bool:
    """Ask for those of these runs that nobody has computed here yet, as their curves alone come with the program;
    return whether any was asked for."""
    lacking = [spec for spec in specs if comes_along(spec) and data.status(spec).state == "unknown"]
    return bool(lacking) and begin(lacking, session().visitor)


def identity(trace: SeedTrace) -> tuple[str, int, int]:
    """Names a trace and how far it goes."""
    return trace.spec.to_json(), trace.seed, int(trace.episodes[-1])


def moment(found: SeedTrace) -> int:
    """Draw a slider over the moments that were kept in detail, and return the index of the chosen one."""
    episodes = [int(k) for k in found.detail_episodes]
    chosen = view.steps("After how many episodes", "episode", episodes, [count(k) for k in episodes])
    return episodes.index(chosen)

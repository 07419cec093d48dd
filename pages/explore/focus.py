"""Selections that the tabs of Online share: the visible curves, and the run, seed and moment in detail."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dprl.runs.status import RunStatus
from dprl.simulation import RunSpec, SeedTrace
from dprl.words import count
from pages.shared.controls import view
from pages.shared.layout.terms import explained
from pages.shared.results import data
from pages.shared.results.bundled import comes_along
from pages.shared.results.runs import ONLINE
from pages.shared.results.status import ACTIVE, act, price
from pages.shared.text import escape
from pages.shared.visitor.links import Curve, most_private
from pages.shared.visitor.state import ask, begin, owner_id, session


def offered(why: str) -> list[int]:
    """Return the indices of the visible curves; if all are hidden, show a sentence that asks to show one."""
    found = [i for i, curve in enumerate(session().explore.shown) if not curve.hidden]
    if not found:
        st.info(f"All curves are hidden. Show one to {why}.")
    return found


def curve_menu(label: str, offered: Sequence[int], titles: Sequence[str]) -> int:
    """Draw a menu of the offered curves and return the index of the chosen one, by default the most private.

    titles: the titles of all curves.
    """
    e = session().explore
    first = offered[most_private([e.shown[i] for i in offered])]
    return view.menu(e, label, "curve", offered, [titles[i] for i in offered], otherwise=first)


def statuses() -> list[RunStatus]:
    """Return the status of each run in the comparison, as this visitor sees it."""
    return [ONLINE.status(c.spec, owner_id("draft") if c.draft else "") for c in session().explore.shown]


def going(runs: Sequence[RunStatus]) -> list[RunStatus]:
    """Return the active runs: those shown and, for the privacy cost, their baselines without privacy."""
    e = session().explore
    baselines = [c.spec.baseline() for c in e.shown if c.spec.privacy != "none" and e.view.measure == "extra"]
    return [run for run in [*runs, *map(ONLINE.status, baselines)] if run.state in ACTIVE]


def look_closely(titles: Sequence[str], runs: Sequence[RunStatus]) -> tuple[Curve, str, SeedTrace] | None:
    """Draw menus for curve and seed; return the curve, its title and the trace, or None after showing the reason."""
    e, places = session().explore, offered("look at it closely")
    if not places:
        return None
    left, right = st.columns([3, 2], wrap=False)
    with left:
        chosen = curve_menu("Curve", places, titles)
    curve = e.shown[chosen]
    with right:
        seed = view.seed_menu(e, "Seed", curve.spec.seeds)
    found = data.trace(curve.spec, seed)
    if found is None or not len(found.detail_episodes):
        absent(curve.spec, f"{titles[chosen]}, seed {seed}", runs[chosen])
        return None
    return curve, titles[chosen], found


def absent(spec: RunSpec, name: str, run: RunStatus) -> None:
    """Request a run of which only the curve is bundled, unless it is too expensive, and show its status."""
    if run.state == "done" and begin_lacking([spec]):
        st.rerun()
    if run.state in ACTIVE:
        st.info(explained(f"**{escape(name)}.** Counts and policies appear when this seed is finished."))
        return
    st.info(f"**{escape(name)}.** This seed was not computed: {price([spec])}.")
    act("Run it", "play_arrow", lambda: ask([spec], session().visitor, again=True), "close_look")


def begin_lacking(specs: Sequence[RunSpec]) -> bool:
    """Request the runs that are bundled only as curves and that nobody has computed here yet; return whether any was
    requested."""
    lacking = [spec for spec in specs if comes_along(spec) and data.status(spec).state == "unknown"]
    return bool(lacking) and begin(lacking, session().visitor)


def identity(trace: SeedTrace) -> tuple[str, int, int]:
    """Return a key that identifies a trace and its length."""
    return trace.spec.to_json(), trace.seed, int(trace.episodes[-1])


def moment(found: SeedTrace, first: int | None = None) -> int:
    """Draw a slider over the moments that were stored in detail; return the index of the chosen one. first: the episode
    selected by default, instead of the last."""
    episodes = [int(k) for k in found.detail_episodes]
    e = session().explore
    return episodes.index(view.steps(e, "Episodes so far", "episode", episodes, count, otherwise=first))

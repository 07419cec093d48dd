"""The curves that are shown, and the run, seed and moment of a close look: shared by the tabs of Online."""

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
    """Return the places of the curves that are not hidden. If all are hidden, show a sentence."""
    found = [i for i, curve in enumerate(session().explore.shown) if not curve.hidden]
    if not found:
        st.info(f"All curves are hidden. Show one to {why}.")
    return found


def curve_menu(label: str, offered: Sequence[int], titles: Sequence[str]) -> int:
    """Return the curve looked at, by its place among all that are shown; the most private of those offered until one
    is chosen.

    titles: of all curves.
    """
    e = session().explore
    first = offered[most_private([e.shown[i] for i in offered])]
    return view.menu(e, label, "curve", offered, [titles[i] for i in offered], otherwise=first)


def statuses() -> list[RunStatus]:
    """Return how each run that is shown stands, as this visitor sees it."""
    return [ONLINE.status(c.spec, owner_id("draft") if c.draft else "") for c in session().explore.shown]


def going(runs: Sequence[RunStatus]) -> list[RunStatus]:
    """Return the runs that go on: those shown, and the runs without privacy that one measure subtracts."""
    e = session().explore
    baselines = [c.spec.baseline() for c in e.shown if c.spec.privacy != "none" and e.view.measure == "extra"]
    return [run for run in [*runs, *map(ONLINE.status, baselines)] if run.state in ACTIVE]


def look_closely(titles: Sequence[str], runs: Sequence[RunStatus]) -> tuple[Curve, str, SeedTrace] | None:
    """Draw menus for curve and seed; return the curve, its title and the seed's trace, or None and show the reason."""
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
    """Name a trace, and how far it goes."""
    return trace.spec.to_json(), trace.seed, int(trace.episodes[-1])


def moment(found: SeedTrace, first: int | None = None) -> int:
    """Draw a slider over the moments that were kept in detail, and return the index of the chosen one. first: the
    episode at which the slider begins, instead of the last."""
    episodes = [int(k) for k in found.detail_episodes]
    e = session().explore
    return episodes.index(view.steps(e, "Episodes so far", "episode", episodes, count, otherwise=first))

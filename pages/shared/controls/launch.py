"""The cost of the run that the controls describe, and the Run and Reset buttons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from dprl.fields import SpecError
from dprl.links import MAX_CURVES
from dprl.messages import filled, messages
from dprl.research.series import place_of
from dprl.runs.database import StoreError
from dprl.simulation import RunSpec, compiles, estimate
from dprl.words import duration, plural
from pages.shared.controls.widgets import locked
from pages.shared.examples import BASE
from pages.shared.layout.browser import skip_to_run
from pages.shared.layout.terms import escape, meanings
from pages.shared.results.data import comes_along, store, workers
from pages.shared.results.status import ACTIVE
from pages.shared.visitor import presence
from pages.shared.visitor.address import RUN
from pages.shared.visitor.callbacks import button, callback
from pages.shared.visitor.draft import draft_of
from pages.shared.visitor.state import Session, add, attempt, owner_id, session, write_address

SAID = messages("controls")["run"]
DRAFT_SECONDS = 2.0  # a draft is drawn without a request if it needs at most this time on one core
Described = TypeVar("Described")


def draw_draft(s: Session, spec: RunSpec) -> None:
    """Request and draw the draft and its baseline if there is room and they are quick to compute, and drop the previous
    ones. Drafts are computed after all other runs and end with the browser tab. Raises SpecError."""
    e = s.explore
    full = len(e.curves) >= MAX_CURVES or st.context.is_embedded or locked(RUN)
    known = [curve.spec for curve in e.curves] + ([e.removed[1].spec] if e.removed else [])
    wanted: list[RunSpec] = []
    if not (full or spec in known) and _is_quick(spec):  # a removed curve does not come back as a draft
        wanted = [spec, *filter(_is_quick, baseline_beside(s, spec))]
    if wanted == e.drafts:
        return
    owner = owner_id("draft")
    for before in e.drafts:
        if before not in wanted and store().status(before, owner).state in ACTIVE:
            attempt(store().cancel, before, owner)
    try:
        for one in wanted:
            if not comes_along(one):
                store().ask(one, owner, presence.lease(s.visitor), draft=True)
    except (SpecError, StoreError):  # the reason is shown once Run is pressed
        wanted = []
    if wanted != e.drafts:
        e.drafts = wanted
        st.rerun()


def _is_quick(spec: RunSpec) -> bool:
    if comes_along(spec) or store().status(spec).state == "done":
        return True
    return not compiles(spec) and store().cost([spec])[1] <= DRAFT_SECONDS


def offer(
    what: object,
    run: Callable[[Any], None],
    lacking: Callable[[], Sequence[Any] | None],
    amount: Callable[[Sequence[Any]], str],
    refused: Sequence[str] = (),
    usual: RunSpec = BASE,
    also: Callable[[], Callable[[], None]] | None = None,
    *,
    shown: bool = True,
) -> None:
    """Describe what Run will do, or explain why it is disabled, and draw the buttons.

    what: the argument of `run`, or None if the controls describe nothing. lacking: returns its unfinished runs, or
    None. amount: describes these runs. refused: sentences that explain why some runs are impossible. usual, also: see
    `buttons`. shown: whether the page already shows `what`.
    """
    other = "" if shown else f"{SAID['other']} "
    for sentence in filter(None, refused):
        st.caption(f":red[{escape(sentence)}]")
    if what is not None:
        try:
            if found := lacking():
                seconds = sum(estimate(spec).seconds * spec.seeds for spec in found) / workers()
                st.caption(f"{other}{amount(found)}: {duration(seconds)} once started.")
            elif found is not None:
                st.caption(f"{other}{SAID['known']}")
        except SpecError as error:  # the noise is too large to be accounted for
            what = None
            st.caption(f":red[{escape(str(error))}]")
    buttons(run, what, usual, also=also)


def curve_box(found: tuple[RunSpec | None, str]) -> None:
    """Draw the buttons, and either a draft of the run or the cost of pressing Run."""
    s, (spec, refusal) = session(), found
    if spec:
        try:
            draw_draft(s, spec)
        except SpecError as error:  # the noise is too large to be accounted for
            spec, refusal = None, str(error)
    full = len(s.explore.curves) >= MAX_CURVES
    drawn = spec in s.explore.drafts
    if refusal:
        st.caption(f":red[{escape(refusal)}]")
    elif full:
        st.caption(filled(SAID["full"], most=MAX_CURVES))
    elif any(curve.spec == spec for curve in s.explore.curves):
        st.caption(SAID["there"])
    elif drawn:
        st.caption(SAID["drafts" if len(s.explore.drafts) > 1 else "draft"])
    elif spec:
        both = [spec, *baseline_beside(s, spec)]
        time = duration(sum(estimate(one).seconds for one in both) * spec.seeds / min(workers(), spec.seeds))
        seeds, updates = plural(spec.seeds, "seed"), plural(estimate(spec).releases, "policy update")
        said = filled(SAID["cost"], seeds=seeds, updates=updates, time=time)
        beside = f" {SAID['beside']}" if len(both) > 1 else ""
        st.caption(said + beside, help=meanings("Seed", "Policy update"))
    label = "Keep" if drawn else "Run"
    buttons(run_curve, None if full else spec, BASE, SAID["reset_curves"], label=label)


def buttons(
    run: Callable[[Any], None],
    what: object,
    usual: RunSpec,
    help: str = SAID["reset"],
    *,
    also: Callable[[], Callable[[], None]] | None = None,
    label: str = "Run",
) -> None:
    """Draw the Run button, unless `what` is None, and the button to reset or undo.

    usual: the run whose settings a reset restores. also: called at a reset; returns a function that undoes it.
    """
    s = session()

    def go() -> None:
        run(what)
        s.runs += 1
        s.paused, s.undo = False, None
        st.rerun()

    def reset() -> None:
        before, s.draft = s.draft, draft_of(usual)
        s.remember(before, also() if also else None)

    off = what is None or locked(RUN)
    press = partial(setattr, s, "pressed", s.page)
    if s.pressed == s.page:  # the last typed value may have arrived with the click; by now `what` includes it
        s.pressed = None
        if not off:
            callback(go)()
    skip_to_run()
    with st.container(horizontal=True, gap="small"):
        button(
            label,
            press,
            icon="play_arrow" if label == "Run" else "add",
            type="primary",
            width="stretch",
            disabled=off,
            shortcut="Mod+Enter",
            key="run",
        )
        if (undo := s.undo) and undo.page == s.page:
            button("Undo", undo.run, help="Restores the settings from before the reset.", key="undo_reset")
        else:
            button("Reset", reset, help=help, key="reset", disabled=locked(RUN))


def run_curve(spec: RunSpec) -> None:
    """Add a curve to the comparison and start it. The first curve in an environment comes with its baseline."""
    s, e = session(), session().explore
    beside, others = baseline_beside(s, spec), len(e.curves)
    s.said = add(spec)
    if others and len(e.curves) > others:
        e.view = replace(e.view, curve=others)  # show the last run in detail
        s.version += 1
    if e.curves:
        for baseline in beside:
            s.said = add(baseline)
    write_address(e)


def baseline_beside(s: Session, spec: RunSpec) -> list[RunSpec]:
    """Return the baseline of the first run in an environment, because one curve alone shows no privacy cost."""
    there = {place_of(curve.spec) for curve in s.explore.curves}
    first = place_of(spec) not in there and len(s.explore.curves) + 1 < MAX_CURVES
    return [spec.baseline()] if first and spec.privacy != "none" else []


def described(make: Callable[[], Described]) -> tuple[Described | None, str]:
    """Return the runs that `make` builds from the controls, or None and a sentence about what is wrong."""
    if session().wrong:
        return None, "Correct the value marked in red first."
    try:
        return make(), ""
    except SpecError as error:
        return None, str(error)

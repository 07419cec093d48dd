"""Widgets of the view: they show the session's view and write it back, so that a link can carry all of it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dprl.runs.status import RunStatus
from pages.shared.controls.view import Widgets
from pages.shared.results.runs import ONLINE
from pages.shared.results.status import ACTIVE
from pages.shared.visitor.links import View, most_private
from pages.shared.visitor.owners import owner_id
from pages.shared.visitor.state import session
from pages.shared.visitor.views import fields_of

_widgets = Widgets(lambda: session().explore, fields_of(View))
segments, switch, menu = _widgets.segments, _widgets.switch, _widgets.menu
steps, step_menu = _widgets.steps, _widgets.step_menu


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
    shown = session().explore.shown
    first = offered[most_private([shown[i] for i in offered])]
    return menu(label, "curve", offered, [titles[i] for i in offered], otherwise=first)


def statuses() -> list[RunStatus]:
    """Return how each run that is shown stands, as this visitor sees it."""
    e = session().explore
    return [ONLINE.status(c.spec, owner_id("draft") if c.draft else "") for c in e.shown]


def going(runs: Sequence[RunStatus]) -> list[RunStatus]:
    """Return the runs that go on: those shown, and the runs without privacy that one measure subtracts."""
    e = session().explore
    found = [run for run in runs if run.state in ACTIVE]
    if e.view.measure == "extra":
        baselines = ONLINE.statuses([c.spec.baseline() for c in e.shown if c.spec.privacy != "none"])
        found += [run for run in baselines if run.state in ACTIVE]
    return found

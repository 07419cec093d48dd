"""Widgets for the view of a page, which store the visitor's choices so that a link can contain them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from dprl.simulation import Spec
from pages.shared.controls import widgets
from pages.shared.layout.chart import empty
from pages.shared.layout.terms import escape
from pages.shared.results import data
from pages.shared.results.status import ACTIVE, act, price
from pages.shared.visitor.callbacks import keyed
from pages.shared.visitor.links import fields_of
from pages.shared.visitor.state import PageState, ask, begin

Tied = Mapping[Any, Mapping[str, Any]]  # for each option, other fields of the view that change with it
NONE: Tied = {}


def _keep(part: PageState, name: str, also: Tied = NONE) -> Callable[[Any], None]:
    def store(value: Any) -> None:
        checked = fields_of(part.view.__class__)[name].check(value)
        part.view = replace(part.view, **{name: checked}, **also.get(checked, {}))

    return store


def segments(part: PageState, label: str, name: str, options: Mapping[str, str], also: Tied = NONE) -> str:
    """Draw buttons for options. Return the view's option if it is offered, or else the first."""
    value = getattr(part.view, name)
    value = value if value in options else next(iter(options))
    widgets.segments(label, f"view:{name}:{len(options)}", options, value, _keep(part, name, also))
    return str(value)


def switch(part: PageState, label: str, name: str, on: str, off: str, help: str | None = None) -> bool:
    """Draw a toggle between the values `on` and `off` of a field of the view. Return whether `on` is chosen."""
    value = getattr(part.view, name) == on
    keep = _keep(part, name)
    st.toggle(label, value, help=help, **keyed(f"view:{name}", lambda chosen: keep(on if chosen else off)))
    return bool(value)


def menu(
    part: PageState,
    label: str,
    name: str,
    options: Sequence[int],
    titles: Sequence[str],
    visible: bool = True,
    otherwise: int | None = None,
) -> int:
    """Draw a menu of numbers with titles. Return the view's number if offered, or else `otherwise` or the first."""
    value = getattr(part.view, name)
    if value not in options:
        value = options[0] if otherwise is None else otherwise
    if len(options) > 1:
        # New titles need a new widget, because the browser sends a title, which might not be among the new ones.
        named = dict(zip(options, titles, strict=True))
        st.selectbox(
            label,
            list(options),
            index=list(options).index(value),
            format_func=named.__getitem__,
            filter_mode=None,
            label_visibility="visible" if visible else "collapsed",
            **keyed(f"view:{name}:{hash(tuple(named.items()))}", _keep(part, name)),
        )
    return int(value)


DETAILS = {"online": "detail_episodes", "offline": "detail_n"}  # the moments described in a trace, by kind


def close_look(
    part: PageState,
    specs: Sequence[Spec],
    titles: Sequence[str],
    offered: Sequence[int],
    first: int,
    owners: Sequence[str],
) -> tuple[int, Any] | None:
    """Draw menus of the offered runs and of the chosen run's seeds. Return the run's index and the seed's trace, or
    None if the trace has to be computed. `owners` has the names under which the runs are requested."""
    left, right = st.columns([3, 2], wrap=False)
    with left:
        chosen = menu(part, "Curve", "curve", offered, [titles[i] for i in offered], otherwise=first)
    with right:
        seeds = range(specs[chosen].seeds)
        seed = menu(part, "Seed", "seed", seeds, [f"seed {i}" for i in seeds])
    trace, moments = data.trace(specs[chosen], seed), DETAILS[specs[chosen].kind]
    if trace is None or not len(getattr(trace, moments)):
        absent(specs[chosen], f"{titles[chosen]}, seed {seed}", owners[chosen])
        return None
    return chosen, trace


def absent(spec: Spec, name: str, owner: str) -> None:
    """Show why a seed has no details. If its run is bundled only as a curve, request the run if it is cheap."""
    run = data.store().status(spec, owner)
    if run.state == "unknown" and begin([spec], owner):
        st.rerun()
    if run.state in ACTIVE:
        empty(f"**{escape(name)}:** the details appear when this seed is finished.")
        return
    empty(f"**{escape(name)}** was not computed. Cost of the run: {price([spec])}.")
    act("Compute this run", "play_arrow", lambda: ask([spec], owner, again=True), "close_look")


def step_menu(part: PageState, H: int) -> int | None:
    """Draw a menu of the episode's steps. Return the chosen one, or None for all."""
    titles = ["every step", *(f"step {h}" for h in range(H))]
    with st.container(width=150):
        chosen = menu(part, "Step of the episode", "h", [-1, *range(H)], titles, visible=False)
    return None if chosen < 0 else chosen


def steps(
    part: PageState,
    label: str,
    name: str,
    options: Sequence[int],
    words: Callable[[int], str] = str,
    otherwise: int | None = None,
) -> int:
    """Draw a slider over a few numbers. It starts at the number nearest to the view's value or `otherwise`."""
    wanted = getattr(part.view, name)
    if otherwise is not None and wanted == fields_of(part.view.__class__)[name].default:
        wanted = otherwise
    value = min(options, key=lambda option: abs(option - wanted))
    if len(options) > 1:
        key = keyed(f"view:{name}:{hash(tuple(options))}", _keep(part, name))
        st.select_slider(label, list(options), value, format_func=words, **key)
    return int(value)

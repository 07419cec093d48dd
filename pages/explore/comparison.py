"""The curves of the comparison: a chip each, with what can be done with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from dprl.figures import looks
from pages.shared.layout.frame import dark
from pages.shared.names import in_common, kinds
from pages.shared.results.data import status, store
from pages.shared.results.status import ACTIVE, words
from pages.shared.text import escape
from pages.shared.visitor.callbacks import callback, on_value
from pages.shared.visitor.draft import draft_of
from pages.shared.visitor.links import MAX_CURVES, MAX_NAME, Curve, View, clean_name
from pages.shared.visitor.state import add, attempt, change_view, session, write_address


def chips(titles: list[str]) -> None:
    """All curves, each as legends show it."""
    s = session()
    signs = [looks.swatch(looks.look(kind, dark())) for kind in kinds(s.explore.curves)]
    rules = [
        f".st-key-chip_{i} button::before {{ background-image: url({sign.uri}); }}"
        + (
            f".st-key-chip_{i} button {{ opacity: 0.5; text-decoration: line-through; }}"
            if s.explore.curves[i].hidden
            else ""
        )
        for i, sign in enumerate(signs)
    ]
    st.html(f"<style>{' '.join(rules)}</style>")
    with st.container(horizontal=True, gap="xsmall", key="chips"):
        for i, (curve, title) in enumerate(zip(s.explore.curves, titles, strict=True)):
            with st.container(key=f"chip_{i}", width="content"), st.popover(escape(title)):
                actions(i, curve)


def actions(i: int, curve: Curve) -> None:
    """What one chip offers."""
    key = f"{session().version}:{i}"
    run = status(curve.spec, session().visitor)
    st.caption("  \n".join(filter(None, [escape(in_common([curve])), escape(words(run))])))
    st.text_input(
        "Name",
        curve.name,
        max_chars=MAX_NAME,
        placeholder="a name of your own",
        key=f"{key}:name",
        on_change=on_value(f"{key}:name", partial(rename, i)),
    )
    with st.container(horizontal=True, gap="xsmall"):
        button(
            "Show" if curve.hidden else "Hide", "visibility" if curve.hidden else "visibility_off", i, hide
        )
        button(
            "Duplicate",
            "content_copy",
            i,
            duplicate,
            "Copies its settings into the controls, to change one and run again.",
        )
        button("Remove", "delete", i, remove)
        if run.state in ACTIVE:
            button("Cancel", "close", i, cancel)
        if curve.spec.privacy != "none" and len(session().explore.curves) < MAX_CURVES:
            button("Add its non-private twin", "add", i, add_twin, "The same run without privacy.")


def button(label: str, icon: str, i: int, action: Callable[[int], None], help: str | None = None) -> None:
    """One action of a chip."""

    def pressed() -> None:
        if i < len(session().explore.curves):  # a second press may come when the first has removed it
            action(i)

    st.button(label, icon=f":material/{icon}:", on_click=callback(pressed), key=f"{label}:{i}", help=help)


def rename(i: int, text: str) -> None:
    """Gives a curve a name; an empty one brings back the label."""
    _put(i, name=clean_name(text))


def hide(i: int) -> None:
    """Takes a curve out of the charts, or brings it back."""
    _put(i, hidden=not session().explore.curves[i].hidden)


def remove(i: int) -> None:
    """Takes a curve out of the comparison."""
    s = session()
    del s.explore.curves[i]
    at = s.explore.view.curve
    change_view(curve=View.curve if at == i else at - (at > i))
    write_address(session().explore)


def duplicate(i: int) -> None:
    """Copies a curve's settings into the controls."""
    s = session()
    s.draft = draft_of(s.explore.curves[i].spec)
    s.version += 1
    s.said = "Its settings are in the controls now: change one and press Run."


def cancel(i: int) -> None:
    """Withdraws from a run; the curve stays, with what there is."""
    attempt(store().cancel, session().explore.curves[i].spec, session().visitor)


def add_twin(i: int) -> None:
    """Adds the same run without privacy."""
    s = session()
    s.said = add(s.explore.curves[i].spec.twin())
    write_address(session().explore)


def _put(i: int, **changes: object) -> None:
    s = session()
    s.explore.curves[i] = replace(s.explore.curves[i], **changes)  # type: ignore[arg-type]
    write_address(session().explore)

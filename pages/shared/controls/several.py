"""Widgets for several values of one setting: some of a few options, and numbers with commas between."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from dprl.fields import SpecError
from dprl.links import MAX_CURVES
from pages.shared.controls.widgets import Store, complaint
from pages.shared.visitor.callbacks import on_value
from pages.shared.visitor.state import session

A_CURVE_EACH = f"Several, separated by commas: a curve each, {MAX_CURVES} in all. Small is private."


def choose_several(
    label: str,
    name: str,
    options: Sequence[str],
    now: Sequence[str],
    store: Store,
    title: Callable[[str], str],
    fixed: bool,
    help: str | None = None,
    most: int | None = None,
    placeholder: str = "at least one",
) -> None:
    """Choose some of the options, in the order in which they were chosen.

    Args:
        name: tells it from others of the page.
        title: what an option is called.
        fixed: whether a link fixes it.
        most: that many at most.
    """
    s = session()
    key = f"{s.version}:{s.page}:{name}:{'|'.join(options)}"
    st.multiselect(
        label,
        options,
        now,
        key=key,
        format_func=title,
        max_selections=most,
        on_change=on_value(key, lambda given: store(list(given))),
        placeholder=placeholder,
        help=help,
        disabled=fixed,
    )


def values_field(
    label: str,
    name: str,
    text: str,
    store: Store,
    parse: Callable[[str], object],
    help: str,
    fixed: bool,
) -> None:
    """Several numbers as text, and below it what is wrong with them.

    Args:
        name, fixed: see `choose_several`.
        parse: reads them. Raises SpecError.
    """
    s = session()
    key = f"{s.version}:{s.page}:{name}"
    st.text_input(
        label, text, key=key, max_chars=400, on_change=on_value(key, store), help=help, disabled=fixed
    )
    try:
        parse(text)
    except SpecError as error:
        s.wrong[name] = str(error)
    complaint(name)

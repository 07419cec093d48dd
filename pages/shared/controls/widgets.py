"""Widgets made from a Field, which show and change the session's draft, and explain a wrong value in one sentence."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dprl.fields import Field, SpecError
from dprl.words import typed
from pages.shared.layout.terms import escape
from pages.shared.visitor.address import RUN
from pages.shared.visitor.callbacks import keyed
from pages.shared.visitor.state import session

FOLD = "fold_"  # begins the keys of folds
MENU = "menu_"
THOUSANDS = re.compile(r"[0-9]{1,3}(,[0-9]{3})+")
EXACT = 112  # width in pixels of a field next to its label
PAUSE = "800ms"  # time after the last digit until a number counts without Enter; enough to think of the next digit
Store = Callable[[Any], None]


def stops(low: float, high: float, per_decade: Sequence[float] = (1, 2, 5)) -> list[float]:
    """Return the stops of a slider: round numbers from low to high, evenly spaced on a logarithmic scale."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    marks = [float(f"{m}e{d}") for d in decades for m in per_decade]
    inside = [m for m in marks if low <= m <= high]
    return sorted({low, *inside, high})


def select(
    label: str, titles: Mapping[str, str], value: str, store: Store, help: str = "", name: str = ""
) -> None:
    """Draw a menu of options with these titles. If there is only one option, it cannot be changed."""
    st.selectbox(
        label,
        list(titles),
        index=list(titles).index(value),
        format_func=lambda option: titles.get(option, option),
        help=help or None,
        disabled=len(titles) == 1 or locked(name),
        filter_mode=None,
        **keyed(f"{name or label}:{'|'.join(titles)}", store),
    )


def fold(label: str, name: str) -> DeltaGenerator | None:
    """Draw a collapsible section for rarely used settings. Return it only while it is open, to save time."""
    part = st.expander(label, on_change="rerun", key=f"{FOLD}{name}")
    return part if part.open else None


def menu(label: str, name: str, icon: str | None = None) -> DeltaGenerator | None:
    """Draw the button of a menu. Return the menu only while it is open, to save time."""
    part = st.popover(label, icon=icon, on_change="rerun", key=f"{MENU}{session().version}_{name}")
    return part if part.open else None


def locked(name: str) -> bool:
    """Return whether the link to this page locks a setting. A parameter such as environment_params.riverswim.S is
    locked with its owner, and a setting without a name with Run."""
    owner = name.partition(".")[0].removesuffix("_params")
    return (owner or RUN) in session().locked


def segments(
    label: str, name: str, options: Mapping[str, str], value: str | None, chosen: Callable[[Any], None]
) -> None:
    """Draw buttons for a few options next to each other. None is selected if `value` is not an option."""
    st.segmented_control(
        label,
        list(options),
        default=value,
        format_func=options.__getitem__,
        required=value is not None,
        label_visibility="collapsed",
        wrap=True,
        **keyed(name, chosen),
    )


def pills(
    label: str, name: str, options: Sequence[str], now: str | None, chosen: Callable[[str], object]
) -> None:
    """Draw buttons for a few short texts. Clicking the selected one chooses it again instead of deselecting it."""
    use = keyed(name, lambda text: chosen(text or now or options[0]))
    st.pills(label, options, default=now, label_visibility="collapsed", **use)


def read_number(field: Field, text: str) -> Any:
    """Parse a typed number such as 1,000. Raises SpecError if it is wrong or if a required value is missing."""
    if field.kind in ("int", "float") and THOUSANDS.fullmatch(text.strip()):
        text = text.replace(",", "")
    value = field.parse(text)
    if value is None and field.default is not None:
        raise field.refuse(text or "an empty value")
    return value


def exact(
    label: str,
    name: str,
    field: Field,
    value: Any,
    store: Store,
    width: int | None = None,
    in_row: bool = False,
) -> None:
    """Draw a text field for any value that the Field allows, such as "1e9", and explain a wrong value below it.

    If a width in pixels is given or the field shares a row with others, the caller has to call `complaint`.
    """

    def changed(text: str) -> None:
        with suppress(SpecError):  # explained below the field
            store(read_number(field, text))

    text = st.text_input(
        label,
        value if isinstance(value, str) else typed(value),
        max_chars=400 if field.kind == "text" else 40,
        help=f"{field.help}: {field.allowed}." if width is None else None,
        label_visibility="visible" if width is None else "collapsed",
        disabled=locked(name),
        width=width or "stretch",
        live=PAUSE if field.kind in ("int", "float") else False,
        **replaceable(name, "exact", changed),
    )
    session().wrong.pop(name, None)
    try:
        read_number(field, str(text))
    except SpecError as error:
        session().wrong[name] = str(error)
    if width is None and not in_row:
        complaint(name)


def replaceable(name: str, kind: str, use: Store) -> dict[str, Any]:
    """Return the key and the callback of a widget that may be replaced. Once it has been replaced, its values are
    ignored, because the browser may send an old one again."""
    replaced = session().replaced_widgets
    number = replaced[name, kind]

    def current(value: Any) -> None:
        if replaced[name, kind] == number:
            use(value)

    return keyed(f"{name}:{kind}:{number}", current)


def complaint(name: str) -> None:
    """Explain what is wrong with a value typed into an exact field, if anything."""
    if sentence := session().wrong.get(name):
        st.caption(f":red[{escape(sentence)}]")


def log_slider(
    label: str,
    name: str,
    field: Field,
    value: float,
    store: Store,
    *,
    marks: Sequence[float],
    show: Callable[[float], str],
    ends: tuple[str, str],
    help: str = "",
) -> None:
    """Draw a logarithmic slider over `marks` and a field for its exact value; using one widget recreates the other."""
    replaced = session().replaced_widgets
    nearest = min(marks, key=lambda mark: abs(math.log(mark) - math.log(value)))

    def slid(mark: float) -> None:
        store(field.check(mark))
        replaced[name, "exact"] += 1

    def entered(chosen: Any) -> None:
        store(chosen)
        replaced[name, "slider"] += 1

    with st.container(key=f"log_{name}", gap=None):  # the slider's value stands above it, below the field
        with st.container(horizontal=True, wrap=False, vertical_alignment="center"):
            st.markdown(label, help=help or None, width="stretch")
            exact(f"{label}, exact value", name, field, value, entered, width=EXACT)
        complaint(name)
        st.select_slider(
            label,
            marks,
            nearest,
            format_func=show,
            label_visibility="collapsed",
            disabled=locked(name),
            **replaceable(name, "slider", slid),
        )
        st.caption("\n\n".join(ends))  # next to each other, see style.css


def setter(name: str) -> Store:
    """Return a function that stores a value in the draft."""
    return lambda value: setattr(session().draft, name, value)


def menu_titles(registry: Mapping[str, Any], keys: Iterable[str]) -> dict[str, str]:
    """Return menu titles for some entries by key, with a note on algorithms that we had to reconstruct."""
    rebuilt = {True: " (our reconstruction)", False: ""}
    return {
        key: registry[key].title + rebuilt[getattr(registry[key], "reconstructed", False)] for key in keys
    }


def choose_several(
    label: str,
    name: str,
    options: Sequence[str],
    now: Sequence[str],
    store: Store,
    title: Callable[[str], str],
    help: str,
    most: int | None = None,
) -> None:
    """Draw a menu in which up to `most` options can be chosen. They are stored in the order of the choices."""
    st.multiselect(
        label,
        options,
        now,
        format_func=title,
        max_selections=most,
        placeholder="at least one",
        help=help,
        disabled=locked("compare"),
        **keyed(f"{name}:{'|'.join(options)}", lambda given: store(list(given))),
    )


def values_field(
    label: str, name: str, text: str, store: Store, parse: Callable[[str], object], help: str, fixed: bool
) -> None:
    """Draw a field for several numbers and, below it, the error message if `parse` raises SpecError."""
    st.text_input(label, text, max_chars=400, help=help, disabled=fixed, **keyed(name, store))
    try:
        parse(text)
    except SpecError as error:
        session().wrong[name] = str(error)
    complaint(name)

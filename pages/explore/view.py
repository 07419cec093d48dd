"""Widgets of the view: they show the session's view and write it back, so that a link can carry all of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from pages.shared.visitor.callbacks import on_value
from pages.shared.visitor.links import VIEW_FIELDS, most_private
from pages.shared.visitor.state import session


def _on_value(key: str, name: str, convert: Callable[[Any], object]) -> Callable[[], None]:
    """The callback of the widget `key`: its value becomes the view's field `name`."""

    def put_back(value: Any) -> None:
        s = session()
        s.explore.view = replace(s.explore.view, **{name: VIEW_FIELDS[name].check(convert(value))})

    return on_value(key, put_back)


def segments(label: str, name: str, options: Mapping[str, str], visible: bool = False) -> str:
    """One of a few words beside each other; the value of the view's field `name`, or the first where that is not
    offered."""
    key = f"{session().version}:view:{name}:{len(options)}"
    value = getattr(session().explore.view, name)
    value = value if value in options else next(iter(options))
    st.segmented_control(
        label,
        list(options),
        default=value,
        format_func=options.__getitem__,
        required=True,
        key=key,
        on_change=_on_value(key, name, str),
        label_visibility="visible" if visible else "collapsed",
    )
    return str(value)


def switch(label: str, name: str, on: str, off: str, help: str | None = None) -> bool:
    """A toggle between two words of the view's field `name`; whether it is at `on`."""
    key = f"{session().version}:view:{name}"
    st.toggle(
        label,
        getattr(session().explore.view, name) == on,
        key=key,
        on_change=_on_value(key, name, lambda value: on if value else off),
        help=help,
    )
    return bool(getattr(session().explore.view, name) == on)


def curve(label: str, offered: Sequence[int], titles: Sequence[str]) -> int:
    """The curve looked at, by its place among all curves; the most private of those offered until one is chosen.

    titles: of all curves.
    """
    all_curves = session().explore.curves
    first = offered[most_private([all_curves[i] for i in offered])]
    return menu(label, "curve", offered, [titles[i] for i in offered], otherwise=first)


def menu(
    label: str,
    name: str,
    options: Sequence[int],
    titles: Sequence[str],
    visible: bool = True,
    otherwise: int | None = None,
) -> int:
    """One of several numbers, each with a title; the view's value, or `otherwise` (the first) where that is not
    offered."""
    value = getattr(session().explore.view, name)
    if value not in options:
        value = options[0] if otherwise is None else otherwise
    if len(options) > 1:
        # With other titles it is another widget: the browser says the title chosen, which would be of none of them.
        named = dict(zip(options, titles, strict=True))
        key = f"{session().version}:view:{name}:{hash(tuple(named.items()))}"
        st.selectbox(
            label,
            list(options),
            index=list(options).index(value),
            format_func=named.__getitem__,
            key=key,
            on_change=_on_value(key, name, int),
            filter_mode=None,
            label_visibility="visible" if visible else "collapsed",
        )
    return int(value)


def put(name: str, value: int, options: Sequence[int]) -> None:
    """Moves the slider of `name`, before it is drawn."""
    s = session()
    changes: dict[str, Any] = {name: value}
    s.explore.view = replace(s.explore.view, **changes)
    st.session_state[_slider(name, options)] = value


def _slider(name: str, options: Sequence[int]) -> str:
    return f"{session().version}:view:{name}:{hash(tuple(options))}"


def steps(
    label: str, name: str, options: Sequence[int], titles: Sequence[str], help: str | None = None
) -> int:
    """A slider over a few numbers; the option nearest to the view's value."""
    value = min(options, key=lambda option: abs(option - getattr(session().explore.view, name)))
    if len(options) > 1:
        key = _slider(name, options)
        named = dict(zip(options, titles, strict=True))
        st.select_slider(
            label,
            list(options),
            value,
            format_func=named.__getitem__,
            key=key,
            on_change=_on_value(key, name, int),
            help=help,
        )
    return int(value)

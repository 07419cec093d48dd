"""Widgets of a view: they show what a visitor looks at and write it back, so that a link can carry all of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from dprl.fields import Field
from pages.shared.visitor.callbacks import on_value
from pages.shared.visitor.state import session, write_address


@dataclass(frozen=True)
class Widgets:
    """Widgets of the view of a page.

    Attributes:
        part(): what the page keeps of the visitor; its `view` is a frozen dataclass.
        fields: what each attribute of the view may be.
        address: whether the address says at once what they are set to, and not only what is handed on.
    """

    part: Callable[[], Any]
    fields: Mapping[str, Field]
    address: bool = False

    def _keep(self, name: str, convert: Callable[[Any], object]) -> Callable[[Any], None]:
        """Return the function that stores a widget's value as the view's field `name`."""

        def put_back(value: Any) -> None:
            part = self.part()
            part.view = replace(part.view, **{name: self.fields[name].check(convert(value))})
            if self.address:
                write_address(part)

        return put_back

    def segments(self, label: str, name: str, options: Mapping[str, str], visible: bool = False) -> str:
        """One of a few words next to each other; the value of the view's field `name`, or the first if not offered."""
        key = f"{session().version}:view:{name}:{len(options)}"
        value = getattr(self.part().view, name)
        value = value if value in options else next(iter(options))
        st.segmented_control(
            label,
            list(options),
            default=value,
            format_func=options.__getitem__,
            required=True,
            key=key,
            on_change=on_value(key, self._keep(name, str)),
            label_visibility="visible" if visible else "collapsed",
            wrap=True,
        )
        return str(value)

    def switch(self, label: str, name: str, on: str, off: str, help: str | None = None) -> bool:
        """Draw a toggle between two words of the view's field `name`; return whether it is at `on`."""
        key = f"{session().version}:view:{name}"
        st.toggle(
            label,
            getattr(self.part().view, name) == on,
            key=key,
            on_change=on_value(key, self._keep(name, lambda value: on if value else off)),
            help=help,
        )
        return bool(getattr(self.part().view, name) == on)

    def menu(
        self,
        label: str,
        name: str,
        options: Sequence[int],
        titles: Sequence[str],
        visible: bool = True,
        otherwise: int | None = None,
    ) -> int:
        """One of several numbers, each with a title; the view's value, or `otherwise` (the first) if not offered."""
        value = getattr(self.part().view, name)
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
                on_change=on_value(key, self._keep(name, int)),
                filter_mode=None,
                label_visibility="visible" if visible else "collapsed",
            )
        return int(value)

    def step_menu(self, H: int) -> int | None:
        """One step of the episode, or None for all."""
        titles = ["every step", *(f"step {h}" for h in range(H))]
        chosen = self.menu("Step of the episode", "h", [-1, *range(H)], titles, visible=False)
        return None if chosen < 0 else chosen

    def steps(
        self,
        label: str,
        name: str,
        options: Sequence[int],
        titles: Sequence[str],
        otherwise: int | None = None,
    ) -> int:
        """Draw a slider over a few numbers; it starts at the option nearest to the view's value, or at `otherwise` for
        the default."""
        wanted = getattr(self.part().view, name)
        if otherwise is not None and wanted == self.fields[name].default:
            wanted = otherwise
        value = min(options, key=lambda option: abs(option - wanted))
        if len(options) > 1:
            key = f"{session().version}:view:{name}:{hash(tuple(options))}"
            named = dict(zip(options, titles, strict=True))
            st.select_slider(
                label,
                list(options),
                value,
                format_func=named.__getitem__,
                key=key,
                on_change=on_value(key, self._keep(name, int)),
            )
        return int(value)

"""The buttons of a step, and the keys of a projector that press them from anywhere on the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.shared.layout.component import component
from pages.shared.visitor.callbacks import button

_keys = component("present_keys")


def keys() -> None:
    """Arrow and page keys turn from question to question, space shows and hides the answer, Escape leaves."""
    with st.container(key="present_keys"):
        _keys(key="keys", height=1)


def press(
    label: str,
    icon: str,
    key: str,
    action: Callable[..., object],
    *arguments: Any,
    primary: bool = False,
    disabled: bool = False,
) -> None:
    """Draw a button; one that leads nowhere here is disabled, so that its neighbours stay where they are."""
    kind = "primary" if primary else "secondary"
    button(label, action, *arguments, icon=icon, key=key, type=kind, disabled=disabled)

"""Callbacks for widgets. They run before any part of the page is drawn, so an error would leave the page blank."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, ParamSpec

import streamlit as st

from dprl.fields import SpecError
from dprl.runs.database import StoreError
from pages.shared.visitor.state import session

log = logging.getLogger("dprl.pages")
P = ParamSpec("P")

FAILED = "Something went wrong, and the error is in the log. The page is unchanged."
_GONE = object()


def callback(action: Callable[P, object]) -> Callable[P, None]:
    """Wrap `action` so that an error becomes one sentence on the unchanged page and a traceback in the log."""

    @wraps(action)
    def safely(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            action(*args, **kwargs)
            return
        except (SpecError, StoreError) as error:
            session().said = str(error)
        except Exception:
            log.exception("The callback of a widget failed")
            session().said = FAILED
        st.rerun()

    return safely


def on_value(key: str, use: Callable[[Any], object]) -> Callable[[], None]:
    """Return a callback that passes a widget's value to `use`; it does nothing once the widget has been replaced."""

    def changed() -> None:
        value = st.session_state.get(key, _GONE)
        if value is not _GONE:
            session().undo = None
            use(value)

    return callback(changed)


def keyed(name: str, use: Callable[[Any], object]) -> dict[str, Any]:
    """Return a widget's key and the callback that passes its value to `use`. Each session version has new keys."""
    key = f"{session().version}:{session().page}:{name}"
    return {"key": key, "on_change": on_value(key, use)}


def button(label: str, action: Callable[..., object], *arguments: Any, icon: str = "", **how: Any) -> None:
    """Draw a button that calls `action`, with a Material icon and further arguments for `st.button`."""
    sign = f":material/{icon}:" if icon else None
    st.button(label, icon=sign, on_click=callback(action), args=arguments, **how)


def into(settings: object, name: str) -> Callable[[Any], None]:
    """Return a function that stores a value in one attribute of a page's settings."""
    return partial(setattr, settings, name)

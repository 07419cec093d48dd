"""Downloads that are made only when they are pressed, and answer for as long as their button is seen."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dprl.figures import style
from pages.shared.streamlit_internals import keep_downloads
from pages.shared.visitor.callbacks import into, on_value
from pages.shared.visitor.state import session


def save(name: str, label: str, mime: str, make: Callable[[], str | bytes]) -> None:
    """Draw a download that is made only on request. `make` is called outside the script, without a visitor: it must
    contain everything it needs, and not use the session."""
    keep_downloads()
    st.download_button(
        label,
        make,
        file_name=name,
        mime=mime,
        on_click="ignore",
        icon=":material/download:",
        key=f"save_{name}",
    )


def camera() -> None:
    """Draw the menu of the picture format of the cameras."""
    st.segmented_control(
        "Format of pictures from the camera above each chart",
        style.PICTURES,
        default=session().saves,
        format_func=str.upper,
        required=True,
        key="saves",
        on_change=on_value("saves", into(session(), "saves")),
    )

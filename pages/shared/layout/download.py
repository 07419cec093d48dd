"""Downloads that are made only when they are pressed, and answer for as long as their button is seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

import streamlit as st
from streamlit import runtime
from streamlit.runtime.media_file_manager import MediaFileManager, _get_session_id

from dprl.figures import style
from pages.shared.visitor.callbacks import on_value
from pages.shared.visitor.state import session


def save(name: str, label: str, mime: str, make: Callable[[], str | bytes]) -> None:
    """A download that is made only when it is asked for. `make` is called outside the script, where there is no
    visitor: it must know everything it needs, and not ask for the session."""
    if runtime.exists():
        runtime.get_instance().media_file_mgr.__class__ = Lasting
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
    """Which kind of picture the camera above each chart saves."""
    st.segmented_control(
        "The camera above each chart saves",
        style.PICTURES,
        default=session().saves,
        format_func=str.upper,
        required=True,
        key="saves",
        on_change=on_value("saves", _take_picture),
    )


def _take_picture(kind: str) -> None:
    """Keeps the kind of picture that was chosen."""
    session().saves = kind


class Lasting(MediaFileManager):
    """Streamlit's keeper of files, which gives what is made when it is pressed a new id whenever its button is drawn.

    A browser that has not heard of that yet asks by the id before, which is forgotten by then: on a page that redraws
    itself some presses gave no file. Here a button keeps its id, by which the `make` drawn last is called, and what was
    made is there until the page's script runs again, not for two redraws by anybody.
    """

    def add_deferred(
        self,
        data_callable: Callable[[], Any],
        mimetype: str | None,
        coordinates: str,
        file_name: str | None = None,
        *,
        element_id: str = "",
    ) -> str:
        """The id of a button: that of this visitor's button with the same key, where there was one."""
        new = super().add_deferred(data_callable, mimetype, coordinates, file_name, element_id=element_id)
        with self._lock:
            entry = self._deferred_callables[new]
            session = entry["session_id"]
            for old in self._deferred_ids_by_session[session] - {new}:
                if self._deferred_callables[old]["element_id"] == element_id:
                    self._drop_deferred_id(new)
                    self._deferred_callables[old] = entry
                    self._files_by_session_and_coord[session][coordinates] = old
                    return old
        return new

    def execute_deferred(self, file_id: str) -> str:
        """The address of the file, which counts as used for as long as the button does."""
        url = super().execute_deferred(file_id)
        with self._lock:
            entry = self._deferred_callables.get(file_id)
            used = self._files_by_session_and_coord.get(entry["session_id"]) if entry else None
            if entry and used:
                used[f"made for {entry['element_id']}"] = PurePosixPath(url).stem
        return url

    def clear_session_refs(self, session_id: str | None = None) -> None:
        """Forgets what a session used, at its end. When its script begins to run (None) its buttons are still seen, and
        another visitor's script may end before this one has drawn them again: they stay."""
        if session_id is not None:
            super().clear_session_refs(session_id)
            return
        with self._lock:
            used = self._files_by_session_and_coord[_get_session_id()]
            for at, id in list(used.items()):
                if id not in self._deferred_callables:
                    del used[at]

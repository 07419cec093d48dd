"""The pages' uses of Streamlit's internals: the reasons, and the upstream changes that would make them needless.

Nothing else in pages/ imports `streamlit.runtime`; what the server replaces before it serves is in
dprl/streamlit_patches.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

import streamlit as st
from streamlit import runtime
from streamlit.runtime.media_file_manager import MediaFileManager, _get_session_id
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import ScriptRunContext, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState

from dprl.streamlit_patches import STILL


def current_run() -> ScriptRunContext | None:
    """Return this thread's run of a visitor's script; None outside of one, as in tests.

    By it the session is known that this thread asked for last: it is asked for at every widget, and `st.session_state`
    takes a while. Unnecessary once that is quicker.
    """
    return get_script_run_ctx(suppress_warning=True)


def session_id() -> str | None:
    """Return Streamlit's name for the visitor's tab, by which we ask whether it is connected; None if there is none.

    Unnecessary once Streamlit tells the program that a session has begun or ended.
    """
    run = current_run()
    return None if run is None else run.session_id


def serving() -> bool:
    """Return whether a server runs here: tests have none."""
    return runtime.exists()


def connected(session: str) -> bool:
    """Return whether the tab of a session is connected. Raises RuntimeError if no server runs. Unnecessary as above."""
    return runtime.get_instance().is_active_session(session)


def went_back() -> bool:
    """Return whether the visitor pressed Back or Forward just now, so that an address seen before is meant.

    Unnecessary once `st.query_params` says where a change of the address came from.
    """
    run = current_run()
    return run is not None and run.is_history_navigation


def forget_parts() -> None:
    """Forget the parts of the page that the visitor came from.

    A browser that does not know yet that there is another page asks for them still. Streamlit forgets them only when
    the page has run, and then answered as if it were the old one: the browser emptied the page, and was left with
    additions to removed elements. Unnecessary once Streamlit forgets them as another page begins.
    """
    if (run := current_run()) is not None:
        run.fragment_storage.clear()


def leave_out_while(still: Callable[[], bool]) -> None:
    """Skip turns of the part that is being drawn as long as nothing has changed, and then redraw the whole page.
    `still` is called outside of the visitor's script, and has to be quick.

    Unnecessary once a part can say when it is drawn again.
    """
    part = ThreadState.get().fragment_id if current_run() is not None else None
    if part is not None:
        st.session_state[STILL] = {part: still}


def drop_file(file: Any) -> None:
    """Remove an uploaded file from the server's memory, where it would otherwise stay as long as the visitor does.

    Unnecessary once an uploaded file can be closed.
    """
    run = current_run()
    if run is not None and isinstance(run.uploaded_file_mgr, MemoryUploadedFileManager):
        run.uploaded_file_mgr.remove_file(run.session_id, file.file_id)


def keep_downloads() -> None:
    """Keep files that are made when they are pressed as long as their buttons, see `LastingFiles`."""
    if serving():
        runtime.get_instance().media_file_mgr.__class__ = LastingFiles


class LastingFiles(MediaFileManager):
    """Streamlit's keeper of files, which gives what is made when it is pressed a new id whenever its button is drawn.

    A browser that has not heard of that yet asks by the id before, which is forgotten by then: on a page that redraws
    itself some presses gave no file. Here a button keeps its id, by which the `make` drawn last is called, and what was
    made is there until the page's script runs again, not for two redraws by anybody.

    Unnecessary once deferred downloads keep their id for as long as their button is drawn.
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
        """Return the id of a button: that of this visitor's button with the same key, if there was one."""
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
        """Return the address of the file, which counts as used as long as the button does."""
        url = super().execute_deferred(file_id)
        with self._lock:
            entry = self._deferred_callables.get(file_id)
            used = self._files_by_session_and_coord.get(entry["session_id"]) if entry else None
            if entry and used:
                used[f"made for {entry['element_id']}"] = PurePosixPath(url).stem
        return url

    def clear_session_refs(self, session_id: str | None = None) -> None:
        """Forget what a session used, at its end. When its script begins to run (None) its buttons are still seen, and
        another visitor's script may end before this one has drawn them again: they stay."""
        if session_id is not None:
            super().clear_session_refs(session_id)
            return
        with self._lock:
            used = self._files_by_session_and_coord[_get_session_id()]
            for at, id in list(used.items()):
                if id not in self._deferred_callables:
                    del used[at]

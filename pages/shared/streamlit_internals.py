"""The parts of Streamlit's internals that pages/ uses. The server's patches are in dprl/streamlit_patches.py."""

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
    """Return this thread's run of a visitor's script, or None outside a run, as in tests."""
    return get_script_run_ctx(suppress_warning=True)


def session_id() -> str | None:
    """Return Streamlit's name for the visitor's tab, or None if there is no tab. We use it to check the connection.
    This will be unnecessary once Streamlit has events for the beginning and the end of a session."""
    run = current_run()
    return None if run is None else run.session_id


def serving() -> bool:
    """Return whether a server is running here; tests have none."""
    return runtime.exists()


def connected(session: str) -> bool:
    """Return whether a session's tab is connected. Raises RuntimeError if no server is running here."""
    return runtime.get_instance().is_active_session(session)


def went_back() -> bool:
    """Return whether the visitor has just pressed Back or Forward to return to an earlier address. This will be
    unnecessary once `st.query_params` reports the cause of a change of the address."""
    run = current_run()
    return run is not None and run.is_history_navigation


def forget_parts() -> None:
    """Make Streamlit forget the fragments of the page that the visitor came from.

    A browser that does not yet know the new page still requests them. Streamlit would answer as if for the old page,
    and the browser would empty the new one. This will be unnecessary once Streamlit itself forgets them in time.
    """
    if (run := current_run()) is not None:
        run.fragment_storage.clear()


def leave_out_while(still: Callable[[], bool]) -> None:
    """Skip redraws of the part that is being drawn while `still` returns true, and then redraw the whole page. `still`
    is called outside the visitor's script, and has to be quick. This will be unnecessary once parts can decide when to
    redraw."""
    part = ThreadState.get().fragment_id if current_run() is not None else None
    if part is not None:
        st.session_state[STILL] = {part: still}


def drop_file(file: Any) -> None:
    """Remove an uploaded file from the server's memory, where it would otherwise stay as long as the visitor does. This
    will be unnecessary once an uploaded file can be closed."""
    run = current_run()
    if run is not None and isinstance(run.uploaded_file_mgr, MemoryUploadedFileManager):
        run.uploaded_file_mgr.remove_file(run.session_id, file.file_id)


def keep_downloads() -> None:
    """Keep files that are made on request for as long as their buttons are drawn, with the help of `LastingFiles`."""
    if serving():
        runtime.get_instance().media_file_mgr.__class__ = LastingFiles


class LastingFiles(MediaFileManager):
    """Streamlit's file manager, changed so that the button for a file made on request keeps its id.

    Streamlit gives the file a new id whenever its button is drawn. A browser that does not yet know this id requests
    the old one, so some clicks on a page that redraws itself gave no file. Here, the id calls the `make` drawn last,
    and the file stays until the page's script runs again. This will be unnecessary once Streamlit keeps the ids.
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
        """Return a button's id: that of this visitor's earlier button with the same key, or else a new one."""
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
        """Return the address of the file, which is kept for as long as its button."""
        url = super().execute_deferred(file_id)
        with self._lock:
            entry = self._deferred_callables.get(file_id)
            used = self._files_by_session_and_coord.get(entry["session_id"]) if entry else None
            if entry and used:
                used[f"made for {entry['element_id']}"] = PurePosixPath(url).stem
        return url

    def clear_session_refs(self, session_id: str | None = None) -> None:
        """Forget the files of a session when it ends. When its script begins to run (no id), keep the files of its
        buttons, because another visitor's script may end before this one has redrawn them."""
        if session_id is not None:
            super().clear_session_refs(session_id)
            return
        with self._lock:
            used = self._files_by_session_and_coord[_get_session_id()]
            for at, id in list(used.items()):
                if id not in self._deferred_callables:
                    del used[at]

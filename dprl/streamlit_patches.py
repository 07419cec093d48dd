"""Patch Streamlit on the server, before `dprl.serve` serves anything.

Each patch names the change to Streamlit that would make it unnecessary.
"""

from __future__ import annotations

import logging
import logging.config
from collections.abc import Callable
from dataclasses import replace

from starlette.exceptions import HTTPException
from streamlit import logger
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager as Manager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

log = logging.getLogger("dprl.pages")

STILL = "still"  # in a session: for each fragment, a function that reports whether nothing has changed
# maximum number of bytes in all uploaded files: five files of the largest size
MOST_HELD = 10**9


def leave_pages_to_app() -> None:
    """Stop Streamlit from serving the files in pages/ as pages of its own until app.py has run once.

    Otherwise, the first visitor may see an error about a missing page. This will be unnecessary once an option switches
    that folder off.
    """
    PagesManager.uses_pages_directory = False


def hold_one_file(most: int = MOST_HELD) -> None:
    """Keep only each session's last upload, and refuse uploads beyond `most` bytes in all, which could fill the memory.

    This will be unnecessary once Streamlit bounds the total size of a session's files, not only the size of one file.
    """
    add = Manager.add_file

    def alone(self: Manager, session_id: str, file: UploadedFileRec) -> None:
        self.remove_session_files(session_id)
        if self._total_bytes + len(file.data) > most:
            raise HTTPException(503, "Too many files are being uploaded. Give the file again in a minute.")
        add(self, session_id, file)

    Manager.add_file = alone  # type: ignore[method-assign]


def wake_sender_once() -> None:
    """Wake the thread that sends messages only if it is asleep.

    Streamlit wakes it at every message, and each time Python's lock changes hands twice. With forty visitors, this made
    the 95th percentile of response times 1.3 to 2.3 times as long. This will be unnecessary once Streamlit itself
    checks the thread.
    """
    wake = Runtime._enqueued_some_message

    def unless_awake(runtime: Runtime) -> None:
        # The sender clears the flag before it reads the queue, so no message is left behind.
        if not runtime._get_async_objs().need_send_data.is_set():
            wake(runtime)

    Runtime._enqueued_some_message = unless_awake  # type: ignore[assignment, method-assign]


def leave_parts_of_left_pages() -> None:
    """Drop requests for fragments of a page that the visitor has left.

    A browser that has not yet noticed the page change may still send one. Streamlit would then open the session as the
    old page and find no fragment to draw, and the browser would empty the new page. If the fragment belongs to the
    present page but has moved, draw the whole page, so that no click gets lost.

    This will be unnecessary once Streamlit checks that a fragment exists just before drawing it.
    """
    run = ScriptRunner._run_script

    def unless_gone(self: ScriptRunner, asked: RerunData) -> None:
        parts = asked.fragment_id_queue
        if not parts or any(map(self._fragment_storage.contains, parts)):
            run(self, asked)
        elif asked.page_script_hash == self._pages_manager.current_page_script_hash:
            run(self, replace(asked, fragment_id=None, fragment_id_queue=[]))

    ScriptRunner._run_script = unless_gone  # type: ignore[assignment, method-assign]


def hear_runs_to_their_end() -> None:
    """Skip a fragment's scheduled redraw while its page is being drawn or if nothing has changed.

    A redraw could begin after a run has ended but before the server's event loop has read all of it. Streamlit would
    then ignore the rest: the end of the page would not appear, and its fragments would stop redrawing themselves. A
    redraw also takes about twenty times as long as asking the fragment whether anything has changed (see STILL).

    This will be unnecessary once Streamlit reads a finished run to its end, and fragments can decide when to redraw.
    """
    create = AppSession._create_scriptrunner

    def unless_unheard(self: AppSession, asked: RerunData) -> None:
        if not asked.is_auto_rerun:
            create(self, asked)
        elif self._scriptrunner is None:
            try:
                told = _teller(self, asked.fragment_id or "")
                still = told and told()
            except Exception:  # errors are shown when the fragment is drawn
                log.exception("Whether a part of a page has changed could not be checked")
                told = None
            if told is None:
                create(self, asked)
            elif not still:
                create(self, replace(asked, fragment_id=None, is_auto_rerun=False))

    request = AppSession.request_rerun

    def unless_drawn(self: AppSession, asked: ClientState | None) -> None:
        turn = asked is not None and asked.is_auto_rerun and self._scriptrunner is not None
        if not (asked is not None and turn and _teller(self, asked.fragment_id)):
            request(self, asked)

    AppSession._create_scriptrunner = unless_unheard  # type: ignore[assignment, method-assign]
    AppSession.request_rerun = unless_drawn  # type: ignore[assignment, method-assign]


def _teller(visitor: AppSession, part: str) -> Callable[[], object] | None:
    """Return the function that reports whether a fragment is unchanged, or None if it has none."""
    state = visitor.session_state
    return state[STILL].get(part) if STILL in state else None


def log_through_ours() -> None:
    """Send all log lines through our logger. This will be unnecessary once Streamlit makes its handlers optional."""

    def through_ours(theirs: logging.Logger) -> None:
        theirs.handlers, theirs.propagate = [], True

    logger.setup_formatter = through_ours  # type: ignore[assignment]
    logger.update_formatter()
    logging.config.dictConfig = lambda config: None  # uvicorn's, which would print lines of its own

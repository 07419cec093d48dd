"""Our changes to Streamlit on the server, with their reasons and the upstream changes that would make them
unnecessary.

Only `dprl.serve` calls these functions, before anything is served. The pages' uses of Streamlit's internals are in
pages/shared/streamlit_internals.py.
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
# bytes of all uploaded files together: five of the largest size, each held until its page reads it
MOST_HELD = 10**9


def leave_pages_to_app() -> None:
    """Stop Streamlit from serving the files in pages/ as its own pages. Otherwise, it would do so until app.py has run
    once, and show the very first visitor an error about a missing page.

    This will be unnecessary once an option switches that folder off, or `st.navigation` is known before the first run.
    """
    PagesManager.uses_pages_directory = False


def hold_one_file(most: int = MOST_HELD) -> None:
    """Limit each session to the last file that it uploaded, and all sessions together to a number of bytes; otherwise,
    they could fill the memory. A file beyond the limit is refused, like any file for which the server has no room.

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
    """Wake the thread that sends messages only if it is asleep. Streamlit wakes it at every message, about a hundred
    times per use of a page, and each time Python's lock changes hands twice. Without this patch, the 95th percentile of
    a use's duration was 1.3 to 2.3 times as long with forty visitors.

    This will be unnecessary once Streamlit itself asks whether the thread is awake.
    """
    wake = Runtime._enqueued_some_message

    def unless_awake(runtime: Runtime) -> None:
        # The sender clears the mark before it looks at the queue, so that no message is left in it.
        if not runtime._get_async_objs().need_send_data.is_set():
            wake(runtime)

    Runtime._enqueued_some_message = unless_awake  # type: ignore[assignment, method-assign]


def leave_parts_of_left_pages() -> None:
    """Drop requests for fragments of a page that the visitor has left. A browser that has not yet noticed the page
    change may still request one. Streamlit keeps the request until the new page is drawn, finds the fragment gone (see
    `forget_parts` of the pages), and draws nothing; but it has already opened the session as the old page, so the
    browser empties the new one. If the fragment belongs to the present page, but has since moved, the whole page is
    drawn, so that no click gets lost.

    This will be unnecessary once Streamlit checks again whether the fragment exists when the turn of the request comes.
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
    """Skip a redraw of a fragment that would cut off the end of a run. Drawing goes through the server's event loop,
    which may lag. A fragment that redraws itself may request its turn after a run has ended but before the loop has
    read all of it. Streamlit then begins another run and ignores the rest of the first: the end of the page never
    appears, and none of its fragments redraws itself again. The skipped fragment simply waits for its next turn.

    Also skip the redraw of a fragment that reports that nothing has changed, see STILL: a redraw starts a thread,
    opens the session again and informs the browser, which takes about twenty times as long as the check. Once
    something has changed, the whole page is drawn at once, without a turn of the fragment first. A fragment also gets
    no turn while its page is being drawn: otherwise each of forty waiting pages would get several.

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
                log.exception("A part of a page could not say whether it has changed")
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
    """Return the function by which the fragment reports whether anything has changed, or None."""
    state = visitor.session_state
    return state[STILL].get(part) if STILL in state else None


def log_through_ours() -> None:
    """Send all log lines through our logger, as JSON objects. Streamlit and its web server have their own handlers.

    This will be unnecessary once an option lets the program choose the handlers.
    """

    def through_ours(theirs: logging.Logger) -> None:
        theirs.handlers, theirs.propagate = [], True

    logger.setup_formatter = through_ours  # type: ignore[assignment]
    logger.update_formatter()
    logging.config.dictConfig = lambda config: None  # uvicorn's, which would print lines of its own

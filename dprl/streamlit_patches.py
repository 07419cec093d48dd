"""The server's changes to Streamlit: the parts replaced, the reasons, and the upstream changes that would make them
needless.

Only `dprl.serve` calls these, before anything is served. The pages' uses of Streamlit's internals are in
pages/shared/streamlit_internals.py.
"""

from __future__ import annotations

import logging
import logging.config
from collections.abc import Callable
from dataclasses import replace

from starlette.exceptions import HTTPException
from streamlit import config, logger
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager as Manager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

log = logging.getLogger("dprl.pages")

STILL = "still"  # in a session: by part of its page, what says whether all is as it was drawn
MOST_HELD = (
    10**9
)  # bytes of files that browsers sent: five of the largest, each for the moment until its page takes it


def leave_pages_to_app() -> None:
    """Until app.py has run once, Streamlit takes a folder called pages/ for pages of its own, one a file, and would
    tell the very first visitor that a page does not exist.

    Unnecessary once an option switches that folder off, or `st.navigation` is known before the first run.
    """
    PagesManager.uses_pages_directory = False


def hold_one_file(most: int = MOST_HELD) -> None:
    """Limit each session to the last file that it sent, and all sessions together to a number of bytes: otherwise they
    could fill the memory. A file beyond the limit is refused, like any other for which the server has no room.

    Unnecessary once Streamlit bounds how much sessions may hold, not only the size of one file.
    """
    add = Manager.add_file

    def alone(self: Manager, session_id: str, file: UploadedFileRec) -> None:
        self.remove_session_files(session_id)
        if self._total_bytes + len(file.data) > most:
            raise HTTPException(503, "Too many files are on their way. Give the file again in a minute.")
        add(self, session_id, file)

    Manager.add_file = alone  # type: ignore[method-assign]


def wake_once() -> None:
    """Streamlit has each message of a page wake the thread that sends them, though one that is awake sends all that
    wait: about a hundred times at every use, and each time Python's lock goes to it and back.

    Unnecessary once Streamlit itself asks whether the thread is awake.
    """
    wake = Runtime._enqueued_some_message

    def unless_awake(runtime: Runtime) -> None:
        # A message is queued before this is called, and whoever sends forgets that it was woken before it looks at
        # the queue: none is left behind.
        if not runtime._get_async_objs().need_send_data.is_set():
            wake(runtime)

    Runtime._enqueued_some_message = unless_awake  # type: ignore[assignment]


def leave_parts_of_left_pages() -> None:
    """While a page begins, a browser that does not know of it yet may ask for a part of the page before. Streamlit
    keeps that until the new page is drawn, then finds the part gone, see `forget_parts` of the pages, and draws
    nothing: but it has opened the session as the page before, for which the browser empties the new one. A part's
    request from a left page is dropped; of the present page, which has a part in another place by now, all is drawn, as
    a press must not be lost.

    Unnecessary once Streamlit asks again whether a part is there when its turn comes, as it does when it is asked for.
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
    """Skip a redraw that would cut off the end of a run. A page's drawing goes through the server's loop, which may be
    late. A part that redraws itself may ask for its turn after a run has ended but before the loop has read all of it.
    Streamlit then begins another run, and ignores the rest of the first: the end of the page never appears, and no part
    of it redraws itself any more. The next turn comes by itself.

    So is a turn of a part that says by a word of its own that nothing has changed, see STILL: a turn begins a thread,
    opens the session again and sends that to the browser, which takes some twenty times as long as to look. When
    something has changed the whole page is drawn at once, without a turn of the part that would ask for it. While a
    page is drawn its part gets no turn, either: of forty pages that wait for theirs each would be given some.

    Unnecessary once Streamlit hears a run that has ended to its end, and once a part can say when it is drawn again.
    """
    create = AppSession._create_scriptrunner

    def unless_unheard(self: AppSession, asked: RerunData) -> None:
        if not asked.is_auto_rerun:
            create(self, asked)
        elif self._scriptrunner is None:
            still = _is_still(self, asked.fragment_id or "")
            if still is None:
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


def _is_still(visitor: AppSession, part: str) -> bool | None:
    """Whether a part says that nothing has changed; None if it has no answer. No script of the visitor runs."""
    told = _teller(visitor, part)
    try:
        return None if told is None else bool(told())
    except Exception:  # whatever is wrong is said where the part is drawn
        log.exception("A part of a page could not say whether it has changed")
        return None


def _teller(visitor: AppSession, part: str) -> Callable[[], object] | None:
    """Return the function that reports this; None if the part has reported nothing."""
    state = visitor.session_state
    return state[STILL].get(part) if STILL in state else None


def make_looks_once() -> None:
    """Streamlit sends the page's colours and fonts with every run of a page and of every part of it, and puts them
    together from all options each time. Until options are read again they are the same.

    Unnecessary once Streamlit keeps them.
    """
    make = app_session._populate_theme_msg
    made: dict[str, CustomThemeConfig] = {}
    config.on_config_parsed(made.clear, force_connect=True)

    def once(msg: CustomThemeConfig, section: str = "theme") -> None:
        if section not in made:
            own = CustomThemeConfig()
            make(own, section)
            made[section] = own
        if made[
            section
        ].ByteSize():  # else the part is not there, which says something else than an empty one
            msg.MergeFrom(made[section])

    app_session._populate_theme_msg = once


def log_through_ours() -> None:
    """All lines shall be objects, and Streamlit and the server below it have handlers of their own.

    Unnecessary once an option leaves handlers to the program.
    """

    def through_ours(theirs: logging.Logger) -> None:
        theirs.handlers, theirs.propagate = [], True

    logger.setup_formatter = through_ours  # type: ignore[assignment]
    logger.update_formatter()
    logging.config.dictConfig = lambda config: None  # uvicorn's, which would print lines of its own

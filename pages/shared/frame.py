"""What surrounds every page: the workers, notices, and the last stop for errors."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, Protocol

import streamlit as st

from dprl.fields import SpecError
from dprl.jobs.file import StoreError
from dprl.jobs.local import ensure_pool
from pages.shared.browser import close_sidebar
from pages.shared.data import store
from pages.shared.state import session
from pages.shared.text import escape

log = logging.getLogger("dprl.pages")
P = ParamSpec("P")

CRASHED = "Something went wrong on this page and was written to the log. Reload the page to go on."


class Page(Protocol):
    """A page that can be run."""

    @property
    def url_path(self) -> str: ...
    def run(self) -> None: ...


def guarded(draw: Callable[P, Any]) -> Callable[P, None]:
    """`draw`, whose errors end as one sentence on the page and a traceback in the log, never the other way round."""

    @wraps(draw)
    def safely(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            draw(*args, **kwargs)
        except (SpecError, StoreError) as error:
            st.error(escape(str(error)))
        except Exception:
            log.exception("A page failed")
            st.error(CRASHED)

    return safely


def dark() -> bool:
    """Whether this visitor sees a dark page."""
    return st.context.theme.type == "dark"


@guarded
def show(page: Page) -> None:
    """Starts the workers if none are there, says what the store has to say, and draws the page."""
    ensure_pool()
    if notice := store().notice:
        st.warning(escape(notice))
    s = session()
    s.arrived, s.page = s.page != page.url_path, page.url_path
    if s.said:
        st.toast(escape(s.said))
        s.said = ""
    page.run()
    close_sidebar(f"{page.url_path}:{s.runs}")

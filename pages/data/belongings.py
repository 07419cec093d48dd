"""What a visitor's tab has on this server besides memory: it goes when the tab has gone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import streamlit as st

from pages.shared.results.data import store
from pages.shared.streamlit_internals import connected, session_id
from pages.shared.visitor.presence import watch


@dataclass(eq=False)
class _Belonging:
    """end: lets it go; busy: whether somebody works with it still; seen: when the tab was last there, monotonic."""

    session: str | None
    end: Callable[[], object]
    busy: Callable[[], bool]
    seen: float = field(default_factory=time.monotonic)


class Belongings:
    """What tabs have, by its name. It ends when its tab has been gone for the grace that leased work has, and nobody
    works with it any more: a page that is loaded anew finds its work done."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: dict[str, _Belonging] = {}

    def add(self, name: str, end: Callable[[], object], busy: Callable[[], bool]) -> None:
        """This visitor's tab has it from now on."""
        with self._lock:
            self._all[name] = _Belonging(session_id(), end, busy)

    def end(self, name: str) -> None:
        """The visitor wants it no more."""
        with self._lock:
            found = self._all.pop(name, None)
        if found is not None:
            found.end()

    def look(self, connected: Callable[[str], bool], grace: float) -> None:
        """Ends what belongs to tabs that have gone."""
        now = time.monotonic()
        with self._lock:
            known = list(self._all.items())
        for name, each in known:
            if each.session is not None and connected(each.session):
                each.seen = now
            elif now - each.seen > grace and not each.busy():
                self.end(name)


@st.cache_resource(show_spinner=False)
def belongings() -> Belongings:
    """One for the whole server, with a thread that looks after it."""
    found = Belongings()

    watch("belongings", lambda: found.look(connected, store().grace))
    return found

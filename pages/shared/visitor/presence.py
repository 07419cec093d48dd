"""Report the connected browser tabs to the store, because leased work lasts as long as its tab."""

from __future__ import annotations

import hashlib
import logging
import secrets
import threading
import time
from collections.abc import Callable

import streamlit as st

from dprl.runs.database import StoreError
from dprl.runs.limits import Lease
from pages.shared.results.data import store
from pages.shared.streamlit_internals import connected, serving, session_id

log = logging.getLogger("dprl.pages")

LOOK = 1.0  # seconds between two checks of the connected tabs
_SALT = secrets.token_bytes(16)  # addresses are only compared, and only while this server runs


class Presence:
    """The tabs that have leases, by the id of their Streamlit session."""

    def __init__(self) -> None:
        self.tabs: dict[str, str] = {}

    def look(self, connected: Callable[[str], bool]) -> None:
        """Report the connected tabs to the store, and forget those that the store has forgotten."""
        tabs = self.tabs.copy()
        known = store().present({tab for session, tab in tabs.items() if connected(session)})
        for session, tab in tabs.items():
            if tab not in known:
                self.tabs.pop(session, None)


def watch(name: str, look: Callable[[], object]) -> None:
    """Start a thread that calls `look` every LOOK seconds for as long as the server runs."""

    def looks() -> None:
        while serving():
            try:
                look()
            except (StoreError, RuntimeError) as error:  # the next check tries again
                log.warning("%s", error)
            time.sleep(LOOK)

    threading.Thread(target=looks, name=name, daemon=True).start()


@st.cache_resource(show_spinner=False)
def _presence() -> Presence:
    """Return the tabs of the whole server that have leases, with a thread that keeps them up to date."""
    presence = Presence()
    watch("presence", lambda: presence.look(connected))
    return presence


def lease(tab: str) -> Lease:
    """Return a lease for this visitor, whose tab is watched from now on."""
    if (here := session_id()) is not None:
        _presence().tabs[here] = tab
    return Lease(tab, network_address())


def network_address() -> str:
    """Return a hash of the visitor's network address, or "" for this machine's own, where a proxy may run."""
    where = st.context.ip_address or ""
    return hashlib.blake2b(where.encode(), key=_SALT, digest_size=8).hexdigest() if where else ""

"""What a page makes of a link, without drawing anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import parse_qs

import streamlit as st

from dprl.simulation.base import Spec
from pages.attack.link import Attack
from pages.data.own import Own
from pages.home.state import Home
from pages.lessons.state import Lessons
from pages.offline.record import OfflineState
from pages.papers.views import Papers
from pages.room.state import Class
from pages.shared.visitor.state import ExploreState, PageState, Session, read_address, session
from pages.tradeoffs.study import SweepPageState
from pages.users.link import Users

Specs = Callable[[Any], Sequence[Spec]]


def _none(_: Any) -> Sequence[Spec]:
    return ()


# Of each page: what it keeps of a visitor, and the specs that this stands for.
PAGES: dict[str, tuple[type[PageState], Specs]] = {
    "attack": (Attack, lambda part: [part.spec]),
    "explore": (ExploreState, lambda part: [curve.spec for curve in part.curves]),
    "home": (Home, _none),
    "papers": (Papers, _none),
    "lessons": (Lessons, _none),
    "data": (Own, _none),
    "offline": (OfflineState, lambda part: part.specs),
    "room": (Class, _none),
    "tradeoffs": (SweepPageState, lambda part: [part.view.base]),
    "users": (Users, _none),
}
STREAMLIT = {"embed", "embed_options"}  # which it keeps to itself


def opened(page: str, query: str) -> PageState:
    """What a page keeps of a visitor who comes by a link. Raises nothing, whatever the link."""
    kind, _ = PAGES[page]
    st.session_state["session"] = Session()
    session().page = "" if page == "home" else page
    given = parse_qs(query, keep_blank_values=True)
    st.query_params.from_dict({key: given[key] for key in given if key.lower() not in STREAMLIT})
    part = session().part(kind)
    read_address(part)
    return part


def specs_of(page: str, part: PageState) -> list[Spec]:
    """Those that a page stands for."""
    return list(PAGES[page][1](part))

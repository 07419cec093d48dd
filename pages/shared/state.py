"""What a visitor's session holds, and how it meets the address bar."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from dprl.fields import SpecError
from dprl.jobs.file import StoreError
from dprl.simulation.spec import RunSpec
from pages.shared import address, links
from pages.shared.data import store
from pages.shared.draft import Draft, draft_of
from pages.shared.links import MAX_CURVES, Curve, View


@dataclass
class Editing:
    """An environment in the editor. of: the text that it was when the editor opened; model: what the tables were drawn
    from; edited: what they hold now; drawn: part of their keys, raised when they are drawn anew; open: whether the
    editor is; closed, it keeps what was edited until that is used or discarded."""

    of: str
    model: dict[str, Any]
    edited: dict[str, Any]
    drawn: int = 0
    open: bool = True

    def draw(self, model: dict[str, Any]) -> None:
        """Has the tables drawn from another model."""
        self.model = self.edited = model
        self.drawn += 1


@dataclass
class Session:
    """One visitor's comparison, view and half-filled controls; all of it lives as long as the browser tab.

    drafts: what the controls of each page hold; wrong: the sentence for each exact field that cannot be read;
    version: part of widget keys, raised when the draft or the view is set by something other than its own widgets;
    address: the query last read or written;
    problems: what a link said that could not be used; runs: how often Run was pressed; paused: live curves stand
    still; playing: the moment looked at moves on; said: what the last press of a button has to say; files: environments
    uploaded here, by their digest; upload_problem: what was wrong with the last one; editing: the one in the editor;
    page: the one shown last; arrived: another one was shown before; stuck: a part that redraws itself could not be
    drawn; epsilon: the one on the home page; home_drawn: what its chart was sent for, epsilon and whether dark;
    home_problem: what was wrong with the link that brought it; saves: the kind of picture that the camera above each
    chart saves; drawing: the part of the page that is being drawn; waiting: parts that miss an answer of the workers;
    polling: those that the browser has drawn again until they have it; asked: what this visitor has waited for.
    """

    visitor: str = field(default_factory=lambda: uuid.uuid4().hex)
    curves: list[Curve] = field(default_factory=list)
    view: View = field(default_factory=View)
    drafts: dict[str | None, Draft] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)
    version: int = 0
    address: str | None = None
    problems: tuple[str, ...] = ()
    runs: int = 0
    paused: bool = False
    playing: bool = False
    said: str = ""
    files: dict[str, str] = field(default_factory=dict)
    upload_problem: str = ""
    editing: Editing | None = None
    page: str | None = None
    stuck: bool = False
    arrived: bool = True
    epsilon: float = 1.0
    home_drawn: tuple[float, bool] = (1.0, False)
    home_problem: str = ""
    saves: str = "png"
    drawing: str = ""
    waiting: set[str] = field(default_factory=set)
    polling: frozenset[str] = frozenset()
    asked: set[tuple[str, RunSpec]] = field(default_factory=set)

    @property
    def draft(self) -> Draft:
        """The controls of the page shown."""
        if self.page not in self.drafts:
            self.drafts[self.page] = draft_of(RunSpec())
        return self.drafts[self.page]

    @draft.setter
    def draft(self, given: Draft) -> None:
        self.drafts[self.page] = given

    @property
    def visible(self) -> list[Curve]:
        """The curves that are drawn."""
        return [curve for curve in self.curves if not curve.hidden]

    @property
    def query(self) -> str:
        """The link to what is seen now, without the question mark."""
        return links.query(self.curves, self.view)


def session() -> Session:
    """This visitor's session."""
    found: Session | None = st.session_state.get("session")
    if found is None:
        found = st.session_state["session"] = Session()
    return found


def look(**changes: Any) -> None:
    """Changes the view; the widgets of the view are drawn anew from it."""
    s = session()
    s.view = replace(s.view, **changes)
    s.version += 1


def ask(action: Callable[..., object], *arguments: object) -> bool:
    """Asks the store for something; whether it was done. Where not, the reason is said on the page."""
    try:
        action(*arguments)
    except (SpecError, StoreError) as error:
        session().said = str(error)
        return False
    return True


def add(spec: RunSpec, name: str = "") -> str:
    """Puts a run into the comparison and asks for it. Returns a sentence when it was there already or has no room."""
    s = session()
    if not ask(store().request, spec, s.visitor):
        return s.said
    for i, curve in enumerate(s.curves):
        if curve.spec == spec:
            s.curves[i] = replace(curve, hidden=False)
            return "This run is already in the comparison."
    if len(s.curves) >= MAX_CURVES:
        return f"{MAX_CURVES} curves are the most: remove one first."
    s.curves.append(Curve(spec, name))
    return ""


def read_address() -> None:
    """Takes over what the address bar says when it is a link that was not read yet, and starts what it names.

    An address without a query says nothing: the session keeps what it has, and on coming from another page puts it
    into the address, so that it survives a reload.
    """
    s = session()
    s.playing = s.playing and not s.arrived
    if s.arrived and s.curves and not st.query_params:
        write_address()
        return
    if (found := address.unread(s.address, s.files)) is None:
        return
    given, s.address = found
    link = links.decode(given, s.files)
    s.problems = link.problems
    if link.curves:
        s.curves = list(link.curves)
        s.draft = draft_of(link.curves[links.most_private(link.curves)].spec)
        for curve in link.curves:
            ask(store().request, curve.spec, s.visitor)
    s.view = link.view
    s.version += 1


def write_address() -> None:
    """Puts the comparison and the view into the address bar; called when the comparison or the tab changes."""
    s = session()
    s.address = address.write(links.encode(s.curves, s.view) if s.curves else [], s.files)

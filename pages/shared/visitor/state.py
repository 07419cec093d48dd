"""The state of a visitor's session and its exchange with the address bar."""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self, TypeVar

import streamlit as st

from dprl.fields import SpecError
from dprl.links import MAX_CURVES, check_version
from dprl.runs.database import StoreError
from dprl.simulation import Spec
from dprl.simulation.spec import RunSpec
from dprl.sitemap import GROUPS
from pages.shared.examples import FIRST
from pages.shared.results.data import comes_along, store
from pages.shared.streamlit_internals import went_back
from pages.shared.visitor import address, links, presence
from pages.shared.visitor.address import Locked, Query, query_of
from pages.shared.visitor.draft import Draft, draft_of
from pages.shared.visitor.links import AT_FIRST, Curve, View


@dataclass(kw_only=True)
class PageState:
    """The state of a page for one visitor, and its form in a link.

    address: the query that was last read or written. problems: the unusable parts of a link. locked: the settings that
    it locks. sentence: a message from the person who shares it, or "". seen: the link at the last drawing. moved:
    whether only the view has changed since the address was written. view: a frozen dataclass of `looked` attributes, if
    the page has several views.
    """

    address: str | None = None
    problems: tuple[str, ...] = ()
    locked: Locked = frozenset()
    sentence: str = ""
    seen: str = ""
    moved: bool = False
    view: Any = None

    @classmethod
    def mine(cls) -> Self:
        return session().part(cls)

    @property
    def first_draft(self) -> Draft:
        """Return the initial values of the page's controls, if it has any."""
        return draft_of(RunSpec())

    @property
    def begun(self) -> bool:
        """Return whether the address needs a query when the visitor returns to the page."""
        return self.address is not None

    @property
    def link(self) -> list[tuple[str, str]]:
        """Return the query parameters of the link to the current view in order, with unescaped keys and values."""
        return []

    @property
    def shared(self) -> list[tuple[str, str]]:
        """Return the parameters of a link for another person, who then sees everything that is drawn here."""
        return self.link

    @property
    def items(self) -> list[tuple[str, str]]:
        """Return the parameters from `link`, followed by the parameters for the locks and the message."""
        return [*self.link, *address.write_locks(self.locked), *address.saying(self.sentence)]

    @property
    def query(self) -> str:
        """Return the link to the current view, without the question mark."""
        return query_of(self.items)

    def put(self, **values: Any) -> None:
        """Change the state and the address, and forget the problems of a link."""
        vars(self).update(values, problems=())
        write_address(self)

    def change(self, **view: Any) -> None:
        self.view = replace(self.view, **view)
        write_address(self)

    def follow(self, given: Query, problems: list[str]) -> None:
        """Apply a link and start its runs; add a sentence to `problems` for each unusable part."""


@dataclass(kw_only=True)
class ExploreState(PageState):
    """The state of the Online page for one visitor."""

    curves: list[Curve] = field(default_factory=lambda: list(FIRST.curves))
    view: View = AT_FIRST
    # the run that the settings describe and its baseline if new, unless the run is shown already or takes long
    drafts: list[RunSpec] = field(default_factory=list)
    removed: tuple[int, Curve] | None = None  # the index and curve removed last

    @property
    def first_draft(self) -> Draft:
        return draft_of(FIRST.curves[1].spec)

    @property
    def shown(self) -> list[Curve]:
        """Return the curves in the comparison and the drafts."""
        return self.curves + [Curve(spec, draft=True) for spec in self.drafts]

    @property
    def visible(self) -> list[Curve]:
        return [curve for curve in self.shown if not curve.hidden]

    @property
    def link(self) -> list[tuple[str, str]]:
        return links.encode(self.curves, self.view) if self.curves else []

    @property
    def shared(self) -> list[tuple[str, str]]:
        curves, view = self.shown[:MAX_CURVES], self.view  # a draft becomes a curve of its own
        if self.drafts and view.tab in ("regret", "data"):  # other tabs show a curve in detail, which stays
            view = replace(view, curve=len(self.curves))
        return links.encode(curves, view) if curves else []

    def follow(self, given: Query, problems: list[str]) -> None:
        s = session()
        link = links.decode(given, s.files)
        problems += link.problems
        self.view, self.removed = link.view, None
        s.version += 1
        if given.get("c"):
            self.curves = list(link.curves)
        if link.curves:
            at = link.view.curve if link.view.curve >= 0 else links.most_private(link.curves)
            untouched = link.view.curve < 0 and link.curves == FIRST.curves
            s.draft = self.first_draft if untouched else draft_of(link.curves[at].spec)
            begin([curve.spec for curve in link.curves if not comes_along(curve.spec)], s.visitor)


P = TypeVar("P", bound=PageState)
SAME = {"tradeoffs": "explore", "attack": "explore"}  # pages with the same settings as another page


class Undo(NamedTuple):
    """A page and a function that restores the settings it had before they were all changed at once."""

    page: str | None
    run: Callable[[], None]


@dataclass
class Session:
    """One visitor's actions and choices, which last as long as the browser tab."""

    visitor: str = field(default_factory=lambda: uuid.uuid4().hex)
    parts: dict[type, Any] = field(default_factory=dict)  # the state of each page, see `part`
    drafts: dict[str | None, Draft] = field(  # the controls' values, see `settings`
        default_factory=lambda: defaultdict(lambda: draft_of(RunSpec()))
    )
    wrong: dict[str, str] = field(default_factory=dict)  # a sentence for each field that cannot be read
    replaced_widgets: Counter[tuple[str, str]] = field(default_factory=Counter)  # by setting and kind
    version: int = 0  # part of widget keys; raised when anything else sets the draft or the view
    pressed: str | None = None  # the page on which Run was pressed, until its settings are read
    runs: int = 0  # how often Run was pressed
    paused: bool = False  # whether live curves are paused
    said: str = ""  # a message about the last button pressed
    files: dict[str, str] = field(default_factory=dict)  # environments uploaded here, by digest
    upload_problem: str = ""  # the fault of the last upload
    page: str | None = None  # the page shown last
    arrived: bool = True  # whether another page was shown before
    stuck: bool = False  # whether a part that redraws itself could not be drawn
    wide: bool | None = None  # whether there is room next to charts, None until the browser has reported it
    saves: str = "png"  # the format in which pictures are saved
    locked: Locked = frozenset()  # settings that the link to the current page locks
    locking: bool = False  # whether shared links lock all settings
    short: dict[tuple[str, str], str] = field(default_factory=dict)  # short links, by page and query
    taken: tuple[Spec, ...] = ()  # the runs that are prepared for a page without a server, in order
    unfolded: set[str] = field(default_factory=set)  # charts, or groups of them, whose folds are open
    alone: str = ""  # the only chart that an embedded page shows
    common: str = ""  # the common settings of everything shown, in words
    drawing: str = ""  # the part of the page that is being drawn
    explained: dict[str, str] = field(default_factory=dict)  # the part of the page that explains each term
    waiting: set[str] = field(default_factory=set)  # parts that wait for a worker's answer
    polling: frozenset[str] = frozenset()  # parts that the browser redraws until the answer is there
    asked: set[tuple[str, Spec]] = field(default_factory=set)  # questions for which the visitor has waited
    replaced: deque[str] = field(default_factory=lambda: deque(maxlen=16))  # addresses that others replaced
    unasked: float = 0.0  # seconds on one core for the runs that the last link started by itself
    undo: Undo | None = None  # undoes the last change of many settings, until something else is changed

    @property
    def draft(self) -> Draft:
        return self.drafts[self.settings]

    @draft.setter
    def draft(self, given: Draft) -> None:
        self.drafts[self.settings] = given

    def redraft(self, **changes: Any) -> None:
        """Change settings of the draft from outside their own widgets, and redraw all controls."""
        self.draft = replace(self.draft, **changes)
        self.version += 1

    @property
    def settings(self) -> str | None:
        """Return the page whose settings the current page uses, because some pages share theirs."""
        return SAME.get(self.page or "", self.page)

    def remember(self, before: Draft, back: Callable[[], None] | None = None) -> None:
        """Let the visitor undo a change of many settings. `back` undoes its effects outside the draft."""

        def undo() -> None:
            self.draft, self.undo = before, None
            self.version += 1
            if back:
                back()

        self.version += 1
        self.undo = Undo(self.page, undo)

    def part(self, kind: type[P]) -> P:
        if kind not in self.parts:
            self.parts[kind] = kind()
        found: P = self.parts[kind]
        return found

    @property
    def explore(self) -> ExploreState:
        """Return the state of Online, to which other pages also add runs."""
        return self.part(ExploreState)


def session() -> Session:
    found: Session | None = st.session_state.get("session")
    if found is None:
        found = st.session_state["session"] = Session()
    return found


def owner_id(group: str) -> str:
    """Return the name under which this visitor requests the runs of a group, a key of GROUPS or ""."""
    return f"{session().visitor}:{group}" if group else session().visitor


def owners() -> list[str]:
    """Return all names under which this visitor requests runs."""
    return [owner_id(group) for group in ("", *GROUPS)]


def attempt(action: Callable[..., object], *arguments: object) -> bool:
    """Try an action on the store. Return whether it succeeded; if not, the page shows the reason."""
    try:
        action(*arguments)
    except (SpecError, StoreError) as error:
        session().said = str(error)
        return False
    return True


def ask(specs: Iterable[Spec], visitor: str, again: bool = False, leased: bool = False) -> bool:
    """Request runs after a click, and repeat failed seeds if `again`. Return whether all requests succeeded; if not,
    the page shows the reason. On a public server, or if `leased`, the runs end with the browser tab."""
    lease = presence.lease(session().visitor) if leased or store().public else None
    asked = [attempt(store().ask, spec, visitor, lease, again) for spec in specs]
    return all(asked)


def begin(specs: Iterable[Spec], visitor: str) -> bool:
    """Request a link's runs, unless they would cost too much together. Return whether they were requested. Finished and
    active runs cost nothing, so a page that is reloaded continues to wait for them."""
    s, specs = session(), list(specs)
    try:
        _, seconds = store().cost(specs)
    except (SpecError, StoreError) as error:
        s.said = str(error)
        return False
    if s.unasked + seconds > store().link_seconds:
        return False
    s.unasked += seconds
    return ask(specs, visitor, leased=True)


def add(spec: RunSpec) -> str:
    """Add a run to the comparison and request it. Return a message if it is already there or does not fit."""
    s = session()
    if not comes_along(spec) and not ask([spec], s.visitor):
        return s.said
    for i, curve in enumerate(s.explore.curves):
        if curve.spec == spec:
            s.explore.curves[i] = replace(curve, hidden=False)
            return "This run is already in the comparison."
    if len(s.explore.curves) >= MAX_CURVES:
        return f"A comparison has at most {MAX_CURVES} curves; remove one first."
    s.explore.curves.append(Curve(spec))
    s.explore.removed = None
    return ""


def read_address(part: PageState) -> None:
    """Apply the address bar's query if it is a link that has not been read yet.

    An address without a query changes nothing: the page keeps its state, and writes it into the address if the visitor
    comes from another page, so that it survives a reload. An address that has been replaced is not a link, because a
    click before the browser knows the new address still sends the old one.
    """
    s = session()
    if s.settings not in s.drafts:
        s.draft = part.first_draft
    if not st.query_params:
        s.locked = part.locked
        if s.arrived and part.begun:
            write_address(part)
        return
    given = address.restored(address.grouped(address.here()))
    name = address.name_of(given, s.files)
    late = name in s.replaced and not s.arrived and not went_back()
    if name != part.address and not late:
        _rename(part, name)
        part.seen, s.unasked = "", 0.0
        problems, own = list[str](), list[str]()
        given = address.without_its_end(given, problems)
        link = address.Given(address.lengthened(given, s.page or "", problems))
        check_version(link, own)
        part.follow(link, own)
        part.locked = address.read_locks(link, problems)
        part.sentence = address.sentence_of(link, problems)
        part.problems = tuple(filter(None, (*problems, *own, link.unused())))
    s.locked = part.locked


def _rename(part: PageState, name: str, moved: bool = False) -> None:
    """Store the name of the page's current address, which replaces the previous one."""
    if part.address is not None:
        session().replaced.append(part.address)
    part.address, part.moved = name, moved


def write_address(part: PageState) -> None:
    query = address.grouped(part.items)
    st.query_params.from_dict(query)
    _rename(part, address.name_of(query, session().files))


def note_view(part: PageState, items: list[tuple[str, str]]) -> None:
    """Note that only the view has changed, so that the browser adds no history entry when it replaces the address."""
    query, name = query_of(items), address.name_of(address.grouped(items), session().files)
    if part.seen not in ("", query) and name != part.address:
        _rename(part, name, moved=True)
    part.seen = query

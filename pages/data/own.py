"""Your data: the data set in a visitor's session, and the part of it that ends with their tab."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, cast

import streamlit as st

from dprl.assets import ASSETS
from dprl.fields import SpecError
from dprl.simulation import UploadSpec, UploadTrace, trace_from_bytes
from dprl.simulation.uploads.declaration import NAME, Declaration, declaration, declaration_text
from dprl.simulation.uploads.ledger import Budget
from dprl.simulation.uploads.run import draws_of
from dprl.simulation.uploads.table import COLUMNS
from dprl.uploads.readings import Reading
from pages.shared.results.data import store
from pages.shared.results.status import Runs
from pages.shared.streamlit_internals import connected, session_id
from pages.shared.visitor.address import Query
from pages.shared.visitor.presence import watch
from pages.shared.visitor.state import PageState

RUNS = Runs(group="upload")
EXAMPLE = "own-data.npz"  # see bench/own_data.py


@lru_cache(maxsize=1)
def example_trace() -> UploadTrace:
    """Return the release of the example that comes with the program."""
    return cast(UploadTrace, trace_from_bytes((ASSETS / EXAMPLE).read_bytes()))


@dataclass
class Own:
    """A visitor's data set."""

    states: str = ""  # as typed, separated by commas; so are the other lists
    actions: str = ""
    horizon: int | None = None
    columns: str = ", ".join(COLUMNS)
    rewards: str = "0, 1"
    file: str = ""  # a declaration from a JSON file, "" for a typed one
    budget: str = ""  # the name of the budget that releases are written down in
    total: float | None = None  # the most that it may come to
    rho: float | None = None  # of the next release
    data: UploadSpec | None = None  # of the data set read here; only who holds it can have it learned from
    specs: tuple[UploadSpec, ...] = ()  # what was asked of it, each a release
    problem: str = ""  # what was wrong with the last file, or is missing
    outside: tuple[str, ...] = ()  # of the file, outside the declaration. Not private: it is nowhere but here
    recalled: str = ""  # the message on a file with earlier releases
    reading: Reading | None = None  # the file that is being read
    turn: int = 0  # part of the keys of file fields, raised when they are to be drawn empty

    @property
    def missing(self) -> list[str]:
        """Return the fields that are empty and required."""
        of_budget = {} if store().public else {"the name of the budget": self.budget, "total ρ": self.total}
        typed = {"states": self.states, "actions": self.actions, "the number of steps": self.horizon}
        wanted = ({} if self.file else typed) | of_budget | {"ρ": self.rho}
        return [name for name, value in wanted.items() if not value]

    def declared(self) -> Declaration:
        """Return what the file or the form declares. Raises SpecError."""
        if self.file:
            return declaration(self.file)
        names = listed(self.columns)
        if len(names) != len(COLUMNS):
            raise SpecError(f"{NAME}.columns", f"give {len(COLUMNS)} names, for {', '.join(COLUMNS)}.")
        try:
            low, high = (float(each) for each in listed(self.rewards))
        except ValueError:
            raise SpecError(f"{NAME}.reward_range", "give two numbers, the lowest and the highest.") from None
        given: dict[str, Any] = {"states": listed(self.states), "actions": listed(self.actions)}
        columns = {name: called for name, called in zip(COLUMNS, names, strict=True) if called != name}
        given |= {"horizon": self.horizon, "reward_range": [low, high]}
        return declaration(declaration_text(given | ({"columns": columns} if columns else {})))

    @property
    def spec(self) -> UploadSpec | None:
        """Return the release that is offered."""
        return None if self.data is None or self.rho is None else self.data.replace(rho=self.rho)

    def refusal(self) -> str:
        """Return why the budget refuses the release that is offered, in a sentence; "" if it fits. Raises SpecError."""
        if self.spec is None or store().public:
            return ""
        return Budget(self.budget, rho=self.total).refusal(draws_of(self.spec))

    def drop(self) -> None:
        """Forget the data set; what was released of it is no longer shown."""
        self.data, self.specs, self.outside, self.recalled = None, (), (), ""
        self.turn += 1


def listed(text: str) -> list[str]:
    """Return what stands between the commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


@dataclass(kw_only=True)
class OwnData(PageState):
    """The page's state of a visitor. Nothing of it is in a link: a declaration travels as a file."""

    own: Own = field(default_factory=Own)

    @property
    def link(self) -> list[tuple[str, str]]:
        """Return no parameters."""
        return []

    def follow(self, given: Query) -> None:
        """Take nothing over."""


own_data = OwnData.mine


def going() -> bool:
    """Return whether a file is being read, or a release computed."""
    own = own_data().own
    return bool((own.reading is not None and not own.reading.done) or RUNS.progress(own.specs).active)


@dataclass(eq=False)
class _Belonging:
    """end: lets it go; busy: whether somebody works with it still; seen: when the tab was last there, monotonic."""

    session: str | None
    end: Callable[[], object]
    busy: Callable[[], bool]
    seen: float = field(default_factory=time.monotonic)


class Belongings:
    """The tabs' data on this server besides memory, by name. It ends when its tab has been gone for the grace that
    leased work has, and nobody works with it any more: a page that is loaded again finds its work done."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: dict[str, _Belonging] = {}

    def add(self, name: str, end: Callable[[], object], busy: Callable[[], bool]) -> None:
        """Attach it to this visitor's tab."""
        with self._lock:
            self._all[name] = _Belonging(session_id(), end, busy)

    def end(self, name: str) -> None:
        """Drop the data set for the visitor."""
        with self._lock:
            found = self._all.pop(name, None)
        if found is not None:
            found.end()

    def look(self, connected: Callable[[str], bool], grace: float) -> None:
        """End what belongs to tabs that have gone."""
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
    """Return the one of this server, with a thread that looks after it."""
    found = Belongings()
    watch("belongings", lambda: found.look(connected, store().grace))
    return found

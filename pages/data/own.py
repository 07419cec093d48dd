"""A visitor's data set on the Your data page, which is deleted after the tab closes."""

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
from pages.shared.visitor.presence import watch
from pages.shared.visitor.state import PageState

RUNS = Runs(group="upload")
EXAMPLE = "own-data.npz"  # see bench/own_data.py


@lru_cache(maxsize=1)
def example_trace() -> UploadTrace:
    """Return the release of the bundled example."""
    return cast(UploadTrace, trace_from_bytes((ASSETS / EXAMPLE).read_bytes()))


@dataclass(kw_only=True)
class Own(PageState):
    """A visitor's data set and the form's values. Links never contain them."""

    states: str = ""  # as typed, separated by commas, like the other lists
    actions: str = ""
    horizon: int | None = None
    columns: str = ", ".join(COLUMNS)
    rewards: str = "0, 1"
    file: str = ""  # a declaration from a JSON file, or "" if the form is filled in
    budget: str = ""  # the name of the budget in which releases are recorded
    total: float | None = None  # the total of this budget
    rho: float | None = None  # the budget of the next release
    data: UploadSpec | None = None  # spec of the data set that was read; only its holder can use the data
    specs: tuple[UploadSpec, ...] = ()  # the releases requested from the data set
    problem: str = ""  # the fault of the last file, or a missing value
    outside: tuple[str, ...] = ()  # notes about the file that are not private and are stored only here
    recalled: str = ""  # the message about earlier releases from this file
    reading: Reading | None = None  # the file that is being read
    last_file: str = ""  # name of the file that was read last
    data_file: str = ""  # name of the file from which `data` was read
    turn: int = 0  # part of the keys of file fields; a new number empties them

    @property
    def missing(self) -> list[str]:
        """Return the required fields that are empty."""
        of_budget: dict[str, Any] = {"the name of the budget": self.budget, "total ρ": self.total}
        typed = {"states": self.states, "actions": self.actions, "the number of steps": self.horizon}
        of_release = {"ρ of this release": self.rho} if store().public else of_budget
        wanted = ({} if self.file else typed) | of_release
        return [name for name, value in wanted.items() if not value]

    def declared(self) -> Declaration:
        """Return the declaration from the file or the form. Raises SpecError."""
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
        """Return the spec of the release that the page offers, or None if there is none yet."""
        rho = self.rho or self.total  # one release may spend the whole budget
        return None if self.data is None or rho is None else self.data.replace(rho=rho)

    def refusal(self) -> str:
        """Explain why the privacy budget refuses the offered release, or return "" if it fits. Raises SpecError."""
        if self.spec is None or store().public:
            return ""
        return Budget(self.budget, rho=self.total).refusal(draws_of(self.spec))


def listed(text: str) -> list[str]:
    """Split a text at its commas and return the nonempty parts."""
    return [part.strip() for part in text.split(",") if part.strip()]


own_data = Own.mine


def going(own: Own) -> bool:
    """Return whether a file is being read or a release is being computed."""
    return bool((own.reading is not None and not own.reading.done) or RUNS.progress(own.specs).active)


@dataclass(eq=False)
class _Belonging:
    """The data of one browser tab."""

    session: str | None
    end: Callable[[], object]  # deletes the data
    busy: Callable[[], bool]  # returns whether the data are in use
    seen: float = field(default_factory=time.monotonic)  # when the tab was last open


class Belongings:
    """The data of all browser tabs on this server. Data are deleted once nothing uses them and their tab has been
    closed for the store's grace period, so a visitor can reload the page without losing them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: dict[str, _Belonging] = {}

    def add(self, name: str, end: Callable[[], object], busy: Callable[[], bool]) -> None:
        """Register data of this visitor's tab. `end` deletes them, and `busy` returns whether they are in use."""
        with self._lock:
            self._all[name] = _Belonging(session_id(), end, busy)

    def end(self, name: str) -> None:
        with self._lock:
            found = self._all.pop(name, None)
        if found is not None:
            found.end()

    def look(self, connected: Callable[[str], bool], grace: float) -> None:
        """Delete data that are not in use and whose tab closed more than `grace` seconds ago."""
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
    """Return the data of all browser tabs, and start a thread that deletes the data of closed tabs."""
    found = Belongings()
    watch("belongings", lambda: found.look(connected, store().grace))
    return found

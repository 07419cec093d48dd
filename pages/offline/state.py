"""Offline: what a visitor's session holds of it, and what it reads of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dprl.simulation import OfflineSpec, RunSpec, UploadSpec
from pages.offline import link as offline_link
from pages.offline.examples import DEFAULT
from pages.offline.link import OfflineView
from pages.offline.settings import Settings, into, settings_of
from pages.offline.upload.own import Own
from pages.shared.results import data
from pages.shared.results.finished import Runs
from pages.shared.results.status import ACTIVE
from pages.shared.visitor.address import Query
from pages.shared.visitor.draft import Draft, draft_of
from pages.shared.visitor.owners import owner_id
from pages.shared.visitor.state import PageState, ask, session, write_address


@dataclass
class Offline(PageState):
    """What a visitor has on the page.

    Attributes:
        specs: the runs that are compared.
        view: what is looked at.
        settings: what the controls say; keep: Run adds to what is compared.
        own: a data set of the visitor's own.
    """

    specs: tuple[OfflineSpec, ...] = DEFAULT
    view: OfflineView = field(default_factory=OfflineView)
    settings: Settings = field(default_factory=lambda: settings_of(DEFAULT))
    keep: bool = False
    own: Own = field(default_factory=Own)

    @property
    def first_draft(self) -> Draft:
        """That of the runs."""
        draft = draft_of(RunSpec())
        into(draft, self.specs)
        return draft

    @property
    def link(self) -> list[tuple[str, str]]:
        """The query parameters of the link to what is seen."""
        return offline_link.encode(self.specs, self.view) + self.own.encode()

    def follow(self, given: Query) -> None:
        """Takes over a link, and starts what it names."""
        found = offline_link.decode(given, session().files)
        problems = list(found.problems)
        self.own.follow(given, problems)
        self.problems, self.view = tuple(problems), found.view
        if found.specs:
            self.specs = found.specs
        set_controls(self.specs)
        RUNS.begin(self.specs)


def offline() -> Offline:
    """This visitor's part of the page."""
    return session().part(Offline)


def start_own() -> None:
    """Asks for the releases that are not there yet, and puts what is declared into the address."""
    o = offline()
    if ask(own_lacking(o.own), owner_id("upload")):
        write_address(o)


def own_lacking(own: Own) -> list[UploadSpec]:
    """Those that are not finished."""
    return [spec for spec in own.specs if data.status(spec, owner_id("upload")).state != "done"]


def own_going(own: Own) -> bool:
    """Whether any is being computed."""
    return any(data.status(spec, owner_id("upload")).state in ACTIVE for spec in own.specs)


def change(**view: Any) -> None:
    """Changes the view, and the address with it."""
    o = offline()
    o.view = replace(o.view, **view)
    write_address(o)


def set_controls(specs: Sequence[OfflineSpec]) -> None:
    """Makes the controls those that give these runs."""
    s, o = session(), offline()
    o.settings = settings_of(specs)
    into(s.draft, specs)
    s.version += 1


def compare(specs: Sequence[OfflineSpec], view: OfflineView | None = None) -> None:
    """Shows these runs, starts what is missing of them, and puts them into the address."""
    o = offline()
    o.specs, o.problems = tuple(specs), ()
    o.view = view or replace(o.view, curve=OfflineView.curve)
    start()
    write_address(o)


def start() -> None:
    """Asks for the runs that are not there yet."""
    RUNS.start(offline().specs)


RUNS = Runs("offline", "offline")
status, known, missing, progress = RUNS.status, RUNS.known, RUNS.missing, RUNS.progress

"""Linear: what a visitor's session holds of it, and what it reads of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dprl.simulation import RunSpec
from pages.linear import link as linear_link
from pages.linear.examples import DEFAULT, harder
from pages.linear.link import LinearView
from pages.linear.settings import Settings, drafted, settings_of
from pages.shared.results.finished import Runs
from pages.shared.visitor.address import Query
from pages.shared.visitor.draft import Draft
from pages.shared.visitor.links import Curve
from pages.shared.visitor.state import PageState, session, write_address


@dataclass
class Linear(PageState):
    """What a visitor has on the page.

    Attributes:
        specs: the runs that are compared.
        view: what is looked at.
        settings: what the controls say.
    """

    specs: tuple[RunSpec, ...] = DEFAULT
    view: LinearView = field(default_factory=LinearView)
    settings: Settings = field(default_factory=lambda: settings_of(DEFAULT))

    @property
    def first_draft(self) -> Draft:
        """That of the runs."""
        return drafted(self.specs)

    @property
    def curves(self) -> list[Curve]:
        """The runs as parts of other pages take them."""
        return [Curve(spec) for spec in self.specs]

    @property
    def link(self) -> list[tuple[str, str]]:
        """The query parameters of the link to what is seen."""
        return linear_link.encode(self.specs, self.view)

    def follow(self, given: Query) -> None:
        """Takes over a link, and starts what it names."""
        found = linear_link.decode(given, session().files)
        self.problems, self.view = found.problems, found.view
        if found.specs:
            self.specs = found.specs
        set_controls(self.specs)
        RUNS.begin([*self.specs, *asked(self)])


def linear() -> Linear:
    """This visitor's part of the page."""
    return session().part(Linear)


def change(**view: Any) -> None:
    """Changes the view, and the address with it."""
    part = linear()
    part.view = replace(part.view, **view)
    write_address(part)


def set_controls(specs: Sequence[RunSpec]) -> None:
    """Makes the controls those that give these runs."""
    s = session()
    linear().settings = settings_of(specs)
    s.draft = drafted(specs)
    s.version += 1


def compare(specs: Sequence[RunSpec], view: LinearView | None = None) -> None:
    """Shows these runs, starts what is missing of them, and puts them into the address."""
    part = linear()
    part.specs, part.problems = tuple(specs), ()
    part.view = view or replace(part.view, curve=LinearView.curve)
    start()
    write_address(part)


def start() -> None:
    """Asks for the runs that are not there yet."""
    RUNS.start(linear().specs)


def asked(part: Linear) -> list[RunSpec]:
    """The further runs that are looked at: those of problems that get harder with their users."""
    if part.view.tab != "exponents" or part.view.problem != "harder":
        return []
    return [one for spec in part.specs for one in harder(spec)]


RUNS = Runs("linear", "linear")

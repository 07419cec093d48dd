"""Your data: what a visitor's session holds of a data set of their own, and the releases that were asked for."""

from __future__ import annotations

from dataclasses import dataclass, field

from dprl.simulation import UploadSpec
from pages.data.own import Own
from pages.shared.results import data
from pages.shared.results.status import ACTIVE
from pages.shared.visitor.address import Query
from pages.shared.visitor.owners import owner_id
from pages.shared.visitor.state import PageState, ask, session, write_address


@dataclass(kw_only=True)
class OwnData(PageState):
    """What a visitor has on the page. own: what is declared, read and released."""

    own: Own = field(default_factory=Own)

    @property
    def link(self) -> list[tuple[str, str]]:
        """The query parameters of the link to what is declared and asked for; no row of the file is in it."""
        return self.own.encode()

    def follow(self, given: Query) -> None:
        """Take over a link."""
        problems: list[str] = []
        self.own.follow(given, problems)
        self.problems = tuple(problems)


def own_data() -> OwnData:
    """Return this visitor's part of the page."""
    return session().part(OwnData)


def start() -> None:
    """Ask for the releases that are not there yet, and put what is declared into the address."""
    if ask(lacking(own_data().own), owner_id("upload")):
        write_address(own_data())


def lacking(own: Own) -> list[UploadSpec]:
    """Return the releases that are not finished."""
    return [spec for spec in own.specs if data.status(spec, owner_id("upload")).state != "done"]


def going() -> bool:
    """Return whether a file is being read, or a release computed."""
    own = own_data().own
    if own.reading is not None and not own.reading.done:
        return True
    return any(data.status(spec, owner_id("upload")).state in ACTIVE for spec in own.specs)

"""Offline as a page that compares runs, and the releases of a data set of the visitor's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dprl.simulation import OfflineSpec, UploadSpec
from dprl.words import count, plural
from pages.offline.examples import EXAMPLES
from pages.offline.upload.own import Own
from pages.offline.view import OfflineView
from pages.shared.comparison.record import ComparisonPage, ComparisonState
from pages.shared.offline import names
from pages.shared.offline.settings import OfflineSettings, drafted, settings_of
from pages.shared.results import data
from pages.shared.results.status import ACTIVE
from pages.shared.visitor.address import Query
from pages.shared.visitor.owners import owner_id
from pages.shared.visitor.state import ask, write_address


@dataclass(kw_only=True)
class OfflineState(ComparisonState[OfflineSpec, OfflineView, OfflineSettings]):
    """What a visitor has on the page.

    Attributes:
        keep: Run adds to what is compared.
        own: a data set of the visitor's own.
    """

    keep: bool = False
    own: Own = field(default_factory=Own)

    @property
    def link(self) -> list[tuple[str, str]]:
        """The query parameters of the link to what is seen."""
        return super().link + self.own.encode()

    def follow(self, given: Query) -> None:
        """Takes over a link, and starts what it names."""
        super().follow(given)
        problems = list(self.problems)
        self.own.follow(given, problems)
        self.problems = tuple(problems)

    def reset(self) -> Callable[[], None]:
        """The controls are those of the first view; what is compared stays. Returns what undoes it, but the draft."""
        keep, self.keep = self.keep, False
        undo = super().reset()

        def back() -> None:
            self.keep = keep
            undo()

        return back


OFFLINE = ComparisonPage(
    path="offline",
    kind=OfflineSpec.kind,
    view=OfflineView,
    state_type=OfflineState,
    examples=EXAMPLES,
    settings_of=settings_of,
    draft_of=drafted,
    titles=names.titles,
    in_common=names.in_common,
    most_private=names.most_private,
    amount=lambda specs: (
        f"{plural(len(specs), 'run')} on data sets of up to {count(specs[0].n)} trajectories"
    ),
)


def start_own() -> None:
    """Asks for the releases that are not there yet, and puts what is declared into the address."""
    state = OFFLINE.state
    if ask(own_lacking(state.own), owner_id("upload")):
        write_address(state)


def own_lacking(own: Own) -> list[UploadSpec]:
    """Those that are not finished."""
    return [spec for spec in own.specs if data.status(spec, owner_id("upload")).state != "done"]


def own_going() -> bool:
    """Whether a file is being read, or any release computed."""
    own = OFFLINE.state.own
    if own.reading is not None and not own.reading.done:
        return True
    return any(data.status(spec, owner_id("upload")).state in ACTIVE for spec in own.specs)

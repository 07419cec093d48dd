"""The runs of a page of which some come with the program: those are finished, the others are in the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dprl.jobs.store import RunStatus
from pages.shared.results import data, together
from pages.shared.results.bundled import bundled
from pages.shared.results.data import Regret
from pages.shared.results.status import ACTIVE
from pages.shared.visitor.owners import owner_id
from pages.shared.visitor.state import ask, begin


@dataclass(frozen=True)
class Runs:
    """Where a page finds its runs.

    Attributes:
        name: of the file of assets/ that comes with the program.
        group: of runs in the table of pages, in whose name the others are asked for.
    """

    name: str
    group: str

    def status(self, spec: Any) -> RunStatus:
        """How a run stands; one that comes with the program is done, unless it is computed for a closer look."""
        run = data.status(spec, owner_id(self.group))
        if spec in bundled(self.name) and run.state not in ACTIVE:
            return RunStatus(state="done", seeds=spec.seeds, seeds_done=spec.seeds, progress=1.0)
        return run

    def known(self, spec: Any) -> Regret:
        """The curve of a run as far as it is known."""
        return bundled(self.name).get(spec) or data.regret(spec)

    def missing(self, specs: Sequence[Any]) -> list[Any]:
        """The runs that are not finished."""
        return [spec for spec in specs if self.status(spec).state != "done"]

    def start(self, specs: Sequence[Any]) -> None:
        """Asks for the runs that are not there yet."""
        ask(self.missing(specs), owner_id(self.group))

    def begin(self, specs: Sequence[Any]) -> None:
        """The same because of a link, unless it would cost too much."""
        begin(self.missing(specs), owner_id(self.group))

    def progress(self, specs: Sequence[Any]) -> together.Progress:
        """How they stand, as one."""
        return together.progress(specs, self.missing(specs), owner_id(self.group))

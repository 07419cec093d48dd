"""The runs of a page of which some come with the program: those are finished, the others are in the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.metrics.curves import RunCurves
from dprl.runs.status import RunStatus
from pages.shared.results import data, together
from pages.shared.results.bundled import FILES_OF_ONLINE, bundled
from pages.shared.results.status import ACTIVE
from pages.shared.visitor.owners import owner_id
from pages.shared.visitor.state import ask, begin


@dataclass(frozen=True)
class Runs:
    """The page's source of runs: each comes with the program, or is in the store, or is not there yet.

    Attributes:
        files: of assets/ that come with the program, see `bundled`.
        group: of runs in the table of pages, in whose name the others are asked for; "" for the visitor's own.
    """

    files: tuple[str, ...]
    group: str = ""

    def bundled(self, spec: Any) -> RunCurves | None:
        """Return the run that comes with the program, if there is one."""
        found = (bundled(name).get(spec) for name in self.files)
        return next(filter(None, found), None)

    def status(self, spec: Any, owner: str = "") -> RunStatus:
        """Return the status of a run; one that comes with the program is done, unless it is computed for a closer look.

        owner: who asked for it, instead of the group.
        """
        run = data.status(spec, owner or owner_id(self.group))
        if self.bundled(spec) and run.state not in ACTIVE:
            return RunStatus(state="done", seeds=spec.seeds, seeds_done=spec.seeds, progress=1.0)
        return run

    def statuses(self, specs: Sequence[Any]) -> list[RunStatus]:
        """Return the status of each of these runs."""
        return [self.status(spec) for spec in specs]

    def curves(self, spec: Any) -> RunCurves:
        """Return the curves of a run as far as they are known."""
        return self.bundled(spec) or data.curves(spec)

    def ends(self, spec: Any) -> NDArray[np.float64]:
        """[seeds] what a run measured at its end, NaN if that is not known."""
        found = self.bundled(spec)
        return data.ends(spec) if found is None else found.ends

    def missing(self, specs: Sequence[Any]) -> list[Any]:
        """Return the runs that are not finished."""
        return [spec for spec in specs if self.status(spec).state != "done"]

    def unfinished(self, specs: Sequence[Any]) -> list[Any]:
        """Return the same by their ends alone, which is quicker for many; a finished run is not examined further."""
        return [spec for spec in specs if not np.isfinite(self.ends(spec)).all()]

    def start(self, specs: Sequence[Any]) -> None:
        """Asks for the runs that are not there yet."""
        ask(self.missing(specs), owner_id(self.group))

    def begin(self, specs: Sequence[Any]) -> None:
        """Start the same because of a link, unless it would cost too much."""
        begin(self.missing(specs), owner_id(self.group))

    def progress(self, specs: Sequence[Any]) -> together.Progress:
        """Return their joint status."""
        return together.progress(specs, self.missing(specs), owner_id(self.group))


ONLINE = Runs(FILES_OF_ONLINE)  # runs of the page Online, and of what leads to it

"""The runs of a page of which some come with the program: those are finished, the others are in the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.metrics.curves import RunCurves
from dprl.runs.status import RunStatus
from dprl.simulation import Spec
from dprl.words import duration, plural
from pages.shared.layout.browser import say
from pages.shared.results import data
from pages.shared.results.bundled import FILES_OF_ONLINE, bundled
from pages.shared.results.status import ACTIVE, cancel, ended, line, price, stopped
from pages.shared.text import escape
from pages.shared.visitor.state import ask, begin, owner_id

PACE = 0.5  # seconds between two looks at runs that go on


@dataclass(frozen=True)
class Progress:
    """The joint status of runs. lacking: those that are not finished, with their status."""

    specs: tuple[Any, ...]
    lacking: dict[Any, RunStatus]

    def of(self, *states: str) -> list[Any]:
        """Return the runs in these states."""
        return [spec for spec, run in self.lacking.items() if run.state in states]

    @property
    def active(self) -> list[Any]:
        """Return the runs that go on."""
        return self.of(*ACTIVE)


@dataclass(frozen=True)
class Runs:
    """The page's source of runs: each comes with the program, or is in the store, or is not there yet."""

    files: tuple[str, ...] = ()  # of assets/ that come with the program, see `bundled`
    group: str = ""  # in whose name the others are asked for, see GROUPS; "" for the visitor's own
    by_ends: bool = False  # a run is finished once the ends of all seeds are known: quicker for many

    def bundled(self, spec: Any) -> RunCurves | None:
        """Return the run that comes with the program, if there is one."""
        found = (bundled(name).get(spec) for name in self.files)
        return next(filter(None, found), None)

    def status(self, spec: Any, owner: str = "") -> RunStatus:
        """Return the status of a run; one that comes with the program is done, unless it is computed for a closer look.
        owner: who asked for it, instead of the group."""
        run = data.status(spec, owner or owner_id(self.group))
        if self.bundled(spec) and run.state not in ACTIVE:
            return RunStatus(state="done", seeds=spec.seeds, seeds_done=spec.seeds, progress=1.0)
        return run

    def curves(self, spec: Any) -> RunCurves:
        """Return the curves of a run as far as they are known."""
        return self.bundled(spec) or data.curves(spec)

    def ends(self, spec: Any) -> NDArray[np.float64]:
        """Return [seeds] what a run measured at its end, NaN if that is not known."""
        found = self.bundled(spec)
        return data.ends(spec) if found is None else found.ends

    def missing(self, specs: Sequence[Any]) -> list[Any]:
        """Return the runs that are not finished."""
        if self.by_ends:
            return [spec for spec in specs if not np.isfinite(self.ends(spec)).all()]
        return [spec for spec in specs if self.status(spec).state != "done"]

    def start(self, specs: Sequence[Any], again: bool = False) -> None:
        """Ask for the runs that are not there yet. again: failed seeds, too."""
        ask(self.missing(specs), owner_id(self.group), again)

    def begin(self, specs: Sequence[Any]) -> bool:
        """Start the same because of a link, unless it would cost too much."""
        return begin(self.missing(specs), owner_id(self.group))

    def withdraw(self, specs: Sequence[Spec]) -> None:
        """Withdraw from runs; finished results stay."""
        cancel(specs, owner_id(self.group))

    def progress(self, specs: Sequence[Any]) -> Progress:
        """Return their joint status."""
        owner = owner_id(self.group)
        return Progress(tuple(specs), {spec: data.status(spec, owner) for spec in self.missing(specs)})

    def strip(
        self,
        now: Progress,
        begin: Callable[[], object] | None = None,
        stop: Callable[[], object] = lambda: None,
    ) -> None:
        """Draw a line on the progress of runs, with a button for a possible action. begin: requests the missing runs,
        instead of `start`; stop: called when the visitor withdraws from them."""

        def withdraw() -> None:
            stop()
            self.withdraw(now.active)

        runs, failed = len(now.specs), now.of("failed")
        seeds, left = sum(spec.seeds for spec in now.specs), sum(spec.seeds for spec in now.lacking)
        say("Running." if now.active else ended(runs, runs - len(now.lacking), len(failed)), self.group)
        if now.active:
            done = seeds - left + sum(run.seeds_done for run in now.lacking.values())
            share = (seeds - left + sum(run.progress * run.seeds for run in now.lacking.values())) / seeds
            time = duration(max(now.lacking[spec].seconds_left or 0.0 for spec in now.active))
            said = f"**{plural(runs, 'run')}** · {done} of {plural(seeds, 'seed')} finished, {time} left."
            line(share, said, withdraw)
        elif failed:
            why = f":material/error: {plural(len(failed), 'run')} failed. {escape(now.lacking[failed[0]].message)}"
            stopped(why, "Try again", "replay", partial(self.start, failed, again=True), "retry")
        elif lost := now.of("cancelled", "unknown"):
            lacking = f"{plural(len(lost), 'run')} of {runs} not computed: {price(lost)}."
            action = begin or partial(self.start, now.specs)
            stopped(f":material/info: {lacking}", "Run them", "play_arrow", action, "begin")


ONLINE = Runs(FILES_OF_ONLINE)  # runs of the page Online, and of what leads to it

"""The status of runs in words, with action buttons; the runs of a page; and warnings about results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dprl.messages import filled, messages
from dprl.metrics.curves import Array, RunCurves, regret_band
from dprl.metrics.growth import unsettled
from dprl.runs.status import RunStatus
from dprl.simulation import RunSpec, Spec, compiles
from dprl.words import duration, ordinal, plural
from pages.shared.layout.browser import say
from pages.shared.layout.terms import escape, explained
from pages.shared.results import data
from pages.shared.results.data import FILES_OF_ONLINE, bundled, store
from pages.shared.visitor.callbacks import button
from pages.shared.visitor.state import ask, attempt, begin, owner_id, session

SAID = messages("pages")["status"]
ACTIVE = ("queued", "running")
PACE = 0.5  # seconds between two checks of active runs


def words(run: RunStatus) -> str:
    """Describe the status of a run in one plain sentence, or return "" if the run is simply finished."""
    share = {"share": f"{run.progress:.0%}"}
    time = {} if run.seconds_left is None else {"time": duration(run.seconds_left)}
    if run.state == "queued":
        place = ordinal(run.place + 1) if run.place else "next"
        return filled(SAID["waiting_time" if time else "waiting"], place=place, **time)
    if run.state == "running":
        seeds = {"done": run.seeds_done, "seeds": plural(run.seeds, "seed")}
        return filled(SAID["running_time" if time else "running"], **share, **seeds, **time)
    if run.state == "failed":
        return f"Failed. {run.message or 'No reason was given.'}"
    if run.state == "cancelled":
        return filled(SAID["cancelled" if run.progress > 0 else "cancelled_early"], **share)
    return (run.message or "Not computed yet.") if run.state == "unknown" else ""


def note(run: RunStatus) -> str:
    """Return the legend's note on a curve that is not finished."""
    going = f"{run.seeds_done} of {run.seeds} seeds"
    said = {"done": "", "queued": "waiting", "running": going, "failed": "failed"}
    return said.get(run.state, "stopped")


def awaited(runs: Iterable[RunStatus], specs: Iterable[RunSpec] = ()) -> str:
    """Return the text shown instead of a chart of these runs until their first points arrive."""
    if not any(run.state in ACTIVE for run in runs):
        return str(SAID["nothing"])
    return str(SAID["compiles" if any(compiles(spec) for spec in specs) else "soon"])


def working_out(what: str) -> str:
    """Return the text shown until a worker has computed `what`, such as "the penalties"."""
    return f"Computing {what} ..."


def pace(going: Sequence[RunStatus]) -> float | None:
    """Return the seconds between two checks of unfinished runs, or None if all are finished or updates are paused."""
    s = session()
    s.paused = s.paused and bool(going)  # runs that begin later are not paused
    return PACE if going and not s.paused else None


def pause_switch() -> None:
    """Draw the toggle that pauses live curves. Its key changes with each Run, so that the curves move again."""
    s = session()
    paused = st.toggle("Pause live updates", s.paused, key=f"{s.version}:{s.runs}:paused")
    if paused != s.paused:
        s.paused = paused
        st.rerun()


def stopped(why: str, label: str, icon: str, action: Callable[[], object], key: str) -> None:
    """Draw the reason (in Markdown) why runs are incomplete, and a button that helps."""
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
        st.markdown(why, width="stretch")
        act(label, icon, action, key)


def ended(runs: int, done: int, failed: int) -> str:
    """Describe how many of the runs finished, failed, or were not computed."""
    others = f"{runs - done - failed} not computed." if done + failed < runs else ""
    said = (f"{plural(done, 'run')} finished." if done else "", f"{failed} failed." if failed else "", others)
    return " ".join(filter(None, said))


def price(specs: Sequence[Spec]) -> str:
    """Describe the cost of requesting runs, some of whose seeds may exist already."""
    seeds, seconds = store().cost(specs)
    return f"{plural(seeds, 'seed')}, {duration(seconds)} on one core"


def cancel(specs: Sequence[Spec], owner: str) -> None:
    """Withdraw requests for runs made in the name of `owner`. Finished results stay."""
    for spec in specs:
        attempt(store().cancel, spec, owner)


def act(label: str, icon: str, action: Callable[[], object], key: str) -> None:
    """Draw a small button that changes a run. A click redraws the page, so that live updates start or stop."""

    def pressed() -> None:
        action()
        st.rerun()

    button(label, pressed, icon=icon, key=key, width="content")


@dataclass(frozen=True)
class Progress:
    """The joint status of several runs."""

    specs: Sequence[Any]
    lacking: dict[Any, RunStatus]  # the unfinished runs, with their status

    def of(self, *states: str) -> list[Any]:
        return [spec for spec, run in self.lacking.items() if run.state in states]

    @property
    def active(self) -> list[Any]:
        return self.of(*ACTIVE)


@dataclass(frozen=True)
class Runs:
    """The runs of a page, each of which is bundled, in the store, or not computed yet."""

    files: tuple[str, ...] = ()  # names of bundled files in assets/, see `bundled`
    group: str = ""  # in whose name the other runs are requested (a key of GROUPS), "" for the visitor's own
    by_ends: bool = False  # whether a run is finished once all seeds' ends are known

    def bundled(self, spec: Any) -> RunCurves | None:
        """Return the bundled run, if there is one."""
        found = (bundled(name).get(spec) for name in self.files)
        return next(filter(None, found), None)

    def status(self, spec: Any, owner: str = "") -> RunStatus:
        """Return a run's status. A bundled run is done unless it is being recomputed."""
        run = store().status(spec, owner or owner_id(self.group))
        if self.bundled(spec) and run.state not in ACTIVE:
            return RunStatus(state="done", seeds=spec.seeds, seeds_done=spec.seeds, progress=1.0)
        return run

    def curves(self, spec: Any) -> RunCurves:
        """Return the curves of a run as far as they are known."""
        return self.bundled(spec) or data.curves(spec)

    def ends(self, spec: Any) -> NDArray[np.float64]:
        """Return the measure at the end of a run for each seed [seeds], with NaN if it is not known."""
        run, rows = self.curves(spec), np.full(spec.seeds, np.nan)
        if run.ended:
            rows[: len(run.values)] = run.ends
        return rows

    def missing(self, specs: Sequence[Any]) -> list[Any]:
        if self.by_ends:
            return [spec for spec in specs if not self.curves(spec).whole(spec.seeds)]
        return [spec for spec in specs if self.status(spec).state != "done"]

    def start(self, specs: Sequence[Any], again: bool = False) -> None:
        """Request the runs that are not there yet, and repeat failed seeds if `again` is true."""
        ask(self.missing(specs), owner_id(self.group), again)

    def begin(self, specs: Sequence[Any]) -> bool:
        """Request the missing runs of a link, unless that would cost too much. Return whether they were requested."""
        return begin(self.missing(specs), owner_id(self.group))

    def progress(self, specs: Sequence[Any]) -> Progress:
        owner = owner_id(self.group)
        return Progress(specs, {spec: store().status(spec, owner) for spec in self.missing(specs)})

    def strip(
        self,
        now: Progress,
        begin: Callable[[], object] | None = None,
        stop: Callable[[], object] = lambda: None,
    ) -> None:
        """Draw a line about the progress of runs, with a button for each possible action.

        `begin` requests the missing runs, instead of `start`; `stop` is called when the visitor cancels. An empty line
        keeps its place; otherwise, everything below would be drawn again, and the page would scroll to its top.
        """

        def withdraw() -> None:
            stop()
            cancel(now.active, owner_id(self.group))

        runs, failed = len(now.specs), now.of("failed")
        seeds, going = sum(spec.seeds for spec in now.specs), now.lacking.values()
        finished = seeds - sum(spec.seeds for spec in now.lacking)
        state = "Running." if now.active else ended(runs, runs - len(now.lacking), len(failed))
        with st.container():
            say(state, self.group or "runs")
            if now.active:
                done = finished + sum(run.seeds_done for run in going)
                share = (finished + sum(run.progress * run.seeds for run in going)) / seeds
                time = duration(max(now.lacking[spec].seconds_left or 0.0 for spec in now.active))
                counts = {"runs": plural(runs, "run"), "done": done, "seeds": plural(seeds, "seed")}
                said = filled(SAID["going" if now.of("running") else "queued"], **counts, time=time)
                with st.container(
                    key="status_going", horizontal=True, wrap=False, vertical_alignment="center", gap="small"
                ):
                    st.progress(min(1.0, max(0.0, share)), said, width="stretch")
                    act("Cancel", "close", withdraw, "cancel")
            elif failed:
                message = escape(now.lacking[failed[0]].message)
                why = f":material/error: {plural(len(failed), 'run')} failed. {message}"
                stopped(why, "Try again", "replay", partial(self.start, failed, again=True), "retry")
            elif lost := now.of("cancelled", "unknown"):
                why = f":material/info: {plural(len(lost), 'run')} of {runs} not computed: {price(lost)}."
                begin = begin or partial(self.start, now.specs)
                stopped(why, "Compute the missing runs", "play_arrow", begin, "begin")


ONLINE = Runs(FILES_OF_ONLINE)  # runs of the Online page, and of pages that lead to it


def tell_doubts(said: Sequence[str]) -> None:
    words = " ".join(filter(None, said))
    if words:
        st.warning(explained(words), icon=":material/info:")


def stuck(spec: RunSpec) -> int:
    """Count the seeds in which a run has not found the best policy, or return 0 while the run is not finished."""
    known = ONLINE.curves(spec)
    if not known.whole(spec.seeds):
        return 0
    return unsettled(known.at, known.values)


def below_zero(name: str, price: Array) -> list[str]:
    """Return [name] if the whole interval of the privacy cost [seeds] is below zero, and an empty list otherwise."""
    _, _, high = regret_band(price.reshape(-1, 1))
    return [name] if high[0] < 0 else []

"""Many runs as one: their status in words, with the possible actions on all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from dprl.runs.status import RunStatus
from dprl.simulation import Spec
from dprl.words import duration, plural
from pages.shared.layout.browser import say
from pages.shared.results import data
from pages.shared.results.status import ACTIVE, ended, line, price, stopped
from pages.shared.text import escape
from pages.shared.visitor.state import ask, attempt

PACE = 0.5  # seconds between two looks at runs that go on


@dataclass(frozen=True)
class Progress:
    """Return the joint status of runs."""

    runs: int
    seeds: int
    seeds_done: int
    share: float
    seconds_left: float
    failed: tuple[tuple[Spec, RunStatus], ...]
    stopped: int
    active: tuple[Spec, ...]
    lacking: tuple[Spec, ...]


def progress(specs: Sequence[Spec], lacking: Sequence[Spec], visitor: str) -> Progress:
    """Their state in the store, as a visitor sees it. lacking: those of them that are not finished."""
    found = [(spec, data.status(spec, visitor)) for spec in lacking]
    active = [(spec, run) for spec, run in found if run.state in ACTIVE]
    seeds = sum(spec.seeds for spec in specs)
    whole = seeds - sum(spec.seeds for spec in lacking)
    return Progress(
        runs=len(specs),
        seeds=seeds,
        seeds_done=whole + sum(run.seeds_done for _, run in found),
        share=(whole + sum(run.progress * run.seeds for _, run in found)) / max(seeds, 1),
        seconds_left=max((run.seconds_left or 0.0 for _, run in active), default=0.0),
        failed=tuple((spec, run) for spec, run in found if run.state == "failed"),
        stopped=sum(run.state in ("cancelled", "unknown") for _, run in found),
        active=tuple(spec for spec, _ in active),
        lacking=tuple(lacking),
    )


def strip(
    state: Progress, visitor: str, begin: Callable[[], object], stop: Callable[[], object] = lambda: None
) -> None:
    """Draw a line on their progress, with a button for a possible action.

    Args:
        visitor: in whose name they are asked for.
        begin: requests the missing runs.
        stop: called when the visitor withdraws from them.
    """

    def cancel() -> None:
        stop()
        withdraw(state.active, visitor)

    done = state.runs - len(state.lacking)
    say(
        "Running." if state.active else ended(state.runs, done, len(state.failed)), visitor.rpartition(":")[2]
    )
    if state.active:
        said = (
            f"**{plural(state.runs, 'run')}** · {state.seeds_done} of {plural(state.seeds, 'seed')} finished, "
            f"{duration(state.seconds_left)} left."
        )
        line(state.share, said, cancel)
    elif state.failed:
        failed = [spec for spec, _ in state.failed]
        why = f":material/error: {plural(len(failed), 'run')} failed. {escape(state.failed[0][1].message)}"
        stopped(why, "Try again", "replay", partial(again, failed, visitor), "retry")
    elif state.stopped:
        lacking = f"{plural(state.stopped, 'run')} of {state.runs} not computed: {price(state.lacking)}."
        stopped(f":material/info: {lacking}", "Run them", "play_arrow", begin, "begin")


def withdraw(specs: Sequence[Spec], visitor: str) -> None:
    """Withdraws from runs; what is finished stays."""
    for spec in specs:
        attempt(data.store().cancel, spec, visitor)


def again(specs: Sequence[Spec], visitor: str) -> None:
    """Asks for runs again that failed."""
    ask(specs, visitor, again=True)

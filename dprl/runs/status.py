"""The status of runs, and the activity of all visitors."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from dprl.runs.queue import Queue, Run, Seed
from dprl.runs.turns import Forecast, Waiting

State = Literal["unknown", "queued", "running", "done", "failed", "cancelled"]

FAILURES = 5
MADE_ROOM = "Its details had to make room for newer results; its curve was kept."


@dataclass(frozen=True, kw_only=True)
class RunStatus:
    """The status of a run: `unknown` if nobody requested it, or if its results were deleted to save space.

    progress: 0 to 1; place: the number of runs ahead of it, None unless it waits for a worker; seconds_left: an
    estimate, None unless queued or running; message: one sentence, or ""; version: different after every change of the
    run, except of its place and time left.
    """

    state: State
    seeds: int
    seeds_done: int = 0
    progress: float = 0.0
    place: int | None = None
    seconds_left: float | None = None
    message: str = ""
    version: str = ""


@dataclass(frozen=True, kw_only=True)
class RunRow(RunStatus):
    """A run of a visitor: its spec, the time of the request (Unix time), and the size of its traces in bytes."""

    spec: Any
    asked_at: float
    bytes: int


@dataclass(frozen=True, kw_only=True)
class Activity:
    """The activity of all visitors: workers that play seeds, seeds that somebody waits for, started and not started,
    the seconds of one core that they need, and the number of their runs."""

    workers: int
    seeds_running: int
    seeds_queued: int
    seconds_queued: float
    runs_waiting: int


def summary(
    queue: Queue, run: Run, visitor: str | None, forecasts: Callable[[], dict[Any, Forecast]]
) -> RunStatus:
    """Return the status of a run. With `visitor`, as they see it: cancelled if they withdrew, although another visitor
    may still wait for it."""
    whole = [key for key in run.keys if run.there.get(key, -1) >= 0]
    seeds = [queue.seeds[key] for key in run.keys if key in queue.seeds and run.there.get(key, -1) < 0]
    states = {seed.state for seed in seeds}
    begun = any(seed.state == "queued" and not seed.fresh for seed in seeds)
    own = run.asks.get(visitor or "")
    state: State = "unknown"
    if len(whole) == len(run.keys):
        state = "done"
    elif "queued" in states and (bool(run.waiting()) if own is None else not own.cancelled):
        state = "running" if begun or whole or "failed" in states else "queued"
    elif states:
        state = "failed" if "failed" in states else "cancelled"
    ahead = forecasts().get(run) if state in ("queued", "running") else None
    made_room = MADE_ROOM if state == "unknown" and run.there else ""
    return RunStatus(
        state=state,
        seeds=len(run.keys),
        seeds_done=len(whole),
        progress=(len(whole) + sum(seed.progress for seed in seeds)) / len(run.keys),
        place=None if ahead is None or begun else ahead.place,
        seconds_left=None if ahead is None else ahead.seconds_left,
        message=next((s.message for s in seeds if s.message), made_room),
        version=str(run.rev),
    )


def activity(queue: Queue, workers: int) -> Activity:
    """Return the current activity, of all visitors."""
    seconds = {seed.key: run.seconds for run in queue.runs.values() for seed in run.fresh if seed.fresh}
    return Activity(
        workers=workers,
        seeds_running=len(queue.begun()),
        seeds_queued=sum(seed.fresh for seed in queue.seeds.values()),
        seconds_queued=sum(seconds.values()),
        runs_waiting=sum(any(s.fresh for s in run.fresh) for run in queue.runs.values() if run.waiting()),
    )


def failures(queue: Queue) -> list[str]:
    """Return the reasons why the latest failed seeds failed."""
    return [f"{s.key}: {s.message}" for s in queue.seeds.values() if s.state == "failed"][-FAILURES:]


def wishes(queue: Queue) -> list[Waiting]:
    """Return everyone who waits for a run, in the order of their requests."""
    now = time.monotonic()
    left: dict[Run, float] = {}
    for seed in queue.begun():
        for run in seed.runs:
            left[run] = left.get(run, 0.0) + _left(seed, run)
    found: list[tuple[int, Waiting]] = []
    for run in queue.runs.values():
        for visitor, ask in run.waiting():
            fresh = sum(seed.fresh for seed in run.fresh)
            seconds = fresh * run.seconds + left.get(run, 0.0)
            found.append((ask.order, Waiting(visitor, run, fresh, seconds, queue.last(ask, now))))
    return [wish for _, wish in sorted(found, key=lambda row: row[0])]


def _left(seed: Seed, run: Run) -> float:
    """Estimate a seed's remaining time from its own pace, if that is known."""
    paced = seed.progress > 0.02 and seed.seconds > 0.2
    return (seed.seconds / seed.progress if paced else run.seconds) * (1.0 - seed.progress)

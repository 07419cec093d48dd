"""How runs stand, and what goes on for everybody."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

from dprl.runs.asked import Ask, Run, Seed
from dprl.runs.queue import Queue
from dprl.runs.turns import Forecast, Waiting

State = Literal["unknown", "queued", "running", "done", "failed", "cancelled"]

MADE_ROOM = "Its details had to make room for newer results; its curve was kept."


@dataclass(frozen=True, kw_only=True)
class RunStatus:
    """How a run stands.

    Attributes:
        state: `unknown` if nobody asked for it, or its results had to make room.
        seeds_done, seeds: how many seeds are finished, of how many.
        progress: 0 to 1.
        place: runs ahead of it (0: it is next), None unless it waits for a worker.
        seconds_left: estimated, None unless queued or running.
        message: one sentence, or "".
        version: changes whenever anything of the run does, except its place and time left.
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
    """A run of a visitor: its spec, when it was asked for (Unix time), the size of its traces in bytes."""

    spec: Any
    asked_at: float
    bytes: int


@dataclass(frozen=True, kw_only=True)
class Activity:
    """What goes on for everybody.

    Attributes:
        workers: that play seeds.
        seeds_running, seeds_queued: seeds that somebody waits for, begun and not begun.
        runs_waiting: runs with a seed queued.
    """

    workers: int
    seeds_running: int
    seeds_queued: int
    runs_waiting: int


def version(run: Run) -> str:
    """A short token that changes whenever anything of a run does."""
    return f"{run.number}.{run.rev}"


def summary(queue: Queue, run: Run, visitor: str | None, ahead: Forecast | None) -> dict[str, Any]:
    """The fields of RunStatus. With `visitor`, as they see it: cancelled if they withdrew, though another visitor may
    still wait for it."""
    sizes = [run.there.get(key) for key in run.keys]
    seeds = [
        None if size is not None and size >= 0 else queue.seeds.get(key)
        for key, size in zip(run.keys, sizes, strict=True)
    ]
    done = sum(size is not None and size >= 0 for size in sizes)
    states = {seed.state for seed in seeds if seed}
    begun = any(seed and seed.begun for seed in seeds)
    state: State = "unknown"
    if done == len(run.keys):
        state = "done"
    elif "queued" in states and _waits(run, visitor):
        state = "running" if begun or done or "failed" in states else "queued"
    elif "failed" in states:
        state = "failed"
    elif states:
        state = "cancelled"
    message = next((seed.message for seed in seeds if seed and seed.message), "")
    if state == "unknown" and any(size is not None for size in sizes):
        message = MADE_ROOM
    active = state in ("queued", "running") and ahead is not None
    return {
        "state": state,
        "seeds": len(run.keys),
        "seeds_done": done,
        "progress": (done + sum(seed.progress for seed in seeds if seed)) / len(run.keys),
        "place": ahead.place if active and ahead and not begun else None,
        "seconds_left": ahead.seconds_left if active and ahead else None,
        "message": message,
        "version": version(run),
    }


def _waits(run: Run, visitor: str | None) -> bool:
    own = run.asks.get(visitor or "")
    return any(ask.waiting for ask in run.asks.values()) if own is None else not own.cancelled


def activity(queue: Queue, workers: int) -> Activity:
    """What goes on for everybody."""
    begun = len(queue.begun())
    queued = sum(seed.state == "queued" for seed in queue.seeds.values())
    runs = [
        run
        for run in queue.runs.values()
        if any(ask.waiting for ask in run.asks.values()) and any(_unbegun(seed) for seed in run.fresh)
    ]
    return Activity(workers=workers, seeds_running=begun, seeds_queued=queued - begun, runs_waiting=len(runs))


def wishes(queue: Queue) -> list[Waiting]:
    """Everyone who waits for a run, in the order asked for."""
    now = time.monotonic()
    found: list[tuple[float, Waiting]] = []
    left: dict[Run, float] = {}
    for seed in queue.begun():
        for run in seed.runs:
            left[run] = left.get(run, 0.0) + _left(seed, run)
    for run in queue.runs.values():
        asks = [(visitor, ask) for visitor, ask in run.asks.items() if ask.waiting]
        if not asks:
            continue
        fresh = sum(map(_unbegun, run.fresh))
        seconds = fresh * run.seconds + left.get(run, 0.0)
        if seconds or fresh:
            found += [
                (ask.order, Waiting(visitor, run, fresh, seconds, _last(queue, ask, now)))
                for visitor, ask in asks
            ]
    return [wish for _, wish in sorted(found, key=lambda row: row[0])]


def backlog_seconds(queue: Queue) -> float:
    """How long what is queued takes on one core, estimated."""
    seconds = {seed.key: run.seconds for run in queue.runs.values() for seed in run.fresh if _unbegun(seed)}
    return sum(seconds.values())


def _unbegun(seed: Seed) -> bool:
    return seed.state == "queued" and seed.slot is None


def _last(queue: Queue, ask: Ask, now: float) -> bool:
    return ask.draft or queue.away(ask, now)


def _left(seed: Seed, run: Run) -> float:
    """What is left of a seed follows from its own pace once it has one."""
    paced = seed.progress > 0.02 and seed.seconds > 0.2
    return (seed.seconds / seed.progress if paced else run.seconds) * (1.0 - seed.progress)

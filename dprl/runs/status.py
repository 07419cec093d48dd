"""The status of runs, the activity of all visitors together, and forecasts of when each run ends."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal, NamedTuple

from dprl.runs.queue import Queue, Run

State = Literal["unknown", "queued", "running", "done", "failed", "cancelled"]


@dataclass(frozen=True, kw_only=True)
class RunStatus:
    """The status of a run: `unknown` if nobody requested it, or if its results were deleted to save space.

    progress: 0 to 1; place: the number of runs ahead of it, None unless it waits for a worker; seconds_left: an
    estimate, None unless queued or running; message: one sentence, or "".
    """

    state: State
    seeds: int
    seeds_done: int = 0
    progress: float = 0.0
    place: int | None = None
    seconds_left: float | None = None
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class RunRow(RunStatus):
    """A row in a visitor's list of runs. `asked_at` is in Unix time, and `bytes` is the size of the run's traces."""

    spec: Any
    asked_at: float
    bytes: int


@dataclass(frozen=True, kw_only=True)
class Activity:
    """The activity of all visitors together: workers, seeds in progress or waiting, and the seconds that they need."""

    workers: int
    seeds_running: int
    seeds_queued: int
    seconds_queued: float
    runs_waiting: int


class Waiting(NamedTuple):
    """A visitor who waits for a run, with the number of seeds not yet started and their seconds on one core."""

    visitor: str
    run: Any
    seeds: int
    seconds: float
    last: bool


def wishes(queue: Queue) -> list[Waiting]:
    """Return all visitors who wait for runs, in the order of their requests."""
    now = time.monotonic()
    left: defaultdict[Run, float] = defaultdict(float)
    for seed in queue.begun():
        for run in seed.runs:  # at the seed's own pace if it is known
            paced = seed.progress > 0.02 and seed.seconds > 0.2
            left[run] += (seed.seconds / seed.progress if paced else run.seconds) * (1.0 - seed.progress)
    found = []
    for run in queue.runs.values():
        for visitor, ask in run.waiting():
            fresh = sum(seed.fresh for seed in run.fresh)
            seconds = fresh * run.seconds + left[run]
            found.append((ask.at, Waiting(visitor, run, fresh, seconds, queue.last(ask, now))))
    return [wish for _, wish in sorted(found, key=lambda row: row[0])]


class Forecast(NamedTuple):
    """The number of runs that start before a waiting run, and the seconds until it ends."""

    place: int
    seconds_left: float


def forecast(waiting: list[Waiting], workers: int) -> dict[Any, Forecast]:
    """Estimate how many runs start before each run, and when it ends. `waiting` is in the order of the requests.
    Visitors take turns, so when a run ends, all others have had as much work done as its visitor, or all of theirs."""
    work: dict[tuple[bool, str], float] = defaultdict(float)  # seconds that each visitor waits for
    before = {}
    for w in waiting:
        before[w] = work[w.last, w.visitor]
        work[w.last, w.visitor] += w.seconds
    ends: dict[Any, float] = defaultdict(float)
    ahead = 0.0
    for last in (False, True):
        totals = sorted(seconds for (gone, _), seconds in work.items() if gone == last)
        sums = list(accumulate(totals, initial=ahead))
        for w in (w for w in waiting if w.last == last):
            done = before[w] + w.seconds
            less = bisect_right(totals, done)
            end = (sums[less] + done * (len(totals) - less)) / workers
            ends[w.run] = max(ends[w.run], end, w.seconds / max(w.seeds, 1))
        ahead = sums[-1]
    order = sorted((w for w in waiting if w.seeds), key=lambda w: (w.last, before[w]))
    place = {run: at for at, run in enumerate(dict.fromkeys(w.run for w in order))}
    return {run: Forecast(place.get(run, 0), end) for run, end in ends.items()}

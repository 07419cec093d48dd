"""The order of turns, and the forecast of the end of a run, as pure functions.

A turn is a quarter of a second of a worker. Drafts and runs whose tab is gone come last. Otherwise the turn goes to
the visitor with the fewest running seeds and, among those, to the one who has waited longest since their last turn; of
a visitor's runs, to the one that has waited longest, then to the one requested first.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

TURN = 0.25  # s
HELD = 5  # the most seeds that a worker has started, so that several runs of one visitor grow side by side
MOST = 8  # the same, if the further seeds belong to visitors who have none started


class Claim(NamedTuple):
    """A visitor's claim to the next turn of a worker, for one seed, which is not counted in `running`.

    last: it is a draft, or the visitor's tab is gone; running: the visitor's seeds that have a turn now; served,
    run_served: the last start of a turn of the visitor, and of the run (0: never); asked: the time of the request.
    """

    last: bool
    running: int
    served: float
    run_served: float
    asked: float
    seed: Any


def first(claims: Iterable[Claim]) -> Claim | None:
    """Return the claim that gets the turn."""
    return min(claims, key=lambda claim: claim[:5], default=None)


def may_begin(begun: int, run_has: bool, visitor_has: bool) -> bool:
    """Return whether a worker that has started `begun` seeds may start another. run_has, visitor_has: whether any
    worker has started a seed of the same run, or of the same visitor."""
    return begun == 0 or (begun < HELD and not run_has) or (begun < MOST and not visitor_has)


class Waiting(NamedTuple):
    """A visitor's wish for a run. seeds: not started yet; seconds: the estimated time left on one core."""

    visitor: str
    run: Any
    seeds: int
    seconds: float
    last: bool


@dataclass(frozen=True, slots=True)
class Forecast:
    """The forecast of a run. place: how many runs start before it; seconds_left: until its last seed ends."""

    place: int
    seconds_left: float


def forecast(waiting: list[Waiting], workers: int) -> dict[Any, Forecast]:
    """Estimate the place and the time left of every run. waiting: in the order of the requests.

    Visitors take turns, so when a run ends, each visitor has had as much work done as its own, or all of theirs.
    """
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

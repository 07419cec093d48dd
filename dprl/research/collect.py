"""Request, watch and cancel many runs together."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from typing import TypeVar

from dprl.runs.store import Store
from dprl.simulation.trace import Spec

S = TypeVar("S", bound=Spec)
T = TypeVar("T")

POLL = 0.1  # seconds between two checks
_ACTIVE = ("queued", "running")  # states without results to read
# How often to request a run whose results were deleted for lack of space before they were read; a store too small for
# the run would otherwise cost endless time. A run withdrawn by another process of this name is requested again, too.
_TRIES = 5
_NO_ROOM = "its results made room before they could be read; set DPRL_STORE_MB higher"


class RunFailed(RuntimeError):
    """The error for a run that cannot be computed; the message is a sentence with the reason."""


def collect(
    store: Store,
    specs: Iterable[S],
    visitor: str,
    read: Callable[[Store, S], T | None],
    progress: Callable[[float], None] | None = None,
) -> dict[S, T]:
    """Request the missing runs, wait for all, and return the result of `read` for each (None while a run is missing).

    progress: called with the share done, 0 to 1. If the call ends early, the requests are withdrawn and finished seeds
    are kept, so that the next call continues from there. Raises RunFailed, and SpecError for a run past the limits.
    """
    found: dict[S, T] = {}
    wanted = list(dict.fromkeys(specs))
    with closing(looks(store, wanted, visitor, read, found)) as shares:
        for share in shares:
            if progress:
                progress(share)
            if len(found) < len(wanted):
                time.sleep(POLL)
    return {spec: found[spec] for spec in wanted}


def looks(
    store: Store,
    wanted: Sequence[S],
    visitor: str,
    read: Callable[[Store, S], T | None],
    found: dict[S, T],
) -> Generator[float, None, None]:
    """Add the finished runs to `found`, and yield the share that is done between two waits of `collect`.

    Closing the generator early withdraws the requests.
    """
    asked: dict[S, int] = {}  # the number of requests for each
    try:
        for spec in wanted:
            value = read(store, spec)
            if value is not None:
                found[spec] = value
            else:
                store.ask(spec, visitor, again=True)
                asked[spec] = 1
        while len(found) < len(wanted):
            share = float(len(found))
            for spec in asked:
                if spec in found:
                    continue
                status = store.status(spec, visitor)
                value = None if status.state in _ACTIVE else read(store, spec)
                if value is not None:
                    found[spec] = value
                    share += 1
                    continue
                if status.state == "failed":
                    raise RunFailed(f"{spec.label()}: {status.message}")
                if status.state not in _ACTIVE and store.status(spec, visitor) == status:
                    if asked[spec] == _TRIES:
                        raise RunFailed(f"{spec.label()}: {_NO_ROOM}.")
                    asked[spec] += status.state != "cancelled"
                    store.ask(spec, visitor, again=True)
                share += status.progress
            yield share / len(wanted)
    finally:
        for spec in asked if len(found) < len(wanted) else ():
            store.cancel(spec, visitor)

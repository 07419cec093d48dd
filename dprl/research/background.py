"""Functions that run specs in this process, or in background processes that share the dashboard's store."""

from __future__ import annotations

import asyncio
import secrets
import sys
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack, overload

from dprl import simulation
from dprl.fields import check_type, not_allowed
from dprl.research.traces import AnyTrace, Progress, Trace
from dprl.simulation import OfflineSpec, OfflineTrace, RunSpec, SeedTrace, Spec, UploadSpec, UploadTrace
from dprl.simulation.kinds import given_spec

if TYPE_CHECKING:
    from dprl.runs.store import Store

S = TypeVar("S", bound=Spec)
T = TypeVar("T")

MOST_WORKERS = 256
VISITOR = "Python"  # the name under which a script requests runs
POLL = 0.1  # seconds between two checks
_ACTIVE = ("queued", "running")  # states without results to read
# How often to request a run whose results were deleted for lack of space before they were read.
_TRIES = 5
_NO_ROOM = "its results were deleted for space before they could be read; raise DPRL_STORE_MB"


class RunFailed(RuntimeError):
    """Raised when a run cannot be computed; the message is a sentence with the reason."""


def collect(
    store: Store,
    specs: Iterable[S],
    visitor: str,
    read: Callable[[Store, S], T | None],
    progress: Callable[[float], None] | None = None,
) -> dict[S, T]:
    """Request missing runs, wait for all of them, and return their results. If the call ends early, the requests are
    withdrawn, and the next call continues with the finished seeds.

    `read` returns a run's result, or None until it ends. `progress` is called with the completed share, 0 to 1. Raises
    RunFailed, and SpecError for a run that exceeds the limits.
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
    store: Store, wanted: Sequence[S], visitor: str, read: Callable[[Store, S], T | None], found: dict[S, T]
) -> Generator[float, None, None]:
    """Poll all runs, add finished ones to `found`, and yield the completed share. At the end, withdraw the requests."""
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


def store_with(
    specs: Sequence[S],
    stored: Callable[[Store, S], object],
    workers: int | None,
    engine: str | None,
    store: str | Path | None,
) -> Store:
    """Open a store. If any of these runs is not `stored`, start workers or connect to a cluster. Raises StoreError, and
    SpecError if an argument is not allowed, even if no run is missing."""
    from dprl.runs import cluster
    from dprl.runs.store import opened

    check_type("store", store, str | Path | None, "the path of a file")
    if workers is not None and (type(workers) is not int or not 1 <= workers <= MOST_WORKERS):
        raise not_allowed("workers", workers, f"a whole number from 1 to {MOST_WORKERS}")
    address, found = cluster.engine(engine), opened(None if store is None else Path(store))
    if any(stored(found, spec) is None for spec in specs):
        found.begin(workers, address)
    return found


class Where(TypedDict, total=False):
    """The arguments of `run` that select the workers and the store."""

    workers: int | None
    engine: str | None
    store: str | Path | None


@overload
def run(spec: RunSpec, progress: Progress | None = None, **where: Unpack[Where]) -> Trace[SeedTrace]: ...
@overload
def run(
    spec: OfflineSpec, progress: Progress | None = None, **where: Unpack[Where]
) -> Trace[OfflineTrace]: ...
@overload
def run(spec: UploadSpec, progress: Progress | None = None, **where: Unpack[Where]) -> Trace[UploadTrace]: ...
@overload
def run(
    spec: Spec | Mapping[str, Any], progress: Progress | None = None, **where: Unpack[Where]
) -> AnyTrace: ...


def run(
    spec: Spec | Mapping[str, Any],
    progress: Progress | None = None,
    *,
    workers: int | None = None,
    engine: str | None = None,
    store: str | Path | None = None,
) -> Trace[Any]:
    """Run every seed of a spec: in this process, or in background processes that share a store.

    Args:
        spec: the run, of any kind, or a dict of its fields.
        progress: a function called with the share that is done, from 0 to 1.
        workers, engine, store: see `Sweep.run`; if any is given, the run is computed in the background and stored.

    Returns:
        The traces of all seeds. The same spec always gives the same bits.

    Raises:
        SpecError: The spec, one of its fields, or an argument is not allowed.
        RunFailed: The run could not be computed in the background.

    Example:
        >>> trace = dprl.run(dprl.RunSpec("chain", episodes=1000, seeds=2))
        >>> len(trace.seeds)
        2
    """
    check_type("progress", progress, Callable | None, "a function of the share done, from 0 to 1")
    if workers is engine is store is None:
        done = simulation.run(spec, progress)
    else:
        from dprl.runs.store import Store

        asked: Spec = given_spec(spec)
        found = store_with([asked], Store.whole_trace, workers, engine, store)
        done = collect(found, [asked], VISITOR, Store.whole_trace, progress)[asked]
    return Trace(done.spec, done.seeds)


async def run_async(
    spec: Spec | Mapping[str, Any],
    progress: Progress | None = None,
    *,
    workers: int | None = None,
    engine: str | None = None,
    store: str | Path | None = None,
) -> Trace[Any]:
    """Run every seed of a spec in background processes; `await dprl.run_async(spec)` keeps a notebook responsive.

    For several runs at once, use `await asyncio.gather(dprl.run_async(a), dprl.run_async(b))`. The store is the
    dashboard's, so each seed is computed only once, whoever requests it. Cancelling the task withdraws the run;
    finished seeds are kept.

    Args:
        spec: the run, of any kind, or a dict of its fields.
        progress: a function called with the share that is done, from 0 to 1.
        workers, engine, store: the processes, the Dask scheduler and the file to use, as in `Sweep.run`.

    Returns:
        The traces of all seeds, with the same bits as from `run`.

    Raises:
        SpecError: The spec or an argument is not allowed, or the run exceeds a limit.
        RunFailed: The run could not be computed.

    Example:
        >>> import asyncio
        >>> trace = asyncio.run(dprl.run_async(dprl.RunSpec("chain", episodes=1000, seeds=2)))  # in a notebook: await
        >>> len(trace.seeds)
        2
    """
    from dprl.runs.store import Store

    asked: Spec = given_spec(spec)
    kept = store_with([asked], Store.whole_trace, workers, engine, store)
    found: dict[Spec, simulation.Trace] = {}
    # a unique name, so that cancelling this does not cancel the same run for others
    with closing(
        looks(kept, [asked], f"{VISITOR} {secrets.token_hex(4)}", Store.whole_trace, found)
    ) as shares:
        for share in shares:
            if progress:
                progress(share)
            await asyncio.sleep(0 if asked in found else POLL)
    return Trace(asked, found[asked].seeds)


def progress_bar() -> Callable[[float], None]:
    """Return a function that draws a progress bar, in the terminal or as one output in a notebook."""

    def drawn(share: float) -> str:
        filled = int(40 * share)
        return f"[{'#' * filled}{'.' * (40 - filled)}] {share:4.0%}"

    def on_terminal(share: float) -> None:
        sys.stderr.write(f"\r{drawn(share)}{chr(10) if share >= 1 else ''}")
        sys.stderr.flush()

    if "ipykernel" not in sys.modules:
        return on_terminal
    display: Any = import_module("IPython.display").display

    output = display({"text/plain": drawn(0)}, raw=True, display_id=True)
    return lambda share: output.update({"text/plain": drawn(share)}, raw=True)

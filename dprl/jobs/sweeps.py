"""Many runs asked for, watched and cancelled as one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dprl import metrics
from dprl.jobs.store import Store
from dprl.simulation import Trace
from dprl.simulation.kinds import Spec

S = TypeVar("S", bound=Spec)
T = TypeVar("T")

_POLL = 0.1
_ACTIVE = ("queued", "running")  # nothing to be read yet


class RunFailed(RuntimeError):
    """A run of the sweep cannot be computed; the message is a sentence that says why."""


def final_values(store: Store, spec: Spec) -> NDArray[np.float64] | None:
    """[seeds] measure (the regret of an online run) at the end of a run; None while a seed has not got there."""
    ends = {seed: r[-1] for seed, k, r in store.results.live(spec) if len(k) and k[-1] == spec.size}
    return np.array([ends[seed] for seed in range(spec.seeds)]) if len(ends) == spec.seeds else None


def whole_trace(store: Store, spec: Spec) -> Trace | None:
    """A finished run with all its details; None where a seed has not got to its end, or they have made room."""
    traces = [trace for trace in store.results.traces(spec) if trace.complete]
    return Trace(spec, tuple(traces)) if len(traces) == spec.seeds else None


class Finished(NamedTuple):
    """A finished run: points at [C], values [seeds, C], and the best value there is, None where no model is known."""

    at: NDArray[np.int64]
    values: NDArray[np.float64]
    v_star: float | None


def finished(store: Store, spec: Spec) -> Finished | None:
    """The curves of a run; None while a seed has not got to its end, or where its traces have made room."""
    curves = [(k, r) for _, k, r in store.results.live(spec) if len(k) and k[-1] == spec.size]
    traces = store.results.traces(spec, seeds=(0,)) if len(curves) == spec.seeds else []
    if not traces or not traces[0].complete:
        return None
    at, values = metrics.align(curves)
    return Finished(at, values, traces[0].v_star)


def compute_runs(
    store: Store, specs: Iterable[S], visitor: str, progress: Callable[[float], None] | None = None
) -> dict[S, NDArray[np.float64]]:
    """What each run measured at its end, [seeds]; see `collect`."""
    return collect(store, specs, visitor, final_values, progress)


def collect(
    store: Store,
    specs: Iterable[S],
    visitor: str,
    read: Callable[[Store, S], T | None],
    progress: Callable[[float], None] | None = None,
) -> dict[S, T]:
    """Ask for the runs that are missing, wait for all, and return what is read of each, None while it is not there.

    progress: called with the share done, 0 to 1. Whatever ends this early withdraws the requests; finished seeds
    are kept, so that the next call goes on from there. Raises RunFailed, and SpecError for a run past the limits.
    """
    found: dict[S, T] = {}
    asked = []
    done = False
    wanted = list(specs)
    try:
        for spec in wanted:
            value = read(store, spec)
            if value is not None:
                found[spec] = value
            else:
                store.requests.retry(spec, visitor)
                asked.append(spec)
        while len(found) < len(wanted):
            share = float(len(found))
            for spec in asked:
                if spec in found:
                    continue
                status = store.status.of(spec, visitor)
                value = None if status.state in _ACTIVE else read(store, spec)
                if value is not None:
                    found[spec] = value
                    share += 1
                    continue
                if status.state == "failed":
                    raise RunFailed(f"{spec.label()}: {status.message}")
                share += status.progress
            if progress:
                progress(share / len(wanted))
            if len(found) < len(wanted):
                time.sleep(_POLL)
        done = True
    finally:
        if not done:
            for spec in asked:
                store.requests.cancel(spec, visitor)
    return {spec: found[spec] for spec in wanted}

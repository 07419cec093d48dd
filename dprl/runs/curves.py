"""The curves of runs, read from the store."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dprl import metrics
from dprl.metrics.curves import RunCurves
from dprl.runs.store import Store
from dprl.simulation import Spec, Trace

_NOTHING = np.zeros(0, np.int64), np.zeros(0)  # of a seed that has not begun


def stored_curves(store: Store, spec: Spec) -> RunCurves:
    """Read the known curves, with a row for each seed up to the last one that has points, so that each seed keeps the
    row of its own baseline."""
    grown = {seed: (at, values) for seed, at, values in store.live(spec) if len(at)}
    at, values = metrics.align([grown.get(seed, _NOTHING) for seed in range(max(grown, default=-1) + 1)])
    return RunCurves(at, values, ended=bool(len(at)) and bool(at[-1] == spec.size))


def whole_curves(store: Store, spec: Spec) -> RunCurves | None:
    """Return all seeds of a run up to its end; None if one has not reached it."""
    run = stored_curves(store, spec)
    return run if run.whole(spec.seeds) else None


def finished(store: Store, spec: Spec) -> RunCurves | None:
    """Return the finished run with V*; None if a seed has not finished, or its traces were deleted to save space."""
    run = stored_curves(store, spec)
    traces = store.traces(spec, seeds=(0,)) if run.whole(spec.seeds) else []
    if not traces:
        return None
    best = traces[0].v_star
    return run if best is None else replace(run, v_star=float(best))


def whole_trace(store: Store, spec: Spec) -> Trace | None:
    """Return a finished run with all its details; None if a seed is unfinished, or the details were deleted."""
    traces = tuple(store.traces(spec))
    return Trace(spec, traces) if len(traces) == spec.seeds else None

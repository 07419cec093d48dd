"""The data that pages read: the store, and results decoded once for everybody. Nothing is computed here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dprl.environments import ENVIRONMENTS
from dprl.mdp import TabularMDP
from dprl.metrics.curves import RunCurves
from dprl.papers.report import version
from dprl.research.series import place_of
from dprl.runs.cluster import engine
from dprl.runs.status import RunStatus
from dprl.runs.store import Store, opened
from dprl.simulation import OfflineSpec, RunSpec, Spec
from pages.shared.results.cache import ENTRY_BYTES, SizedCache, bytes_of, cache_of

TRACE_BYTES = 256 * 2**20  # of decoded traces kept, for all visitors together
CURVE_BYTES = 32 * 2**20
ENVIRONMENT_BYTES = 8 * 2**20


@st.cache_resource(show_spinner=False)
def store() -> Store:
    """Return the store with its workers, one for the whole server."""
    version()  # parses all sources, which Python 3.11 cannot do in two threads at once
    return opened().begin(engine=engine())


def status(spec: Spec, visitor: str | None = None) -> RunStatus:
    """Return the status of a run, for this visitor."""
    return store().status(spec, visitor)


def trace(spec: Spec, seed: int) -> Any:
    """Return one seed's trace, decoded once: of the class of its kind; None while it is not finished."""

    def load(_: str | None) -> Any:
        return next(iter(store().traces(spec, seeds=(seed,))), None)

    key = f"{spec.to_json()}#{seed}"
    return cache_of("traces", TRACE_BYTES).cached(
        key,
        load,
        lambda found: ENTRY_BYTES if found is None else bytes_of(found),
        lambda: store().version(spec),
        lambda found: found is not None,
    )


def curves(spec: Spec) -> RunCurves:
    """Return the curves of a run, finished or growing."""

    def load(version: str | None) -> RunCurves:
        run = store().curves(spec)
        return run if run.whole(spec.seeds) else replace(run, token=version or "")

    kept: SizedCache[RunCurves] = cache_of("curves", CURVE_BYTES)
    return kept.cached(
        spec.to_json(),
        load,
        bytes_of,
        lambda: store().version(spec),
        lambda run: run.whole(spec.seeds),
    )


def ends(spec: Spec) -> NDArray[np.float64]:
    """Return [seeds] the regret at the end of a run, NaN for a seed that has not finished."""
    run, rows = curves(spec), np.full(spec.seeds, np.nan)
    if run.ended:
        rows[: len(run.values)] = run.ends
    return rows


def environment(spec: RunSpec | OfflineSpec) -> TabularMDP:
    """Return the MDP of a run."""
    key = place_of(spec)
    kept: SizedCache[TabularMDP] = cache_of("environments", ENVIRONMENT_BYTES)
    return kept.cached(
        key,
        lambda _: ENVIRONMENTS[spec.environment].make(**dict(spec.environment_params)),
        lambda made: bytes_of(made) + len(key),
    )


def workers() -> int:
    """Return the number of worker processes, at least one."""
    return max(1, store().activity().workers)

"""What the pages read: the store, and results decoded once for everybody. Nothing is computed here."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import replace
from typing import Any, Generic, TypeVar

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dprl.curves import RunCurves
from dprl.environments import ENVIRONMENTS
from dprl.jobs.curves import known
from dprl.jobs.store import RunStatus, Store
from dprl.mdp import TabularMDP
from dprl.simulation import OfflineSpec, RunSpec, Spec

TRACE_BYTES = 256 * 2**20  # of decoded traces kept, for all visitors together
CURVE_BYTES = 32 * 2**20
ENDS_BYTES = 4 * 2**20
ENVIRONMENT_BYTES = 8 * 2**20
ENTRY_BYTES = 1_000  # about what keeping a small value takes, with its key

T = TypeVar("T")


class Kept(Generic[T]):
    """Values with a version, shared by all sessions; the least recently used go beyond so many bytes.

    A version of None is final: it is right whatever version is asked for.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._found: OrderedDict[Hashable, tuple[str | None, T, int]] = OrderedDict()
        self._total = 0

    def get(self, key: Hashable) -> tuple[str | None, T] | None:
        """Version and value, if there is one."""
        with self._lock:
            found = self._found.get(key)
            if found is None:
                return None
            self._found.move_to_end(key)
            return found[:2]

    def put(self, key: Hashable, version: str | None, value: T, size: int) -> T:
        """Keeps the value, of so many bytes, and returns it."""
        with self._lock:
            if (before := self._found.pop(key, None)) is not None:
                self._total -= before[2]
            self._found[key] = (version, value, size)
            self._total += size
            while self._total > self._most and len(self._found) > 1:
                _, (_, _, gone) = self._found.popitem(last=False)
                self._total -= gone
        return value


@st.cache_resource(show_spinner=False)
def store() -> Store:
    """The store, one for the whole server."""
    return Store()


@st.cache_resource(show_spinner=False)
def _traces() -> Kept[Any]:
    return Kept(TRACE_BYTES)


@st.cache_resource(show_spinner=False)
def _curves() -> Kept[RunCurves]:
    return Kept(CURVE_BYTES)


def status(spec: Spec, visitor: str | None = None) -> RunStatus:
    """How a run stands, for this visitor."""
    return store().status.of(spec, visitor)


def trace(spec: Spec, seed: int) -> Any:
    """One seed's trace, decoded once: of the class of its kind; None while it is not finished."""
    key = f"{spec.to_json()}#{seed}"
    found = _traces().get(key)
    if found is not None and found[0] is None:
        return found[1]
    version = store().status.version(spec)
    if found is not None and found[0] == version:
        return found[1]
    traces = store().results.traces(spec, seeds=(seed,))
    if traces and traces[0].complete:
        return _traces().put(key, None, traces[0], bytes_of(traces[0]))
    return _traces().put(key, version, traces[0] if traces else None, bytes_of(*traces))


def bytes_of(*found: Any) -> int:
    """About what these take in memory: their arrays, which are nearly all of it."""
    return ENTRY_BYTES + sum(
        part.nbytes for one in found for part in vars(one).values() if isinstance(part, np.ndarray)
    )


def curves(spec: Spec) -> RunCurves:
    """The curves of a run, finished or growing."""
    key = spec.to_json()
    found = _curves().get(key)
    if found is not None and found[0] is None:
        return found[1]
    version = store().status.version(spec)
    if found is not None and found[0] == version:
        return found[1]
    run = known(store(), spec)
    if run.whole(spec.seeds):
        return _curves().put(key, None, run, bytes_of(run))
    return _curves().put(key, version, replace(run, token=version), bytes_of(run))


@st.cache_resource(show_spinner=False)
def _ends() -> Kept[NDArray[np.float64]]:
    return Kept(ENDS_BYTES)


def ends(spec: Spec) -> NDArray[np.float64]:
    """[seeds] regret at the end of a run, NaN for a seed that has not got there."""
    key = spec.to_json()
    found = _ends().get(key)
    if found is not None and found[0] is None:
        return found[1]
    version = store().status.version(spec)
    if found is not None and found[0] == version:
        return found[1]
    run, rows = known(store(), spec), np.full(spec.seeds, np.nan)
    if run.ended:
        rows[: len(run.values)] = run.ends
    return _ends().put(key, None if np.isfinite(rows).all() else version, rows, ENTRY_BYTES + rows.nbytes)


@st.cache_resource(show_spinner=False)
def _environments() -> Kept[TabularMDP]:
    return Kept(ENVIRONMENT_BYTES)


def place_of(spec: RunSpec | OfflineSpec) -> tuple[Any, ...]:
    """What tells its environment from others."""
    return spec.environment, tuple(spec.environment_params.items())


def environment(spec: RunSpec | OfflineSpec) -> TabularMDP:
    """The MDP of a run."""
    key = place_of(spec)
    if (found := _environments().get(key)) is not None:
        return found[1]
    made = ENVIRONMENTS[spec.environment].make(**dict(spec.environment_params))
    return _environments().put(key, None, made, bytes_of(made) + len(repr(key)))


def workers() -> int:
    """Worker processes there are, at least one."""
    return max(1, store().status.activity().workers)

"""The data that pages read: the store, and results that are decoded once for everybody and cached up to a number of
bytes. Nothing is computed here."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any, Generic, TypeVar

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
    """Return one seed's trace, decoded once, in the class of its kind; None while the seed is unfinished."""

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
    """Return the regret at the end of a run [seeds], NaN for a seed that has not finished."""
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


ENTRY_BYTES = 1_000  # approximate memory for a small value with its key

T = TypeVar("T")


class SizedCache(Generic[T]):
    """Values, each with a version. Beyond `most` bytes, the least recently used are dropped.

    A value whose version is None is final: it is valid for every version.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._found: OrderedDict[Hashable, tuple[str | None, T, int]] = OrderedDict()
        self._total = 0

    def get(self, key: Hashable) -> tuple[str | None, T] | None:
        """Return version and value, if there is one."""
        with self._lock:
            found = self._found.get(key)
            if found is None:
                return None
            self._found.move_to_end(key)
            return found[:2]

    def put(self, key: Hashable, version: str | None, value: T, size: int) -> T:
        """Cache a value of `size` bytes, and return it."""
        with self._lock:
            if (before := self._found.pop(key, None)) is not None:
                self._total -= before[2]
            self._found[key] = (version, value, size)
            self._total += size
            while self._total > self._most and len(self._found) > 1:
                _, (_, _, gone) = self._found.popitem(last=False)
                self._total -= gone
        return value

    def cached(
        self,
        key: Hashable,
        load: Callable[[str | None], T],
        size: Callable[[T], int],
        version: Callable[[], str] | None = None,
        final: Callable[[T], bool] = lambda value: False,
    ) -> T:
        """Return the cached value if it is final or of the current version; otherwise load it.

        key: the facts on which the value depends, except for those in the version. load: receives the version. size:
        its approximate bytes. version: None if the value never changes. final: whether it never changes again.
        """
        found = self.get(key)
        if found is not None and found[0] is None:
            return found[1]
        now = version() if version else None
        if found is not None and found[0] == now:
            return found[1]
        value = load(now)
        return self.put(key, None if final(value) else now, value, size(value))


@st.cache_resource(show_spinner=False)
def cache_of(name: str, most: int) -> SizedCache[Any]:
    """Return the cache of this name for the whole server, with at most `most` bytes."""
    return SizedCache(most)


def bytes_of(*found: Any) -> int:
    """Return the approximate size of objects in memory: that of their arrays, which are nearly all of it."""
    return ENTRY_BYTES + sum(
        part.nbytes for one in found for part in vars(one).values() if isinstance(part, np.ndarray)
    )

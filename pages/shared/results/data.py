"""The data that pages read: the store, the cache that all visitors share, and bundled results.

Nothing is computed here; `python -m bench.bundled` makes the bundled files.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dprl.assets import ASSETS
from dprl.environments import ENVIRONMENTS
from dprl.mdp import TabularMDP
from dprl.metrics.curves import Evidence, RunCurves
from dprl.papers import CLAIMS
from dprl.papers.evidence import from_dict
from dprl.papers.report import ClaimReport, report, version
from dprl.research.series import place_of
from dprl.runs.cluster import engine
from dprl.runs.store import Store, opened
from dprl.simulation import AttackSpec, OfflineSpec, RunSpec, Spec, spec_from_dict

CACHE_BYTES = 320 * 2**20  # size of everything that is cached for all visitors together
ENTRY_BYTES = 1_000  # approximate memory of a small value

T = TypeVar("T")


@st.cache_resource(show_spinner=False)
def store() -> Store:
    """Return the store with its workers, one for the whole server."""
    version()  # parses all sources, which Python 3.11 cannot do in two threads at once
    return opened().begin(engine=engine())


def trace(spec: Spec, seed: int) -> Any:
    """Return the trace of one seed, or None while the seed is unfinished. It is decoded only once."""
    return cache_of_all().cached(
        ("trace", spec.to_json(), seed),
        lambda: next(iter(store().traces(spec, seeds=(seed,))), None),
        lambda: store().version(spec),
        lambda found: found is not None,
    )


def curves(spec: Spec) -> RunCurves:
    """Return the curves of a run, whether it is finished or not."""

    def load() -> RunCurves:
        version, run = store().version(spec), store().curves(spec)
        return run if run.whole(spec.seeds) else replace(run, token=version)

    return cache_of_all().cached(
        ("curves", spec.to_json()), load, lambda: store().version(spec), lambda run: run.whole(spec.seeds)
    )


def environment(spec: RunSpec | OfflineSpec) -> TabularMDP:
    return cache_of_all().cached(
        ("environment", place_of(spec)),
        lambda: ENVIRONMENTS[spec.environment].make(**dict(spec.environment_params)),
    )


def workers() -> int:
    """Return the number of worker processes, at least one."""
    return max(1, store().activity().workers)


def bytes_of(value: Any) -> int:
    """Return the approximate memory of a value, nearly all of which is in its text or its arrays."""
    if isinstance(value, str | bytes):
        return ENTRY_BYTES + len(value)
    if hasattr(value, "nbytes"):
        return ENTRY_BYTES + int(value.nbytes)
    parts = value if isinstance(value, tuple) else getattr(value, "__dict__", {}).values()
    return ENTRY_BYTES + sum(part.nbytes for part in parts if isinstance(part, np.ndarray))


class SizedCache:
    """A cache of at most `most` bytes, which drops the least recently used values. Values may have versions."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._found: dict[Hashable, tuple[str | None, Any, int]] = {}  # the most recently used value is last
        self._total = 0

    def get(self, key: Hashable) -> tuple[str | None, Any] | None:
        """Return the version and the value for a key, or None if it is not cached."""
        with self._lock:
            if key not in self._found:
                return None
            self._found[key] = found = self._found.pop(key)
            return found[:2]

    def put(self, key: Hashable, version: str | None, value: T, size: int | None = None) -> T:
        """Cache a value, and return it. By default, `bytes_of` estimates its size."""
        size = len(repr(key)) + (bytes_of(value) if size is None else size)
        with self._lock:
            if (before := self._found.pop(key, None)) is not None:
                self._total -= before[2]
            self._found[key] = (version, value, size)
            self._total += size
            while self._total > self._most and len(self._found) > 1:
                self._total -= self._found.pop(next(iter(self._found)))[2]
        return value

    def cached(
        self,
        key: Hashable,
        load: Callable[[], T],
        version: Callable[[], str] | None = None,
        final: Callable[[T], bool] = lambda value: False,
    ) -> T:
        """Return the cached value if it is still current, or else load it. Without `version`, values stay current."""
        found = self.get(key)
        if found is None or found[0] is not None:
            now = version() if version else None
            if found is None or found[0] != now:
                value = load()
                return self.put(key, None if final(value) else now, value)
        known: T = found[1]
        return known


@st.cache_resource(show_spinner=False)
def cache_of_all() -> SizedCache:
    """Return the cache that the whole server shares. Every key begins with the kind of its value."""
    return SizedCache(CACHE_BYTES)


FILES_OF_ONLINE = ("home", "examples")  # files with runs of the Online page


def path_of(name: str) -> Path:
    return ASSETS / f"{name}.json"


def asset(name: str) -> Any:
    """Read a JSON file in assets/ by its name without the extension. The content is not cached."""
    return json.loads(path_of(name).read_text(encoding="utf-8"))


@cache
def bundled(name: str) -> dict[Any, RunCurves]:
    """Return the curves of the runs in a bundled file. Some have only a few checkpoints, or only the end."""
    found = {}
    for entry in asset(name):
        spec = spec_from_dict(entry["spec"])
        if "ends" in entry:
            found[spec] = RunCurves(np.array([spec.size]), np.array(entry["ends"])[:, None])
            continue
        found[spec] = RunCurves(
            np.array(entry["episodes"], np.int64),
            np.array(entry["regret"]),
            noise_std=entry["noise_std"],
            lower=np.array(entry["lower"]) if "lower" in entry else None,
        )
    return found


def comes_along(spec: Any) -> bool:
    """Return whether the curves of an online run are bundled, so that nobody has to compute them."""
    return any(spec in bundled(name) for name in FILES_OF_ONLINE)


class Bundled(NamedTuple):
    """The bundled evidence, the version that computed it, and its verdicts."""

    evidence: Evidence
    version: dict[str, str]
    reports: dict[str, ClaimReport]


@cache
def bundled_papers() -> Bundled:
    """Return the bundled evidence with its verdicts. It is read only once."""
    found: dict[str, Any] = asset("papers")
    questions = {spec: asked for claim in CLAIMS.values() for spec, asked in claim.questions.items()}
    known = from_dict(found, questions)
    return Bundled(known, found["version"], {key: report(claim, known) for key, claim in CLAIMS.items()})


class AttackScores(NamedTuple):
    """The scores of an attack so far, in an array [n] for each of the two episodes."""

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    releases: int  # as in AttackTrace
    counters: int  # as in AttackTrace
    token: str  # the version of the scores


@cache
def bundled_scores() -> dict[AttackSpec, AttackScores]:
    """Return the bundled scores of the attack that the page shows when it opens."""
    found = asset("attack")
    scores = AttackScores(
        np.array(found["first"]), np.array(found["second"]), found["releases"], found["counters"], "bundled"
    )
    return {spec_from_dict(found["spec"]): scores}

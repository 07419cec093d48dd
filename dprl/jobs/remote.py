"""What runs on a worker of a Dask cluster: one seed, slice by slice. Imports no Dask, and opens no store.

Its bridge looks in about twice a second: it learns how far the seeds are, and says which nobody wants any more. A seed
whose bridge has long been silent stops by itself.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprl.engine import source_digest
from dprl.fields import SpecError
from dprl.jobs import simulation as simulations
from dprl.jobs.simulation import SeedRunLike, Simulation
from dprl.jobs.worker import sentence

_SLICE = 0.02  # s; between slices the worker's own thread gets its turn
_SILENCE = 30.0  # s without a word of the bridge, after which its seeds stop


class Build(NamedTuple):
    """What the bits of a result depend on: a digest of the sources, and the versions of NumPy and numba."""

    sources: str
    numpy: str
    numba: str


class Points(NamedTuple):
    """How far a seed is, 0 to 1, and its curve so far: `at` and `values`, [C]."""

    progress: float
    at: NDArray[np.int64]
    values: NDArray[np.float64]


class Result(NamedTuple):
    """What a seed came to; ended: it got to its end, rather than being stopped."""

    ended: bool
    points: Points
    trace: bytes


class Failed(NamedTuple):
    """A seed raised an error, which the sentence says; refused: its spec was not one to be computed there."""

    sentence: str
    refused: bool


@dataclass(frozen=True)
class RemoteJob:
    """A seed as it is sent; name: of this attempt, key: of the seed in the store, spec: as JSON."""

    name: str
    bridge: str
    build: Build
    simulation: str
    spec: str
    seed: int
    key: str


class Differs(RuntimeError):
    """This worker would compute other bits than the bridge's machine; the message is a sentence."""


@dataclass
class _Bridge:
    """What a bridge has said to this process, and what it has not yet been told."""

    heard: float = field(default_factory=time.monotonic)
    unwanted: frozenset[str] = frozenset()
    news: dict[str, Points] = field(default_factory=dict)


_bridges: dict[str, _Bridge] = {}
_simulation = cache(simulations.load)


@cache
def build() -> Build:
    """Of this process."""
    return Build(source_digest(), version("numpy"), version("numba"))


def run_job(job: RemoteJob) -> Result | Failed:
    """Compute a seed to its end, or until nobody wants it. Raises Differs."""
    try:
        return _compute(job)
    except Differs:
        raise
    except Exception as error:  # as words: an exception may not survive the way back
        return Failed(sentence(job.seed, error), isinstance(error, SpecError))


def _compute(job: RemoteJob) -> Result:
    if (difference := differs(build(), job.build)) is not None:
        raise Differs(difference)
    simulation: Simulation = _simulation(job.simulation)
    spec = simulation.spec_from_json(job.spec)
    if spec.seed_key(job.seed) != job.key:
        raise Differs("a worker takes the spec of a run for another one")
    bridge = _bridges.setdefault(job.bridge, _Bridge())
    bridge.heard = time.monotonic()
    run = simulation.start(spec, job.seed)
    try:
        while not (ended := run.advance(_SLICE)):
            if job.name in bridge.unwanted or time.monotonic() - bridge.heard > _SILENCE:
                break
            if job.name not in bridge.news:
                bridge.news[job.name] = _points(run)
    finally:
        bridge.news.pop(job.name, None)
    return Result(ended, _points(run), run.trace().to_bytes())


def look_in(name: str, unwanted: frozenset[str]) -> dict[str, Points]:
    """The bridge `name` looks in.

    unwanted: its jobs that nobody waits for any more. Returns how far the others are, where that is new.
    """
    bridge = _bridges.setdefault(name, _Bridge())
    bridge.heard, bridge.unwanted = time.monotonic(), unwanted
    found = {job: bridge.news.pop(job, None) for job in list(bridge.news)}
    return {job: points for job, points in found.items() if points is not None}


def differs(theirs: Build, ours: Build) -> str | None:
    """What a worker has that is not the same here, in words; None where its bits are the same."""
    if theirs.sources != ours.sources:
        return "a worker has another version of dprl"
    for name in ("numpy", "numba"):
        if getattr(theirs, name) != getattr(ours, name):
            return f"a worker has {name} {getattr(theirs, name)}, and this machine {getattr(ours, name)}"
    return None


def _points(run: SeedRunLike) -> Points:
    curve = run.curve()
    return Points(run.progress, curve.at, curve.values)

"""What background runs need of a simulation, so that tests can run on a small one."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class SpecLike(Protocol):
    """A run as a value. The store only ever looks at these."""

    @property
    def seeds(self) -> int: ...
    def to_json(self) -> str: ...
    def seed_key(self, seed: int) -> str: ...


class TraceLike(Protocol):
    """What one seed recorded."""

    def to_bytes(self) -> bytes: ...


class CurveLike(Protocol):
    """The points passed so far: whole numbers along an axis, and what was measured there."""

    @property
    def at(self) -> NDArray[np.int64]: ...
    @property
    def values(self) -> NDArray[np.float64]: ...


class SeedRunLike(Protocol):
    """One seed being computed, slice by slice."""

    @property
    def progress(self) -> float: ...
    def advance(self, seconds: float = ...) -> bool: ...
    def curve(self) -> CurveLike: ...
    def trace(self) -> TraceLike: ...


@dataclass(frozen=True)
class Simulation:
    """The functions a simulation offers to background runs.

    Attributes:
        start(spec, seed): begins one seed.
        answer(question, spec): what the spec says without being run, by the question's name, as text.
        warm(backwards): compiles or loads the kernels, step by step, in one order or the other.
        seconds(spec): estimates what one seed takes.
        spec_from_json, trace_from_bytes: read back what was stored.
    """

    start: Callable[[Any, int], SeedRunLike]
    answer: Callable[[str, Any], str]
    warm: Callable[[bool], Iterable[None]]
    seconds: Callable[[Any], float]
    spec_from_json: Callable[[str], Any]
    trace_from_bytes: Callable[[bytes], Any]


DEFAULT = "dprl.jobs.simulation:dprl_simulation"


def dprl_simulation() -> Simulation:
    """The real one."""
    from dprl import simulation

    return Simulation(
        start=simulation.start,
        answer=simulation.answer,
        warm=lambda backwards: (),
        seconds=lambda spec: float(simulation.estimate(spec).seconds),
        spec_from_json=simulation.spec_from_json,
        trace_from_bytes=simulation.trace_from_bytes,
    )


def load(name: str = DEFAULT) -> Simulation:
    """The simulation that the function called `module:function` returns."""
    module, _, function = name.partition(":")
    simulation = getattr(importlib.import_module(module), function)()
    if not isinstance(simulation, Simulation):
        raise TypeError(f"{name} does not return a dprl.jobs.simulation.Simulation.")
    return simulation

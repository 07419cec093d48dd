"""The interface of a simulation for background runs, so that tests can run on a small one."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol


class SpecLike(Protocol):
    """A run as a value. The queue only ever looks at these."""

    @property
    def seeds(self) -> int: ...
    def to_json(self) -> str: ...
    def seed_key(self, seed: int) -> str: ...


@dataclass(frozen=True)
class Simulation:
    """The functions a simulation offers to background runs.

    Attributes:
        start(spec, seed): begins one seed, see `dprl.simulation.kinds.Run`.
        answer(question, spec): the spec's answer without a run, by the question's name, as text.
        seconds(spec): estimates what one seed needs.
        spec_from_json, trace_from_bytes: read back what was written.
    """

    start: Callable[[Any, int], Any]
    answer: Callable[[str, Any], str]
    seconds: Callable[[Any], float]
    spec_from_json: Callable[[str], Any]
    trace_from_bytes: Callable[[bytes], Any]


DEFAULT = "dprl.runs.simulation:dprl_simulation"


def dprl_simulation() -> Simulation:
    """Return the real simulation."""
    from dprl import simulation

    return Simulation(
        start=simulation.start,
        answer=simulation.answer,
        seconds=lambda spec: float(simulation.estimate(spec).seconds),
        spec_from_json=simulation.spec_from_json,
        trace_from_bytes=simulation.trace_from_bytes,
    )


def load(name: str = DEFAULT) -> Simulation:
    """Return the simulation that the function called `module:function` makes."""
    module, _, function = name.partition(":")
    made: Simulation = getattr(importlib.import_module(module), function)()
    return made

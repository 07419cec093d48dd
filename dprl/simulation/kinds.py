"""The kinds of spec, such as online and offline runs, and the functions that work for every kind.

The store, sweeps, exports and the command line use a run only through these protocols.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from dprl.fields import Field, SpecError, not_allowed, read_json, reject, unknown
from dprl.messages.brief import described
from dprl.plugins import Registry
from dprl.simulation.base import FIRST, SAID, Spec
from dprl.simulation.cost import Estimate
from dprl.simulation.trace import DAMAGE, Curve, Trace, TraceCore, unpacked


class Run(Protocol):
    """A run with one random seed, while it is being computed."""

    @property
    def progress(self) -> float:
        """Return the share of the work that is done, from 0 to 1."""

    def advance(self, seconds: float = 0.1) -> bool:
        """Work for about `seconds`, and return whether the run is done. Between calls, a run can be cancelled."""

    def curve(self) -> Curve:
        """Return the points of the curve reached so far."""

    def trace(self) -> Any:
        """Return everything recorded so far, as the kind's own subclass of TraceCore."""


@dataclass(frozen=True)
class Kind:
    """An entry in KINDS: a kind of spec, such as online runs, and its functions."""

    key: str
    fields: Mapping[str, Field]  # the table of a spec's fields, by name
    from_dict: Callable[[Any], Any]  # builds a spec from JSON; raises SpecError
    start: Callable[[Any, int], Run]  # start(spec, seed): starts one seed
    estimate: Callable[[Any], Estimate]  # estimate(spec): estimates the cost of one seed
    trace: type[TraceCore[Any]]  # the class of its traces
    # axis, measure: the quantities on the two axes of its curves
    axis: str
    measure: str
    # axes(spec): the possible axes of a sweep, each with a function that makes a value or text canonical
    axes: Callable[[Any], Mapping[str, Callable[[Any], Any]]]
    # along(spec, chosen): the spec with these values along its axes
    along: Callable[[Any, Mapping[str, Any]], Any]
    # questions that need no run, by name: functions from a spec to plain JSON, which may raise SpecError. Every kind
    # answers `guarantee` with the card that `Guarantee.to_dict` writes.
    questions: Mapping[str, Callable[[Any], Any]]
    # further files that the command line writes from a trace, by name
    files: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)
    # compiles(spec): whether numba has to compile kernels on this machine before the first result
    compiles: Callable[[Any], bool] = lambda spec: False

    __repr__ = described


KINDS: Registry[Kind] = Registry()


def register(spec: type[Spec], **functions: Any) -> None:
    """Add a kind of spec, with the fields of `Kind` that do not follow from the spec's class."""
    KINDS[spec.kind] = Kind(spec.kind, spec.TABLE, spec.from_dict, **functions)


def kind_of(spec: Spec) -> Kind:
    return KINDS[spec.kind]


def spec_from_dict(given: Any) -> Any:
    """Build a spec of any kind from the dict that its `to_dict` wrote. Raises SpecError."""
    if not isinstance(given, Mapping):
        return KINDS[FIRST].from_dict(given)  # raises SpecError
    key = given.get("kind", FIRST)
    if not isinstance(key, str) or key not in KINDS:
        raise unknown("kind", key, KINDS)
    return KINDS[key].from_dict({name: value for name, value in given.items() if name != "kind"})


def spec_from_json(text: str) -> Any:
    """Read a spec of any kind from JSON text. Raises SpecError if the text is not JSON or a field is not allowed."""
    return spec_from_dict(read_json("spec", text))


def trace_from_bytes(data: bytes) -> Any:
    """Read the trace that `to_bytes` wrote. Raises SpecError if it is damaged or comes from another version."""
    try:
        arrays, plain = unpacked(data)
        spec = spec_from_dict(plain["spec"])
        return kind_of(spec).trace.restored(spec, arrays, plain)
    except DAMAGE as error:
        raise reject("trace", SAID["damaged"]) from error


def start(spec: Spec, seed: int) -> Run:
    """Start one seed of a run. Call `advance` on the result until it is done."""
    return kind_of(spec).start(spec, seed)


def estimate(spec: Spec | Mapping[str, Any]) -> Estimate:
    """Estimate the time and memory that one seed of a run needs. Raises SpecError.

    Example:
        >>> dprl.estimate(dprl.RunSpec(episodes=1_000_000_000_000_000)).seconds < 10
        True
    """
    asked: Spec = given_spec(spec)
    return kind_of(asked).estimate(asked)


def compiles(spec: Spec) -> bool:
    """Return whether numba has to compile kernels on this machine before a run can give its first result."""
    return kind_of(spec).compiles(spec)


def answer(question: str, spec: Spec) -> str:
    """Answer a named question about a spec, as JSON that `answered` can read."""
    try:
        return json.dumps({"answer": kind_of(spec).questions[question](spec)})
    except SpecError as error:
        return json.dumps({"refusal": [error.field, error.sentence]})


def answered(text: str) -> Any:
    """Read the JSON that `answer` wrote. Raises SpecError if the spec was refused."""
    found = json.loads(text)
    if "refusal" in found:
        raise SpecError(*found["refusal"])
    return found["answer"]


def given_spec(given: Any) -> Any:
    """Return the spec itself, or the spec built from a dict of its fields. Raises SpecError for anything else."""
    if isinstance(given, Mapping):
        return spec_from_dict(given)
    kind = None if isinstance(given, type) else getattr(given, "kind", None)
    if isinstance(kind, str) and kind in KINDS:
        return given
    raise not_allowed("spec", given, "a RunSpec, or a dict such as {'epsilon': 1.0}")


def run(spec: Spec | Mapping[str, Any], progress: Callable[[float], None] | None = None) -> Trace[Any]:
    """Run all seeds of a spec (or of a dict of its fields) in this process. The same spec always gives the same bits.

    progress: a function called with the share of the work that is done, from 0 to 1. Raises SpecError.
    """
    asked: Spec = given_spec(spec)
    traces = []
    for seed in range(asked.seeds):
        work = start(asked, seed)
        while not work.advance():
            if progress:
                progress((seed + work.progress) / asked.seeds)
        traces.append(work.trace())
    if progress:
        progress(1.0)
    return Trace(asked, tuple(traces))

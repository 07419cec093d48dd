"""A kind of spec that has nothing to do with online runs: one release of a noisy mean, and its error against n."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np

from dprl.fields import Field, SpecError
from dprl.mdp.tabular import Array
from dprl.privacy.privatizers.none import NOTHING_PROMISED
from dprl.simulation import Curve, Estimate, Kind, TraceCore

FIELDS = {
    f.name: f
    for f in (
        Field("n", "int", 1000, "size of the data set", 1, 10**6, flag="--n"),
        Field("epsilon", "float", 1.0, "privacy budget", 0.001, 1000.0, optional=True, flag="--epsilon"),
        Field("seeds", "int", 2, "independent repetitions", 1, 100, flag="--seeds"),
    )
}


@dataclass(frozen=True)
class ToySpec:
    """The mean of n coin flips, with Laplace noise unless epsilon is None."""

    n: int = 1000
    epsilon: float | None = 1.0
    seeds: int = 2

    kind: ClassVar[str] = "toy"

    def __post_init__(self) -> None:
        for f in fields(self):
            object.__setattr__(self, f.name, FIELDS[f.name].check(getattr(self, f.name)))

    @property
    def size(self) -> int:
        return self.n

    def baseline(self) -> ToySpec:
        return replace(self, epsilon=None)

    def label(self) -> str:
        return "toy" if self.epsilon is None else f"toy, epsilon {self.epsilon:g}"

    def seed_key(self, seed: int) -> str:
        return hashlib.sha256(json.dumps([self.n, self.epsilon, seed]).encode()).hexdigest()[:32]

    def replace(self, **changes: Any) -> ToySpec:
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, **asdict(self)}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), separators=(",", ":"))


def from_dict(given: Mapping[str, Any]) -> ToySpec:
    for name in given:
        if name not in FIELDS:
            raise SpecError("spec", f"{name} is not a field; the fields are {', '.join(FIELDS)}.")
    return ToySpec(**given)


@dataclass(frozen=True, eq=False, kw_only=True)
class ToyTrace(TraceCore):
    """means: [C] as released; parts: arrays by name."""

    means: Array
    parts: Mapping[str, Array]


class ToyRun:
    def __init__(self, spec: ToySpec, seed: int) -> None:
        self.spec, self.seed, self.done = spec, seed, False
        self.at = np.unique(np.geomspace(1, spec.n, 5).round().astype(np.int64))
        rng = np.random.default_rng([spec.n, seed])
        flips = rng.integers(0, 2, spec.n).cumsum()[self.at - 1] / self.at
        self.noise = 0 * flips if spec.epsilon is None else rng.laplace(size=len(self.at)) / spec.epsilon
        self.means = flips + self.noise / self.at

    @property
    def progress(self) -> float:
        return float(self.done)

    def advance(self, seconds: float = 0.1) -> bool:
        self.done = True
        return True

    def curve(self) -> Curve:
        points = len(self.at) if self.done else 0
        return Curve("n", "gap", self.at[:points], np.abs(self.means - 0.5)[:points])

    def trace(self) -> ToyTrace:
        return ToyTrace(
            spec=self.spec, seed=self.seed, complete=self.done, curve=self.curve(), v_star=0.5,
            guarantee=NOTHING_PROMISED, seconds=0.001, rate=1000.0 * self.spec.n, means=self.means,
            parts={"noise": self.noise},
        )  # fmt: skip


def axes(base: ToySpec) -> dict[str, Callable[[Any], Any]]:
    def checker(field: Field) -> Callable[[Any], Any]:
        return lambda value: field.parse(value) if isinstance(value, str) else field.check(value)

    return {name: checker(field) for name, field in FIELDS.items()}


def nothing() -> Iterator[Callable[[], object]]:
    yield from ()


TOY = Kind(
    key="toy",
    fields=FIELDS,
    from_dict=from_dict,
    start=ToyRun,
    estimate=lambda spec: Estimate(0.001, 1000, 1),
    trace=ToyTrace,
    axis="n",
    measure="gap",
    axes=axes,
    along=lambda base, chosen: replace(base, **chosen),
    questions={"guarantee": lambda spec: NOTHING_PROMISED.to_dict()},
)

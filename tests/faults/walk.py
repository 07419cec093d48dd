"""A simulation whose every bit is known, a random walk that is the same however it is sliced; and how much is tried:
little in `make test`, all of it by `make faults`."""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import asdict, dataclass, replace
from functools import cache
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from dprl.runs.store import Store
from tests.runs import fake

CHUNK = 100  # steps that are made at once
# FAULTS is `long` or a share of that such as 0.1: with ten seeds, all of it in ten parts.
SHARE = float(os.environ.get("FAULTS", "0").replace("long", "1"))
SEED = int(os.environ.get("FAULTS_SEED", "0"))


@dataclass(frozen=True)
class WalkSpec:
    """A walk of `chunks` times CHUNK steps, each of which takes `pause` seconds, a seed."""

    name: str = "a"
    seeds: int = 5
    chunks: int = 20
    pause: float = 0.0

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    def seed_key(self, seed: int) -> str:
        return hashlib.sha256(f"{self.to_json()} {seed}".encode()).hexdigest()[:32]


@dataclass(frozen=True)
class WalkTrace:
    seed: int
    complete: bool
    points: NDArray[np.float64]

    def to_bytes(self) -> bytes:
        return bytes([self.seed, self.complete]) + self.points.tobytes()


class Walk:
    def __init__(self, spec: WalkSpec, seed: int) -> None:
        self.spec, self.seed = spec, seed
        self.rng = np.random.default_rng([seed, *spec.name.encode()])
        self.points: list[NDArray[np.float64]] = []

    @property
    def progress(self) -> float:
        return len(self.points) / self.spec.chunks

    def advance(self, seconds: float = 0.1) -> bool:
        until = time.monotonic() + seconds
        while self.progress < 1.0 and time.monotonic() < until:
            time.sleep(self.spec.pause)
            start = self.points[-1][-1] if self.points else 0.0
            self.points.append(start + np.cumsum(self.rng.standard_normal(CHUNK)))
        return self.progress >= 1.0

    def curve(self) -> fake.FakeCurve:
        values = np.array([part[-1] for part in self.points])
        return fake.FakeCurve(np.arange(1, len(values) + 1, dtype=np.int64), values)

    def trace(self) -> WalkTrace:
        points = np.concatenate(self.points) if self.points else np.zeros(0)
        return WalkTrace(self.seed, self.progress >= 1.0, points)


@cache
def result(spec: WalkSpec, seed: int) -> bytes:
    run = Walk(replace(spec, pause=0.0), seed)
    run.advance(float("inf"))
    return run.trace().to_bytes()


NAME, start, answer = __name__, Walk, fake.answer


def estimate(spec: WalkSpec) -> SimpleNamespace:
    return SimpleNamespace(seconds=spec.chunks * spec.pause)


def spec_from_json(text: str) -> WalkSpec:
    return WalkSpec(**json.loads(text))


def trace_from_bytes(data: bytes) -> WalkTrace:
    return WalkTrace(data[0], bool(data[1]), np.frombuffer(data[2:]))


def times(short: int, long: int) -> int:
    return max(short, round(SHARE * long))


def rng(name: str) -> np.random.Generator:
    """The points at which a test does harm."""
    return np.random.default_rng([SEED, *name.encode()])


def right(store: Store, spec: WalkSpec) -> int:
    """How many results of a run there are: each is what it has to be, bit for bit."""
    traces = store.traces(spec)
    for trace in traces:
        if trace.complete:
            assert trace.to_bytes() == result(spec, trace.seed)
    return sum(trace.complete for trace in traces)


def sentence(text: str) -> bool:
    """Whether this can be shown to a visitor."""
    return text[:1].isupper() and text.endswith(".") and "Traceback" not in text and "\n" not in text

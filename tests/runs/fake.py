"""A simulation with nothing to compute: it sleeps, or does what its spec says."""

from __future__ import annotations

import json
import os
import signal
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprl.fields import SpecError


@dataclass(frozen=True)
class FakeSpec:
    """name: tells specs apart; seconds: a seed's; act: what happens when half of that is over;
    diary: a file that gets a line per seed begun."""

    name: str = "a"
    seeds: int = 2
    seconds: float = 0.2
    act: str = ""
    diary: str = ""
    source: str = "today"

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    def seed_key(self, seed: int) -> str:
        return f"{self.source}/{self.name}/{self.act}/{seed}"


@dataclass(frozen=True)
class FakeTrace:
    seed: int
    complete: bool

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()


class FakeCurve(NamedTuple):
    at: NDArray[np.int64]
    values: NDArray[np.float64]


class FakeRun:
    def __init__(self, spec: FakeSpec, seed: int) -> None:
        if spec.diary:
            with open(spec.diary, "a") as file:
                file.write(f"{spec.name}/{seed}\n")
        self.spec, self.seed, self.done = spec, seed, 0.0

    @property
    def progress(self) -> float:
        return min(1.0, self.done / self.spec.seconds)

    def advance(self, seconds: float = 0.1) -> bool:
        seconds = min(seconds, self.spec.seconds - self.done)
        time.sleep(max(0.0, seconds))
        self.done += seconds
        if self.progress >= 0.5 and self.spec.act:
            act(self.spec.act)
        return self.progress >= 1.0

    def curve(self) -> FakeCurve:
        at = np.arange(1, 1 + int(10 * self.progress), dtype=np.int64)
        return FakeCurve(at, at.astype(np.float64) / 2)

    def trace(self) -> FakeTrace:
        return FakeTrace(self.seed, self.progress >= 1.0)


def act(what: str) -> None:
    """raise | refuse | die | die-once:FILE (unless the file exists, which then does)"""
    if what == "raise":
        raise ZeroDivisionError("no\nsuch thing")
    if what == "refuse":
        raise SpecError("episodes", "too many.")
    if what.startswith("die-once:"):
        marker = Path(what.removeprefix("die-once:"))
        if marker.exists():
            return
        marker.touch()
    os.kill(os.getpid(), signal.SIGKILL)


NAME, start = __name__, FakeRun


def estimate(spec: FakeSpec) -> SimpleNamespace:
    return SimpleNamespace(seconds=spec.seconds)


def trace_from_bytes(data: bytes) -> FakeTrace:
    return FakeTrace(**json.loads(data))


def spec_from_json(text: str) -> FakeSpec:
    fields: dict[str, Any] = json.loads(text)
    # A stored spec keeps its name; its key follows from the program of today.
    return FakeSpec(**fields | {"source": "today"})


def answer(question: str, spec: FakeSpec) -> str:
    """What was asked, unless it breaks something."""
    if question == "raise":
        raise ZeroDivisionError("no such thing")
    return f"{question} of {spec.name}"

"""What is known of a run that somebody asks for or looks at, and of its seeds."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from dprl.runs.limits import Lease
from dprl.runs.workers import Slot

SeedState = Literal["idle", "queued", "failed", "cancelled"]


@dataclass(eq=False)
class Seed:
    """One seed that somebody asked for and that is not done.

    Attributes:
        state: queued also while it is played.
        slot: whose worker has begun it; playing: it has a turn just now.
        here: it cannot be played on a cluster.
        seconds: of turns so far.
        trace: of a cancelled one, as far as it got.
    """

    key: str
    number: int
    spec: str
    state: SeedState = "idle"
    slot: Slot | None = None
    playing: bool = False
    here: bool = False
    deaths: int = 0
    message: str = ""
    progress: float = 0.0
    curve: bytes = b""
    trace: bytes = b""
    seconds: float = 0.0
    began_at: float = 0.0
    runs: list[Run] = field(default_factory=list)

    @property
    def begun(self) -> bool:
        """Whether a worker has begun it, and somebody waits for it."""
        return self.state == "queued" and self.slot is not None

    def wishes(self) -> Iterator[tuple[Run, str, Ask]]:
        """Yield everyone who waits for it."""
        for run in self.runs:
            for visitor, ask in run.asks.items():
                if ask.waiting:
                    yield run, visitor, ask


@dataclass
class Ask:
    """A visitor's request for a run. at: Unix time; lease: it lasts as long as a tab."""

    at: float
    order: float
    lease: Lease | None
    draft: bool
    waiting: bool = True
    cancelled: bool = False


@dataclass(eq=False)
class Run:
    """A spec with all its seeds.

    Attributes:
        keys: of its seeds.
        seconds: that one takes, estimated.
        asks: by visitor.
        there: sizes of traces in the store, -1 for a curve alone; looked: when, and after how many changes.
        rev: raised by every change.
        fresh: seeds that no worker has begun, some of which may have been begun meanwhile for another run.
        served: when it last began a turn.
    """

    number: int
    spec: Any
    text: str
    name: str
    keys: tuple[str, ...]
    seconds: float = 0.0
    asks: dict[str, Ask] = field(default_factory=dict)
    there: dict[str, int] = field(default_factory=dict)
    looked: tuple[float, int] = (float("-inf"), 0)
    rev: int = 0
    fresh: deque[Seed] = field(default_factory=deque)
    served: float = 0.0

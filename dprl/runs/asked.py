"""The known state of a run that somebody asks for or looks at, and of its seeds."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from dprl.runs.limits import Lease
from dprl.runs.workers import Slot


@dataclass(eq=False)
class Seed:
    """One seed that somebody asked for and that is not done.

    Attributes:
        state: queued also while it is played.
        slot: whose worker has begun it; playing: it has a turn just now; here: no cluster can play it.
        seconds: of turns so far; began_at: Unix time.
        trace: of a cancelled one, as far as it got.
    """

    key: str
    number: int
    spec: str
    state: Literal["queued", "failed", "cancelled", "done"] = "queued"
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
    def fresh(self) -> bool:
        """Whether somebody waits for it, and no worker has begun it."""
        return self.state == "queued" and self.slot is None

    def wishes(self) -> Iterator[tuple[Run, str, Ask]]:
        """Yield everyone who waits for it."""
        for run in self.runs:
            for visitor, ask in run.waiting():
                yield run, visitor, ask


@dataclass
class Ask:
    """A visitor's request for a run. at: Unix time; lease: it lasts as long as a tab."""

    at: float
    order: int
    lease: Lease | None
    draft: bool
    waiting: bool = True
    cancelled: bool = False


@dataclass(eq=False)
class Run:
    """A spec with all its seeds.

    Attributes:
        keys: of its seeds; seconds: that one needs, estimated.
        asks: by visitor; served: when it last began a turn; rev: raised by every change.
        there: sizes of traces in the store, -1 for a curve alone; looked: when, and after how many changes.
        fresh: seeds that no worker has begun, some of which may have been begun meanwhile for another run.
    """

    number: int
    spec: Any
    text: str
    name: str
    keys: tuple[str, ...]
    seconds: float = 0.0
    asks: dict[str, Ask] = field(default_factory=dict)
    served: float = 0.0
    rev: int = 0
    there: dict[str, int] = field(default_factory=dict)
    looked: tuple[float, int] = (float("-inf"), 0)
    fresh: deque[Seed] = field(default_factory=deque)

    def waiting(self) -> list[tuple[str, Ask]]:
        """Return the visitors who wait for it."""
        return [(visitor, ask) for visitor, ask in self.asks.items() if ask.waiting]

    @property
    def version(self) -> str:
        """Changes whenever anything of the run does."""
        return f"{self.number}.{self.rev}"

"""What was computed of every learner, as a file: `python -m bench.bundled landscape`, `dprl reproduce landscape`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.landscape.entry import Entry
from dprl.landscape.lower import LowerBound, written

Array = NDArray[np.float64]
DIGITS = 5


@dataclass(frozen=True)
class NoisePromise:
    """What noise promises.

    Attributes:
        model: JDP, SDP or LDP.
        mechanism: how the noise is drawn, in words.
        epsilon, delta: what our accountant proves when one user is replaced.
        claimed: (epsilon, delta) that the noise is meant for; of noise as in the paper, what the paper claims.
    """

    model: str
    mechanism: str
    epsilon: float
    delta: float
    claimed: tuple[float, float]


@dataclass(frozen=True)
class Cell:
    """A learner on a problem.

    Attributes:
        entry: key of the learner, its trust and constants.
        problem: key of the problem.
        at: [N] users; each is a run of its own.
        regret: [seeds, N] of an average episode times that, at the end of the run.
        v_star: what the best policy earns in an episode.
        refused: by K, why there is no run of so many users.
        needed: users from which on an average episode has lost at most TARGET of V*, by the mean over seeds; with its
            95% bootstrap interval over seeds. Infinite where that takes more than the most that was run, NaN where
            nothing was; where it is the least K that was run, it may be fewer.
        proved: what its noise promises; None without privacy, or where nothing was run.
    """

    entry: str
    problem: str
    at: Array
    regret: Array
    v_star: float
    refused: Mapping[int, str]
    needed: tuple[float, float, float]
    proved: NoisePromise | None

    @property
    def why(self) -> str:
        """Why it was not run at all; "" where it was."""
        return next(iter(self.refused.values()), "") if not len(self.at) else ""

    def to_dict(self) -> dict[str, Any]:
        """JSON-able; None for what is infinite or not known, with which of both."""
        whole = asdict(self)
        reasons: dict[str, list[int]] = {}
        for K, why in sorted(self.refused.items()):
            reasons.setdefault(why, []).append(K)
        whole["refused"] = [[K, why] for why, K in reasons.items()]
        whole["at"] = [int(K) for K in self.at]
        whole["regret"] = [[float(f"{value:.{DIGITS}g}") for value in row] for row in self.regret]
        whole["needed"] = [to_json_number(value) for value in self.needed]
        return whole

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Cell:
        """What `to_dict` wrote."""
        proved = given["proved"]
        refused = {K: why for many, why in given["refused"] for K in many}
        first, low, high = (from_json_number(value) for value in given["needed"])
        return cls(
            **{
                **given,
                "at": np.array(given["at"], float),
                "regret": np.array(given["regret"], float).reshape(len(given["regret"]), len(given["at"])),
                "refused": dict(sorted(refused.items())),
                "needed": (first, low, high),
                "proved": promise_of(proved),
            }
        )


def promise_of(given: Mapping[str, Any] | None) -> NoisePromise | None:
    """As JSON has it."""
    return None if given is None else NoisePromise(**{**given, "claimed": tuple(given["claimed"])})


def to_json_number(value: float) -> float | str | None:
    """A number to DIGITS digits; JSON has no infinity and no NaN."""
    if np.isnan(value):
        return None
    return "more" if np.isinf(value) else float(f"{value:.{DIGITS}g}")


def from_json_number(value: float | str | None) -> float:
    """What `to_json_number` wrote."""
    return np.nan if value is None else np.inf if isinstance(value, str) else value


def by_place(bounds: Iterable[LowerBound]) -> dict[tuple[str, str, int], LowerBound]:
    """Lower bounds by problem, privacy model and K."""
    return {(one.problem, one.privacy, one.K): one for one in bounds}


@dataclass(frozen=True)
class Landscape:
    """All of it.

    Attributes:
        version: with what it was computed.
        users: K, ascending.
        entries: by key.
        cells: by entry and problem.
        paper_noise: by learner and trust, "dp-ucbvi:central", what noise as in the paper claims and proves.
        lower: by problem, privacy model and K, what no algorithm stays below there and on one neighbour.
    """

    version: Mapping[str, str]
    users: tuple[int, ...]
    entries: Mapping[str, Entry]
    cells: Mapping[tuple[str, str], Cell]
    paper_noise: Mapping[str, NoisePromise]
    lower: Mapping[tuple[str, str, int], LowerBound] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able."""
        return {
            "version": dict(self.version),
            "users": list(self.users),
            "paper_noise": {key: asdict(promise) for key, promise in self.paper_noise.items()},
            "entries": [asdict(entry) for entry in self.entries.values()],
            "cells": [cell.to_dict() for cell in self.cells.values()],
            "lower": written(self.lower.values()),
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Landscape:
        """What `to_dict` wrote."""
        entries = [Entry(**one) for one in given["entries"]]
        cells = [Cell.from_dict(one) for one in given["cells"]]
        paper_noise = {key: promise_of(one) for key, one in given["paper_noise"].items()}
        return cls(
            given["version"],
            tuple(given["users"]),
            {entry.key: entry for entry in entries},
            {(cell.entry, cell.problem): cell for cell in cells},
            {key: one for key, one in paper_noise.items() if one is not None},
            by_place(LowerBound.from_dict(one) for one in given["lower"]),
        )

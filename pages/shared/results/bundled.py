"""What comes with the program, so that a page shows its chart at once: above all finished runs.

`python -m bench.bundled` computes the files.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl.simulation import RunSpec, spec_from_dict
from pages.shared.results.data import Regret

DIRECTORY = Path(__file__).parents[3] / "assets"


def path_of(name: str) -> Path:
    """A file of assets/ by what pages call it."""
    return DIRECTORY / f"{name}.json"


def asset(name: str) -> Any:
    """What such a file says. Nothing is kept of it."""
    return json.loads(path_of(name).read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Bundled(Regret):
    """A finished run at some of its checkpoints, evenly spread on a log scale, the last one among them.

    noise_std: standard deviation of the noise in one counter at the worst release, None without privacy.
    lower: [seeds, C], the low estimate V~ of a run on data sets.
    """

    noise_std: float | None = None
    lower: NDArray[np.float64] | None = None


@cache
def bundled(name: str) -> dict[Any, Bundled]:
    """The runs of one file by spec; read once. A run whose spec the file does not hold is simply not there."""
    found = {}
    for entry in asset(name):
        rows = np.array(entry["regret"])
        episodes = np.array(entry["episodes"], np.int64)
        found[spec_from_dict(entry["spec"])] = Bundled(
            episodes,
            rows,
            np.ones(len(rows), bool),
            noise_std=entry["noise_std"],
            lower=np.array(entry["lower"]) if "lower" in entry else None,
        )
    return found


@cache
def bundled_ends(name: str) -> dict[RunSpec, NDArray[np.float64]]:
    """[seeds] regret at the end of the runs of one file."""
    return {RunSpec.from_dict(entry["spec"]): np.array(entry["ends"]) for entry in asset(name)}

"""The finished runs that come with the program, so that a page shows its chart at once.

`python -m bench.bundled` computes the files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dprl.simulation import OfflineSpec, RunSpec, spec_from_dict
from pages.shared.examples import example_specs, home_specs
from pages.shared.results.data import Regret

DIRECTORY = Path(__file__).parents[3] / "assets"
ENDS = DIRECTORY / "tradeoffs.json"
EXPLORED = DIRECTORY / "exploration.json"


def free_specs() -> list[RunSpec]:
    """What the page on when privacy is free shows at first, with either kind of constants."""
    from pages.free.link import BASE, compared

    return [curve.spec for bonus in ("anytime", "paper") for curve in compared(BASE.replace(bonus=bonus))[0]]


def explored_specs() -> list[RunSpec]:
    """What the same page shows of exploration noise, with either kind of constants; RLSVI has the same with both."""
    from pages.free.explored import runs
    from pages.free.link import BASE

    return list(
        dict.fromkeys(spec for bonus in ("anytime", "paper") for spec in runs(BASE.replace(bonus=bonus)))
    )


def offline_specs() -> list[OfflineSpec]:
    """What the page Offline shows at first, and what its buttons offer."""
    from pages.offline.examples import bundled_specs

    return bundled_specs()


def linear_specs() -> list[RunSpec]:
    """What the page Linear shows at first, and what its buttons offer."""
    from pages.linear.examples import bundled_specs

    return bundled_specs()


# What is in which file: name.json holds the runs of these specs.
FILES: dict[str, Callable[[], Sequence[Any]]] = {
    "home": home_specs,
    "examples": example_specs,
    "free": free_specs,
    "offline": offline_specs,
    "linear": linear_specs,
}


@dataclass(frozen=True)
class Bundled(Regret):
    """A finished run at some of its checkpoints, evenly spread on a log scale, the last one among them.

    noise_std: standard deviation of the noise in one counter at the worst release, None without privacy.
    lower: [seeds, C], the low estimate V~ of a run on data sets.
    """

    noise_std: float | None = None
    lower: NDArray[np.float64] | None = None


@st.cache_resource(show_spinner=False)
def bundled(name: str) -> dict[Any, Bundled]:
    """The runs of one file by spec; read once. A run whose spec the file does not hold is simply not there."""
    found = {}
    for entry in json.loads((DIRECTORY / f"{name}.json").read_text(encoding="utf-8")):
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


@st.cache_resource(show_spinner=False)
def bundled_ends(name: str = ENDS.stem) -> dict[RunSpec, NDArray[np.float64]]:
    """[seeds] regret at the end of the runs of one file, by default those that the page Trade-offs shows first."""
    entries = json.loads((DIRECTORY / f"{name}.json").read_text(encoding="utf-8"))
    return {RunSpec.from_dict(entry["spec"]): np.array(entry["ends"]) for entry in entries}

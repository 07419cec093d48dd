"""The finished runs that come with the program, so that a page shows its chart at once.

`python -m pages.parts.bundled` computes all files anew with the real engine, after a change that alters them;
`python -m pages.parts.bundled home` only that one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dprl.simulation import RunSpec, run
from pages.parts.data import Regret
from pages.parts.examples import home_specs

DIRECTORY = Path(__file__).parents[2] / "assets"
# What is in which file: name.json holds the runs of these specs.
FILES: dict[str, Callable[[], Sequence[RunSpec]]] = {"home": home_specs}
DIGITS = 6  # kept of a regret
POINTS = 100  # kept of a curve: enough for a chart


@dataclass(frozen=True)
class Bundled(Regret):
    """A finished run at some of its checkpoints, evenly spread on a log scale, the last one among them.

    noise_std: standard deviation of the noise in one counter at the worst release, None without privacy.
    """

    noise_std: float | None = None


@st.cache_resource(show_spinner=False)
def bundled(name: str) -> dict[RunSpec, Bundled]:
    """The runs of one file by spec; read once. A run whose spec the file does not hold is simply not there."""
    found = {}
    for entry in json.loads((DIRECTORY / f"{name}.json").read_text(encoding="utf-8")):
        rows = np.array(entry["regret"])
        episodes = np.array(entry["episodes"], np.int64)
        found[RunSpec.from_dict(entry["spec"])] = Bundled(
            episodes, rows, np.ones(len(rows), bool), noise_std=entry["noise_std"]
        )
    return found


def thinned(episodes: NDArray[np.int64]) -> NDArray[np.intp]:
    """Which checkpoints are kept: those at or after POINTS log-spaced targets from the first to the last."""
    targets = np.geomspace(episodes[0], episodes[-1], POINTS)
    targets[-1] = episodes[-1]  # not by rounding a little more
    return np.unique(np.searchsorted(episodes, targets))


def compute(spec: RunSpec) -> dict[str, object]:
    """One entry of a file: spec, checkpoints kept, regret of every seed there, and noise."""
    trace = run(spec)
    at = thinned(trace.episodes)
    regret = [[float(f"{value:.{DIGITS}g}") for value in row] for row in trace.regret[:, at]]
    return {
        "spec": spec.to_dict(),
        "noise_std": trace.guarantee.noise_std,
        "episodes": trace.episodes[at].tolist(),
        "regret": regret,
    }


if __name__ == "__main__":
    for name in sys.argv[1:] or FILES:
        lines = ",\n".join(json.dumps(compute(spec), separators=(",", ":")) for spec in FILES[name]())
        (DIRECTORY / f"{name}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")

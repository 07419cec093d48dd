"""The finished runs that come with the program, so that a page shows its chart at once.

`python -m pages.shared.bundled` computes all files anew with the real engine, after a change that alters them;
`python -m pages.shared.bundled home` only that one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dprl.simulation import RunSpec, run
from pages.shared.data import Regret
from pages.shared.examples import home_specs

DIRECTORY = Path(__file__).parents[2] / "assets"
ENDS = DIRECTORY / "tradeoffs.json"


def free_specs() -> list[RunSpec]:
    """What the page on when privacy is free shows at first, with either kind of constants."""
    from pages.free.link import BASE, compared

    return [
        curve.spec for bonus in ("practical", "paper") for curve in compared(BASE.replace(bonus=bonus))[0]
    ]


# What is in which file: name.json holds the runs of these specs.
FILES: dict[str, Callable[[], Sequence[RunSpec]]] = {"home": home_specs, "free": free_specs}
DIGITS = 6  # kept of a regret
END_DIGITS = 9  # of a regret at the end, from which others are taken
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


@st.cache_resource(show_spinner=False)
def bundled_ends() -> dict[RunSpec, NDArray[np.float64]]:
    """[seeds] regret at the end of the runs that the page Trade-offs shows first."""
    entries = json.loads(ENDS.read_text(encoding="utf-8"))
    return {RunSpec.from_dict(entry["spec"]): np.array(entry["ends"]) for entry in entries}


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


def final(spec: RunSpec) -> list[float]:
    """[seeds] regret at the end of a run."""
    return [float(f"{value:.{END_DIGITS}g}") for value in run(spec).regret[:, -1]]


def first_study() -> dict[RunSpec, list[float]]:
    """The ends of all runs that Trade-offs shows at first, those of its search for users included."""
    from dprl import search
    from pages.shared.data import v_star
    from pages.tradeoffs import study as studies

    study = studies.DEFAULT
    found = {spec: final(spec) for spec in study.sweep.specs}

    def price(way: str, episodes: int) -> NDArray[np.float64]:
        spec = study.searches[way][episodes]
        for one in (spec, spec.twin()):
            if one not in found:
                found[one] = final(one)
        extra: NDArray[np.float64] = np.array(found[spec]) - np.array(found[spec.twin()])
        return extra / episodes

    target = study.share / 100 * v_star(study.base)
    picked = search.bootstrap(study.base.seeds)
    for way, runs in study.searches.items():
        search.search_users(partial(price, way), target, tuple(runs), study.base.episodes, picked)
    return found


if __name__ == "__main__":
    for name in FILES:
        if name not in sys.argv[1:] and sys.argv[1:]:
            continue
        lines = ",\n".join(json.dumps(compute(spec), separators=(",", ":")) for spec in FILES[name]())
        (DIRECTORY / f"{name}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    if ENDS.stem in sys.argv[1:] or not sys.argv[1:]:
        found = [{"spec": spec.to_dict(), "ends": ends} for spec, ends in first_study().items()]
        lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in found)
        ENDS.write_text(f"[\n{lines}\n]\n", encoding="utf-8")

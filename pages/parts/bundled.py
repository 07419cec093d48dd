"""The finished runs that come with the program, so that pages show their first chart at once.

`python -m pages.parts.bundled` computes them anew with the real engine, after a change that alters them.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dprl.simulation import RunSpec, run
from pages.parts.data import Regret

ASSETS = Path(__file__).parents[2] / "assets"
ENDS = ASSETS / "tradeoffs.json"
DIGITS = 9  # kept of a regret, where tests compare to a relative 1e-8


@st.cache_resource(show_spinner=False)
def bundled(name: str = "home") -> dict[RunSpec, Regret]:
    """The bundled runs of a page by spec; read once. A run whose spec the file does not hold is simply not there."""
    found = {}
    for entry in json.loads((ASSETS / f"{name}.json").read_text(encoding="utf-8")):
        rows = np.array(entry["regret"])
        done = np.ones(len(rows), bool)
        found[RunSpec.from_dict(entry["spec"])] = Regret(np.array(entry["episodes"]), rows, done)
    return found


@st.cache_resource(show_spinner=False)
def bundled_ends() -> dict[RunSpec, NDArray[np.float64]]:
    """[seeds] regret at the end of the runs that the page Trade-offs shows first."""
    entries = json.loads(ENDS.read_text(encoding="utf-8")) if ENDS.exists() else []
    return {RunSpec.from_dict(entry["spec"]): np.array(entry["ends"]) for entry in entries}


def compute(spec: RunSpec) -> dict[str, object]:
    """One entry of a file: spec, checkpoints, and the regret of every seed."""
    trace = run(spec)
    regret = [[float(f"{value:.{DIGITS}g}") for value in row] for row in trace.regret]
    return {"spec": spec.to_dict(), "episodes": trace.episodes.tolist(), "regret": regret}


def final(spec: RunSpec) -> list[float]:
    """[seeds] regret at the end of a run."""
    return [float(f"{value:.{DIGITS}g}") for value in run(spec).regret[:, -1]]


def first_study() -> dict[RunSpec, list[float]]:
    """The ends of all runs that Trade-offs shows at first, those of its search for users included."""
    from dprl import metrics, studies
    from pages.parts.data import v_star

    study = studies.DEFAULT
    found = {spec: final(spec) for spec in study.sweep.specs}

    def price(way: str, episodes: int) -> NDArray[np.float64]:
        spec = study.at(way, episodes)
        for one in (spec, spec.twin()):
            if one not in found:
                found[one] = final(one)
        extra: NDArray[np.float64] = np.array(found[spec]) - np.array(found[spec.twin()])
        return extra / episodes

    target = study.share / 100 * v_star(study.base)
    picked = metrics.bootstrap(study.base.seeds)
    for way in study.ways:
        metrics.search_users(partial(price, way), target, studies.USERS_GRID, study.base.episodes, picked)
    return found


def specs() -> dict[str, list[RunSpec]]:
    """What each file of whole runs holds, by its name."""
    from pages.parts.examples import HOME
    from pages.parts.free_link import BASE, compared

    return {
        "home": [curve.spec for curve in HOME.curves],
        "free": [
            curve.spec for bonus in ("practical", "paper") for curve in compared(BASE.replace(bonus=bonus))[0]
        ],
    }


if __name__ == "__main__":
    for name, wanted in specs().items():
        lines = ",\n".join(json.dumps(compute(spec), separators=(",", ":")) for spec in wanted)
        (ASSETS / f"{name}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    lines = ",\n".join(
        json.dumps({"spec": spec.to_dict(), "ends": ends}, separators=(",", ":"))
        for spec, ends in first_study().items()
    )
    ENDS.write_text(f"[\n{lines}\n]\n", encoding="utf-8")

"""Bundled results, above all finished runs, so that a page shows its chart at once.

`python -m bench.bundled` computes the files.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprl.assets import ASSETS
from dprl.metrics.curves import Evidence, RunCurves
from dprl.papers import CLAIMS
from dprl.papers.evidence import from_dict
from dprl.papers.report import ClaimReport, report
from dprl.simulation import AttackSpec, spec_from_dict

DIRECTORY = ASSETS
FILES_OF_ONLINE = ("home", "examples")  # files with runs of the page Online


def path_of(name: str) -> Path:
    """Return the path of a file of assets/ by its name on pages."""
    return DIRECTORY / f"{name}.json"


def asset(name: str) -> Any:
    """Read such a file, without caching it."""
    return json.loads(path_of(name).read_text(encoding="utf-8"))


@cache
def bundled(name: str) -> dict[Any, RunCurves]:
    """Return the runs of one file by spec, read once. They have some of their checkpoints, evenly spread on a log scale
    and including the last, or only the last."""
    found = {}
    for entry in asset(name):
        spec = spec_from_dict(entry["spec"])
        if "ends" in entry:
            found[spec] = RunCurves(np.array([spec.size]), np.array(entry["ends"])[:, None])
            continue
        found[spec] = RunCurves(
            np.array(entry["episodes"], np.int64),
            np.array(entry["regret"]),
            noise_std=entry["noise_std"],
            lower=np.array(entry["lower"]) if "lower" in entry else None,
        )
    return found


def comes_along(spec: Any) -> bool:
    """Return whether the curves of an online run come with the program, so that nobody has to compute them."""
    return any(spec in bundled(name) for name in FILES_OF_ONLINE)


class Bundled(NamedTuple):
    """The bundled evidence, the version that computed it, and its verdicts."""

    evidence: Evidence
    version: dict[str, str]
    reports: dict[str, ClaimReport]


@cache
def bundled_papers() -> Bundled:
    """Return the bundled evidence with its verdicts, read once."""
    found: dict[str, Any] = asset("papers")
    questions = {spec: asked for claim in CLAIMS.values() for spec, asked in claim.questions.items()}
    known = from_dict(found, questions)
    return Bundled(known, found["version"], {key: report(claim, known) for key, claim in CLAIMS.items()})


class AttackScores(NamedTuple):
    """The scores so far: [n] in each world; releases, counters: see AttackTrace; token: changes when they do."""

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    releases: int
    counters: int
    token: str


@cache
def bundled_scores() -> dict[AttackSpec, AttackScores]:
    """Return the attack that the page opens with, which comes with the program."""
    found = asset("attack")
    scores = AttackScores(
        np.array(found["first"]), np.array(found["second"]), found["releases"], found["counters"], "bundled"
    )
    return {spec_from_dict(found["spec"]): scores}

"""Bundled evidence for claims and attacks, and its verdicts."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprl.metrics.curves import Evidence
from dprl.papers import CLAIMS
from dprl.papers.evidence import from_dict
from dprl.papers.report import ClaimReport, report
from dprl.simulation import AttackSpec, spec_from_dict
from pages.shared.results.bundled import asset


class Bundled(NamedTuple):
    """The bundled evidence, the version that computed it, and its verdicts."""

    evidence: Evidence
    version: dict[str, str]
    reports: dict[str, ClaimReport]


@cache
def bundled() -> Bundled:
    """Read once."""
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

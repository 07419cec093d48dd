"""Experiments on noise: the papers' guarantees, noise bounds in runs, and the data that two colluding users recover."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dprl.environments import ENVIRONMENTS
from dprl.learners import ALGORITHMS, OFFLINE
from dprl.metrics.attack import Measured, clopper_pearson
from dprl.metrics.curves import Array, Evidence
from dprl.metrics.verdicts import Finding, at_most, more_than
from dprl.papers.claim import TRACES, Setting
from dprl.privacy import PRIVATIZERS
from dprl.simulation import AttackSpec, OfflineSpec, RunSpec
from dprl.words import human

EXACT = 1e-9
SURELY, HARDLY = 0.95, 0.05
ROUNDING = 1e-5  # scales are rounded up to six digits


def proves(spec: RunSpec | OfflineSpec) -> Setting:
    """Test that a run's noise gives the stated guarantee, which covers the replacement of a user's whole trajectory."""
    learner: Any = {**ALGORITHMS, **OFFLINE}[spec.algorithm]
    model = f" · {PRIVATIZERS[spec.privacy].title}" if spec.privacy in PRIVATIZERS else ""
    budget = "ρ" if getattr(spec, "rho", None) else "ε"

    def judge(evidence: Evidence) -> Finding:
        card = evidence.answers["guarantee", spec]
        kind = "rho" if "claimed_rho" in card else "epsilon"
        ratio = card[f"proved_{kind}"] / card[f"claimed_{kind}"]
        found = at_most(Measured(ratio, ratio, ratio), 1 + ROUNDING)
        return replace(found, threshold=1.0, zone=(0.0, 1.0))

    return Setting(
        f"{learner.title}{model} · {budget} = {getattr(spec, 'rho', None) or spec.epsilon:g}",
        f"proved {budget} over claimed {budget}",
        "at most 1",
        (spec,),
        judge,
        question="guarantee",
        form="ratio",
        over="",
    )


def read(answer: dict[str, Any], noise: str) -> Array:
    """Return the errors [users - 2] in an attack by users t - 1 and t + 1 on the visits of user t, from t = 2 on. They
    subtract release t - 1 and the visits of user t + 1 from release t + 1."""
    visits = np.array(answer["visits"], float)
    told = np.cumsum(visits) + np.array(answer[noise])
    off: Array = np.abs(told[2:] - told[:-2] - visits[2:] - visits[1:-1])
    return off


def recovered(specs: Sequence[AttackSpec], noise: str, name: str) -> Setting:
    """Test how many users' data an attack recovers exactly, with noise drawn once (`one`) or from a `tree`."""

    def judge(evidence: Evidence) -> Finding:
        off = np.concatenate([read(evidence.answers["collusion", spec], noise) for spec in specs])
        found = clopper_pearson(int((off < EXACT).sum()), len(off))
        return more_than(found, SURELY) if noise == "one" else at_most(found, HARDLY)

    return Setting(
        f"{name} · ε = {specs[0].run.epsilon:g} · {len(specs)} repetitions",
        "share of users recovered exactly",
        f"more than {SURELY:g}" if noise == "one" else f"at most {HARDLY:g}",
        tuple(specs),
        judge,
        question="collusion",
        form="share",
        over="users",
    )


BETA = 0.1  # the default of every learner
SEEN = {  # for each key of `evidence.seen_in`, a description and the required share of runs
    "covered": ("share of runs whose noise stays within E", 1 - BETA / 3),
    "consistent": ("share of runs with consistent counts", 1 - BETA / 3),
    "optimistic": ("share of runs with optimistic values", 1 - BETA),
}


def share_of_runs(what: str, specs: Sequence[RunSpec]) -> Setting:
    """Test that enough runs have the property `what`, a key of SEEN."""
    first, (words, least) = specs[0], SEEN[what]

    def judge(evidence: Evidence) -> Finding:
        held = [one for spec in specs for one in evidence.answers[TRACES, spec][what]]
        return more_than(clopper_pearson(sum(held), len(held)), least)

    places = ", ".join(dict.fromkeys(ENVIRONMENTS[spec.environment].title for spec in specs))
    runs = f"{sum(spec.seeds for spec in specs)} runs of {human(first.episodes)} users"
    return Setting(
        f"{ALGORITHMS[first.algorithm].title} · {PRIVATIZERS[first.privacy].title} · {runs} · {places}",
        words,
        f"more than {least:.3g}",
        tuple(specs),
        judge,
        question=TRACES,
        form="share",
        over="runs",
    )

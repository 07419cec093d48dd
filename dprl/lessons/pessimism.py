"""Pessimism offline: a policy from a private data set, and the lower bound on its value."""

from __future__ import annotations

import numpy as np

from dprl import search
from dprl.claims import SpecSeries
from dprl.curves import Array, Evidence
from dprl.figures.lines import DATA_SETS
from dprl.lessons.lesson import Attempt, DrawnSeries, Lesson, Plot, Step
from dprl.lessons.prediction import Marker, Order
from dprl.sentences.price import rough_users
from dprl.simulation import OfflineSpec
from dprl.words import listed, percent, rough

CLINIC = OfflineSpec(environment="clinic", algorithm="dp-apvi", behaviour="mixture:0.7", n=10**10, seeds=10)
RHOS = (1.0, 0.1, 0.01)
FREE, PRIVATE = CLINIC.twin(), CLINIC.replace(rho=1.0)
BUDGETS = (CLINIC.replace(rho=0.1), FREE, CLINIC.replace(rho=0.01), PRIVATE)  # as they are offered
RANGE = (5.0, 1e10)
RECORDS = "Records n (one user each)"
GOOD, BELIEVED = 0.05, 0.1
NEEDS = ("fewer records", "more records")
EARNS, LOW = "what the policy earns", "lower bound V~"


def name(spec: OfflineSpec) -> str:
    """What a curve is called."""
    return "Without privacy" if spec.rho is None else f"ρ = {spec.rho:g}"


def _gap(evidence: Evidence, spec: OfflineSpec) -> Array:
    run = evidence.runs[spec]
    found: Array = run.values / run.v_star
    return found


def _needed(evidence: Evidence, spec: OfflineSpec) -> float:
    at = evidence.runs[spec].at.astype(float)
    return search.stays_below(at, _gap(evidence, spec).mean(axis=0), GOOD)


def _low(evidence: Evidence, spec: OfflineSpec) -> Array:
    """[seeds, C] the lower bound on the value, as a share of v*."""
    run = evidence.runs[spec]
    assert run.lower is not None
    found: Array = run.lower / run.v_star
    return found


def _gaps(specs: tuple[tuple[OfflineSpec, float], ...], evidence: Evidence) -> Plot:
    drawn = tuple(
        DrawnSeries(
            SpecSeries(spec, name(spec), evidence.runs[spec].at.astype(float), _gap(evidence, spec)), until
        )
        for spec, until in specs
    )
    return Plot(
        "What the learned policy loses",
        RECORDS,
        "Share of v* lost",
        RANGE,
        (0.0, 1.0),
        drawn=drawn,
        percent=True,
        level=(GOOD, f"{percent(GOOD)} of v*"),
        over=DATA_SETS,
    )


def _first(evidence: Evidence) -> str:
    need, free = _needed(evidence, PRIVATE), _needed(evidence, FREE)
    times = rough_users(need / free)
    return (
        f"The algorithm needs {rough_users(need)} records at ρ = 1, {times} times as many as without privacy."
    )


def _budget_specs(evidence: Evidence) -> str:
    parts = [f"{rough_users(_needed(evidence, CLINIC.replace(rho=rho)))} at ρ = {rho:g}" for rho in RHOS]
    return f"Records until the policy loses less than {percent(GOOD)} of v*: {listed(parts)}."


def _beliefs(evidence: Evidence) -> Plot:
    at = evidence.runs[PRIVATE].at.astype(float)
    earned = 1 - _gap(evidence, PRIVATE)
    return Plot(
        "What is earned, and what is believed",
        RECORDS,
        "Share of v*",
        RANGE,
        (0.0, 1.05),
        drawn=(
            DrawnSeries(SpecSeries(PRIVATE, EARNS, at, earned)),
            DrawnSeries(SpecSeries(PRIVATE, LOW, at, _low(evidence, PRIVATE)), 0.0),
        ),
        percent=True,
        level=(1 - BELIEVED, f"{percent(1 - BELIEVED)} of v*"),
        over=DATA_SETS,
    )


def _believed(evidence: Evidence) -> float:
    at = evidence.runs[PRIVATE].at.astype(float)
    return search.stays_below(at, 1 - _low(evidence, PRIVATE).mean(axis=0), BELIEVED)


def _later(evidence: Evidence) -> str:
    at = evidence.runs[PRIVATE].at.astype(float)
    earned = search.stays_below(at, _gap(evidence, PRIVATE).mean(axis=0), BELIEVED)
    return (
        f"The policy earns that much from {rough_users(earned)} records on. The bound says so from "
        f"{rough_users(_believed(evidence))} on, {rough(_believed(evidence) / earned)} times as many."
    )


PESSIMISM = Lesson(
    "pessimism",
    "Pessimism, offline",
    "How many private records does a good policy take, and how much does the algorithm believe of it?",
    "What a policy is; that noise is added to counts.",
    (
        Step(
            "Enough records",
            Marker(
                "A clinic releases its records once, with noise for which ρ = 1 is proved. From how many records on "
                "does the learned policy lose less than a twentieth of what the best one earns, v*?",
                *RANGE,
                "{} records",
                ends=NEEDS,
            ),
            (FREE, PRIVATE),
            lambda evidence: _gaps(((FREE, np.inf), (PRIVATE, 0.0)), evidence),
            lambda evidence: _needed(evidence, PRIVATE),
            _first,
            "Pessimism takes a penalty off all that is uncertain, and noise makes more uncertain. Until counts outgrow "
            "the noise, the algorithm keeps away from the best actions.",
            Attempt("See where the penalty is large", "offline", (FREE, PRIVATE), {"tab": "pessimism"}),
        ),
        Step(
            "Budgets",
            Order(
                "The same records at three budgets ρ, and without noise. Which curve is which?",
                tuple(name(spec) for spec in BUDGETS),
            ),
            BUDGETS,
            lambda evidence: _gaps(tuple((spec, np.inf) for spec in BUDGETS), evidence),
            lambda evidence: tuple(int(i) for i in np.argsort([_needed(evidence, spec) for spec in BUDGETS])),
            _budget_specs,
            "The noise for ρ has a standard deviation like 1/√ρ, and counts grow like n. A hundredth of the budget "
            "takes about ten times the records.",
            Attempt(
                "Try other privacy guarantees",
                "offline",
                (
                    FREE,
                    PRIVATE,
                    CLINIC.replace(privacy="pure", epsilon=1.0),
                    CLINIC.replace(privacy="approximate", epsilon=1.0),
                ),
            ),
        ),
        Step(
            "What the algorithm believes",
            Marker(
                "The algorithm gives a lower bound V~ on what its policy earns. At ρ = 1, from how many records on "
                "is V~ at least nine tenths of v*?",
                *RANGE,
                "{} records",
                ends=NEEDS,
            ),
            (PRIVATE,),
            _beliefs,
            _believed,
            _later,
            "The bound takes the penalty off at every step, even where the policy is already right. The bound has to "
            "hold with high probability; it need not be near.",
            Attempt(
                "See values, penalties and coverage",
                "offline",
                (FREE, PRIVATE),
                {"tab": "policy", "drawn": "V"},
            ),
        ),
    ),
)

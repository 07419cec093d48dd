"""Pessimism offline: a policy from a private data set, and the lower bound on its value."""

from __future__ import annotations

import numpy as np

from dprl.figures.lines import DATA_SETS
from dprl.lessons.lesson import Attempt, DrawnSeries, Lesson, Plot, Step
from dprl.lessons.prediction import Marker, Order
from dprl.messages import filled, messages
from dprl.metrics import search
from dprl.metrics.curves import Array, Evidence
from dprl.papers import SpecSeries
from dprl.sentences.price import rough_users
from dprl.simulation import OfflineSpec
from dprl.words import listed, percent, rough

SAID = messages("questions")["pessimism"]
ENOUGH, SMALLER, BELIEF = (SAID[part] for part in ("enough", "budgets", "believes"))
CLINIC = OfflineSpec(environment="clinic", algorithm="dp-apvi", behaviour="mixture:0.7", n=10**10, seeds=10)
RHOS = (1.0, 0.1, 0.01)
FREE, PRIVATE = CLINIC.baseline(), CLINIC.replace(rho=1.0)
BUDGETS = (CLINIC.replace(rho=0.1), FREE, CLINIC.replace(rho=0.01), PRIVATE)  # as they are offered
RANGE = (5.0, 1e10)
GOOD, BELIEVED = 0.05, 0.1
UNITS = {"unit": SAID["unit"], "unit_one": SAID["unit_one"], "ends": (SAID["fewer"], SAID["more"])}


def curve_name(spec: OfflineSpec) -> str:
    """What a curve is called."""
    return str(SAID["none"]) if spec.rho is None else filled(SAID["budget"], rho=f"{spec.rho:g}")


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
            SpecSeries(spec, curve_name(spec), evidence.runs[spec].at.astype(float), _gap(evidence, spec)),
            until,
        )
        for spec, until in specs
    )
    return Plot(
        SAID["chart"],
        SAID["records"],
        SAID["axis"],
        RANGE,
        (0.0, 1.0),
        drawn=drawn,
        percent=True,
        level=(GOOD, filled(SAID["level"], share=percent(GOOD))),
        over=DATA_SETS,
    )


def _first(evidence: Evidence) -> str:
    need, free = _needed(evidence, PRIVATE), _needed(evidence, FREE)
    return filled(ENOUGH["found"], records=rough_users(need), times=rough_users(need / free))


def _budget_specs(evidence: Evidence) -> str:
    need = {rho: rough_users(_needed(evidence, CLINIC.replace(rho=rho))) for rho in RHOS}
    parts = [filled(SMALLER["one"], records=records, rho=f"{rho:g}") for rho, records in need.items()]
    return filled(SMALLER["found"], share=percent(GOOD), each=listed(parts))


def _beliefs(evidence: Evidence) -> Plot:
    at = evidence.runs[PRIVATE].at.astype(float)
    earned = 1 - _gap(evidence, PRIVATE)
    return Plot(
        BELIEF["chart"],
        SAID["records"],
        BELIEF["axis"],
        RANGE,
        (0.0, 1.05),
        drawn=(
            DrawnSeries(SpecSeries(PRIVATE, BELIEF["earns"], at, earned)),
            DrawnSeries(SpecSeries(PRIVATE, BELIEF["low"], at, _low(evidence, PRIVATE)), 0.0),
        ),
        percent=True,
        level=(1 - BELIEVED, filled(SAID["level"], share=percent(1 - BELIEVED))),
        over=DATA_SETS,
    )


def _believed(evidence: Evidence) -> float:
    at = evidence.runs[PRIVATE].at.astype(float)
    return search.stays_below(at, 1 - _low(evidence, PRIVATE).mean(axis=0), BELIEVED)


def _later(evidence: Evidence) -> str:
    at = evidence.runs[PRIVATE].at.astype(float)
    earned = search.stays_below(at, _gap(evidence, PRIVATE).mean(axis=0), BELIEVED)
    believed = _believed(evidence)
    found = {"earned": rough_users(earned), "believed": rough_users(believed)}
    return filled(BELIEF["found"], times=rough(believed / earned), **found)


PESSIMISM = Lesson(
    "pessimism",
    SAID["title"],
    SAID["say"],
    SAID["needs"],
    (
        Step(
            ENOUGH["title"],
            Marker(ENOUGH["ask"], *RANGE, **UNITS),
            (FREE, PRIVATE),
            lambda evidence: _gaps(((FREE, np.inf), (PRIVATE, 0.0)), evidence),
            lambda evidence: _needed(evidence, PRIVATE),
            _first,
            ENOUGH["why"],
            Attempt(ENOUGH["try"], "offline", (FREE, PRIVATE), {"tab": "pessimism"}),
        ),
        Step(
            SMALLER["title"],
            Order(SMALLER["ask"], tuple(curve_name(spec) for spec in BUDGETS)),
            BUDGETS,
            lambda evidence: _gaps(tuple((spec, np.inf) for spec in BUDGETS), evidence),
            lambda evidence: tuple(int(i) for i in np.argsort([_needed(evidence, spec) for spec in BUDGETS])),
            _budget_specs,
            SMALLER["why"],
            Attempt(
                SMALLER["try"],
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
            BELIEF["title"],
            Marker(BELIEF["ask"], *RANGE, **UNITS),
            (PRIVATE,),
            _beliefs,
            _believed,
            _later,
            BELIEF["why"],
            Attempt(
                BELIEF["try"],
                "offline",
                (FREE, PRIVATE),
                {"tab": "policy", "drawn": "V"},
            ),
        ),
    ),
)

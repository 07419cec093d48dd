"""Claimed against proved: what a paper states of its noise, what is proved for it, and what an attacker finds."""

from __future__ import annotations

from typing import Any

import numpy as np

from dprl import metrics
from dprl.lessons import regret
from dprl.lessons.lesson import Attempt, DrawnSeries, Lesson, Plot, Step
from dprl.lessons.prediction import Marker, Order
from dprl.lessons.trust import EXPLORED
from dprl.messages import filled, messages
from dprl.metrics.curves import Array, Evidence
from dprl.papers import SpecSeries
from dprl.sentences.price import rough_users
from dprl.simulation import AttackSpec, RunSpec
from dprl.words import human, percent, promise, proves, rough

SAID = messages("questions")["proved"]
PAPER, COSTS, ATTACKED = SAID["paper"], SAID["costs"], SAID["attack"]
BASE = RunSpec(episodes=10**9)
TREE = BASE.replace(mechanism="laplace-tree")
AS_IN_PAPER = TREE.replace(calibration="paper")
NOISES = {
    AS_IN_PAPER: COSTS["paper"],
    BASE: COSTS["best"],
    BASE.baseline(): COSTS["none"],
    TREE: COSTS["tree"],
}
DELTA = 1e-6
ATTACK = AttackSpec(run=RunSpec(seeds=1))
CAUGHT = 0.5
CARD = ("guarantee", AS_IN_PAPER)
CURVES = tuple(("promise", spec) for spec in (AS_IN_PAPER, BASE))
PLAYED = (("scores", ATTACK), ("promise", ATTACK.run))


def _at(found: dict[str, Any], delta: float) -> float:
    """The epsilon that is proved at a delta, by straight lines between those known."""
    return float(np.interp(np.log(delta), np.log(found["deltas"]), found["epsilons"]))


def _deltas(evidence: Evidence) -> Plot:
    drawn = []
    for spec, until in ((BASE, np.inf), (AS_IN_PAPER, -1.0)):
        found = evidence.answers[("promise", spec)]
        order = np.argsort(found["epsilons"])
        x, y = (np.array(found[name])[order] for name in ("epsilons", "deltas"))
        drawn.append(DrawnSeries(SpecSeries(spec, NOISES[spec], x, y[None]), until))
    return Plot(
        PAPER["chart"],
        regret.SAID["epsilon_axis"],
        PAPER["delta_axis"],
        (0.0, 2.0),
        (1e-10, 0.1),
        drawn=tuple(drawn),
        log_x=False,
        log_y=True,
        level=(DELTA, PAPER["level"]),
    )


def _paper(evidence: Evidence) -> str:
    card = evidence.answers[CARD]
    own = _at(evidence.answers[("promise", AS_IN_PAPER)], DELTA)
    claimed, proved = (
        say(card[f"{name}_epsilon"], card[f"{name}_delta"])
        for name, say in (("claimed", promise), ("proved", proves))
    )
    return filled(PAPER["found"], claimed=claimed, proved=proved, own=rough(own))


def _orders(evidence: Evidence) -> str:
    noise = {spec: evidence.runs[spec].noise_std or 0.0 for spec in (AS_IN_PAPER, TREE, BASE)}
    need = {spec: rough_users(regret.users_needed(evidence, spec)) for spec in noise}
    found = {"paper": rough(noise[AS_IN_PAPER]), "tree": rough(noise[TREE]), "best": rough(noise[BASE])}
    found |= {"paper_users": need[AS_IN_PAPER], "tree_users": need[TREE], "best_users": need[BASE]}
    return filled(COSTS["found"], users=human(BASE.episodes), promise=promise(1.0, DELTA), **found)


def _attack(evidence: Evidence) -> tuple[Array, Array]:
    scores = evidence.answers[PLAYED[0]]
    found = metrics.roc(np.asarray(scores["first"]), np.asarray(scores["second"]))
    return found.false, found.true


def _errors(evidence: Evidence) -> Plot:
    false, true = _attack(evidence)
    ends = np.array([0.0, 1.0])
    proved = evidence.answers[PLAYED[1]]
    return Plot(
        ATTACKED["chart"],
        ATTACKED["false_axis"],
        ATTACKED["true_axis"],
        (0.0, 1.0),
        (0.0, 1.0),
        drawn=(
            DrawnSeries(SpecSeries(ATTACK.run.baseline(), ATTACKED["blind"], ends, ends[None])),
            DrawnSeries(SpecSeries(ATTACK.run, ATTACKED["attack"], false, true[None]), -1.0),
        ),
        log_x=False,
        percent=True,
        percent_x=True,
        level=(CAUGHT, ATTACKED["half"]),
        bounds=((ATTACKED["most"], np.array(proved["false"]), 1 - np.array(proved["missed"])),),
    )


def _accused(evidence: Evidence) -> float:
    false, true = _attack(evidence)
    return float(np.interp(CAUGHT, true, false))


def _caught(evidence: Evidence) -> str:
    scores = evidence.answers[PLAYED[0]]
    proved = evidence.answers[PLAYED[1]]
    least = float(np.interp(CAUGHT, 1 - np.array(proved["missed"]), np.array(proved["false"])))
    found = {"accused": percent(_accused(evidence)), "least": percent(least)}
    return filled(ATTACKED["found"], releases=human(len(scores["first"])), **found)


PROVED = Lesson(
    "proved",
    SAID["title"],
    SAID["say"],
    SAID["needs"],
    (
        Step(
            PAPER["title"],
            Marker(
                PAPER["ask"],
                0.0,
                2.0,
                PAPER["unit"],
                log=False,
                steps=20,
                ends=(PAPER["more"], PAPER["less"]),
            ),
            (),
            _deltas,
            lambda evidence: _at(evidence.answers[("promise", AS_IN_PAPER)], DELTA),
            _paper,
            PAPER["why"],
            Attempt(PAPER["try"], "explore", (AS_IN_PAPER, BASE), {"tab": "guarantee"}),
            (*CURVES, CARD),
        ),
        Step(
            COSTS["title"],
            Order(COSTS["ask"], tuple(NOISES.values())),
            tuple(NOISES),
            regret.losses([(spec, name, np.inf) for spec, name in NOISES.items()], (10.0, 1e9)),
            lambda evidence: regret.places_by_regret(evidence, tuple(NOISES)),
            _orders,
            COSTS["why"],
            Attempt(COSTS["try"], "explore", (BASE.baseline(), BASE, TREE, AS_IN_PAPER), EXPLORED),
        ),
        Step(
            ATTACKED["title"],
            Marker(
                ATTACKED["ask"],
                0.0,
                1.0,
                "{}",
                log=False,
                steps=50,
                ends=(ATTACKED["nobody"], ATTACKED["everybody"]),
                share=True,
            ),
            (),
            _errors,
            _accused,
            _caught,
            ATTACKED["why"],
            Attempt(ATTACKED["try"], "attack", (ATTACK,), {}),
            PLAYED,
        ),
    ),
)

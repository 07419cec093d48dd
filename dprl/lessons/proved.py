"""Claimed against proved: what a paper states of its noise, what is proved for it, and what an attacker finds."""

from __future__ import annotations

from typing import Any

import numpy as np

from dprl import metrics
from dprl.claims import SpecSeries
from dprl.curves import Array, Evidence
from dprl.lessons import regret
from dprl.lessons.lesson import Attempt, DrawnSeries, Lesson, Plot, Step
from dprl.lessons.prediction import Marker, Order
from dprl.lessons.trust import EXPLORED
from dprl.sentences.price import rough_users
from dprl.simulation import AttackSpec, RunSpec
from dprl.words import human, percent, promise, rough

BASE = RunSpec(episodes=10**9)
TREE = BASE.replace(mechanism="laplace-tree")
PRINTED = TREE.replace(calibration="paper")
NOISES = {
    PRINTED: "Laplace tree, as in the paper",
    BASE: "Optimal, calibrated",
    BASE.twin(): "No privacy",
    TREE: "Laplace tree, calibrated",
}
DELTA = 1e-6
ATTACK = AttackSpec(run=RunSpec(seeds=1))
CAUGHT = 0.5
CARD = ("guarantee", PRINTED)
CURVES = tuple(("promise", spec) for spec in (PRINTED, BASE))
PLAYED = (("scores", ATTACK), ("promise", ATTACK.run))


def _at(found: dict[str, Any], delta: float) -> float:
    """The epsilon that is proved at a delta, by straight lines between those known."""
    return float(np.interp(np.log(delta), np.log(found["deltas"]), found["epsilons"]))


def _deltas(evidence: Evidence) -> Plot:
    drawn = []
    for spec, until in ((BASE, np.inf), (PRINTED, -1.0)):
        found = evidence.answers[("promise", spec)]
        order = np.argsort(found["epsilons"])
        x, y = (np.array(found[name])[order] for name in ("epsilons", "deltas"))
        drawn.append(DrawnSeries(SpecSeries(spec, NOISES[spec], x, y[None]), until))
    return Plot(
        "What is proved when one user is replaced",
        "ε (to the left more private)",
        "δ (what is added to a chance)",
        (0.0, 2.0),
        (1e-10, 0.1),
        drawn=tuple(drawn),
        log_x=False,
        log_y=True,
        level=(DELTA, "δ = 10⁻⁶"),
    )


def _printed(evidence: Evidence) -> str:
    card = evidence.answers[CARD]
    own = _at(evidence.answers[("promise", PRINTED)], DELTA)
    claimed, proved = (
        promise(card[f"{name}_epsilon"], card[f"{name}_delta"]) for name in ("claimed", "proved")
    )
    return (
        f"The paper states {claimed} of this noise. When one user is replaced, {proved} is proved, a weaker "
        f"guarantee. At δ = 10⁻⁶, ε = {rough(own)} is proved for the same noise."
    )


def _orders(evidence: Evidence) -> str:
    noise = {spec: evidence.runs[spec].noise_std or 0.0 for spec in (PRINTED, TREE, BASE)}
    need = {spec: rough_users(regret.needed(evidence, spec)) for spec in noise}
    return (
        f"After {human(BASE.episodes)} users the paper's noise in a visit count has standard deviation "
        f"{rough(noise[PRINTED])}. Noise calibrated to {promise(1.0, DELTA)} has {rough(noise[TREE])} in the same "
        f"tree, and {rough(noise[BASE])} in the optimal factorisation. In this order the three need {need[PRINTED]}, "
        f"{need[TREE]} and {need[BASE]} users."
    )


def _attack(evidence: Evidence) -> tuple[Array, Array]:
    scores = evidence.answers[PLAYED[0]]
    found = metrics.roc(np.asarray(scores["first"]), np.asarray(scores["second"]))
    return found.false, found.true


def _errors(evidence: Evidence) -> Plot:
    false, true = _attack(evidence)
    ends = np.array([0.0, 1.0])
    proved = evidence.answers[PLAYED[1]]
    return Plot(
        "How well the best attacker tells two users apart",
        "False positives (wrongly says “first episode”)",
        "True positives",
        (0.0, 1.0),
        (0.0, 1.0),
        drawn=(
            DrawnSeries(SpecSeries(ATTACK.run.twin(), "Guessing blindly", ends, ends[None])),
            DrawnSeries(SpecSeries(ATTACK.run, "The attack", false, true[None]), -1.0),
        ),
        log_x=False,
        percent=True,
        percent_x=True,
        level=(CAUGHT, "half detected"),
        bounds=(("most that is proved", np.array(proved["false"]), 1 - np.array(proved["missed"])),),
    )


def _accused(evidence: Evidence) -> float:
    false, true = _attack(evidence)
    return float(np.interp(CAUGHT, true, false))


def _caught(evidence: Evidence) -> str:
    scores = evidence.answers[PLAYED[0]]
    proved = evidence.answers[PLAYED[1]]
    least = float(np.interp(CAUGHT, 1 - np.array(proved["missed"]), np.array(proved["false"])))
    return (
        f"An attacker with 50% true positives has {percent(_accused(evidence))} false positives "
        f"({human(len(scores['first']))} simulated releases of each episode). Every attacker has at least "
        f"{percent(least)}: that is proved."
    )


PROVED = Lesson(
    "proved",
    "Claimed and proved",
    "At the same ε, noise can be very different. See what is proved for noise, what it costs, and what it leaves to "
    "an attacker.",
    "What ε and δ are.",
    (
        Step(
            "Noise as in the paper",
            Marker(
                "A paper states ε = 1 and δ = 0 for its Laplace noise in a tree. One user is replaced. Which ε can "
                "be proved for this noise at δ = 10⁻⁶?",
                0.0,
                2.0,
                "ε = {}",
                log=False,
                steps=20,
                ends=("more privacy", "less privacy"),
            ),
            (),
            _deltas,
            lambda evidence: _at(evidence.answers[("promise", PRINTED)], DELTA),
            _printed,
            "A proof at δ = 0 has to hold for the rarest outcome, so it adds up the worst of every release. A proof "
            "that leaves out one case in a million adds up what is likely.",
            Attempt(
                "See the whole curve of what is proved", "explore", (PRINTED, BASE), {"tab": "guarantee"}
            ),
            (*CURVES, CARD),
        ),
        Step(
            "What it costs",
            Order(
                "The same algorithm with the paper's noise, with noise calibrated to (1, 10⁻⁶) in two ways, and "
                "without noise. Which curve is which?",
                tuple(NOISES.values()),
            ),
            tuple(NOISES),
            regret.losses([(spec, name, np.inf) for spec, name in NOISES.items()], (10.0, 1e9)),
            lambda evidence: regret.places_by_regret(evidence, tuple(NOISES)),
            _orders,
            "Calibrated noise is as large as the guarantee needs. At this δ, a far smaller ε than the paper "
            "states is proved for noise as in the paper. Nobody asked for that, and you pay for it in users.",
            Attempt("Look closer at these four", "explore", (BASE.twin(), BASE, TREE, PRINTED), EXPLORED),
        ),
        Step(
            "An attack",
            Marker(
                "(1, 10⁻⁶) is proved for the noise. The best attacker knows all users but one, and guesses which of "
                "two episodes that user had. At 50% true positives, how many false positives are there?",
                0.0,
                1.0,
                "{}",
                log=False,
                steps=50,
                ends=("nobody", "everybody"),
                share=True,
            ),
            (),
            _errors,
            _accused,
            _caught,
            "Up to δ, ε bounds how much likelier all releases together are with one episode than with the other. No "
            "test tells the two apart better than that.",
            Attempt("Watch the attack", "attack", (ATTACK,), {"chart": "errors"}),
            PLAYED,
        ),
    ),
)

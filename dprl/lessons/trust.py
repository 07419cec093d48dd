"""Who sees the data: central, shuffle, local."""

from __future__ import annotations

import numpy as np

from dprl.curves import Evidence
from dprl.lessons import regret
from dprl.lessons.lesson import Attempt, Lesson, Step
from dprl.lessons.prediction import Marker, Order
from dprl.privacy import PRIVATIZERS
from dprl.sentences.price import rough_users
from dprl.simulation import RunSpec

EVERY = RunSpec(epsilon=1.0, episodes=10**15)
NONE, CENTRAL, SHUFFLE, LOCAL = (EVERY.replace(privacy=p) for p in ("none", "central", "shuffle", "local"))
OFFERED = (LOCAL, NONE, SHUFFLE, CENTRAL)  # not in the order that is asked for
RANGE = (10.0, 1e15)
EXPLORED = {"measure": "per-episode", "y": "linear"}


def _order(evidence: Evidence) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argsort([regret.needed(evidence, spec) for spec in OFFERED]))


def _in_words(evidence: Evidence) -> str:
    """The order alone: how many users each takes is what is asked next."""
    private = [OFFERED[place] for place in _order(evidence) if OFFERED[place] != NONE]
    few, more, most = (PRIVATIZERS[spec.privacy].words.given for spec in private)
    free = rough_users(regret.needed(evidence, NONE))
    return (
        f"Without privacy the algorithm needs {free} users. At ε = 1 it needs more with {few}, still more with "
        f"{more}, and most with {most}."
    )


def _beside(spec: RunSpec, why: str) -> Step:
    """From how many users on a model has learned, beside no privacy and a trusted curator."""
    given = PRIVATIZERS[spec.privacy].words.given
    known = [one for one in (NONE, CENTRAL) if one != spec]

    def found(evidence: Evidence) -> str:
        need, before = regret.needed(evidence, spec), regret.needed(evidence, known[-1])
        return (
            f"With {given} the algorithm needs {rough_users(need)} users, {rough_users(need / before)} times as many "
            f"as {'without privacy' if known[-1] is NONE else 'with a trusted curator'}."
        )

    return Step(
        f"With {given}",
        Marker(
            f"V* is what the best policy earns. At ε = 1 with {given}, from how many users on does an average "
            "episode lose less than a tenth of V*?",
            *RANGE,
        ),
        (*known, spec),
        regret.losses(
            [(one, regret.name(one), np.inf) for one in known] + [(spec, regret.name(spec), 0.0)], RANGE
        ),
        lambda evidence: regret.needed(evidence, spec),
        found,
        why,
        Attempt("Move the privacy budget of these curves", "explore", (*known, spec), EXPLORED),
    )


TRUST = Lesson(
    "trust",
    "Who sees the data?",
    "The same ε with a trusted curator, with a trusted shuffler, and with no trusted party.",
    "What ε is; that noise is added to counts.",
    (
        Step(
            "Four curves",
            Order(
                "The same algorithm without privacy and under three privacy models, all at ε = 1. Which curve is "
                "which?",
                tuple(regret.name(spec) for spec in OFFERED),
            ),
            OFFERED,
            regret.losses([(spec, regret.name(spec), np.inf) for spec in OFFERED], RANGE, bare_x=True),
            _order,
            _in_words,
            "A trusted curator adds noise to sums over users. With no trusted party every user adds noise to their own "
            "report. K reports bring √K times the noise of one.",
            Attempt("Look closer at these four", "explore", (NONE, CENTRAL, SHUFFLE, LOCAL), EXPLORED),
        ),
        _beside(
            CENTRAL,
            "The noise in a count stays about the same, while the count grows with the users. After a while the noise "
            "no longer matters.",
        ),
        _beside(
            LOCAL,
            "A count adds up the reports of the n users who were told to do what it counts. Its noise grows like √n. "
            "So the noise's share of the count falls like 1/√n; with a trusted curator, almost like 1/n.",
        ),
    ),
)

"""Who sees the data: central, shuffle, local."""

from __future__ import annotations

import numpy as np

from dprl.lessons import regret
from dprl.lessons.lesson import Attempt, Lesson, Step
from dprl.lessons.prediction import Marker, Order
from dprl.messages import filled, messages
from dprl.metrics.curves import Evidence
from dprl.sentences.price import rough_users
from dprl.simulation import RunSpec

SAID = messages("questions")["trust"]
FOUR, BESIDE = SAID["four"], SAID["beside"]
EVERY = RunSpec(epsilon=1.0, episodes=10**15)
NONE, CENTRAL, SHUFFLE, LOCAL = (EVERY.replace(privacy=p) for p in ("none", "central", "shuffle", "local"))
OFFERED = (LOCAL, NONE, SHUFFLE, CENTRAL)  # not in the order that is asked for
RANGE = (10.0, 1e15)
EXPLORED = {"measure": "share", "y": "linear"}


def _order(evidence: Evidence) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argsort([regret.users_needed(evidence, spec) for spec in OFFERED]))


def _in_words(evidence: Evidence) -> str:
    """The order alone: how many users each takes is what is asked next."""
    private = [OFFERED[place] for place in _order(evidence) if OFFERED[place] != NONE]
    few, more, most = (regret.trusted_with(spec) for spec in private)
    free = rough_users(regret.users_needed(evidence, NONE))
    return filled(FOUR["found"], free=free, few=few, more=more, most=most)


def _beside(spec: RunSpec) -> Step:
    """From how many users on a model has learned, beside no privacy and a trusted curator."""
    given = regret.trusted_with(spec)
    known = [one for one in (NONE, CENTRAL) if one != spec]

    def found(evidence: Evidence) -> str:
        need, before = regret.users_needed(evidence, spec), regret.users_needed(evidence, known[-1])
        than = BESIDE[f"beside_{known[-1].privacy}"]
        return filled(than, given=given, users=rough_users(need), times=rough_users(need / before))

    return Step(
        filled(BESIDE["title"], given=given),
        Marker(filled(BESIDE["ask"], given=given), *RANGE),
        (*known, spec),
        regret.losses(
            [(one, regret.name(one), np.inf) for one in known] + [(spec, regret.name(spec), 0.0)], RANGE
        ),
        lambda evidence: regret.users_needed(evidence, spec),
        found,
        BESIDE[f"why_{spec.privacy}"],
        Attempt(BESIDE["try"], "explore", (*known, spec), EXPLORED),
    )


TRUST = Lesson(
    "trust",
    SAID["title"],
    SAID["say"],
    SAID["needs"],
    (
        Step(
            FOUR["title"],
            Order(FOUR["ask"], tuple(regret.name(spec) for spec in OFFERED)),
            OFFERED,
            regret.losses([(spec, regret.name(spec), np.inf) for spec in OFFERED], RANGE, bare_x=True),
            _order,
            _in_words,
            FOUR["why"],
            Attempt(FOUR["try"], "explore", (NONE, CENTRAL, SHUFFLE, LOCAL), EXPLORED),
        ),
        _beside(CENTRAL),
        _beside(LOCAL),
    ),
)

"""Which weights matter: what an algorithm for a linear model has to know, and what it never learns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dprl import metrics
from dprl.lessons import regret
from dprl.lessons.lesson import Attempt, DrawnSeries, Lesson, Plot, Step
from dprl.lessons.prediction import Marker, Order, Slope
from dprl.messages import filled, messages
from dprl.metrics.curves import Array, Evidence
from dprl.papers import SpecSeries
from dprl.sentences.price import rough_users
from dprl.simulation import RunSpec, SeedTrace
from dprl.words import human, listed, percent, to_the

SAID = messages("questions")["weights"]
LEARNING, UNKNOWN, TRUSTED = (SAID[part] for part in ("learning", "unknown", "models"))
MIXTURE = RunSpec(
    environment="linear-mixture", algorithm="ucrl-vtr", privacy="central", episodes=10**12, seeds=10
)
NONE = MIXTURE.baseline()
LOCAL = {epsilon: MIXTURE.replace(privacy="local", epsilon=epsilon) for epsilon in (1.0, 10.0)}
NAMES = {
    LOCAL[10.0]: SAID["local_weak"],
    MIXTURE: SAID["central"],
    LOCAL[1.0]: SAID["local"],
    NONE: SAID["none"],
}
RANGE = (10.0, 1e12)
START, END = 1e7, 1e12
POINTS = 40
WIDTHS = ("widths", MIXTURE)


def widths(traces: Sequence[SeedTrace]) -> dict[str, Any]:
    """How far a weight may be from its estimate, on average over weights and steps, as users come.

    Returns:
        users: [POINTS]; rows: [seeds, POINTS], by straight lines between logarithms of what is known at releases.
    """
    at = np.geomspace(10.0, traces[0].episodes[-1], POINTS)
    rows = []
    for trace in traces:
        known = [
            metrics.widths_over_steps(trace.beliefs, trace.noisy, i).mean()
            for i in range(len(trace.detail_episodes))
        ]
        rows.append(np.exp(np.interp(np.log(at), np.log(trace.detail_episodes), np.log(known))))
    return {"users": at.tolist(), "rows": [[float(f"{x:.4g}") for x in row] for row in rows]}


def _known(evidence: Evidence) -> tuple[Array, Array]:
    found = evidence.answers[WIDTHS]
    return np.array(found["users"]), np.array(found["rows"])


def _shrinking(evidence: Evidence) -> Plot:
    at, rows = _known(evidence)
    return Plot(
        UNKNOWN["chart"],
        regret.USERS,
        UNKNOWN["axis"],
        RANGE,
        (1e-6, 10.0),
        drawn=(DrawnSeries(SpecSeries(MIXTURE, NAMES[MIXTURE], at, rows), START),),
        log_y=True,
    )


def _growth(evidence: Evidence) -> tuple[float, float, float]:
    at, rows = _known(evidence)
    return metrics.growth_exponent(at, rows, START, END)


def _never(evidence: Evidence) -> str:
    at, rows = _known(evidence)
    run = evidence.runs[MIXTURE]
    late = float(np.interp(END, at, rows.mean(axis=0)))
    loss = float(np.interp(END, run.at, regret.lost(evidence, MIXTURE).mean(axis=0)))
    power, radius = to_the("K", *_growth(evidence)), human(float(f"{late:.2g}"))
    return filled(UNKNOWN["found"], power=power, users=human(END), radius=radius, lost=percent(loss))


def _learned(evidence: Evidence) -> str:
    need, free = (regret.users_needed(evidence, spec) for spec in (MIXTURE, NONE))
    return filled(LEARNING["found"], users=rough_users(need), times=rough_users(need / free))


def _times_as_many(evidence: Evidence) -> str:
    need = sorted((regret.users_needed(evidence, spec), name) for spec, name in NAMES.items())
    parts = [filled(TRUSTED["one"], users=rough_users(found), name=name) for found, name in need]
    return filled(TRUSTED["found"], each=listed(parts))


WEIGHTS = Lesson(
    "weights",
    SAID["title"],
    SAID["say"],
    SAID["needs"],
    (
        Step(
            LEARNING["title"],
            Marker(LEARNING["ask"], *RANGE),
            (NONE, MIXTURE),
            regret.losses([(NONE, NAMES[NONE], np.inf), (MIXTURE, NAMES[MIXTURE], 0.0)], RANGE),
            lambda evidence: regret.users_needed(evidence, MIXTURE),
            _learned,
            LEARNING["why"],
            Attempt(LEARNING["try"], "explore", (NONE, MIXTURE), {"tab": "ellipsoid"}),
        ),
        Step(
            UNKNOWN["title"],
            Slope(UNKNOWN["ask"], tuple(zip((0.0, -0.5, -1.0), UNKNOWN["choices"], strict=True)), START, END),
            (MIXTURE,),
            _shrinking,
            lambda evidence: _growth(evidence)[0],
            _never,
            UNKNOWN["why"],
            Attempt(
                UNKNOWN["try"],
                "explore",
                (NONE, MIXTURE),
                {"tab": "ellipsoid"},
            ),
            (WIDTHS,),
        ),
        Step(
            TRUSTED["title"],
            Order(TRUSTED["ask"], tuple(NAMES.values())),
            tuple(NAMES),
            regret.losses([(spec, label, np.inf) for spec, label in NAMES.items()], RANGE),
            lambda evidence: regret.places_by_regret(evidence, tuple(NAMES)),
            _times_as_many,
            TRUSTED["why"],
            Attempt(TRUSTED["try"], "explore", (NONE, MIXTURE, LOCAL[10.0], LOCAL[1.0])),
        ),
    ),
)

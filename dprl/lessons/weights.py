"""Which weights matter: what an algorithm for a linear model has to know, and what it never learns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dprl import metrics
from dprl.claims import SpecSeries
from dprl.curves import Array, Evidence
from dprl.lessons import regret
from dprl.lessons.lesson import Attempt, DrawnSeries, Lesson, Plot, Step
from dprl.lessons.prediction import Marker, Order, Slope
from dprl.sentences.price import rough_users
from dprl.simulation import RunSpec, SeedTrace
from dprl.words import human, listed, percent, to_the

MIXTURE = RunSpec(
    environment="linear-mixture", algorithm="ucrl-vtr", privacy="central", episodes=10**12, seeds=10
)
NONE = MIXTURE.twin()
LOCAL = {epsilon: MIXTURE.replace(privacy="local", epsilon=epsilon) for epsilon in (1.0, 10.0)}
NAMES = {
    LOCAL[10.0]: "Local (LDP), ε = 10",
    MIXTURE: "Central (JDP), ε = 1",
    LOCAL[1.0]: "Local (LDP), ε = 1",
    NONE: "No privacy",
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
        "Confidence radius of an average weight",
        regret.USERS,
        "Confidence radius",
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
    return (
        f"The radius goes like {to_the('K', *_growth(evidence))}. At {human(END)} users it is still "
        f"{human(float(f'{late:.2g}'))}, while an average episode has lost {percent(loss)} of V*."
    )


def _learned(evidence: Evidence) -> str:
    need, free = (regret.needed(evidence, spec) for spec in (MIXTURE, NONE))
    times = rough_users(need / free)
    return f"The algorithm needs {rough_users(need)} users, {times} times as many as without privacy."


def _times_as_many(evidence: Evidence) -> str:
    need = sorted((regret.needed(evidence, spec), name) for spec, name in NAMES.items())
    parts = [f"{rough_users(found)} ({name})" for found, name in need]
    return f"Users until an average episode loses less than a tenth of V*: {listed(parts)}."


WEIGHTS = Lesson(
    "weights",
    "Which weights matter?",
    "An algorithm knows features and looks for their weights. Which weights does it have to find?",
    "That features times weights give the chance of a transition.",
    (
        Step(
            "Learning",
            Marker(
                "Users are of four types, with a drug for each type. Weights say how common a type is at each step. "
                "The best policy earns V*. With a trusted curator at ε = 1, from how many users on does an average one "
                "lose less than a tenth of V*?",
                *RANGE,
            ),
            (NONE, MIXTURE),
            regret.losses([(NONE, NAMES[NONE], np.inf), (MIXTURE, NAMES[MIXTURE], 0.0)], RANGE),
            lambda evidence: regret.needed(evidence, MIXTURE),
            _learned,
            "Only a matrix and a vector are released for each step. They grow with the types, not with the states. "
            "Noise is in few numbers, and all users are in each of them.",
            Attempt("Look at the weights one by one", "linear", (NONE, MIXTURE), {"tab": "weights"}),
        ),
        Step(
            "What stays unknown",
            Slope(
                "The confidence radius says how far a weight can be from its estimate. It has shrunk so far. How does "
                "it go on?",
                ((0.0, "it stays"), (-0.5, "like 1/√K"), (-1.0, "like 1/K")),
                START,
                END,
            ),
            (MIXTURE,),
            _shrinking,
            lambda evidence: _growth(evidence)[0],
            _never,
            "Users tell only about the drugs that they get. Once each step has its best drug, they say nothing more "
            "about the others. Weights that do not decide need not be known.",
            Attempt(
                "See the confidence set of the weights",
                "linear",
                (NONE, MIXTURE),
                {"tab": "ellipsoid"},
            ),
            (WIDTHS,),
        ),
        Step(
            "Privacy models",
            Order(
                "The same algorithm without privacy, with a trusted curator, and with no trusted party at two "
                "budgets. Which curve is which?",
                tuple(NAMES.values()),
            ),
            tuple(NAMES),
            regret.losses([(spec, label, np.inf) for spec, label in NAMES.items()], RANGE),
            lambda evidence: regret.places_by_regret(evidence, tuple(NAMES)),
            _times_as_many,
            "With no trusted party every report has noise. The noise of K reports grows like √K, as with visit "
            "counts.",
            Attempt("Compare these four", "linear", (NONE, MIXTURE, LOCAL[10.0], LOCAL[1.0])),
        ),
    ),
)

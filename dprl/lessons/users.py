"""How many users do you need? Users against epsilon, by privacy model."""

from __future__ import annotations

import numpy as np

from dprl import metrics
from dprl.claims import SpecSeries
from dprl.curves import Array, Evidence
from dprl.lessons import regret
from dprl.lessons.lesson import Attempt, DrawnSeries, Lesson, Plot, Step
from dprl.lessons.prediction import Marker, Slope
from dprl.lessons.trust import CENTRAL, LOCAL, SHUFFLE
from dprl.privacy import PRIVATIZERS
from dprl.sentences import promise
from dprl.sentences.price import rough_users
from dprl.simulation import RunSpec
from dprl.words import human, to_the

BUDGETS = (0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0)  # those of Home
X = np.array([1 / epsilon for epsilon in reversed(BUDGETS)])
START, END = 1.0, float(X[-1])
CHOICES = ((0.5, "like 1/√ε"), (1.0, "like 1/ε"), (2.0, "like 1/ε²"))
MINE = 1e8


def _runs(spec: RunSpec) -> tuple[RunSpec, ...]:
    return tuple(spec.replace(epsilon=epsilon) for epsilon in reversed(BUDGETS))


def _needed(evidence: Evidence, spec: RunSpec) -> Array:
    """[X] users until an average episode loses less than a tenth of V*."""
    return np.array([regret.needed(evidence, one) for one in _runs(spec)])


def _plot(
    evidence: Evidence,
    known: tuple[RunSpec, ...],
    asked: RunSpec,
    until: float,
    level: bool = False,
    ends: tuple[float, float] = (1e5, 1e15),
) -> Plot:
    drawn = [
        DrawnSeries(
            SpecSeries(one, regret.name(one), X, _needed(evidence, one)[None], one_budget=False),
            until if one == asked else np.inf,
        )
        for one in (*known, asked)
    ]
    return Plot(
        "Users until less than 10% of V* is lost",
        "ε (to the left more private)",
        "Users needed",
        (float(X[0]), END),
        ends,
        drawn=tuple(drawn),
        log_y=True,
        inverse_x=True,
        level=(MINE, f"{human(MINE)} users") if level else None,
    )


def _exponent(evidence: Evidence, spec: RunSpec) -> float:
    late = X >= START
    return metrics.power_law(X[late], np.array([_needed(evidence, spec)[late]]))[0]


def _with(spec: RunSpec, ends: tuple[float, float], why: str) -> Step:
    """How users grow with one model. ends: of the axis of users."""
    given = PRIVATIZERS[spec.privacy].words.given

    def found(evidence: Evidence) -> str:
        need = dict(zip(reversed(BUDGETS), _needed(evidence, spec), strict=True))
        power = _exponent(evidence, spec)
        return (
            f"With {given} users grow like {to_the('(1/ε)', power)}: from {rough_users(need[1.0])} at ε = 1 to "
            f"{rough_users(need[0.1])} at ε = 0.1. Halving ε takes {human(float(f'{2**power:.2g}'))} times as many."
        )

    return Step(
        f"With {given}",
        Slope(
            f"The curve shows the users needed with {given}, down to ε = 1. How do users grow as ε gets smaller?",
            CHOICES,
            START,
            END,
            "(1/ε)",
        ),
        _runs(spec),
        lambda evidence: _plot(evidence, (), spec, START, ends=ends),
        lambda evidence: _exponent(evidence, spec),
        found,
        why,
        Attempt("Try other values of ε", "tradeoffs", (CENTRAL.replace(episodes=10**6, seeds=10),)),
    )


def _affordable(evidence: Evidence) -> float:
    """1/epsilon at which a trusted shuffler needs MINE users, by straight lines between logarithms."""
    need = np.log(_needed(evidence, SHUFFLE))
    return float(np.exp(np.interp(np.log(MINE), need[1:], np.log(X[1:]))))  # the first two are about the same


def _mine(evidence: Evidence) -> str:
    epsilon = 1 / _affordable(evidence)
    return f"{human(MINE)} users are enough down to ε = {human(float(f'{epsilon:.2g}'))}."


USERS = Lesson(
    "users",
    "How many users do you need?",
    "From a budget to a number of users, and from your users to the smallest budget.",
    "What ε is; the three privacy models.",
    (
        _with(
            CENTRAL,
            (1e5, 1e10),
            "Noise grows like 1/ε and counts grow with the users, so users grow about like 1/ε. The users needed "
            "without privacy come on top, and bend the curve.",
        ),
        _with(
            LOCAL,
            (1e8, 1e15),
            "The noise of K reports grows like √K/ε, and counts grow like K. To keep their ratio, K has to grow like "
            "1/ε².",
        ),
        Step(
            "With your users",
            Marker(
                f"You have {human(MINE)} users and a shuffler that they trust. How small may ε be?",
                float(X[0]),
                END,
                "ε = {}",
                ends=promise.ENDS,
                inverse=True,
            ),
            tuple(run for one in (CENTRAL, LOCAL, SHUFFLE) for run in _runs(one)),
            lambda evidence: _plot(evidence, (CENTRAL, LOCAL), SHUFFLE, 0.0, level=True),
            _affordable,
            _mine,
            "Read the chart from the side: your users are a height. Where the curve reaches that height is the most "
            "privacy that your users pay for.",
            Attempt(
                "Ask for your own study",
                "users",
                (),
                {"users": int(MINE)},
            ),
        ),
    ),
)

"""How many users do you need? Users against epsilon, by privacy model."""

from __future__ import annotations

import numpy as np

from dprl import metrics
from dprl.lessons import regret
from dprl.lessons.lesson import Attempt, DrawnSeries, Lesson, Plot, Step
from dprl.lessons.prediction import Marker, Slope
from dprl.lessons.trust import CENTRAL, LOCAL, SHUFFLE
from dprl.messages import filled, messages
from dprl.metrics.curves import Array, Evidence
from dprl.papers import SpecSeries
from dprl.sentences.price import rough_users
from dprl.simulation import RunSpec
from dprl.words import human, to_the

BUDGETS = (0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0)  # those of Home
X = np.array([1 / epsilon for epsilon in reversed(BUDGETS)])
START, END = 1.0, float(X[-1])
SAID = messages("questions")["users"]
GROW, OWN = SAID["grow"], SAID["mine"]
CHOICES = tuple(zip((0.5, 1.0, 2.0), SAID["choices"], strict=True))
MINE = 1e8


def nearest(power: float) -> str:
    """The choice whose power of 1/epsilon is nearest."""
    found: str = min(CHOICES, key=lambda choice: abs(choice[0] - power))[1]
    return found


def _runs(spec: RunSpec) -> tuple[RunSpec, ...]:
    return tuple(spec.replace(epsilon=epsilon) for epsilon in reversed(BUDGETS))


def _needed(evidence: Evidence, spec: RunSpec) -> Array:
    """[X] users until an average episode loses less than a tenth of V*."""
    return np.array([regret.users_needed(evidence, one) for one in _runs(spec)])


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
        SAID["chart"],
        regret.SAID["epsilon_axis"],
        SAID["axis"],
        (float(X[0]), END),
        ends,
        drawn=tuple(drawn),
        log_y=True,
        inverse_x=True,
        level=(MINE, filled(SAID["level"], users=human(MINE))) if level else None,
    )


def _exponent(evidence: Evidence, spec: RunSpec) -> float:
    late = X >= START
    return metrics.power_law(X[late], np.array([_needed(evidence, spec)[late]]))[0]


def _growth_with(spec: RunSpec, ends: tuple[float, float]) -> Step:
    """How users grow with one model. ends: of the axis of users."""
    given = regret.trusted_with(spec)

    def found(evidence: Evidence) -> str:
        need = dict(zip(reversed(BUDGETS), _needed(evidence, spec), strict=True))
        power = _exponent(evidence, spec)
        found = {
            "power": to_the("(1/ε)", power),
            "nearest": nearest(power),
            "times": human(float(f"{2**power:.2g}")),
        }
        found |= {"weak": rough_users(need[1.0]), "strong": rough_users(need[0.1])}
        return filled(GROW["found"], given=given, **found)

    return Step(
        filled(GROW["title"], given=given),
        Slope(filled(GROW["ask"], given=given), CHOICES, START, END, "(1/ε)"),
        _runs(spec),
        lambda evidence: _plot(evidence, (), spec, START, ends=ends),
        lambda evidence: _exponent(evidence, spec),
        found,
        GROW[f"why_{spec.privacy}"],
        Attempt(GROW["try"], "tradeoffs", (CENTRAL.replace(episodes=10**10, seeds=10),)),
    )


def _affordable(evidence: Evidence) -> float:
    """1/epsilon at which a trusted shuffler needs MINE users, by straight lines between logarithms."""
    need = np.log(_needed(evidence, SHUFFLE))
    return float(np.exp(np.interp(np.log(MINE), need[1:], np.log(X[1:]))))  # the first two are about the same


def _mine(evidence: Evidence) -> str:
    epsilon = 1 / _affordable(evidence)
    return filled(OWN["found"], users=human(MINE), epsilon=human(float(f"{epsilon:.2g}")))


USERS = Lesson(
    "users",
    SAID["title"],
    SAID["say"],
    SAID["needs"],
    (
        _growth_with(CENTRAL, (1e5, 1e10)),
        _growth_with(LOCAL, (1e8, 1e15)),
        Step(
            OWN["title"],
            Marker(
                filled(OWN["ask"], users=human(MINE)),
                float(X[0]),
                END,
                OWN["unit"],
                ends=(OWN["more"], OWN["less"]),
                inverse=True,
            ),
            tuple(run for one in (CENTRAL, LOCAL, SHUFFLE) for run in _runs(one)),
            lambda evidence: _plot(evidence, (CENTRAL, LOCAL), SHUFFLE, 0.0, level=True),
            _affordable,
            _mine,
            OWN["why"],
            Attempt(
                OWN["try"],
                "users",
                (),
                {"users": int(MINE)},
            ),
        ),
    ),
)

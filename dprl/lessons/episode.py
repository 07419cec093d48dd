"""What an episode is worth: to the algorithm, and beside the noise that hides it."""

from __future__ import annotations

import numpy as np

from dprl import metrics
from dprl.lessons import regret
from dprl.lessons.lesson import Attempt, DrawnSeries, Lesson, Plot, Step
from dprl.lessons.prediction import Marker, Order, Slope
from dprl.lessons.trust import EXPLORED, NONE
from dprl.messages import filled, messages
from dprl.metrics.curves import Evidence
from dprl.papers import SpecSeries
from dprl.sentences.price import rough_users
from dprl.simulation import RunSpec
from dprl.words import human, rough, to_the

SAID = messages("questions")["episode"]
LEARNING, REGRET, HIDDEN = (SAID[part] for part in ("learning", "regret", "hidden"))
BUDGETS = (10.0, 1.0, 0.1)
FEW = RunSpec(episodes=10**7)
BY_BUDGET = (FEW.replace(epsilon=0.1), FEW.baseline(), FEW, FEW.replace(epsilon=10.0))  # as they are offered
USERS = (10.0, 1e9)
START, END = 1e5, 1e9


def _learned(evidence: Evidence) -> str:
    users = rough_users(regret.users_needed(evidence, NONE))
    return filled(LEARNING["found"], users=users, best=human(evidence.runs[NONE].v_star))


def _in_all(evidence: Evidence) -> Plot:
    run = evidence.runs[NONE]
    series = SpecSeries(NONE, SAID["none"], run.at.astype(float), run.values)
    top = float(run.values.mean(axis=0)[-1])
    return Plot(
        REGRET["chart"],
        regret.USERS,
        regret.SAID["regret_axis"],
        USERS,
        (10.0, 3e4 * top),
        drawn=(DrawnSeries(series, START),),
        log_y=True,
    )


def _growth(evidence: Evidence) -> tuple[float, float, float]:
    run = evidence.runs[NONE]
    return metrics.growth_exponent(run.at, run.values, START, END)


def _stops(evidence: Evidence) -> str:
    power = to_the("K", *_growth(evidence))
    return filled(REGRET["found"], start=human(START), end=human(END), power=power)


def _by_budget(evidence: Evidence) -> str:
    weak, middle, strong = (rough(evidence.runs[FEW.replace(epsilon=e)].noise_std or 0.0) for e in BUDGETS)
    given = dict(zip(("weak", "middle", "strong"), (f"{epsilon:g}" for epsilon in BUDGETS), strict=True))
    noise = {"weak_noise": weak, "middle_noise": middle, "strong_noise": strong}
    return filled(HIDDEN["found"], users=human(FEW.episodes), **given, **noise)


def budget_label(spec: RunSpec) -> str:
    """What a curve is called where all trust the same."""
    return (
        str(SAID["none"]) if spec.privacy == "none" else filled(SAID["budget"], epsilon=f"{spec.epsilon:g}")
    )


EPISODE = Lesson(
    "episode",
    SAID["title"],
    SAID["say"],
    SAID["needs"],
    (
        Step(
            LEARNING["title"],
            Marker(LEARNING["ask"], *USERS),
            (NONE,),
            regret.losses([(NONE, SAID["none"], 0.0)], USERS),
            lambda evidence: regret.users_needed(evidence, NONE),
            _learned,
            LEARNING["why"],
            Attempt(LEARNING["try"], "explore", (NONE,), EXPLORED),
        ),
        Step(
            REGRET["title"],
            Slope(REGRET["ask"], tuple(zip((0.0, 0.5, 1.0), REGRET["choices"], strict=True)), START, END),
            (NONE,),
            _in_all,
            lambda evidence: _growth(evidence)[0],
            _stops,
            REGRET["why"],
            Attempt(REGRET["try"], "explore", (NONE,), {"each": "on"}),
        ),
        Step(
            HIDDEN["title"],
            Order(HIDDEN["ask"], tuple(budget_label(spec) for spec in BY_BUDGET)),
            BY_BUDGET,
            regret.losses([(spec, budget_label(spec), np.inf) for spec in BY_BUDGET], (10.0, 1e7)),
            lambda evidence: regret.places_by_regret(evidence, BY_BUDGET),
            _by_budget,
            HIDDEN["why"],
            Attempt(
                HIDDEN["try"],
                "explore",
                (FEW.baseline(), *(FEW.replace(epsilon=e) for e in BUDGETS)),
                EXPLORED,
            ),
        ),
    ),
)

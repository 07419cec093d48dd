"""What an episode is worth: to the learner, and beside the noise that hides it."""

from __future__ import annotations

import numpy as np

from dprl import metrics
from dprl.claims import SpecSeries
from dprl.curves import Evidence
from dprl.lessons import regret
from dprl.lessons.lesson import Attempt, DrawnSeries, Lesson, Plot, Step
from dprl.lessons.prediction import Marker, Order, Slope
from dprl.lessons.trust import EXPLORED, NONE
from dprl.sentences.price import rough_users
from dprl.simulation import RunSpec
from dprl.words import human, listed, rough, to_the

BUDGETS = (10.0, 1.0, 0.1)
FEW = RunSpec(episodes=10**7)
BY_BUDGET = (FEW.replace(epsilon=0.1), FEW.twin(), FEW, FEW.replace(epsilon=10.0))  # as they are offered
USERS = (10.0, 1e9)
START, END = 1e5, 1e9


def _learned(evidence: Evidence) -> str:
    return (
        f"From {rough_users(regret.needed(evidence, NONE))} users on. The best policy earns "
        f"{human(evidence.runs[NONE].v_star)} in an episode: that is all an episode can lose."
    )


def _in_all(evidence: Evidence) -> Plot:
    run = evidence.runs[NONE]
    series = SpecSeries(NONE, "No privacy", run.at.astype(float), run.values)
    top = float(run.values.mean(axis=0)[-1])
    return Plot(
        "What all episodes together have lost",
        regret.USERS,
        "Regret (reward lost)",
        USERS,
        (10.0, 3e4 * top),
        drawn=(DrawnSeries(series, START),),
        log_y=True,
    )


def _growth(evidence: Evidence) -> tuple[float, float, float]:
    run = evidence.runs[NONE]
    return metrics.growth_exponent(run.at, run.values, START, END)


def _stops(evidence: Evidence) -> str:
    return f"From {human(START)} to {human(END)} users regret grew like {to_the('K', *_growth(evidence))}."


def _by_budget(evidence: Evidence) -> str:
    noise = [f"{rough(evidence.runs[FEW.replace(epsilon=e)].noise_std or 0.0)} at ε = {e:g}" for e in BUDGETS]
    return (
        f"After {human(FEW.episodes)} users the noise in a count of visits has standard deviation {listed(noise)}. "
        "One episode adds one visit to the count."
    )


def budget_label(spec: RunSpec) -> str:
    """What a curve is called where all trust the same."""
    return "No privacy" if spec.privacy == "none" else f"ε = {spec.epsilon:g}"


EPISODE = Lesson(
    "episode",
    "What is an episode worth?",
    "One episode is one user: what an algorithm gains from it, and how much noise hides it.",
    "What a policy and a reward are.",
    (
        Step(
            "Learning",
            Marker(
                "An algorithm meets one user after the other in RiverSwim. From how many users on does an average "
                "episode lose less than a tenth of what the best policy earns, V*?",
                *USERS,
            ),
            (NONE,),
            regret.losses([(NONE, "No privacy", 0.0)], USERS),
            lambda evidence: regret.needed(evidence, NONE),
            _learned,
            "The reward is at the far end of a river, and the algorithm goes on trying what might be better until "
            "counts of visits say that it is not.",
            Attempt("Take this run to another environment", "explore", (NONE,), EXPLORED),
        ),
        Step(
            "Regret",
            Slope(
                "Regret is what all episodes together have lost. How does it go on from here?",
                ((0.0, "it stops growing"), (0.5, "like √K"), (1.0, "like K")),
                START,
                END,
            ),
            (NONE,),
            _in_all,
            lambda evidence: _growth(evidence)[0],
            _stops,
            "Once the best policy is played, an episode loses nothing any more. The papers' √K bounds the worst of all "
            "problems; this one is fixed, and its best policy stands out.",
            Attempt("See cumulative regret, and every seed", "explore", (NONE,), {"each": "on"}),
        ),
        Step(
            "Hidden in noise",
            Order(
                "Now every user is hidden, at one of three budgets. Which curve is which?",
                tuple(budget_label(spec) for spec in BY_BUDGET),
            ),
            BY_BUDGET,
            regret.losses([(spec, budget_label(spec), np.inf) for spec in BY_BUDGET], (10.0, 1e7)),
            lambda evidence: regret.places_by_regret(evidence, BY_BUDGET),
            _by_budget,
            "The smaller ε, the larger the noise that a user is hidden in, and the more visits it takes until they "
            "stand out from it.",
            Attempt(
                "Try a budget of your own",
                "explore",
                (FEW.twin(), *(FEW.replace(epsilon=e) for e in BUDGETS)),
                EXPLORED,
            ),
        ),
    ),
)

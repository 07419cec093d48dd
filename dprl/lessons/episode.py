"""What an episode is worth: to the algorithm, and beside the noise that hides it."""

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
from dprl.words import human, rough, to_the

BUDGETS = (10.0, 1.0, 0.1)
FEW = RunSpec(episodes=10**7)
BY_BUDGET = (FEW.replace(epsilon=0.1), FEW.twin(), FEW, FEW.replace(epsilon=10.0))  # as they are offered
USERS = (10.0, 1e9)
START, END = 1e5, 1e9


def _learned(evidence: Evidence) -> str:
    return (
        f"The algorithm needs {rough_users(regret.needed(evidence, NONE))} users. V* is "
        f"{human(evidence.runs[NONE].v_star)} here: the most that an episode can lose."
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
    weak, middle, strong = (rough(evidence.runs[FEW.replace(epsilon=e)].noise_std or 0.0) for e in BUDGETS)
    return (
        f"At ε = {BUDGETS[1]:g} the noise in a visit count has standard deviation {middle} after "
        f"{human(FEW.episodes)} users. At ε = {BUDGETS[0]:g} the standard deviation is {weak}, at "
        f"ε = {BUDGETS[2]:g} it is {strong}. One episode adds one visit to the count."
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
                "An algorithm meets one user after another in RiverSwim. The best policy earns V* in an episode. "
                "From how many users on does an average episode lose less than a tenth of V*?",
                *USERS,
            ),
            (NONE,),
            regret.losses([(NONE, "No privacy", 0.0)], USERS),
            lambda evidence: regret.needed(evidence, NONE),
            _learned,
            "The large reward is at the far end of a river. The algorithm keeps trying other actions until visit "
            "counts show that they are worse.",
            Attempt("Try this run in another environment", "explore", (NONE,), EXPLORED),
        ),
        Step(
            "Regret",
            Slope(
                "Regret is what all episodes together have lost. How does regret go on from here?",
                ((0.0, "it stops growing"), (0.5, "like √K"), (1.0, "like K")),
                START,
                END,
            ),
            (NONE,),
            _in_all,
            lambda evidence: _growth(evidence)[0],
            _stops,
            "Once the algorithm plays the best policy, an episode loses nothing. The papers' √K bounds the worst of "
            "all environments. RiverSwim is one environment, and its best policy stands out.",
            Attempt("See cumulative regret, and every seed", "explore", (NONE,), {"each": "on"}),
        ),
        Step(
            "Hidden in noise",
            Order(
                "Now noise hides every user, at one of three privacy budgets ε. Which curve is which?",
                tuple(budget_label(spec) for spec in BY_BUDGET),
            ),
            BY_BUDGET,
            regret.losses([(spec, budget_label(spec), np.inf) for spec in BY_BUDGET], (10.0, 1e7)),
            lambda evidence: regret.places_by_regret(evidence, BY_BUDGET),
            _by_budget,
            "The smaller ε, the larger the noise in each count. More visits are then needed before a count stands out "
            "from the noise.",
            Attempt(
                "Try a budget of your own",
                "explore",
                (FEW.twin(), *(FEW.replace(epsilon=e) for e in BUDGETS)),
                EXPLORED,
            ),
        ),
    ),
)

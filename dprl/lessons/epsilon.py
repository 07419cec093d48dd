"""What does epsilon guarantee: what a count gives away, how noise hides it, and how far a belief may move."""

from __future__ import annotations

import math

import numpy as np

from dprl import metrics
from dprl.lessons import regret
from dprl.lessons.lesson import Attempt, DrawnSeries, Lesson, Plot, Step
from dprl.lessons.prediction import Marker, Slope
from dprl.lessons.proved import ATTACK
from dprl.lessons.trust import CENTRAL, EXPLORED
from dprl.lessons.users import BUDGETS, CHOICES, END, START, X, nearest
from dprl.messages import filled, messages
from dprl.metrics.curves import Array, Evidence
from dprl.papers import SpecSeries
from dprl.papers.experiments import COLLUSIONS
from dprl.simulation import RunSpec
from dprl.words import human, percent, rough, to_the

SAID = messages("questions")["epsilon"]
PEOPLE = messages("questions")["people"]
ANSWER = messages("lessons")["answer"]
USERS = 100
AT_MOST = ANSWER["at_most"]  # of what no attacker exceeds, beside a guess
COIN = 0.5  # what somebody believes who knows nothing of two episodes
STRONG, EPSILON, WEAK = 0.1, 1.0, 10.0
PROMISES = {epsilon: ("promise", ATTACK.run.replace(epsilon=epsilon)) for epsilon in (STRONG, EPSILON, WEAK)}
NOISES = tuple(CENTRAL.replace(epsilon=epsilon) for epsilon in reversed(BUDGETS))
NEVER_WRONG = np.zeros(1)  # without noise two episodes give two different counts


def right(evidence: Evidence, epsilon: float | None) -> float:
    """Of USERS users, how many the best attacker guesses right at most; None: without noise."""
    if epsilon is None:
        return USERS * metrics.best_guess(COIN, NEVER_WRONG, NEVER_WRONG)
    found = evidence.answers[PROMISES[epsilon]]
    return USERS * metrics.best_guess(COIN, np.array(found["false"]), np.array(found["missed"]))


def _users(n: float) -> str:
    return str(PEOPLE["unit"]).format(rough(n))


def _people(evidence: Evidence) -> Plot:
    return Plot(
        PEOPLE["title"],
        PEOPLE["axis"],
        PEOPLE["users"],
        (0.0, float(USERS)),
        (0.0, 1.12),
        log_x=False,
        people=USERS,
    )


def _guessed(key: str, epsilon: float | None, attempt: Attempt) -> Step:
    """How many users the best attacker guesses right."""
    said = SAID[key]

    def found(evidence: Evidence) -> str:
        most = _users(right(evidence, epsilon))
        if epsilon is None:
            return filled(said["found"], right=most, coin=rough(COIN * USERS))
        fewer, more = (rough(right(evidence, e)) for e in (STRONG, WEAK))
        return filled(
            said["found"], right=most, strong=f"{STRONG:g}", weak=f"{WEAK:g}", fewer=fewer, more=more
        )

    return Step(
        said["title"],
        Marker(
            said["ask"] if epsilon is None else filled(said["ask"], epsilon=f"{epsilon:g}"),
            COIN * USERS,
            float(USERS),
            PEOPLE["unit"],
            log=False,
            steps=50,
            ends=(PEOPLE["few"], PEOPLE["many"]),
            waits=None if epsilon is None else float(USERS),
            by=ANSWER["proved"] if epsilon is None else AT_MOST,
        ),
        (),
        _people,
        lambda evidence: right(evidence, epsilon),
        found,
        said["why"],
        attempt,
        tuple(PROMISES.values()),
    )


def most_believed(epsilon: float) -> float:
    """What a belief of COIN becomes at most after an outcome that is exp(epsilon) times as likely with one episode."""
    return metrics.posterior(COIN, epsilon)


def _beliefs(evidence: Evidence) -> Plot:
    said = SAID["belief"]
    before = np.linspace(0.01, 0.99, 99)
    high, low = (np.array([metrics.posterior(p, sign * EPSILON) for p in before]) for sign in (1, -1))
    ends = np.array([0.0, 1.0])
    return Plot(
        filled(said["chart"], epsilon=f"{EPSILON:g}"),
        said["after"],
        said["before"],
        (0.0, 1.0),
        (0.0, 1.0),
        drawn=(DrawnSeries(SpecSeries(ATTACK.run.baseline(), said["same"], ends, ends[None])),),
        log_x=False,
        percent=True,
        percent_x=True,
        level=(COIN, filled(said["level"], before=percent(COIN))),
        bounds=((said["low"], low, before), (said["high"], high, before)),
    )


def _believed(evidence: Evidence) -> str:
    return filled(
        SAID["belief"]["found"],
        most=percent(most_believed(EPSILON)),
        least=percent(most_believed(-EPSILON)),
        right=_users(right(evidence, EPSILON)),
        strong=f"{STRONG:g}",
        hardly=percent(most_believed(STRONG)),
        weak=f"{WEAK:g}",
        surely=percent(most_believed(WEAK)),
    )


def _noise(evidence: Evidence) -> Array:
    """[X] the standard deviation of the noise in a visit count, by 1/epsilon."""
    return np.array([evidence.runs[spec].noise_std for spec in NOISES])


def _growing(evidence: Evidence) -> Plot:
    series = SpecSeries(CENTRAL, SAID["noise"]["curve"], X, _noise(evidence)[None], one_budget=False)
    return Plot(
        SAID["noise"]["chart"],
        regret.SAID["epsilon_axis"],
        SAID["noise"]["axis"],
        (float(X[0]), END),
        (1.0, 1e6),
        drawn=(DrawnSeries(series, START),),
        log_y=True,
        inverse_x=True,
    )


def _power(evidence: Evidence) -> float:
    late = X >= START
    return metrics.power_law(X[late], _noise(evidence)[None, late])[0]


def _stronger(evidence: Evidence) -> str:
    weaker, stronger = (float(_noise(evidence)[X == 1 / epsilon][0]) for epsilon in (EPSILON, STRONG))
    return filled(
        SAID["noise"]["found"],
        weaker=rough(weaker),
        epsilon=f"{EPSILON:g}",
        users=human(CENTRAL.episodes),
        stronger=rough(stronger),
        strong=f"{STRONG:g}",
        times=rough(stronger / weaker),
        smaller=f"{EPSILON / STRONG:g}",
        power=to_the("(1/ε)", _power(evidence)),
        nearest=nearest(_power(evidence)),
    )


def _two() -> tuple[RunSpec, ...]:
    return tuple(CENTRAL.replace(epsilon=epsilon) for epsilon in (EPSILON, STRONG))


GUARANTEE = Lesson(
    "epsilon",
    SAID["title"],
    SAID["say"],
    SAID["needs"],
    (
        _guessed(
            "bare",
            None,
            Attempt(SAID["bare"]["try"], "attack", (COLLUSIONS[0],), {"step": "subtract"}),
        ),
        _guessed("noisy", EPSILON, Attempt(SAID["noisy"]["try"], "attack", (ATTACK,), {})),
        Step(
            SAID["belief"]["title"],
            Marker(
                filled(SAID["belief"]["ask"], before=percent(COIN), epsilon=f"{EPSILON:g}"),
                COIN,
                1.0,
                "{}",
                log=False,
                steps=50,
                ends=(SAID["belief"]["unsure"], SAID["belief"]["sure"]),
                share=True,
                by=AT_MOST,
            ),
            (),
            _beliefs,
            lambda evidence: most_believed(EPSILON),
            _believed,
            filled(
                SAID["belief"]["why"], epsilon=f"{EPSILON:g}", factor=rough(math.exp(EPSILON))
            ),
            Attempt(SAID["belief"]["try"], "attack", (ATTACK,), {"prior": 50}),
            tuple(PROMISES.values()),
        ),
        Step(
            SAID["noise"]["title"],
            Slope(filled(SAID["noise"]["ask"], epsilon=f"{START:g}"), CHOICES, START, END, "(1/ε)"),
            NOISES,
            _growing,
            _power,
            _stronger,
            SAID["noise"]["why"],
            Attempt(SAID["noise"]["try"], "explore", _two(), EXPLORED),
        ),
    ),
)  # fmt: skip
